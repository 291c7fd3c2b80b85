import PolyStoreBackend

/// The target store of a running migration: a write transaction that rejects changes to migrated records and that only the migration ends.
final class MigrationTarget: WriteTransaction {
    private let transaction: PostgreSQLWriteTransaction
    private let change: SchemaChange

    init(_ transaction: PostgreSQLWriteTransaction, _ change: SchemaChange) {
        self.transaction = transaction
        self.change = change
    }

    var version: UInt64 { get throws { try transaction.version } }
    var interruption: Interruption? {
        get { transaction.interruption }
        set { transaction.interruption = newValue }
    }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try transaction.record(entity, rowID: rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try transaction.scan(request) }
    func count(_ request: FetchRequest) throws -> Int { try transaction.count(request) }
    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? { try transaction.scanGroups(request) }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try transaction.plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try transaction.explain(request) }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try transaction.related(relationship, of: sources)
    }

    func value(named name: String) throws -> [UInt8]? { try transaction.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try transaction.valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try transaction.logEntries(after: position, limit: limit) }
    func logBounds() throws -> LogBounds { try transaction.logBounds() }
    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 { try transaction.reserveIDs(entity, count: count) }

    func apply(_ changes: ChangeSet) throws {
        for part in changes.changes {
            guard change.entities.indices.contains(part.entity), case .carried = change.entities[part.entity] else { continue }
            let name = change.target.entities[part.entity].name
            throw StoreError(
                .misuse,
                "\(name) \(part.rowID) cannot be changed: the migration \(change.identifier) carries the records of \(name) over. "
                    + "Declare the entity empty in the schema change, and insert its records.", entity: name, rowID: part.rowID)
        }
        for part in changes.links {
            guard change.links.indices.contains(part.table), case .carried = change.links[part.table] else { continue }
            throw StoreError(
                .misuse,
                "The links of \(change.target.links[part.table].name) cannot be changed: the migration \(change.identifier) carries them over. Declare the link table "
                    + "empty in the schema change, and add its links.")
        }
        try transaction.apply(changes)
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        throw StoreError(.misuse, "The transaction of the migration \(change.identifier) cannot be committed. Commit the migration.")
    }

    /// Has no effect: the migration ends the transaction.
    func rollback() {}
}
