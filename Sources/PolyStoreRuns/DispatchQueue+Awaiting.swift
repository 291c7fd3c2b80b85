import Dispatch

extension DispatchQueue {
    /// Runs blocking work on the queue and awaits its result. The calling task does not block one of Swift's cooperative threads.
    package func awaiting<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in async { continuation.resume(with: Result { try work() }) } }
    }
}
