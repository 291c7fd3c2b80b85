public import Foundation
public import PolyStoreBackend

/// A running or finished verification or copy of a store.
///
///     let run = stack.stores[0].startVerification()
///     for await progress in run.updates { print(progress) }
///     print(try await run.value)
public final class MaintenanceRun<Value: Sendable>: Sendable {
    private let monitor: RunMonitor<MaintenanceProgress, Value>

    init(_ monitor: RunMonitor<MaintenanceProgress, Value>) { self.monitor = monitor }

    /// The progress of the operation for a user interface. It has descriptions and is updated at most ten times a second. Cancelling it cancels the operation.
    public var progress: Progress { monitor.progress }

    /// The current progress and each later one, until the operation ends. A slow consumer receives only the latest value.
    public var updates: some AsyncSequence<MaintenanceProgress, Never> { monitor.latest.values }

    /// The result of the operation; waits until it has ended.
    /// - Throws: The error that ended the operation, `cancelled` among others.
    public var value: Value { get async throws { try await monitor.outcome.value } }

    /// Cancels the operation soon. The store stays unchanged, and nothing remains of a copy. A copy of an LMDB store is not interrupted once it has begun.
    public func cancel() { monitor.cancel() }
}

extension MaintenanceProgress: RunProgress {}

/// The execution of one verification or copy.
struct MaintenanceWork<Value: Sendable>: Sendable {
    /// The operation for messages: `verification of /data/store.sqlite`.
    let name: String
    let monitor: RunMonitor<MaintenanceProgress, Value>
    let operation: @Sendable (MaintenanceReport) throws -> Value

    init(_ title: String, name: String, _ operation: @escaping @Sendable (MaintenanceReport) throws -> Value) {
        self.name = name
        self.operation = operation
        monitor = RunMonitor(title, MaintenanceProgress(activity: "waiting"))
    }

    /// Executes the operation on the caller's thread.
    func run() {
        var clock = RunClock()
        var last = MaintenanceProgress(activity: "waiting")
        let result = Result {
            try checkCancellation()
            return try operation { progress in
                try checkCancellation()
                last = progress
                if clock.isDueNow() { monitor.update(progress) }
            }
        }
        if case .success = result { last.completed = last.total ?? last.completed }
        monitor.finish(result, last: last)
    }

    private func checkCancellation() throws {
        guard monitor.cancellation.isCancelled else { return }
        throw StoreError(.cancelled, "The \(name) was cancelled. Start it again if it is still needed.")
    }
}
