package import PolyStoreBackend
import PolyStoreQuery

/// The model of most engine tests: an entity with an index, a unique attribute and a data attribute of any size.
package enum Notes {
    package static func schema(_ name: String = "Note") throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "notes",
                entities: [
                    EntityDescription(
                        name: name,
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isOptional: true, isUnique: true)),
                            .attribute(AttributeDescription(name: "size", type: .int64, isOptional: true, isIndexed: true)),
                            .attribute(AttributeDescription(name: "body", type: .data, isOptional: true)),
                        ])
                ]))
    }

    /// Returns the values of a note. Every byte follows from its id.
    package static func values(_ id: Int64, size: Int) -> [String: Value] {
        ["title": .text("note \(id)"), "size": .integer(Int64(size)), "body": .blob(body(id, size: size))]
    }

    package static func body(_ id: Int64, size: Int) -> [UInt8] {
        var state = UInt64(bitPattern: id) &* 0x9e37_79b9_7f4a_7c15 | 1
        let block: [UInt8] = (0..<251).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        var body: [UInt8] = []
        body.reserveCapacity(size + block.count)
        while body.count < size { body += block }
        body.removeLast(body.count - size)
        return body
    }
}

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
        guard let entity = schema.entity(named: name) else { throw StoreError(.misuse, "There is no entity \(name).") }
        return entity
    }

    package func field(_ entity: String, _ name: String) throws -> FieldReference {
        guard let field = try self.entity(entity).field(named: name) else { throw StoreError(.misuse, "There is no field \(name).") }
        return FieldReference(field)
    }

    package func relationship(_ entity: String, _ name: String) throws -> Relationship {
        guard let found = try self.entity(entity).relationship(named: name) else {
            throw StoreError(.misuse, "There is no relationship \(name).")
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
        while try cursor.next() { ids.append(cursor.id) }
        return ids
    }

    package func values(_ entity: Entity, _ id: Int64) throws -> [String: Value]? {
        guard let record = try record(entity, id: id) else { return nil }
        var values: [String: Value] = [:]
        for field in entity.fields where !record.isNull(field.ordinal) { values[field.name] = record.value(field) }
        return values
    }
}

/// A change set that is built with names of entities and fields.
package struct Changes {
    package let set: ChangeSet

    package init(_ schema: ResolvedSchema) { set = ChangeSet(schema) }

    private func entity(_ name: String) throws -> Entity {
        guard let entity = set.schema.entity(named: name) else { throw StoreError(.misuse, "There is no entity \(name).") }
        return entity
    }

    package func insert(_ entity: String, _ id: Int64, _ values: [String: Value] = [:]) throws {
        let entity = try self.entity(entity)
        try set.insert(entity, id: id) { builder in for field in entity.fields { try builder.set(field, values[field.name] ?? .null) } }
    }

    package func update(_ entity: String, _ id: Int64, _ values: [String: Value]) throws {
        let entity = try self.entity(entity)
        var mask = FieldMask()
        for field in entity.fields where values[field.name] != nil { mask.insert(field.ordinal) }
        try set.update(entity, id: id, mask: mask) { builder in
            for field in entity.fields where mask.contains(field.ordinal) { try builder.set(field, values[field.name] ?? .null) }
        }
    }

    package func delete(_ entity: String, _ id: Int64) throws { set.delete(try self.entity(entity), id: id) }

    package func link(_ table: Int, _ source: Int64, _ target: Int64, isAddition: Bool = true) {
        set.link(ChangeSet.LinkChange(table: table, source: source, target: target, isAddition: isAddition))
    }
}

/// Returns the error that a closure throws, or nil.
package func failure(_ body: () throws -> Void) -> StoreError? {
    do { try body() } catch let error as StoreError { return error } catch { return StoreError(.io, "No StoreError: \(error)") }
    return nil
}
