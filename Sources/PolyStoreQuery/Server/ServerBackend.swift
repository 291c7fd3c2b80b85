import PolyStoreBackend
import Synchronization

extension StorageBackend {
    /// The backend with reads that send few calls if each call waits for a server; otherwise the backend itself.
    package var readingAhead: any StorageBackend { capabilities.waitsForServer ? ServerBackend(self) : self }
}

/// A backend whose calls wait for a server. Its snapshots keep the records that were read by row id.
private final class ServerBackend: StorageBackend {
    private let inner: any StorageBackend
    /// A Boolean value that indicates whether the server evaluates lists of row ids or has small tables.
    private let findsRowIDs = FindsRowIDs()

    init(_ inner: any StorageBackend) { self.inner = inner }

    var capabilities: Capabilities { inner.capabilities }
    var metadata: StoreMetadata { inner.metadata }
    var commitFiles: [String] { inner.commitFiles }
    var readSessions: ReadSessions? { inner.readSessions }

    func beginRead() throws -> any ReadTransaction { ServerSnapshot(try inner.beginRead(), findsRowIDs) }
    func beginWrite() throws -> any WriteTransaction { ServerWriter(try inner.beginWrite(), findsRowIDs) }
    func announceCommits(to handler: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? { inner.announceCommits(to: handler) }
    func close() throws { try inner.close() }
    func verify(reporting report: MaintenanceReport) throws -> [String] { try inner.verify(reporting: report) }
    func beginMigration(_ change: SchemaChange) throws -> any StoreMigration { try inner.beginMigration(change) }
    func copy(to location: String, reporting report: MaintenanceReport) throws { try inner.copy(to: location, reporting: report) }
    func compact() throws { try inner.compact() }
}

/// Whether reading many records by a list of row ids is worth it, shared by the snapshots of a store.
final class FindsRowIDs: Sendable {
    private let isRefuted = Atomic<Bool>(false)
    /// A Boolean value that is false once a scan of a list of row ids has returned many rows that are not in the list.
    var isLikely: Bool { !isRefuted.load(ordering: .relaxed) }
    /// Called if a scan of a list of row ids reads the table.
    func refute() { isRefuted.store(true, ordering: .relaxed) }
}

/// A source of related objects that may read them from a server.
package protocol ServerRecords: RelatedRecords {
    /// The snapshot on a server that the records are read from; nil if they are not read from a server.
    var server: ServerSnapshot? { get }
}

/// The records that a read ahead has found.
package struct RecordsAhead {
    /// The number of row ids that are known now.
    package fileprivate(set) var rows = 0
    /// The memory of their records, in bytes.
    package fileprivate(set) var bytes = 0

    /// Returns the part of the memory for one read, as a number of members of the most that are read together.
    package func members(of most: Int) -> Int { bytes * most / RecordCache.generationBytes }
}

/// A snapshot on a server, with the records that were read from it by row id.
package class ServerSnapshot: ReadTransaction, ServerRecords {
    private final let inner: any ReadTransaction
    private final let findsRowIDs: FindsRowIDs
    // Used by one thread, and no access overlaps another.
    @exclusivity(unchecked) fileprivate final var cache = RecordCache()

    fileprivate init(_ inner: any ReadTransaction, _ findsRowIDs: FindsRowIDs) { (self.inner, self.findsRowIDs) = (inner, findsRowIDs) }

    package final var server: ServerSnapshot? { self }
    package final var interruption: Interruption? {
        get { inner.interruption }
        set { inner.interruption = newValue }
    }

    // MARK: Records by row id

    package final func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        if let known = cache.record(entity, rowID) { return known }
        let record = try inner.record(entity, rowID: rowID)
        cache.keep(record, entity, rowID)
        return record
    }

    /// Returns whether a record is known, so that reading it sends no call.
    package final func isKnown(_ entity: Entity, rowID: Int64) -> Bool { cache.contains(entity, rowID) }

    /// A Boolean value that indicates whether the server finds records by a list of row ids, as far as is known.
    final var readsTogether: Bool { findsRowIDs.isLikely }

    /// Reads the records with some row ids with one scan, as far as they fit into the memory for records of one read. Those that are known are not read again.
    package final func readAhead(_ entity: Entity, rowIDs: [Int64]) throws -> RecordsAhead {
        var read = RecordsAhead()
        var wanted = Set(rowIDs.lazy.filter { !self.isKnown(entity, rowID: $0) })
        guard !wanted.isEmpty, readsTogether else { return read }
        // A server that does not evaluate the list returns the whole table.
        var others = max(4096, 16 * wanted.count)
        let scan = try inner.scan(FetchRequest(entity, predicate: .oneOf(.objectID, wanted.sorted().map { .integer($0) })))
        defer { scan.cursor.close() }
        while try scan.cursor.next() {
            guard wanted.remove(scan.cursor.rowID) != nil else {
                others -= 1
                if others > 0 { continue }
                findsRowIDs.refute()
                return read
            }
            let weight = RecordCache.weight(scan.cursor.record)
            if read.bytes + weight > RecordCache.generationBytes { return read }
            cache.keep(scan.cursor.record, entity, scan.cursor.rowID)
            read.rows += 1
            read.bytes += weight
        }
        for rowID in wanted { cache.keep(nil, entity, rowID) }
        read.rows += wanted.count
        read.bytes += wanted.count * RecordCache.weight(nil)
        return read
    }

    // MARK: Requests

    package final func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try inner.related(relationship, of: sources)
    }

    package final func scan(_ request: FetchRequest) throws -> Scan { try inner.scan(request) }

    package final func count(_ request: FetchRequest) throws -> Int {
        guard request.predicate.needsRelated else { return try inner.count(request) }
        // What a backend counts by its default, it evaluates row by row.
        try request.validate()
        if request.limit == 0 { return 0 }
        var rows = request
        (rows.sortKeys, rows.onlyIDs) = ([], true)
        let scan = try inner.scan(rows)
        let isLeft = scan.residual.predicate?.needsRelated ?? false
        let cursor = try completed(scan, rows, self)
        defer { cursor.close() }
        var count = 0
        // The first rows are those of the response.
        while isLeft || count < Self.mostCounted {
            guard try cursor.next() else { return count }
            count += 1
        }
        return try inner.count(request)
    }

    /// The number of rows that are counted before the server counts.
    private static let mostCounted = 1000

    package final func scanGroups(_ request: AggregateRequest) throws -> GroupScan? { try inner.scanGroups(request) }
    package final func plan(_ request: FetchRequest) throws -> QueryPlan { try inner.plan(request) }
    package final func explain(_ request: FetchRequest) throws -> QueryPlan { try inner.explain(request) }

    // MARK: The store

    package final var version: UInt64 { inner.version }
    package final func value(named name: String) throws -> [UInt8]? { try inner.value(named: name) }
    package final func valueNames(prefix: String) throws -> [String] { try inner.valueNames(prefix: prefix) }
    package final func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        try inner.logEntries(after: position, limit: limit)
    }
    package final func logBounds() throws -> LogBounds { try inner.logBounds() }
    package final func renew() -> Bool { inner.renew() }

    package final func end() {
        cache.removeAll()
        inner.end()
    }
}

/// A write transaction on a server. What it has read is discarded with each change set.
private final class ServerWriter: ServerSnapshot, WriteTransaction {
    private let inner: any WriteTransaction

    init(_ inner: any WriteTransaction, _ findsRowIDs: FindsRowIDs) {
        self.inner = inner
        super.init(inner, findsRowIDs)
    }

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 { try inner.reserveIDs(entity, count: count) }

    func apply(_ changes: ChangeSet) throws {
        cache.removeAll()
        try inner.apply(changes)
    }

    func apply(_ sets: [ChangeSet], committing durability: Durability?) throws -> AppliedChangeSets {
        cache.removeAll()
        return try inner.apply(sets, committing: durability)
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        cache.removeAll()
        return try inner.commit(durability)
    }

    func commitOutcome() throws -> CommitOutcome { try inner.commitOutcome() }

    func rollback() {
        cache.removeAll()
        inner.rollback()
    }
}
