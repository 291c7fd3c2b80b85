package import PolyStoreBackend

/// A store whose writes lose or alter something, to test that a conversion notices it.
package final class AlteringStore: StorageBackend {
    package enum Defect: String, CaseIterable, Sendable {
        case losesObject, altersText, losesNull, losesLink, losesPosition, losesValue, altersEntry
    }

    private let inner: any StorageBackend
    private let defect: Defect

    private init(_ inner: any StorageBackend, _ defect: Defect) { (self.inner, self.defect) = (inner, defect) }

    /// Returns the configuration of the same store with a defect.
    package static func configuration(_ store: StoreConfiguration, _ defect: Defect) -> StoreConfiguration {
        StoreConfiguration(engine: store.engine, location: store.location, files: store.files) { request in
            var store = store
            store.conversion = request.conversion
            return AlteringStore(
                try store.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger), defect)
        }
    }

    package var capabilities: Capabilities { inner.capabilities }
    package var metadata: StoreMetadata { inner.metadata }
    package func beginRead() throws -> any ReadTransaction { try inner.beginRead() }
    package func beginWrite() throws -> any WriteTransaction { AlteringWriter(try inner.beginWrite(), defect) }
    package func close() throws { try inner.close() }
}

private final class AlteringWriter: RestoringTransaction {
    private let inner: any WriteTransaction
    private let defect: AlteringStore.Defect

    init(_ inner: any WriteTransaction, _ defect: AlteringStore.Defect) { (self.inner, self.defect) = (inner, defect) }

    // MARK: What is altered

    func apply(_ changes: ChangeSet) throws {
        let altered = ChangeSet(changes.schema)
        for change in changes.changes {
            let entity = changes.schema.entities[change.entity]
            if defect == .losesObject, entity.name == "Person", change.rowID == 4 { continue }
            let record = changes.record(change)
            try altered.insert(entity, rowID: change.rowID) { builder in
                for field in entity.fields {
                    if defect == .altersText, entity.name == "Tag", change.rowID == 3 {
                        builder.setText(field.index, "other")
                    } else if defect == .losesNull, entity.name == "Everything", change.rowID == 1, field.name == "code" {
                        builder.setText(field.index, "none")
                    } else {
                        builder.copy(field, from: record)
                    }
                }
            }
        }
        for link in changes.links {
            if defect == .losesLink, changes.schema.links[link.table].name == "Person_pets" { continue }
            let isLost = defect == .losesPosition && changes.schema.links[link.table].name == "Person_friends"
            altered.link(
                .init(
                    table: link.table, source: link.source, target: link.target, isAddition: link.isAddition,
                    targetPosition: isLost ? 1000 : link.targetPosition, sourcePosition: link.sourcePosition))
        }
        for value in changes.values where defect != .losesValue || value.name != "longest" {
            try altered.setValue(value.bytes, named: value.name)
        }
        try inner.apply(altered)
    }

    private func restoring() throws -> any RestoringTransaction {
        guard let inner = inner as? any RestoringTransaction else { throw StoreError(.unsupported, "no restoration") }
        return inner
    }

    func restoreLog(_ entries: [LogEntry]) throws {
        try restoring().restoreLog(
            defect == .altersEntry
                ? entries.map { LogEntry(position: $0.position, version: $0.version, bytes: $0.bytes + [0]) } : entries)
    }

    // MARK: What is passed on

    func restoreLogRemoval(through position: Int64) throws { try restoring().restoreLogRemoval(through: position) }
    func completeRestoration(version: UInt64, configurationName: String?) throws {
        try restoring().completeRestoration(version: version, configurationName: configurationName)
    }
    func nextRowID(_ entity: Entity) throws -> Int64 { try restoring().nextRowID(entity) }
    var version: UInt64 { get throws { try inner.version } }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try inner.record(entity, rowID: rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try inner.scan(request) }
    func count(_ request: FetchRequest) throws -> Int { try inner.count(request) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { try inner.related(relationship, of: sources) }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try inner.plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try inner.explain(request) }
    func value(named name: String) throws -> [UInt8]? { try inner.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try inner.valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try inner.logEntries(after: position, limit: limit) }
    func logBounds() throws -> LogBounds { try inner.logBounds() }
    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 { try inner.reserveIDs(entity, count: count) }
    func apply(_ sets: [ChangeSet], committing durability: Durability?) throws -> AppliedChangeSets {
        throw StoreError(.unsupported, "A conversion applies one change set at a time.")
    }
    func commit(_ durability: Durability) throws -> UInt64 { try inner.commit(durability) }
    func commitOutcome() throws -> CommitOutcome { try inner.commitOutcome() }
    func rollback() { inner.rollback() }
}
