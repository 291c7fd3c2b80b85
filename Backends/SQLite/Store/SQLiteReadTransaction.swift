import PolyStoreBackend

/// A snapshot: a connection inside a deferred transaction whose first read pinned the version.
final class SQLiteReadTransaction: OrdersByIndexedJSON {
    // Replaced only in `renew()`; a transaction is used by one thread at a time.
    @exclusivity(unchecked) private(set) var session: Session
    private let pool: ConnectionPool
    /// The number of complete checkpoints of a stalled log when the session began; see ``ConnectionPool/renewal(_:since:)``.
    @exclusivity(unchecked) private var knownCheckpoints: Int

    init(_ pool: ConnectionPool) throws {
        session = try Self.begin(pool)
        knownCheckpoints = pool.didBeginReading(session.version)
        self.pool = pool
    }

    private static func begin(_ pool: ConnectionPool) throws -> Session {
        let (connection, version) = try pool.beginReading()
        return Session(connection, version: version)
    }

    deinit { end() }

    var version: UInt64 { session.version }
    var interruption: Interruption? {
        get { session.interruption }
        set { session.interruption = newValue }
    }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try session.record(entity, rowID: rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try session.scan(request) }
    func count(_ request: FetchRequest) throws -> Int { try session.count(scored(request)) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { try session.related(relationship, of: sources) }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try session.plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try session.explain(request, in: self) }

    func value(named name: String) throws -> [UInt8]? { try session.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try session.valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try session.logEntries(after: position, limit: limit) }
    func logBounds() throws -> LogBounds { try session.logBounds() }

    /// Begins the snapshot again at the same version, so that the write-ahead log can start over.
    ///
    /// SQLite starts the log over once it has been copied completely and no snapshot reads it. A snapshot that began before the copy was complete still reads
    /// it, and a context that observes commits always holds a snapshot.
    func renew() -> Bool {
        guard !session.isEnded, session.connection.inUse.isEmpty, session.connection.process.isCurrent,
            let renewal = pool.renewal(session.version, since: knownCheckpoints), let new = try? Self.begin(pool)
        else { return false }
        let old = new.version == session.version ? session : new
        if old !== new {
            new.interruption = old.interruption
            session = new
            pool.didEndReading(old.version)
            knownCheckpoints = pool.didBeginReading(new.version)
        }
        end(old)
        return renewal == .wantedByAll
    }

    func end() {
        guard !session.isEnded else { return }
        // In a forked child process the lock may never be released.
        if session.connection.process.isCurrent { pool.didEndReading(session.version) }
        end(session)
    }

    private func end(_ session: Session) {
        session.end()
        guard session.connection.process.isCurrent else { return }
        let connection = session.connection
        // Nothing was written, so a failed commit has the effect of a rollback.
        do { try connection.commit() } catch { connection.rollback() }
        pool.giveBack(reader: connection)
    }
}
