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

extension StoreError {
    /// Wraps an error that is not a `StoreError`.
    init(wrapping error: any Error) {
        if let error = error as? StoreError { self = error } else { self.init(.misuse, "\(error)", underlying: "\(error)") }
    }
}
