/// The location of a case's store: a path that does not exist yet, in an existing folder.
public struct ConformancePlace: Sendable {
    /// The path.
    public let path: String
}
