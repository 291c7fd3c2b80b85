/// Which commits a new snapshot must show; see ``StorageBackend/beginRead(_:)``. A struct, so that bounds can be added.
///
/// For servers with replicas that are behind. An engine whose snapshots always show the newest commit meets every bound.
public struct ReadFreshness: Sendable, Hashable {
    /// The time that the snapshot may be behind the newest commit of the store; `nil`, the default, for a snapshot that shows the newest commit.
    public var maximumStaleness: Duration?
    /// The version that the snapshot must at least show, because the reader knows of that commit already; `nil`, the default, for none.
    public var notBefore: UInt64?

    /// Creates the bounds of a new snapshot.
    public init(maximumStaleness: Duration? = nil, notBefore: UInt64? = nil) {
        self.maximumStaleness = maximumStaleness
        self.notBefore = notBefore
    }
}
