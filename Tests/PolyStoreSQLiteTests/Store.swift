import CSQLite
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreSQLite

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
