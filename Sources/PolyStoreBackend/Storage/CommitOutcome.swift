/// The outcome of a commit whose response was lost, as far as the store knows it; see ``WriteTransaction/commitOutcome()``.
public enum CommitOutcome: Sendable, Hashable {
    /// The changes are in the store.
    /// - Parameter version: The version that ``WriteTransaction/commit(_:)`` would have returned.
    case committed(version: UInt64)
    /// The changes are not in the store, and the commit can no longer take effect.
    case notCommitted
    /// The store cannot determine the outcome.
    case unknown
}

extension WriteTransaction {
    public func commitOutcome() throws -> CommitOutcome { .unknown }
}
