import CSQLite
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreSQLite

/// A temporary folder that is removed when the test ends.
final class Folder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-sqlite-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String = "test.sqlite") -> String { path + "/" + name }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

/// Every type, two unique attributes, relationships of all kinds.
enum Models {
    static func company() throws -> ResolvedSchema {
        let values = AttributeType.allCases.map {
            PropertyDescription.attribute(AttributeDescription(name: $0.rawValue, type: $0, isOptional: true))
        }
        return try ResolvedSchema(
            SchemaDescription(
                name: "company",
                entities: [
                    EntityDescription(
                        name: "Person",
                        properties: [
                            .attribute(AttributeDescription(name: "name", type: .string)),
                            .attribute(AttributeDescription(name: "email", type: .string, isOptional: true, isUnique: true)),
                            .attribute(AttributeDescription(name: "age", type: .int16, isOptional: true, isIndexed: true)),
                            .attribute(AttributeDescription(name: "score", type: .double, isOptional: true)),
                            .relationship(RelationshipDescription(name: "team", destination: "Team", isToMany: false, inverse: "members")),
                            .relationship(
                                RelationshipDescription(name: "friends", destination: "Person", isToMany: true, inverse: "friends")),
                            .relationship(RelationshipDescription(name: "skills", destination: "Skill", isToMany: true, inverse: "people")),
                        ],
                        indexes: [IndexDescription(fields: ["name", "age"], isUnique: true)]),
                    EntityDescription(
                        name: "Team",
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                            .relationship(RelationshipDescription(name: "members", destination: "Person", isToMany: true)),
                        ]),
                    EntityDescription(
                        name: "Skill",
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                            .relationship(RelationshipDescription(name: "people", destination: "Person", isToMany: true)),
                        ]),
                    EntityDescription(name: "Values", properties: values),
                ]))
    }

    static func single(_ entity: String, _ properties: [PropertyDescription]) throws -> ResolvedSchema {
        try ResolvedSchema(SchemaDescription(name: "single", entities: [EntityDescription(name: entity, properties: properties)]))
    }
}

/// A store in a folder, with shorthand methods for writing and reading.
struct Store {
    let schema: ResolvedSchema
    let backend: SQLiteBackend

    init(
        _ file: String, _ schema: ResolvedSchema, options: SQLiteOptions = SQLiteOptions(), configuration: String? = nil,
        logger: any StoreLogger = SilentLogger(), change: (StoreConfiguration) -> StoreConfiguration = { $0 }
    ) throws {
        self.schema = schema
        let opened = try change(.sqlite(file: file, options: options)).open(
            schema: schema, configurationName: configuration, logger: logger)
        backend = try #require(opened as? SQLiteBackend)
    }

    func entity(_ name: String) throws -> Entity { try #require(schema.entity(named: name)) }

    func field(_ entity: String, _ name: String) throws -> FieldReference {
        FieldReference(try #require(try self.entity(entity).field(named: name)))
    }

    @discardableResult
    func write(_ durability: Durability = .relaxed, _ body: (Changes) throws -> Void) throws -> UInt64 {
        let transaction = try backend.beginWrite()
        let changes = Changes(schema)
        try body(changes)
        try transaction.apply(changes.set)
        return try transaction.commit(durability)
    }

    func read<Result>(_ body: (any ReadTransaction) throws -> Result) throws -> Result {
        let transaction = try backend.beginRead()
        defer { transaction.end() }
        return try body(transaction)
    }

    func ids(_ request: FetchRequest) throws -> [Int64] { try read { try $0.ids(request) } }

    func values(_ entity: String, _ id: Int64) throws -> [String: Value]? { try read { try $0.values(try self.entity(entity), id) } }
}

extension ReadTransaction {
    func ids(_ request: FetchRequest) throws -> [Int64] {
        let cursor = try fetch(request)
        defer { cursor.close() }
        var ids: [Int64] = []
        while try cursor.next() { ids.append(cursor.id) }
        return ids
    }

    func values(_ entity: Entity, _ id: Int64) throws -> [String: Value]? {
        guard let record = try record(entity, id: id) else { return nil }
        var values: [String: Value] = [:]
        for field in entity.fields where !record.isNull(field.ordinal) { values[field.name] = record.value(field) }
        return values
    }
}

/// A change set that is built with names of entities and fields.
struct Changes {
    let set: ChangeSet

    init(_ schema: ResolvedSchema) { set = ChangeSet(schema) }

    func insert(_ entity: String, _ id: Int64, _ values: [String: Value] = [:]) throws {
        let entity = try #require(set.schema.entity(named: entity))
        try set.insert(entity, id: id) { builder in for field in entity.fields { try builder.set(field, values[field.name] ?? .null) } }
    }

    func update(_ entity: String, _ id: Int64, _ values: [String: Value]) throws {
        let entity = try #require(set.schema.entity(named: entity))
        var mask = FieldMask()
        for name in values.keys { mask.insert(try #require(entity.field(named: name)).ordinal) }
        try set.update(entity, id: id, mask: mask) { builder in
            for field in entity.fields where mask.contains(field.ordinal) { try builder.set(field, values[field.name] ?? .null) }
        }
    }

    func delete(_ entity: String, _ id: Int64) throws { set.delete(try #require(set.schema.entity(named: entity)), id: id) }
}

/// A connection to the file like that of any other program.
final class PlainSQL {
    private var handle: OpaquePointer?

    init(_ file: String) throws {
        let code = sqlite3_open(file, &handle)
        try #require(code == SQLITE_OK)
        sqlite3_busy_timeout(handle, 5000)
    }

    deinit { sqlite3_close(handle) }

    /// Returns every row, with its columns as text joined by a bar.
    @discardableResult
    func rows(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append(
                    (0..<sqlite3_column_count(statement)).map { sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? "NULL" }
                        .joined(separator: "|"))
            case SQLITE_DONE: return rows
            default:
                Issue.record("\(String(cString: sqlite3_errmsg(handle)))")
                return rows
            }
        }
    }
}

/// Expects a closure to throw, and returns its error.
func failure(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) throws -> StoreError {
    do { try body() } catch let error as StoreError { return error }
    Issue.record("Nothing was thrown.", sourceLocation: sourceLocation)
    throw StoreError(.misuse, "Nothing was thrown.")
}
