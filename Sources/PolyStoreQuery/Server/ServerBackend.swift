import PolyStoreBackend
import PolyStoreSearch
import Synchronization

extension StorageBackend {
    /// The backend with reads that send few calls if each call waits for a server; otherwise the backend itself.
    /// - Parameters:
    ///   - maximumStaleness: The time that its snapshots may be behind the newest commit; see `ReadFreshness`.
    ///   - sessions: The sessions of the stack, for a backend with the feature `Capabilities.Feature.shortSnapshots`.
    package func readingAhead(maximumStaleness: Duration? = nil, sessions: SnapshotSessions? = nil) -> any StorageBackend {
        let capabilities = capabilities
        guard capabilities.waitsForServer || capabilities.has(.shortSnapshots) else { return self }
        return ServerBackend(self, maximumStaleness, capabilities.has(.shortSnapshots) ? sessions : nil)
    }

    /// Begins a snapshot that never waits until readers give their sessions back.
    /// - Throws: `busy` if readers keep all sessions of the server.
    package func beginReadWithoutWaiting() throws -> any ReadTransaction {
        if let server = self as? ServerBackend { try server.beginRead(mayWait: false) } else { try beginRead() }
    }

    /// Returns the version of the store. If readers keep all sessions of the server, it is the newest one that was committed or read.
    package func versionWithoutWaiting() throws -> UInt64 {
        let reader: any ReadTransaction
        do { reader = try beginReadWithoutWaiting() } catch let error as StoreError where error.code == .busy {
            guard let known = (self as? ServerBackend)?.newestKnown else { throw error }
            return known
        }
        defer { reader.end() }
        return try reader.version
    }
}

/// A backend whose calls wait for a server. Its snapshots keep the records that were read by row id, and none of them is older than a version that was seen before.
final class ServerBackend: RebuildsIndexes {
    private let inner: any StorageBackend
    private let maximumStaleness: Duration?
    /// The sessions of the snapshots, if they can be given back.
    private let sessions: SnapshotSessions?
    /// The newest version that was committed or read.
    private let newest = Atomic<UInt64>(0)
    private let isRefuted = Atomic<Bool>(false)

    fileprivate init(_ inner: any StorageBackend, _ maximumStaleness: Duration?, _ sessions: SnapshotSessions?) {
        (self.inner, self.maximumStaleness, self.sessions) = (inner, maximumStaleness, sessions)
    }

    /// The newest version that was committed or read; nil if none was.
    fileprivate var newestKnown: UInt64? {
        let seen = newest.load(ordering: .relaxed)
        return seen == 0 ? nil : seen
    }

    /// Called with the version of each commit and of each snapshot whose version is read.
    fileprivate func didSee(_ version: UInt64) { newest.max(version, ordering: .relaxed) }

    /// A Boolean value that is false once a scan of a list of row ids has returned many rows that are not in the list: the server does not evaluate such lists and has large
    /// tables.
    fileprivate var findsRowIDs: Bool { !isRefuted.load(ordering: .relaxed) }
    /// Called if a scan of a list of row ids reads the table.
    fileprivate func refuteRowIDs() { isRefuted.store(true, ordering: .relaxed) }

    var capabilities: Capabilities { inner.capabilities }
    var metadata: StoreMetadata { inner.metadata }
    var commitFiles: [String] { inner.commitFiles }
    var readSessions: ReadSessions? { inner.readSessions }
    func snapshotHolders() throws -> [SnapshotHolder]? { try inner.snapshotHolders() }

    func beginRead() throws -> any ReadTransaction { try beginRead(mayWait: true) }

    /// - Parameter mayWait: Whether the snapshot can wait until others give their sessions back.
    fileprivate func beginRead(mayWait: Bool) throws -> any ReadTransaction {
        let freshness = ReadFreshness(maximumStaleness: maximumStaleness, notBefore: newestKnown)
        guard let sessions else {
            let reader = try inner.beginRead(freshness)
            return ServerSnapshot(reader, nil, self, orders: Self.orders(reader))
        }
        let didRead: @Sendable (UInt64) -> Void = { [weak self] in self?.didSee($0) }
        var orders = false
        let session = try sessions.begin(
            ObjectIdentifier(self), most: inner.capabilities.mostSnapshots, mayWait: mayWait, didRead: didRead
        ) {
            let reader = try inner.beginRead(freshness)
            orders = Self.orders(reader)
            return reader
        }
        return ServerSnapshot(nil, session, self, orders: orders)
    }

    /// Returns whether a transaction receives sort keys by fields of JSON in indexes.
    fileprivate static func orders(_ reader: any ReadTransaction) -> Bool {
        (reader as? any OrdersByIndexedJSON)?.ordersByIndexedJSON ?? false
    }
    func beginWrite() throws -> any WriteTransaction { ServerWriter(try inner.beginWrite(), self) }
    func announceCommits(to handler: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? { inner.announceCommits(to: handler) }
    func close() throws { try inner.close() }
    func verify(reporting report: MaintenanceReport) throws -> [String] { try inner.verify(reporting: report) }
    func beginMigration(_ change: SchemaChange) throws -> any StoreMigration { try inner.beginMigration(change) }
    func copy(to location: String, reporting report: MaintenanceReport) throws { try inner.copy(to: location, reporting: report) }
    func compact() throws { try inner.compact() }
    func rebuildIndexes(_ names: Set<String>?) throws { try inner.rebuildingIndexes(names) }
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
package class ServerSnapshot: OrdersByIndexedJSON, ServerRecords {
    /// The transaction; nil if a session holds it.
    private final let inner: (any ReadTransaction)?
    /// The session that holds the transaction and can be given back; nil for other snapshots.
    package final let session: SnapshotSession?
    fileprivate final let backend: ServerBackend
    // Used by one thread, and no access overlaps another.
    @exclusivity(unchecked) fileprivate final var cache = RecordCache()
    /// The memory of the last record that the cache did not keep.
    @exclusivity(unchecked) private final var arenaOfRecord: RecordArena?

    package final let ordersByIndexedJSON: Bool

    fileprivate init(_ inner: (any ReadTransaction)?, _ session: SnapshotSession?, _ backend: ServerBackend, orders: Bool) {
        (self.inner, self.session, self.backend, ordersByIndexedJSON) = (inner, session, backend, orders)
    }

    deinit { session?.end() }

    /// Reads the transaction.
    private final func reading<T>(_ body: (any ReadTransaction) throws -> T) throws -> T {
        if let inner { return try body(inner) }
        guard let session else { throw StoreError(.closed, "The read transaction has ended.") }
        return try session.reading { reader in
            // The session may have begun again, or another interruption was assigned while nothing kept it.
            reader.interruption = assigned
            return try body(reader)
        }
    }

    package final var server: ServerSnapshot? { self }
    /// The interruption for the transactions of the session.
    private final var assigned: Interruption?
    /// The one that the transaction stores: none if its backend does not store interruptions.
    package final var interruption: Interruption? {
        get {
            guard let session else { return inner?.interruption }
            return session.ifKept(\.interruption) ?? assigned
        }
        set {
            assigned = newValue
            inner?.interruption = newValue
            session?.ifKept { $0.interruption = newValue }
        }
    }

    // MARK: Records by row id

    package final func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        if let known = cache.record(entity, rowID) { return known }
        guard session != nil else {
            let record = try reading { try $0.record(entity, rowID: rowID) }
            cache.keep(record, entity, rowID)
            return record
        }
        // The bytes in the transaction are lost with its session, so those of the cache are returned, or a copy of a record that the cache does not keep.
        return try reading { inner -> RecordView? in
            let record = try inner.record(entity, rowID: rowID)
            cache.keep(record, entity, rowID)
            if let known = cache.record(entity, rowID) { return known }
            let arena = RecordArena()
            arenaOfRecord = arena
            return record.map { arena.view(arena.append($0.bytes), $0.count, entity.layout) }
        }
    }

    /// Returns whether a record is known, so that reading it sends no call.
    package final func isKnown(_ entity: Entity, rowID: Int64) -> Bool { cache.contains(entity, rowID) }

    /// A Boolean value that indicates whether the server finds records by a list of row ids, as far as is known.
    final var readsTogether: Bool { backend.findsRowIDs }

    /// Reads the records with some row ids with one scan, as far as they fit into the memory for records of one read. Those that are known are not read again.
    package final func readAhead(_ entity: Entity, rowIDs: [Int64]) throws -> RecordsAhead {
        var read = RecordsAhead()
        var wanted = Set(rowIDs.lazy.filter { !self.isKnown(entity, rowID: $0) })
        guard !wanted.isEmpty, readsTogether else { return read }
        // A server that does not evaluate the list returns the whole table.
        var others = max(4096, 16 * wanted.count)
        let scan = try scan(FetchRequest(entity, predicate: .oneOf(.objectID, wanted.sorted().map { .integer($0) })))
        defer { scan.cursor.close() }
        while try scan.cursor.next() {
            guard wanted.remove(scan.cursor.rowID) != nil else {
                others -= 1
                if others > 0 { continue }
                backend.refuteRowIDs()
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
        try reading { try $0.related(relationship, of: sources) }
    }

    package final func scan(_ request: FetchRequest) throws -> Scan {
        let scan = try reading { try $0.scan(request) }
        guard let session else { return scan }
        return Scan(SessionCursor(scan.cursor, layout: request.entity.layout, session), residual: scan.residual)
    }

    package final func count(_ request: FetchRequest) throws -> Int {
        guard request.predicate.needsRelated else { return try reading { try $0.count(request) } }
        // What a backend counts by its default, it evaluates row by row.
        try request.validate()
        if request.limit == 0 { return 0 }
        var rows = request
        (rows.sortKeys, rows.onlyIDs) = ([], true)
        let scan = try scan(rows)
        let isLeft = scan.residual.predicate?.needsRelated ?? false
        let cursor = try completed(scan, rows, self)
        defer { cursor.close() }
        var count = 0
        // The first rows are those of the response.
        while isLeft || count < Self.mostCounted {
            guard try cursor.next() else { return count }
            count += 1
        }
        return try reading { try $0.count(request) }
    }

    /// The number of rows that are counted before the server counts.
    private static let mostCounted = 1000

    package final func scanGroups(_ request: AggregateRequest) throws -> GroupScan? { try reading { try $0.scanGroups(request) } }
    package final func search(_ request: SearchRequest) throws -> SearchHits? { try reading { try $0.search(request) } }
    package final func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        try reading { try $0.searchStatistics(condition) }
    }
    package final func plan(_ request: FetchRequest) throws -> QueryPlan { try reading { try $0.plan(request) } }
    package final func explain(_ request: FetchRequest) throws -> QueryPlan { try reading { try $0.explain(request) } }

    // MARK: The store

    package var version: UInt64 {
        get throws {
            if let known = session?.version { return known }
            let version = try reading { try $0.version }
            backend.didSee(version)
            return version
        }
    }
    package final func value(named name: String) throws -> [UInt8]? { try reading { try $0.value(named: name) } }
    package final func valueNames(prefix: String) throws -> [String] { try reading { try $0.valueNames(prefix: prefix) } }
    package final func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        try reading { try $0.logEntries(after: position, limit: limit) }
    }
    package final func logBounds() throws -> LogBounds { try reading { try $0.logBounds() } }
    package final func renew() -> Bool { (try? reading { $0.renew() }) ?? false }

    package final func end() {
        cache.removeAll()
        inner?.end()
        session?.end()
    }
}

/// A write transaction on a server. What it has read is discarded with each change set.
private final class ServerWriter: ServerSnapshot, WriteTransaction {
    private let inner: any WriteTransaction

    init(_ inner: any WriteTransaction, _ backend: ServerBackend) {
        self.inner = inner
        super.init(inner, nil, backend, orders: ServerBackend.orders(inner))
    }

    override var version: UInt64 { get throws { try inner.version } }
    var knownVersion: UInt64? { get throws { try inner.knownVersion } }

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 { try inner.reserveIDs(entity, count: count) }

    func apply(_ changes: ChangeSet) throws {
        cache.removeAll()
        try inner.apply(changes)
    }

    func apply(_ sets: [ChangeSet], committing durability: Durability?) throws -> AppliedChangeSets {
        cache.removeAll()
        let results = try inner.apply(sets, committing: durability)
        if let version = results.version { backend.didSee(version) }
        return results
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        cache.removeAll()
        let version = try inner.commit(durability)
        backend.didSee(version)
        return version
    }

    func commitOutcome() throws -> CommitOutcome {
        let outcome = try inner.commitOutcome()
        if case .committed(let version) = outcome { backend.didSee(version) }
        return outcome
    }

    func rollback() {
        cache.removeAll()
        inner.rollback()
    }
}
