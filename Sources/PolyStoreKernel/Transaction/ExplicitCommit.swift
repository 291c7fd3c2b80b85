import PolyStoreBackend

/// The commit that the body of a queued transaction requests explicitly, once.
final class ExplicitCommit {
    /// Validates and applies the changes; set only while the body runs.
    var write: (() throws -> Bool)?
    /// The result of the commit; nil before it.
    private(set) var outcome: Result<Bool, any Error>?

    /// Validates and applies the changes of a transaction, and rejects further ones.
    /// - Returns: whether there were changes.
    /// - Throws: `misuse` for a second commit, `closed` after the body has returned, and the errors of validation.
    func run(_ transaction: Transaction) throws -> Bool {
        guard outcome == nil else {
            throw StoreError(
                .misuse, "A transaction of this kind is committed once; begin another one, or an unsafe one, which takes many commits.")
        }
        guard let write else { throw StoreError(.closed, "The transaction has ended; commit it inside its body.") }
        do {
            let hadChanges = try write()
            outcome = .success(hadChanges)
            transaction.close("was committed")
            return hadChanges
        } catch {
            outcome = .failure(error)
            transaction.close("could not be committed")
            throw error
        }
    }
}
