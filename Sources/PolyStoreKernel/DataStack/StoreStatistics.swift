public import PolyStoreBackend

/// The number of objects in a store and its size on disk.
public struct StoreStatistics: Sendable, Hashable, Codable {
    /// The number of commits so far; see `ReadTransaction.version`.
    public let version: UInt64
    /// The number of objects by entity. Sub-entities of a hierarchy are counted separately.
    public let objectCounts: [String: Int]
    /// The size of all files of the store in bytes; 0 for a store without files.
    public let fileSize: Int
    /// The sessions that the backend has open for snapshots, for instance the connections of SQLite and the readers of LMDB; `nil` for a backend that keeps
    /// none. Snapshots of all stacks that share the engine are counted, but not the one of the statistics.
    public let readSessions: ReadSessions?
    /// The transactions of any client and the replication slots that prevent the store from removing earlier versions of its rows, the one with the oldest version
    /// first, without the snapshot of the statistics; `nil` for a backend that does not know them. PostgreSQL reports those that the user of the store may see.
    public let holders: [SnapshotHolder]?

    /// The number of all objects.
    public var objectCount: Int { objectCounts.values.reduce(0, +) }
}

extension StoreStatistics: CustomStringConvertible {
    /// The statistics as text.
    public var description: String {
        let counts = objectCounts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let others = (readSessions.map { ["\($0)"] } ?? []) + (holders ?? []).map { "held by the \($0)" }
        return (["version \(version), \(fileSize) bytes", counts.isEmpty ? "no objects" : counts] + others).joined(separator: "; ")
    }
}
