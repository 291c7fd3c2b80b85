/// The progress of an index that is built while the store is in use.
public struct IndexBuildProgress: Sendable, Hashable {
    /// ``Index/name``.
    public let name: String
    /// The number of records that were indexed since the store was opened.
    public let builtCount: Int64
    /// The number of records of the entity.
    public let totalCount: Int64
}
