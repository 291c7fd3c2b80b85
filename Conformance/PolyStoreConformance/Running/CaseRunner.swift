import PolyStoreBackend

/// Runs the bodies of cases on separate threads, a few at a time, and fails a case that does not end.
///
/// The bodies block on locks, files and other threads. Separate threads prevent them from occupying the threads that Swift's tasks share, so a case that never
/// ends costs one thread and is still reported.
enum CaseRunner {
    static func run(_ caseID: String, within limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
        await CaseGate.shared.enter()
        let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            let watched = CaseWatch.shared.begin(limit) { limit in
                // The thread is left behind. Its slot in the gate is free again, so that other cases can run.
                answer.give(
                    .failure(ConformanceFailure(caseID: caseID, message: "did not end within \(limit); its thread is left behind")))
            }
            Task.detached(executorPreference: CaseExecutor.shared) {
                let result: Result<Void, any Error>
                do { result = .success(try await body()) } catch { result = .failure(error) }
                CaseWatch.shared.end(watched)
                answer.give(result)
            }
        }
        CaseGate.shared.leave()
        try result.get()
    }
}

/// Returns the first of several results.
private final class FirstAnswer: @unchecked Sendable {  // the continuation is accessed under the lock
    private let lock = Lock()
    private var continuation: CheckedContinuation<Result<Void, any Error>, Never>?

    init(_ continuation: CheckedContinuation<Result<Void, any Error>, Never>) { self.continuation = continuation }

    func give(_ answer: Result<Void, any Error>) { lock.withLock { continuation.take() }?.resume(returning: answer) }
}
