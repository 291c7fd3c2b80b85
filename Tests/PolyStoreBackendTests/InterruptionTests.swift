import Dispatch
import PolyStoreBackend
import PolyStoreRuns
import Testing

@Suite struct InterruptionTests {
    @Test func workWithoutALimitContinuesUntilItIsCancelled() throws {
        let interruption = Interruption()
        #expect(interruption.error == nil && interruption.remaining == nil && !interruption.isCancelled)
        try interruption.check()
        interruption.cancel()
        #expect(interruption.isCancelled)
        let error = try #require(interruption.error)
        #expect(error.code == .cancelled && error.recovery == .cancelled)
        #expect(throws: error) { try interruption.check() }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min / 4)])
    func workWithoutTimeHasTimedOut(_ limit: Duration) throws {
        let interruption = Interruption(timeLimit: limit)
        #expect(interruption.remaining == .zero && !interruption.isCancelled)
        let error = try #require(interruption.error)
        #expect(error.code == .timedOut && error.recovery == .timedOut)
        // A cancellation is reported instead.
        interruption.cancel()
        #expect(interruption.error?.code == .cancelled)
    }

    @Test(arguments: [Duration.seconds(100_000), .seconds(Int64.max)])
    func longLimitsDoNotInterrupt(_ limit: Duration) throws {
        let interruption = Interruption(timeLimit: limit)
        try interruption.check()
        #expect(try #require(interruption.remaining) > .seconds(1000))
    }

    /// The clock of Dispatch can stand still while the machine sleeps, so that a wait is checked again.
    @Test func waitsOfDispatchTakeAtMostASecond() throws {
        let deadline = try #require(Interruption(timeLimit: .seconds(100_000)).dispatchDeadline)
        #expect(deadline <= .now() + .milliseconds(1001))
        #expect(Interruption().dispatchDeadline == nil)
    }

    @Test func theShorterLimitHolds() {
        let day = Interruption(timeLimit: .seconds(86_400))
        let hour = Interruption(timeLimit: .seconds(3600), within: day)
        #expect(hour.timeLimit == .seconds(3600))
        #expect(Interruption(timeLimit: .seconds(90_000), within: hour).deadline == hour.deadline)
        #expect(Interruption(within: hour).deadline == hour.deadline)
        #expect(Interruption(timeLimit: .zero, within: hour).error?.code == .timedOut)
        #expect(Interruption(timeLimit: .seconds(1), within: Interruption(timeLimit: .zero)).error?.code == .timedOut)
        #expect(hour.error == nil && day.error == nil)
    }

    @Test func aCancellationIncludesInnerWork() {
        let outer = Interruption()
        let inner = Interruption(within: Interruption(within: outer))
        inner.cancel()
        #expect(inner.isCancelled && !outer.isCancelled)
        let other = Interruption(within: outer)
        outer.cancel()
        #expect(other.isCancelled)
    }

    @Test func handlersAreCalledOnceUntilTheyAreReleased() {
        let calls = Protected<[String]>([])
        func handler(_ name: String) -> @Sendable () -> Void { { calls.withLock { $0.append(name) } } }
        let outer = Interruption()
        let inner = Interruption(within: outer)
        let first = inner.onCancel(handler("inner"))
        var released: Interruption.Registration? = inner.onCancel(handler("released"))
        #expect(released != nil)
        released = nil
        outer.cancel()
        outer.cancel()
        #expect(calls.withLock { $0 } == ["inner"])
        // Called immediately.
        let late = inner.onCancel(handler("late"))
        #expect(calls.withLock { $0 } == ["inner", "late"])
        withExtendedLifetime((first, late)) {}
    }

    @Test func theCancellationOfInnerWorkCallsItsHandlersOnly() {
        let calls = Protected<[String]>([])
        func handler(_ name: String) -> @Sendable () -> Void { { calls.withLock { $0.append(name) } } }
        let outer = Interruption()
        let inner = Interruption(within: outer)
        let registrations = [outer.onCancel(handler("outer")), inner.onCancel(handler("inner"))]
        inner.cancel()
        #expect(calls.withLock { $0 } == ["inner"])
        outer.cancel()
        #expect(calls.withLock { $0 } == ["inner", "outer"])
        withExtendedLifetime(registrations) {}
    }
}
