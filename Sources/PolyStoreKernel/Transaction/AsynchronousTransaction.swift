import PolyStoreBackend

/// A transaction begun by ``DataStack/beginAsynchronous(durability:sourceIdentifier:file:line:_:)``.
///
/// Its body commits it explicitly, once. Without a commit all changes are discarded. Changes made after the commit are lost, and an error is logged.
public final class AsynchronousTransaction: Transaction {
    let explicitCommit = ExplicitCommit()
    private(set) var completion: (@MainActor @Sendable (Result<Bool, StoreError>) -> Void)?

    /// Commits the changes made so far. Call it once, in the body.
    /// - Parameter completion: called on the main actor when the commit is durable and visible in the view context, or has failed. Receives whether
    ///   there were changes. A second commit receives `misuse` and has no effect.
    public func commit(_ completion: (@MainActor @Sendable (Result<Bool, StoreError>) -> Void)? = nil) {
        guard explicitCommit.outcome != nil else {
            // `ExplicitCommit` stores the error, which is reported after the body returns.
            _ = try? explicitCommit.run(self)
            self.completion = completion
            return
        }
        do { _ = try explicitCommit.run(self) } catch { Self.report(StoreError(wrapping: error), completion, core) }
    }

    private static func report(
        _ error: StoreError, _ completion: (@MainActor @Sendable (Result<Bool, StoreError>) -> Void)?, _ core: StackCore
    ) {
        guard let completion else { return core.logger.write(.error, "An asynchronous transaction has failed: \(error)") }
        core.callBack { completion(.failure(error)) }
    }
}

extension AsynchronousTransaction: OutcomeReceiver {
    /// Reports the outcome of the commit to the completion handler or the log.
    func receive(_ outcome: TransactionOutcome) {
        switch outcome {
        case .failed(let error): Self.report(StoreError(wrapping: error), completion, core)
        case .committed(let hadChanges):
            if let completion { core.callBack { completion(.success(hadChanges)) } }
        case .discarded: break
        }
    }
}
