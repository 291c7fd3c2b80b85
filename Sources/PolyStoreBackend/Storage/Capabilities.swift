/// The features and limits of a backend. The conformance suite checks that declared features work and that undeclared ones throw `unsupported`.
public struct Capabilities: Sendable, Hashable {
    /// An optional feature of a backend. A struct, so that features can be added.
    public struct Feature: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// The name of the feature.
        public let description: String
        /// Creates a feature with a name.
        public init(_ name: String) { description = name }

        public static func < (left: Feature, right: Feature) -> Bool { left.description < right.description }

        /// Data persists after `close` and a new `open`.
        public static let persistence = Feature("persistence")
        /// Several processes may have the store open at the same time.
        public static let multiProcess = Feature("multiProcess")
        /// The store can be opened read-only.
        public static let readOnlyOpen = Feature("readOnlyOpen")
        /// Commits with ``Durability/full`` are durable.
        public static let fullDurability = Feature("fullDurability")
        /// Readers continue while a transaction writes.
        public static let concurrentReaders = Feature("concurrentReaders")
        /// The query plan names an index for every query that an index can serve: equality, ranges, prefixes, IN, OR, order.
        public static let plannedIndexes = Feature("plannedIndexes")
        /// A write transaction may be used from several threads, one at a time. Without this feature all its calls come from one thread.
        public static let transferableWriter = Feature("transferableWriter")
        /// ``StorageBackend/verify()`` checks as many bytes as the engine permits.
        public static let verification = Feature("verification")
        /// The store keeps named values: ``ChangeSet/setValue(_:named:)``, ``ReadTransaction/value(named:)``.
        public static let namedValues = Feature("namedValues")
        /// The store keeps a change log: ``ChangeSet/appendLogEntry(_:)``, ``ReadTransaction/logEntries(after:limit:)``.
        public static let changeLog = Feature("changeLog")
        /// The store can be migrated to another schema: ``StorageBackend/beginMigration(_:)``.
        public static let migration = Feature("migration")
        /// The store can be copied while it is in use: ``StorageBackend/copy(to:)``.
        public static let copying = Feature("copying")
        /// The store can release unused disk space while it is in use: ``StorageBackend/compact()``.
        public static let compaction = Feature("compaction")
        /// A snapshot must not be kept open for long, because it holds a connection of a server and keeps the server from cleaning up.
        ///
        /// The object layer then ends a snapshot of a context that has not been read for a while or that another context needs, and begins a new one at the next access; see
        /// ``ReadTransaction/end()``, which may be called on another thread than the one that has read.
        public static let shortSnapshots = Feature("shortSnapshots")
        /// A change set is refused if one of its ``ChangeSet/requiredObjects`` does not exist when it has been applied.
        ///
        /// For backends that wait for a server: the check is part of the request that writes. Without this feature, the object layer reads the objects before.
        public static let requiredObjects = Feature("requiredObjects")
        /// The store maintains the full-text indexes of its schema, and executes searches by them: ``ReadTransaction/search(_:)``.
        ///
        /// Without this feature the shared executor searches the texts of the records. Results are the same.
        public static let searchIndexes = Feature("searchIndexes")
    }

    /// The supported features.
    public var features: Set<Feature>
    /// The maximum size of a text or data value, in bytes.
    public var largestValue: Int
    /// The supported durability levels. A commit with a level that is not listed uses the next stronger one.
    public var durabilities: Set<Durability>
    /// A Boolean value that indicates whether a call waits for the response of a server. The default is `false`.
    ///
    /// The object layer then reads related objects with one call before they are used. Once a loop has read the members of a to-many relationship of two objects, it
    /// reads those of up to 1,000 loaded objects, fewer if the lists are long, and the objects of up to 20,000 members, which stay in memory until the next such
    /// call. Faults and targets of to-one relationships are read together in the same way. A snapshot keeps up to 4 MiB of the records that it reads by row id. Residual
    /// conditions, orders, selections and groups over relationships are evaluated in blocks of up to 1,000 rows.
    public var waitsForServer = false
    /// The number of snapshots that can be open at the same time, such as the limit of a pool of connections; `nil`, the default, for no limit.
    ///
    /// With the feature ``Feature/shortSnapshots``, a stack ends the snapshots of contexts that are not being read before it begins more. The snapshots of running reads remain,
    /// so the backend waits for the end of one or throws `busy` if all are in use. A thread that reads a context within a read of another one needs two.
    public var mostSnapshots: Int?

    /// Creates a description of a backend.
    public init(features: Set<Feature>, largestValue: Int = Int(Int32.max), durabilities: Set<Durability> = [.full, .relaxed]) {
        self.features = features
        self.largestValue = largestValue
        self.durabilities = durabilities
    }

    /// Returns whether a feature is supported. The short form of `features.contains(_:)`.
    public func has(_ feature: Feature) -> Bool { features.contains(feature) }
}
