import PolyStoreBackend

/// A transaction in the line of the others that says itself when it is to be committed, once: what
/// ``DataStack/beginAsynchronous(durability:source:_:)`` and ``DataStack/beginSynchronous(durability:source:isolation:_:)`` hand out.
///
/// Without a commit everything is discarded. What is changed after it is lost, and an error is logged.
public class ExplicitTransaction: Transaction {
    /// Checks and applies what was changed; there only while the body runs.
    var write: (() throws -> Bool)?
    /// What came of the commit; nil: there was none.
    private(set) var outcome: Result<Bool, any Error>?

    /// - Returns: whether anything was changed.
    /// - Throws: `misuse` for a second commit, `closed` after the body, and what the changes themselves are refused for.
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

/// A transaction of ``DataStack/beginAsynchronous(durability:source:_:)``.
public final class AsynchronousTransaction: ExplicitTransaction {
    private(set) var completion: (@MainActor @Sendable (Result<Bool, StoreError>) -> Void)?

    /// Writes what was changed up to here: once, in the body.
    /// - Parameter completion: is called on the main actor when the commit is safe, or has failed; the view shows it then. Gets whether there
    ///   were any changes. A second commit gets `misuse`, and nothing else happens.
    public func commit(_ completion: (@MainActor @Sendable (Result<Bool, StoreError>) -> Void)? = nil) {
        guard outcome != nil else {
            // What goes wrong is told at the end, with everything else.
            _ = try? commitOnce()
            self.completion = completion
            return
        }
        do { _ = try commitOnce() } catch { Self.report(StoreError(wrapping: error), completion, core) }
    }

    /// Tells the commit's outcome to whom it concerns.
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
        guard let completion else { return core.logger.write(.error, "A transaction that nobody waits for has failed: \(error)") }
        Task { @MainActor in completion(.failure(error)) }
    }
}

/// A transaction of ``DataStack/beginSynchronous(durability:source:isolation:_:)``.
public final class SynchronousTransaction: ExplicitTransaction {
    /// Writes what was changed up to here: once, in the body. It is safe when `beginSynchronous` returns.
    /// - Returns: whether anything was changed.
    /// - Throws: `misuse` for a second commit, `constraint` with all violations, and what else the changes are refused for.
    @discardableResult
    public func commit() throws -> Bool { try commitOnce() }
}

extension StoreError {
    /// Any error as one of the framework's.
    init(wrapping error: any Error) {
        if let error = error as? StoreError { self = error } else { self.init(.misuse, "\(error)", underlying: "\(error)") }
    }
}
