/// The location of a case's store: a path that does not exist yet, in an existing folder.
public struct ConformanceLocation: Sendable {
    /// The path.
    public let path: String
}
