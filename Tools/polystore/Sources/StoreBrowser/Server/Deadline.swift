import PolyStoreBackend

/// The time limit of work.
package enum Deadline {
    /// Runs work, and cancels it at a deadline.
    ///
    /// Waits for cancelled work to end. If it has committed a change in the meantime, its result is returned.
    /// - Throws: `BrowserError` with status 503 at the deadline; otherwise the error of the work. After the deadline this is only an error that reports
    ///   the unknown outcome of a commit.
    package static func run<T: Sendable>(_ duration: Duration, _ body: @escaping @Sendable () async throws -> T) async throws -> T {
        try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: duration)
                return nil
            }
            defer { group.cancelAll() }
            if let first = try await group.next(), let result = first { return result }
            group.cancelAll()
            do {
                if let late = try await group.next(), let result = late { return result }
            } catch let error as StoreError where error.recovery == .commitOutcomeUnknown { throw error } catch {}
            let time = "\(duration.components.seconds) s"
            throw BrowserError(
                503, "The query was ended after \(time). Use a condition that an index answers, or a longer --timeout.")
        }
    }
}
