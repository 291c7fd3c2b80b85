/// What a backend claims. The conformance suite tests both ways: what is claimed works, what is not throws `unsupported`.
public struct Capabilities: Sendable, Hashable {
    /// One thing that a backend can or cannot do. A struct, so that more can be added.
    public struct Feature: Sendable, Hashable, Comparable, CustomStringConvertible {
        public let description: String
        public init(_ name: String) { description = name }

        public static func < (left: Feature, right: Feature) -> Bool { left.description < right.description }

        /// Data is still there after `close` and a new `open`.
        public static let persistence = Feature("persistence")
        /// A second process may have the store open at the same time.
        public static let multiProcess = Feature("multiProcess")
        /// The store can be opened for reading only.
        public static let readOnlyOpen = Feature("readOnlyOpen")
        /// ``Durability/full`` is kept.
        public static let fullDurability = Feature("fullDurability")
        /// Readers go on while a writer writes.
        public static let concurrentReaders = Feature("concurrentReaders")
        /// The plan names an index wherever one serves: equality, ranges, prefixes, IN, OR, order.
        public static let plannedIndexes = Feature("plannedIndexes")
        /// A write transaction may go from thread to thread, as long as one at a time uses it. Without it all its calls come from one.
        public static let transferableWriter = Feature("transferableWriter")
        /// ``StorageBackend/verify()`` looks at every byte it can.
        public static let verification = Feature("verification")
        /// The store keeps named values: ``ChangeSet/setValue(_:named:)``, ``ReadTransaction/value(named:)``.
        public static let namedValues = Feature("namedValues")
        /// The store keeps a change log: ``ChangeSet/appendLogEntry(_:)``, ``ReadTransaction/logEntries(after:limit:)``.
        public static let changeLog = Feature("changeLog")
    }

    public var features: Set<Feature>
    /// The longest text or data, in bytes.
    public var largestValue: Int
    /// Durabilities that differ; asking for one that is not listed gets the next stronger one.
    public var durabilities: Set<Durability>

    public init(features: Set<Feature>, largestValue: Int = Int(Int32.max), durabilities: Set<Durability> = [.full, .relaxed]) {
        self.features = features
        self.largestValue = largestValue
        self.durabilities = durabilities
    }

    public func has(_ feature: Feature) -> Bool { features.contains(feature) }
}
