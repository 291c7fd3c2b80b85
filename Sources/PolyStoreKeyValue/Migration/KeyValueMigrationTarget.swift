import PolyStoreBackend

/// One batch of writes to the target store of a running migration.
final class KeyValueMigrationTarget: WriteTransaction {
    let batch: KeyValueWriteTransaction
    private let change: SchemaChange
    private let overlay: MigrationOverlay
    private let traits: EngineTraits
    /// The size in bytes of the applied records.
    private var byteCount = 0
    /// The maximum size of a batch in bytes. A batch is kept in memory until its commit, because the engine may have to make room and repeat it.
    private static let largestBatch = 1 << 30

    init(_ batch: KeyValueWriteTransaction, _ change: SchemaChange, _ overlay: MigrationOverlay, _ traits: EngineTraits) {
        self.batch = batch
        self.change = change
        self.overlay = overlay
        self.traits = traits
    }

    // MARK: Reading

    var version: UInt64 { batch.version + 1 }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try batch.record(entity, rowID: rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try batch.scan(request) }
    func count(_ request: FetchRequest) throws -> Int { try batch.count(request) }
    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? { try batch.scanGroups(request) }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try batch.plan(request) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try batch.related(relationship, of: sources)
    }

    func value(named name: String) throws -> [UInt8]? {
        try NamedValue.check(name: name)
        return try overlay.value(named: name) { try batch.value(named: name) }
    }

    func valueNames(prefix: String) throws -> [String] { overlay.names(prefix: prefix, try batch.valueNames(prefix: prefix)) }

    func logBounds() throws -> LogBounds { overlay.log(try batch.logBounds(), version: version).bounds }

    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        let (bounds, added) = overlay.log(try batch.logBounds(), version: version)
        let stored = try batch.logEntries(after: max(position, bounds.removedThrough), limit: limit)
        return Array((stored + added.filter { $0.position > position }).prefix(max(limit, 0)))
    }

    // MARK: Writing

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 {
        // For carried entities as well: row ids that a migration reserves and does not use are lost, as in any transaction.
        try batch.reserveIDs(entity, count: count)
    }

    func apply(_ changes: ChangeSet) throws {
        for entity in Set(changes.changes.lazy.map(\.entity)) {
            guard change.entities.indices.contains(entity), case .empty = change.entities[entity] else {
                throw carried(change.target.entities.indices.contains(entity) ? change.target.entities[entity].name : "An unknown entity")
            }
        }
        for table in Set(changes.links.lazy.map(\.table)) {
            guard change.links.indices.contains(table), case .empty = change.links[table] else {
                throw carried(change.target.links.indices.contains(table) ? change.target.links[table].name : "An unknown relationship")
            }
        }
        guard byteCount + changes.byteCount <= Self.largestBatch else { throw tooLarge(nil) }
        do { try batch.apply(changes) } catch let error as StoreError where error.code == .full { throw tooLarge(error) }
        byteCount += changes.byteCount
        overlay.add(changes)
    }

    private func carried(_ name: String) -> StoreError {
        StoreError(
            .misuse,
            "\(name) is carried over by the migration \(change.identifier), which cannot change it meanwhile. Change it after the migration, or map its "
                + "objects one by one.", entity: name)
    }

    private func tooLarge(_ error: StoreError?) -> StoreError {
        var advised = error ?? StoreError(.full, "The migration \(change.identifier) has applied more than 1 GiB in one batch.")
        advised.message += " Call save(_:) of the migration more often."
        return advised
    }

    /// Throws `misuse`: the migration commits its batches.
    func commit(_ durability: Durability) throws -> UInt64 {
        throw StoreError(.misuse, "The target of a migration is not committed. Call save(_:) or commit() of the migration.")
    }

    /// Has no effect: the migration ends its batches.
    func rollback() {}
}
