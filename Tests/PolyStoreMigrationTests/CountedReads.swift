import PolyStoreBackend
import PolyStoreCore

/// What the snapshots of a store have read, before and during a migration.
final class ReadCounter: Sendable {
    private let counts = Protected((rows: 0, records: 0))

    /// The number of rows that cursors returned, and of targets of relationships.
    var rows: Int { counts.withLock { $0.rows } }
    /// The number of whole records that were read by their row ids.
    var records: Int { counts.withLock { $0.records } }

    fileprivate func addRows(_ count: Int) { counts.withLock { $0.rows += count } }
    fileprivate func addRecord() { counts.withLock { $0.records += 1 } }
}

extension StoreConfiguration {
    /// Returns the same store with its reads counted, except for those of write transactions.
    func counting(_ counter: ReadCounter) -> StoreConfiguration {
        let inner = self
        return StoreConfiguration(engine: engine, location: location, isShared: isShared) { request in
            var configuration = inner
            configuration.isReadOnly = request.isReadOnly
            return CountingBackend(
                try configuration.open(
                    schema: request.schema, configurationName: request.configurationName, logger: request.logger,
                    keepsInterruptedMigration: request.keepsInterruptedMigration), counter)
        }
    }
}

private final class CountingBackend: StorageBackend {
    let inner: any StorageBackend
    let counter: ReadCounter
    var capabilities: Capabilities { inner.capabilities }
    var metadata: StoreMetadata { inner.metadata }

    init(_ inner: any StorageBackend, _ counter: ReadCounter) { (self.inner, self.counter) = (inner, counter) }

    func beginRead() throws -> any ReadTransaction { CountingReader(try inner.beginRead(), counter) }
    func beginWrite() throws -> any WriteTransaction { try inner.beginWrite() }
    func beginMigration(_ change: SchemaChange) throws -> any StoreMigration {
        CountingMigration(try inner.beginMigration(change), counter)
    }
    func verify(reporting report: MaintenanceReport) throws -> [String] { try inner.verify(reporting: report) }
    func close() throws { try inner.close() }
}

private final class CountingMigration: StoreMigration {
    let inner: any StoreMigration
    let counter: ReadCounter
    var source: any ReadTransaction { CountingReader(inner.source, counter) }
    var target: any WriteTransaction { inner.target }
    var savedPosition: [UInt8]? { inner.savedPosition }

    init(_ inner: any StoreMigration, _ counter: ReadCounter) { (self.inner, self.counter) = (inner, counter) }

    func save(_ position: [UInt8]) throws { try inner.save(position) }
    func commit() throws { try inner.commit() }
    func rollback() { inner.rollback() }
}

private final class CountingReader: ReadTransaction {
    let inner: any ReadTransaction
    let counter: ReadCounter

    init(_ inner: any ReadTransaction, _ counter: ReadCounter) { (self.inner, self.counter) = (inner, counter) }

    var version: UInt64 { get throws { try inner.version } }
    var interruption: Interruption? {
        get { inner.interruption }
        set { inner.interruption = newValue }
    }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        counter.addRecord()
        return try inner.record(entity, rowID: rowID)
    }
    func scan(_ request: FetchRequest) throws -> Scan {
        let scan = try inner.scan(request)
        return Scan(CountingCursor(scan.cursor, request.entity, counter), residual: scan.residual)
    }
    func search(_ request: SearchRequest) throws -> SearchHits? { try inner.search(request) }
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { try inner.searchStatistics(condition) }
    func count(_ request: FetchRequest) throws -> Int { try inner.count(request) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        let found = try inner.related(relationship, of: sources)
        counter.addRows(sources.reduce(0) { $0 + found[$1].count })
        return found
    }
    func value(named name: String) throws -> [UInt8]? { try inner.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try inner.valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try inner.logEntries(after: position, limit: limit) }
    func logBounds() throws -> LogBounds { try inner.logBounds() }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try inner.plan(request) }
    func end() { inner.end() }
}

private final class CountingCursor: RecordCursor {
    private let inner: RecordCursor
    private let counter: ReadCounter

    init(_ inner: RecordCursor, _ entity: Entity, _ counter: ReadCounter) {
        (self.inner, self.counter) = (inner, counter)
        super.init(layout: entity.layout)
    }

    override func next() throws -> Bool {
        guard try inner.next() else { return false }
        counter.addRows(1)
        setCurrent(inner.rowID, inner.record)
        return true
    }
    override func close() { inner.close() }
}
