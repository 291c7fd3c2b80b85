import PolyStoreBackend
public import PolyStoreRuns

/// A running or finished verification or copy of a store.
///
///     let run = stack.stores[0].startVerification()
///     for await progress in run.updates { print(progress) }
///     print(try await run.value)
public typealias MaintenanceRun<Value: Sendable> = Run<MaintenanceProgress, Value>

extension MaintenanceProgress: RunProgress {}

/// The execution of one verification or copy.
struct MaintenanceWork<Value: Sendable>: Sendable {
    /// The operation for messages: `verification of /data/store.sqlite`.
    let name: String
    let run: MaintenanceRun<Value>
    let operation: @Sendable (MaintenanceReport) throws -> Value

    init(_ title: String, name: String, _ operation: @escaping @Sendable (MaintenanceReport) throws -> Value) {
        self.name = name
        self.operation = operation
        run = Run(title, MaintenanceProgress(activity: "waiting"))
    }

    /// Executes the operation on the caller's thread.
    func execute() {
        var clock = RunClock()
        var last = MaintenanceProgress(activity: "waiting")
        let result = Result {
            try checkCancellation()
            return try operation { progress in
                try checkCancellation()
                last = progress
                if clock.isDueNow() { run.update(progress) }
            }
        }
        if case .success = result { last.completed = last.total ?? last.completed }
        run.finish(result, last: last)
    }

    private func checkCancellation() throws {
        guard run.cancellation.isCancelled else { return }
        throw StoreError(.cancelled, "The \(name) was cancelled. Start it again if it is still needed.")
    }
}
