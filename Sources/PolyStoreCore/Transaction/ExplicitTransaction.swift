import PolyStoreBackend

/// A queued transaction that its body commits explicitly, once: the argument of the bodies of
/// ``DataStack/beginAsynchronous(durability:source:file:line:_:)`` and ``DataStack/beginSynchronous(durability:source:isolation:file:line:_:)``.
///
/// Without a commit all changes are discarded. Changes made after the commit are lost, and an error is logged.
public class ExplicitTransaction: Transaction {
    /// Validates and applies the changes; set only while the body runs.
    var write: (() throws -> Bool)?
    /// The result of the commit; nil before it.
    private(set) var outcome: Result<Bool, any Error>?

    /// Validates and applies the changes, and rejects further ones.
    /// - Returns: whether there were changes.
    /// - Throws: `misuse` for a second commit, `closed` after the body has returned, and the errors of validation.
    func commitOnce() throws -> Bool {
        guard outcome == nil else {
            throw StoreError(
                .misuse, "A transaction of this kind is committed once; begin another one, or an unsafe one, which takes many commits.")
        }
        guard let write else { throw StoreError(.closed, "The transaction has ended; commit it inside its body.") }
        do {
            let hadChanges = try write()
            outcome = .success(hadChanges)
            didWrite()
            close("was committed")
            return hadChanges
        } catch {
            outcome = .failure(error)
            close("could not be committed")
            throw error
        }
    }
}

/// A transaction begun by ``DataStack/beginAsynchronous(durability:source:file:line:_:)``.
public final class AsynchronousTransaction: ExplicitTransaction {
    private(set) var completion: (@MainActor @Sendable (Result<Bool, StoreError>) -> Void)?

    /// Commits the changes made so far. Call it once, in the body.
    /// - Parameter completion: called on the main actor when the commit is durable and visible in the view context, or has failed. Receives whether
    ///   there were changes. A second commit receives `misuse` and has no effect.
    public func commit(_ completion: (@MainActor @Sendable (Result<Bool, StoreError>) -> Void)? = nil) {
        guard outcome != nil else {
            // `commitOnce` stores the error, which is reported after the body returns.
            _ = try? commitOnce()
            self.completion = completion
            return
        }
        do { _ = try commitOnce() } catch { Self.report(StoreError(wrapping: error), completion, core) }
    }

    /// Reports the result of the commit to the completion handler or the log.
    func report(_ result: Result<Bool, any Error>) {
        let completion = completion
        switch result {
        case .failure(let error): Self.report(StoreError(wrapping: error), completion, core)
        case .success(let hadChanges):
            guard let completion else { return }
            let core = core
            Task { @MainActor in
                core.views.catchUp(core.logger)
                completion(.success(hadChanges))
            }
        }
    }

    private static func report(
        _ error: StoreError, _ completion: (@MainActor @Sendable (Result<Bool, StoreError>) -> Void)?, _ core: StackCore
    ) {
        guard let completion else { return core.logger.write(.error, "An asynchronous transaction has failed: \(error)") }
        Task { @MainActor in completion(.failure(error)) }
    }
}

/// A transaction begun by ``DataStack/beginSynchronous(durability:source:isolation:file:line:_:)``.
public final class SynchronousTransaction: ExplicitTransaction {
    /// Commits the changes made so far. Call it once, in the body. The commit is durable when `beginSynchronous` returns.
    /// - Returns: whether there were changes.
    /// - Throws: `misuse` for a second commit, `constraint` with all violations, and other errors of validation.
    @discardableResult
    public func commit() throws -> Bool { try commitOnce() }
}

extension StoreError {
    /// Wraps an error that is not a `StoreError`.
    init(wrapping error: any Error) {
        if let error = error as? StoreError { self = error } else { self.init(.misuse, "\(error)", underlying: "\(error)") }
    }
}
