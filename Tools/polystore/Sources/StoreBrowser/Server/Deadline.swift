/// The end of work that takes too long.
enum Deadline {
    /// Runs work, and cancels it at a deadline.
    /// - Throws: `BrowserError` with status 503 at the deadline; otherwise the error of the work.
    static func run<T: Sendable>(_ duration: Duration, _ body: @escaping @Sendable () async throws -> T) async throws -> T {
        try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: duration)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let result = first else {
                throw BrowserError(
                    503,
                    "The query was ended after \(duration.components.seconds) s. Use a condition that an index answers, or a longer --timeout."
                )
            }
            return result
        }
    }
}
