package import PolyStoreBackend
internal import PolyStoreMemory
internal import PolyStoreQuery
internal import PolyStoreSearch

extension StoreConfiguration {
    /// A store on a simulated server, which keeps its data in memory until the store is closed.
    package static func simulatedServer(_ server: SimulatedServer) -> StoreConfiguration {
        let inner = StoreConfiguration.inMemory()
        return StoreConfiguration(engine: "server", location: "server:" + inner.location, isShared: false) { request in
            try server.send(.open, on: nil) {
                var inner = inner
                inner.isReadOnly = request.isReadOnly
                let store = try inner.open(
                    schema: request.schema, configurationName: request.configurationName, logger: request.logger)
                return SimulatedServerStore(server, store)
            }
        }
    }
}

/// Sends each call of the contract to a simulated server.
private final class SimulatedServerStore: StorageBackend {
    private let server: SimulatedServer
    private let inner: any StorageBackend

    init(_ server: SimulatedServer, _ inner: any StorageBackend) { (self.server, self.inner) = (server, inner) }

    var capabilities: Capabilities {
        var capabilities = inner.capabilities
        capabilities.waitsForServer = true
        if !server.pushesDown { capabilities.features.remove(.plannedIndexes) }
        if server.announcesCommits { capabilities.features.insert(.multiProcess) }
        if server.hasShortSnapshots { capabilities.features.insert(.shortSnapshots) }
        if server.beginsLate { capabilities.features.insert(.requiredObjects) }
        capabilities.mostSnapshots = server.mostSessions
        return capabilities
    }
    func announceCommits(to handler: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? {
        server.announcesCommits ? server.listen(handler) : nil
    }
    // The client keeps what it read when it opened the store.
    var metadata: StoreMetadata { inner.metadata }
    var readSessions: ReadSessions? { inner.readSessions }

    func beginRead() throws -> any ReadTransaction { try beginRead(ReadFreshness()) }
    func beginRead(_ freshness: ReadFreshness) throws -> any ReadTransaction {
        try server.send(.beginRead, on: nil) {
            let session = try server.beginSession(freshness)
            do {
                let reader = try inner.beginRead()
                return SimulatedServerReader(server, LateTransaction(reader) { reader }, session: session)
            } catch {
                server.endSession(session)
                throw error
            }
        }
    }
    func beginWrite() throws -> any WriteTransaction {
        if server.beginsLate { return SimulatedServerWriter(server, LateTransaction { [inner] in try inner.beginWrite() }) }
        let writer = try server.send(.beginWrite, on: nil) { try inner.beginWrite() }
        return SimulatedServerWriter(server, LateTransaction(writer) { writer })
    }
    func beginMigration(_ change: SchemaChange) throws -> any StoreMigration {
        try server.send(.maintenance, on: nil) { try inner.beginMigration(change) }
    }
    func verify(reporting report: MaintenanceReport) throws -> [String] {
        try server.send(.maintenance, on: nil) { try inner.verify(reporting: report) }
    }
    func copy(to location: String, reporting report: MaintenanceReport) throws {
        try server.send(.maintenance, on: nil) { try inner.copy(to: location, reporting: report) }
    }
    func compact() throws { try server.send(.maintenance, on: nil) { try inner.compact() } }
    func close() throws { try server.send(.close, on: nil) { try inner.close() } }
}

/// A transaction on the server, which begins before or with its first call.
private final class LateTransaction {
    private let begin: () throws -> any ReadTransaction
    private(set) var begun: (any ReadTransaction)?
    private var hasEnded = false
    /// Kept for a transaction that has not begun.
    var interruption: Interruption? { didSet { begun?.interruption = interruption } }

    init(_ begun: (any ReadTransaction)? = nil, _ begin: @escaping () throws -> any ReadTransaction) {
        (self.begun, self.begin) = (begun, begin)
    }

    func get() throws -> any ReadTransaction {
        if let begun { return begun }
        if hasEnded { throw StoreError(.closed, "The transaction has ended.") }
        let begun = try begin()
        begun.interruption = interruption
        self.begun = begun
        return begun
    }

    func end() {
        hasEnded = true
        begun?.end()
    }
}

/// A snapshot on the server.
private class SimulatedServerReader: ReadTransaction {
    fileprivate final let server: SimulatedServer
    fileprivate final let connection: SimulatedServer.Connection
    private final let late: LateTransaction
    private final var inner: any ReadTransaction { get throws { try late.get() } }
    /// A Boolean value that indicates whether the transaction was committed or ended, so that nothing is sent for its end.
    fileprivate final var hasEnded = false
    /// The version of a write transaction, which the server sends with the response to its begin or its first call; nil for a snapshot.
    fileprivate final var versionOfWriter: UInt64?
    /// A Boolean value that indicates whether the client knows the version, which the server sends with the response to the first call.
    private final var knowsVersion: Bool
    /// The number of the session; nil for the connection of a write transaction.
    private final let session: Int?

    init(_ server: SimulatedServer, _ late: LateTransaction, session: Int? = nil) {
        self.server = server
        self.late = late
        self.session = session
        versionOfWriter = session == nil ? try? late.begun?.version : nil
        knowsVersion = !server.hasShortSnapshots
        connection = SimulatedServer.Connection {
            late.end()
            if let session { server.endSession(session) }
        }
    }

    deinit { finish() }

    final var interruption: Interruption? {
        get { late.interruption }
        set { late.interruption = newValue }
    }

    fileprivate final func send<T>(_ call: SimulatedServer.Call, isInterruptible: Bool = false, _ body: () throws -> T) throws -> T {
        // The client knows that the transaction has ended.
        if hasEnded { return try body() }
        if let session, server.isKilled(session) { connection.end(with: SimulatedServer.lost(call, .connectionLost)) }
        var version = versionOfWriter
        let response = try server.send(call, on: connection, isInterruptible ? interruption : nil) {
            if session == nil, version == nil { version = try inner.version }
            return try body()
        }
        (knowsVersion, versionOfWriter) = (true, version)
        return response
    }

    /// Ends the transaction on the server. The client does not depend on the response.
    private final func finish() {
        if hasEnded { return }
        defer { hasEnded = true }
        if connection.failure == nil, late.begun != nil { _ = try? server.send(.end, on: connection) {} }
        late.end()
        if let session { server.endSession(session) }
    }

    final var version: UInt64 {
        get throws {
            if let versionOfWriter, !hasEnded { return versionOfWriter }
            let isKnown = session != nil && knowsVersion && connection.failure == nil
            return hasEnded || isKnown ? try inner.version : try send(.version) { try inner.version }
        }
    }
    final func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try send(.record) { try inner.record(entity, rowID: rowID) } }
    final func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try send(.related, isInterruptible: sources.count > 1) { try inner.related(relationship, of: sources) }
    }
    final func value(named name: String) throws -> [UInt8]? { try send(.value) { try inner.value(named: name) } }
    final func valueNames(prefix: String) throws -> [String] { try send(.valueNames) { try inner.valueNames(prefix: prefix) } }
    final func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        try send(.logEntries) { try inner.logEntries(after: position, limit: limit) }
    }
    final func logBounds() throws -> LogBounds { try send(.logBounds) { try inner.logBounds() } }

    final func scan(_ request: FetchRequest) throws -> Scan {
        let scan = try send(.scan, isInterruptible: true) {
            guard server.pushesDown else { return Scan(try inner.fetch(FetchRequest(request.entity)), residual: .everything(of: request)) }
            return try inner.scan(request)
        }
        return Scan(SimulatedServerCursor(scan.cursor, layout: request.entity.layout, self), residual: scan.residual)
    }
    final func count(_ request: FetchRequest) throws -> Int {
        if server.pushesDown { return try send(.count, isInterruptible: true) { try inner.count(request) } }
        return try rows(request).returned
    }
    final func search(_ request: SearchRequest) throws -> SearchHits? {
        guard server.pushesDown else { return nil }
        // Without a response, the client knows that the server does not search.
        return try inner.search(request).map { hits in try send(.search, isInterruptible: true) { hits } }
    }
    final func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        guard server.pushesDown else { return nil }
        return try inner.searchStatistics(condition).map { statistics in try send(.search, isInterruptible: true) { statistics } }
    }
    final func scanGroups(_ request: AggregateRequest) throws -> GroupScan? {
        guard server.pushesDown else { return nil }
        // Without a response, the client knows that the server does not compute these groups.
        return try inner.scanGroups(request).map { groups in try send(.groups, isInterruptible: true) { groups } }
    }
    final func plan(_ request: FetchRequest) throws -> QueryPlan {
        try send(.plan) {
            if server.pushesDown { return try inner.plan(request) }
            try request.validate()
            // Refuses an entity of another schema.
            _ = try inner.plan(FetchRequest(request.entity))
            let residual = Scan.Residual.everything(of: request).described(for: request)
            return QueryPlan(entity: request.entity.name, accesses: [QueryPlan.Access(.scan)], residual: residual)
        }
    }
    final func explain(_ request: FetchRequest) throws -> QueryPlan {
        if server.pushesDown { return try send(.plan) { try inner.explain(request) } }
        var plan = try plan(request)
        (plan.rowsReturned, plan.rowsExamined) = try rows(request)
        if request.needsRelated { plan.relatedRowsExamined = try relatedRowsExamined(request) }
        return plan
    }

    /// Evaluates each row, because the rows are sorted before they are cut.
    private func relatedRowsExamined(_ request: FetchRequest) throws -> Int {
        if request.limit == 0 { return 0 }
        let related = CountedRelatedRecords(self)
        let evaluator = PredicateEvaluator(request.predicate, related)
        let values = SortValues(request.sortKeys, related)
        let cursor = try fetch(FetchRequest(request.entity))
        defer { cursor.close() }
        while try cursor.next() {
            if try evaluator.matches(id: cursor.rowID, cursor.record) { _ = try values.values(cursor.rowID, cursor.record) }
        }
        return related.count
    }

    /// Reads the rows of a request, and returns their number and that of the rows examined.
    private final func rows(_ request: FetchRequest) throws -> (returned: Int, examined: Int) {
        try request.validate()
        let cursor = try fetch(request)
        defer { cursor.close() }
        var count = 0
        while try cursor.next() { count += 1 }
        return (count, cursor.rowsExamined)
    }

    func end() { finish() }
}

/// The rows of a scan, which the server sends in batches.
private final class SimulatedServerCursor: RecordCursor {
    private let inner: RecordCursor
    private let reader: SimulatedServerReader
    private var rows = 0

    init(_ inner: RecordCursor, layout: RecordLayout, _ reader: SimulatedServerReader) {
        self.inner = inner
        self.reader = reader
        super.init(layout: layout)
    }

    override var rowsExamined: Int { inner.rowsExamined }

    override func next() throws -> Bool {
        // A batch that is not full is the last one, so only a full one is followed by another call.
        if rows > 0, rows % reader.server.batchSize == 0 { try reader.send(.fetch, isInterruptible: true) {} }
        guard try inner.next() else { return false }
        rows += 1
        setCurrent(inner.rowID, inner.record)
        return true
    }

    override func close() { inner.close() }
    deinit { inner.close() }
}

/// The write transaction on the server.
private final class SimulatedServerWriter: SimulatedServerReader, WriteTransaction {
    private let late: LateTransaction
    private var inner: any WriteTransaction {
        get throws {
            guard let writer = try late.get() as? any WriteTransaction else { throw StoreError(.misuse, "The transaction does not write.") }
            return writer
        }
    }
    var knownVersion: UInt64? { versionOfWriter }
    /// What the server knows about the commit.
    private var outcome = CommitOutcome.notCommitted

    init(_ server: SimulatedServer, _ late: LateTransaction) {
        self.late = late
        super.init(server, late)
    }

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 {
        try send(.reserveIDs) { try inner.reserveIDs(entity, count: count) }
    }
    func apply(_ changes: ChangeSet) throws { try send(.apply) { try applyOnServer(changes) } }

    /// Checks the required objects before the change set is applied, which can be undone only with the transaction.
    private func applyOnServer(_ changes: ChangeSet) throws {
        let missing = try Set(changes.requiredObjects.filter { try !exists($0, after: changes) })
        if let error = changes.refusal(where: missing.contains) { throw error }
        try inner.apply(changes)
    }

    private func exists(_ required: ChangeSet.RequiredObject, after changes: ChangeSet) throws -> Bool {
        switch changes.changes.first(where: { $0.entity == required.entity && $0.rowID == required.rowID })?.kind {
        case .insert: true
        case .delete: false
        case .update, nil: try inner.record(changes.schema.entities[required.entity], rowID: required.rowID) != nil
        }
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        let version = try send(.commit) {
            let version = try inner.commit(durability)
            outcome = .committed(version: version)
            return version
        }
        hasEnded = true
        return version
    }
    func apply(_ sets: [ChangeSet], committing durability: Durability?) throws -> AppliedChangeSets {
        let results = try send(durability == nil ? .apply : .commit) {
            var results = AppliedChangeSets(errors: [])
            for set in sets {
                do {
                    try applyOnServer(set)
                    results.errors.append(nil)
                } catch let error as StoreError where error.refusesChanges { results.errors.append(error) }
            }
            if let durability, results.errors.allSatisfy({ $0 == nil }) { results.version = try inner.commit(durability) }
            if let version = results.version { outcome = .committed(version: version) }
            return results
        }
        hasEnded = results.version != nil
        return results
    }
    func commitOutcome() throws -> CommitOutcome {
        guard server.knowsCommits else { return .unknown }
        return try server.send(.commitOutcome, on: nil) { outcome }
    }
    func rollback() { end() }
}
