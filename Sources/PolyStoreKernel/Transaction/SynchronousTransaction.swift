import PolyStoreBackend

/// A transaction begun by ``DataStack/beginSynchronous(durability:sourceIdentifier:isolation:file:line:_:)``.
///
/// Its body commits it explicitly, once. Without a commit all changes are discarded. Changes made after the commit are lost, and an error is logged.
public final class SynchronousTransaction: Transaction {
    let explicitCommit = ExplicitCommit()

    /// Commits the changes made so far. Call it once, in the body. The commit is durable when `beginSynchronous` returns.
    /// - Returns: whether there were changes.
    /// - Throws: `misuse` for a second commit, `constraint` with all violations, and other errors of validation.
    @discardableResult
    public func commit() throws -> Bool { try explicitCommit.run(self) }
}
