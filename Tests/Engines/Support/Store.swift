internal import Foundation
package import PolyStoreBackend
import PolyStoreQuery
internal import PolyStoreSearch

/// A store with shorthand methods for writing and reading.
package struct Store: Sendable {
    package let schema: ResolvedSchema
    package let backend: any StorageBackend

    package init(
        _ configuration: StoreConfiguration, _ schema: ResolvedSchema, name: String? = nil, logger: any StoreLogger = SilentLogger()
    ) throws {
        self.schema = schema
        backend = try configuration.open(schema: schema, configurationName: name, logger: logger)
    }

    package init(_ backend: any StorageBackend, _ schema: ResolvedSchema) {
        self.schema = schema
        self.backend = backend
    }

    package func entity(_ name: String) throws -> Entity {
        guard let entity = schema.entity(named: name) else { throw StoreError(.misuse, "Unknown entity \(name).") }
        return entity
    }

    package func field(_ entity: String, _ name: String) throws -> FieldReference {
        guard let field = try self.entity(entity).field(named: name) else { throw StoreError(.misuse, "Unknown field \(name).") }
        return FieldReference(field)
    }

    package func relationship(_ entity: String, _ name: String) throws -> Relationship {
        guard let found = try self.entity(entity).relationship(named: name) else {
            throw StoreError(.misuse, "Unknown relationship \(name).")
        }
        return found
    }

    @discardableResult
    package func write(_ durability: Durability = .relaxed, _ body: (Changes) throws -> Void) throws -> UInt64 {
        let transaction = try backend.beginWrite()
        defer { transaction.rollback() }
        let changes = Changes(schema)
        try body(changes)
        try transaction.apply(changes.set)
        return try transaction.commit(durability)
    }

    package func read<Result>(_ body: (any ReadTransaction) throws -> Result) throws -> Result {
        let transaction = try backend.beginRead()
        defer { transaction.end() }
        return try body(transaction)
    }

    /// Waits until the full-text indexes, which may be built in the background, are complete.
    /// - Returns: Whether one of them was incomplete.
    /// - Throws: `timedOut` after five minutes.
    @discardableResult
    package func waitForSearchIndexes() throws -> Bool {
        let end = ContinuousClock.now + .seconds(300)
        var hasWaited = false
        for entity in schema.entities {
            for index in entity.searchIndexes {
                let condition = try SearchCondition(Search("any"), in: index, of: entity)
                while try read({ try $0.searchStatistics(condition) }) == nil {
                    guard ContinuousClock.now < end else {
                        throw StoreError(.timedOut, "The index \(index.plainName) is not complete after five minutes.")
                    }
                    hasWaited = true
                    usleep(2000)
                }
            }
        }
        return hasWaited
    }

    package func ids(_ request: FetchRequest) throws -> [Int64] { try read { try $0.ids(request) } }
    package func ids(_ entity: String, _ predicate: QueryPredicate = .all) throws -> [Int64] {
        try ids(FetchRequest(try self.entity(entity), predicate: predicate))
    }

    package func values(_ entity: String, _ id: Int64) throws -> [String: Value]? {
        try read { try $0.values(try self.entity(entity), id) }
    }

    /// Commits notes in one transaction.
    package func addNotes(_ ids: ClosedRange<Int64>, size: Int, _ durability: Durability = .relaxed) throws {
        try write(durability) { changes in for id in ids { try changes.insert("Note", id, Notes.values(id, size: size)) } }
    }

    /// Returns the ids of all notes. Throws if the values of a note differ from those written.
    package func wholeNotes() throws -> [Int64] {
        try read { transaction in
            let entity = try entity("Note")
            return try transaction.ids(FetchRequest(entity)).map { id in
                let values = try transaction.values(entity, id)
                guard case .blob(let body)? = values?["body"], body == Notes.body(id, size: body.count),
                    values?["title"] == .text("note \(id)")
                else { throw StoreError(.corrupt, "Note \(id) is torn.") }
                return id
            }
        }
    }
}

extension ReadTransaction {
    package func ids(_ request: FetchRequest) throws -> [Int64] {
        let cursor = try fetch(request)
        defer { cursor.close() }
        var ids: [Int64] = []
        while try cursor.next() { ids.append(cursor.rowID) }
        return ids
    }

    package func values(_ entity: Entity, _ id: Int64) throws -> [String: Value]? {
        guard let record = try record(entity, rowID: id) else { return nil }
        var values: [String: Value] = [:]
        for field in entity.fields where !record.isNull(field.index) { values[field.name] = record.value(field) }
        return values
    }
}
