import EngineTestSupport
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue

/// People in cities, with every kind of index and relationship.
enum Company {
    static func description(_ extra: [PropertyDescription] = []) -> SchemaDescription {
        func attribute(_ name: String, _ type: AttributeType, unique: Bool = false, indexed: Bool = false) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: true, isUnique: unique, isIndexed: indexed))
        }
        return SchemaDescription(
            name: "company",
            entities: [
                EntityDescription(
                    name: "Person",
                    properties: [
                        attribute("name", .string, indexed: true), attribute("email", .string, unique: true),
                        attribute("age", .int64, indexed: true), attribute("city", .string), attribute("score", .double),
                        attribute("photo", .data),
                        .relationship(RelationshipDescription(name: "team", destination: "Team", isToMany: false, inverse: "members")),
                        .relationship(RelationshipDescription(name: "friends", destination: "Person", isToMany: true, inverse: "friends")),
                        .relationship(RelationshipDescription(name: "skills", destination: "Skill", isToMany: true, inverse: "people")),
                    ] + extra, indexes: [IndexDescription(fields: ["city", "age"])]),
                EntityDescription(
                    name: "Team",
                    properties: [
                        attribute("title", .string),
                        .relationship(RelationshipDescription(name: "members", destination: "Person", isToMany: true)),
                    ]),
                EntityDescription(
                    name: "Skill",
                    properties: [
                        attribute("title", .string),
                        .relationship(RelationshipDescription(name: "people", destination: "Person", isToMany: true)),
                    ]),
            ])
    }

    static func schema() throws -> ResolvedSchema { try ResolvedSchema(description()) }

    static func person(_ id: Int64) -> [String: Value] {
        [
            "name": .text("name \(id % 50)"), "email": .text("\(id)@example.com"), "age": id % 7 == 0 ? .null : .integer(id % 90),
            "city": .text(["Oslo", "Rome", "Bonn"][Int(id % 3)]), "score": .real(Double(id) / 8), "team": .integer(id % 2 + 1),
        ]
    }

    /// Inserts people, two teams, two skills, and links.
    static func fill(_ store: Store, _ count: Int64) throws {
        try store.write { changes in
            for id in 1...count { try changes.insert("Person", id, person(id)) }
            for id in Int64(1)...2 {
                try changes.insert("Team", id, ["title": .text("team \(id)")])
                try changes.insert("Skill", id, ["title": .text("skill \(id)")])
            }
            for table in store.schema.links {
                for id in Int64(1)...2 { changes.link(table.index, id, table.isSymmetric ? 3 - id : id) }
            }
        }
    }
}

/// A store in an engine that outlives it.
struct Opened {
    let engine: TestEngine
    let store: Store
    let backend: KeyValueBackend
    var layout: StoreLayout { backend.layout }

    init(
        _ engine: TestEngine = TestEngine(), _ schema: ResolvedSchema? = nil, configuration: String? = nil, isReadOnly: Bool = false,
        resets: Bool = false, keepsMigration: Bool = false, logger: any StoreLogger = SilentLogger()
    ) throws {
        self.engine = engine
        let schema = try schema ?? Company.schema()
        var request = OpenRequest(
            schema: schema, configurationName: configuration, isReadOnly: isReadOnly, resetsOnModelMismatch: resets, logger: logger)
        request.keepsInterruptedMigration = keepsMigration
        backend = try KeyValueBackend(EngineHandle(private: engine), request)
        store = Store(backend, schema)
    }

    /// Returns the key of a record.
    func record(_ entity: String, _ id: Int64) throws -> [UInt8] {
        KeyWriter().recordBytes(layout.number(of: try store.entity(entity)), id)
    }

    func index(_ name: String) throws -> KeyIndex { try #require(layout.indexes.flatMap { $0 }.first { $0.index.name == name }) }

    /// Returns the key of an object's entry in an index.
    func entry(_ name: String, _ id: Int64) throws -> [UInt8] {
        let index = try index(name)
        return try store.read { transaction in
            let record = try #require(try transaction.record(index.entity, id: id))
            let keys = KeyWriter()
            index.key(record, id, keys)
            return keys.bytes
        }
    }

    func state(_ name: String) throws -> IndexState? {
        let key = Keyspace.Metadata.indexState.key(try index(name).number)
        return engine[key].flatMap { $0.withUnsafeBytes { IndexState($0) } }
    }
}

/// A generator with a seed, so that a failure can be repeated.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
