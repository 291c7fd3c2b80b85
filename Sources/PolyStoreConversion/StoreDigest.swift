public import PolyStoreBackend
import PolyStoreRuns

/// A digest of the contents of a store: equal for stores with equal contents, whatever their backends.
///
/// It covers the schema, every object with its row id, every link with its positions, the recorded history and the named values. It does not cover the store id, the version of the
/// store, the configuration and the row ids that are reserved. It finds errors, not forgeries: its hashes are not cryptographic.
///
///     let digest = try StoreDigest(of: .sqlite(file: "company.sqlite"))
public struct StoreDigest: Sendable, Hashable {
    /// The digest of a part of a store.
    public struct Part: Sendable, Hashable {
        /// The name of the entity or of the link table.
        public let name: String
        /// The number of objects, of pairs, of entries or of values.
        public internal(set) var count = 0
        var hash = ContentHash()

        mutating func add(_ hash: ContentHash, count: Int = 1) {
            self.hash &+= hash
            self.count += count
        }
    }

    /// The `SchemaDescription.versionHash` of the schema.
    public let schemaHash: String
    /// The objects, by entity in the order of the names.
    public internal(set) var entities: [Part]
    /// The pairs of the link tables, in the order of the names.
    public internal(set) var links: [Part]
    /// The entries of the history.
    public internal(set) var history: Part
    /// The named values, including those of the framework.
    public internal(set) var namedValues: Part
    /// The size of the contents in bytes: records in the form of the contract, pairs with 24 bytes, log entries and named values.
    public internal(set) var byteCount = 0

    init(_ schema: ResolvedSchema) {
        schemaHash = schema.versionHash
        entities = schema.entitiesByName.map { Part(name: schema.entities[$0].name) }
        links = schema.linksByName.map { Part(name: schema.links[$0].name) }
        history = Part(name: "history")
        namedValues = Part(name: "values")
    }

    /// The number of all objects.
    public var objectCount: Int { entities.reduce(0) { $0 + $1.count } }
    /// The number of all pairs of link tables.
    public var linkCount: Int { links.reduce(0) { $0 + $1.count } }

    public static func == (left: StoreDigest, right: StoreDigest) -> Bool {
        left.schemaHash == right.schemaHash && left.entities == right.entities && left.links == right.links && left.history == right.history
            && left.namedValues == right.namedValues
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(schemaHash)
        hasher.combine(entities)
    }

    /// The sum of all hashes.
    var sum: ContentHash {
        var sum = ContentHash()
        for part in entities + links + [history, namedValues] { sum &+= part.hash }
        return sum
    }
}

extension StoreDigest: CustomStringConvertible {
    /// 48 hexadecimal digits: the hash of the schema, and the hash of the contents.
    public var description: String {
        let digits = { (word: UInt64) in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return schemaHash + digits(sum.high) + digits(sum.low)
    }
}

extension StoreDigest {
    /// Computes the digest of the newest version of an open store, in one snapshot.
    /// - Parameters:
    ///   - backend: The store.
    ///   - progress: Called often on the caller's thread. An error that it throws ends the computation.
    /// - Throws: `corrupt`, `io`, `closed`, and the errors of `progress`.
    public init(of backend: any StorageBackend, progress: @escaping (ConversionProgress) throws -> Void = { _ in }) throws {
        let reader = try backend.beginRead()
        defer { reader.end() }
        let schema = try ResolvedSchema(backend.metadata.schema)
        let pass = try StorePass(reader, schema, backend.capabilities, activity: .verifying, progress: progress)
        try pass.run()
        self = pass.digest
    }

    /// Computes the digest of the newest version of a store, with the schema that it keeps. The store is opened read-only.
    /// - Throws: `io` if the store does not exist, the errors of opening it, and those of ``init(of:progress:)-(StorageBackend,_)``.
    public init(
        of store: StoreConfiguration, logger: any StoreLogger = StandardErrorLogger(),
        progress: @escaping (ConversionProgress) throws -> Void = { _ in }
    ) throws {
        let opened = try ConversionSource(store, logger)
        defer { opened.close() }
        try self.init(of: opened.backend, progress: progress)
    }
}
