import Testing

@testable import PolyStoreBackend

/// The deadlines of waits. `Tests/Faults` moves the system's clock during them.
@Suite struct DeadlineTests {
    @Test func pastDeadlinesAreReportedAtOnce() {
        #expect(Deadline(milliseconds: 0).isPast)
        #expect(Deadline(after: .seconds(-5)).isPast)
        // Its holder takes the lock of the state.
        let lock = Lock(.engine)
        #expect(!lock.withLock { lock.wait(until: Deadline(milliseconds: 0)) })
    }

    @Test func remainingTimeIsBetweenZeroAndTheTimeout() {
        let past = Deadline(milliseconds: 0).remaining
        #expect(past.tv_sec == 0 && past.tv_nsec == 0)
        let hour = Deadline(after: .seconds(3600))
        #expect(!hour.isPast)
        #expect((0...3600).contains(hour.remaining.tv_sec) && (0..<1_000_000_000).contains(hour.remaining.tv_nsec))
    }

    @Test func durationsAreRoundedUpToMilliseconds() {
        #expect(Duration.microseconds(1).inMilliseconds == 1)
        #expect(Duration.milliseconds(1500).inMilliseconds == 1500)
        #expect(Duration.seconds(-1).inMilliseconds == 0)
        #expect(Duration.seconds(Int64.max).inMilliseconds == Int(Int32.max))
    }

    /// A wait ends with a signal, at whatever time it is sent.
    @Test func signalEndsAWait() async {
        let state = Protected((isSet: false, isDone: false))
        // Its holder takes the lock of the state.
        let lock = Lock(.engine)
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                lock.withLock {
                    while !state.withLock({ $0.isSet }) { if !lock.wait(until: Deadline(after: .seconds(3600))) { return false } }
                    return true
                }
            }
            group.addTask {
                state.withLock { $0.isSet = true }
                lock.withLock { lock.broadcast() }
                return true
            }
            for await isSignaled in group { #expect(isSignaled) }
        }
    }
}
