import PolyStoreBackend

/// An open store with convenience methods for cases.
final class TestStore: Sendable {
    let run: ConformanceRun
    let schema: ResolvedSchema
    let backend: any StorageBackend

    init(run: ConformanceRun, schema: ResolvedSchema, backend: any StorageBackend) {
        self.run = run
        self.schema = schema
        self.backend = backend
    }

    /// A case closes its stores explicitly where that is relevant.
    deinit { try? backend.close() }

    func entity(_ name: String) throws -> Entity {
        guard let entity = schema.entity(named: name) else { throw run.fail("the case names the unknown entity \(name)") }
        return entity
    }

    /// Returns an attribute or a to-one relationship, for conditions and sort orders.
    func field(_ entity: String, _ name: String) throws -> FieldReference {
        guard let field = try self.entity(entity).field(named: name) else { throw run.fail("the case names the unknown field \(name)") }
        return FieldReference(field)
    }

    /// Runs a write transaction and commits the changes that `body` applies.
    @discardableResult
    func write<T>(_ durability: Durability = .full, _ body: (any WriteTransaction) throws -> T) throws -> T {
        let transaction = try backend.beginWrite()
        do {
            let result = try body(transaction)
            _ = try transaction.commit(durability)
            return result
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Runs a read transaction.
    func read<T>(_ body: (any ReadTransaction) throws -> T) throws -> T {
        let transaction = try backend.beginRead()
        defer { transaction.end() }
        return try body(transaction)
    }

    /// Applies and commits a change set.
    func change(_ body: (ChangeSet) throws -> Void) throws {
        let changes = ChangeSet(schema)
        try body(changes)
        try write { try $0.apply(changes) }
    }

    /// Inserts rows with the ids 1, 2, …; each row contains a value per field.
    func insert(_ name: String, _ rows: [[Value]]) throws {
        let entity = try entity(name)
        try change { changes in
            for (index, row) in rows.enumerated() { try changes.insert(entity, rowID: Int64(index + 1), row) }
        }
    }

    /// Returns the values of an object, from a separate transaction.
    func row(_ name: String, _ id: Int64) throws -> [Value]? { try read { try $0.row(try entity(name), id) } }

    /// Returns the ids that a request selects, in order.
    func ids(_ request: FetchRequest) throws -> [Int64] { try read { try $0.ids(request) } }
}
