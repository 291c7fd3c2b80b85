/// A failure of a commit that the tests of a backend can cause; see ``ConformanceTarget``.
public enum CommitFault: Sendable, Hashable {
    /// The server rolls the transaction back because of a concurrent one.
    case notSerializable
    /// The connection ends before the response to the commit, which has taken effect or not.
    case responseLost(isCommitted: Bool)
}
