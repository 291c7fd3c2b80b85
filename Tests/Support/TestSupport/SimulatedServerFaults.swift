internal import Dispatch
internal import PolyStoreBackend
internal import SeededRandom

// What tests use: the counts of calls, their delays and failures, and the announcements of commits.

extension SimulatedServer {
    /// The number of calls of each kind, without those of kind `close`. Kinds without calls are absent.
    package var counts: [Call: Int] { state.withLock { $0.counts.filter { $0.key != .close } } }
    /// The number of calls that failed.
    package var faultCount: Int { state.withLock { $0.faultCount } }

    /// Sets every count to 0. Planned faults count from the next call.
    package func resetCounts() { state.withLock { $0.counts = [:] } }

    /// Returns the calls that a closure sends.
    package func calls(_ body: () throws -> Void) rethrows -> [Call: Int] {
        let before = counts
        try body()
        return counts.merging(before) { $0 - $1 }.filter { $0.value != 0 }
    }
}

extension SimulatedServer {
    /// Delays each later call of some kinds.
    package func delay(_ calls: [Call] = Call.allCases, by delay: Duration) {
        state.withLock { state in for call in calls { state.delays[call] = delay } }
    }

    /// Waits for the response to a call, until the call is interrupted.
    func wait(_ delay: Duration?, _ interruption: Interruption?) throws {
        guard let delay, delay > .zero else { return }
        let response = DispatchSemaphore(value: 0)
        let registration = interruption?.onCancel { response.signal() }
        let wait = min(delay, interruption?.remaining ?? delay)
        _ = response.wait(timeout: .now() + .nanoseconds(Int(wait / .nanoseconds(1))))
        withExtendedLifetime(registration) {}
        try interruption?.check()
    }

    /// Lets one call fail.
    /// - Parameter number: The number of the call among those of its kind, from 1; see ``resetCounts()``.
    package func fail(_ call: Call, at number: Int, with fault: Fault) { state.withLock { $0.planned[call, default: [:]][number] = fault } }

    /// Lets a part of all calls fail. Equal seeds and numbers of calls give equal faults.
    package func fail(percentage: Int, of calls: Set<Call>, seed: UInt64, with faults: [Fault]) {
        precondition(!faults.isEmpty)
        state.withLock { $0.random = (seed, percentage, faults, calls) }
    }

    /// Removes all faults that have not occurred.
    package func endFaults() { state.withLock { ($0.planned, $0.random) = ([:], nil) } }
}

extension SimulatedServer {
    /// A client that receives the announcements of the server until it is released.
    final class Listener: Sendable {
        let handler: @Sendable () -> Void
        init(_ handler: @escaping @Sendable () -> Void) { self.handler = handler }
    }

    struct WeakListener {
        weak var listener: Listener?
    }

    func listen(_ handler: @escaping @Sendable () -> Void) -> Listener {
        let listener = Listener(handler)
        listeners.withLock { $0.append(WeakListener(listener: listener)) }
        return listener
    }

    private var currentListeners: [Listener] { listeners.withLock { $0 }.compactMap(\.listener) }

    /// The number of clients that receive announcements.
    package var listenerCount: Int { currentListeners.count }

    /// Announces to the clients that another one has committed.
    package func announceCommit() { for listener in currentListeners { listener.handler() } }
}

extension SimulatedServer.State {
    /// Counts a call, and returns its delay and its fault.
    mutating func receive(_ call: SimulatedServer.Call) -> (delay: Duration?, fault: SimulatedServer.Fault?) {
        let number = counts[call, default: 0] + 1
        counts[call] = number
        var fault = planned[call]?.removeValue(forKey: number)
        if fault == nil, let random, random.calls.contains(call) {
            // A function of the seed and the number, because the calls of several threads arrive in any order.
            let kind = SimulatedServer.Call.allCases.firstIndex(of: call) ?? 0
            var generator = SplitMix64(seed: random.seed &+ UInt64(kind) &* 1_000_003 &+ UInt64(number) &* 0x9e37_79b9)
            _ = generator.next()
            if generator.below(100) < random.percentage { fault = generator.pick(random.faults) }
        }
        if fault != nil { faultCount += 1 }
        return (delays[call], fault)
    }
}
