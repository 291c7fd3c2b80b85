import PolyStoreBackend

/// A snapshot: a connection inside a deferred transaction whose first read pinned the version.
final class SQLiteReadTransaction: ReadTransaction {
    private let session: Session
    private let pool: ConnectionPool

    init(_ pool: ConnectionPool) throws {
        let connection = try pool.borrowReader()
        do {
            session = Session(connection, version: try connection.begin(writing: false))
        } catch {
            pool.giveBack(reader: connection)
            throw error
        }
        self.pool = pool
    }

    deinit { end() }

    var version: UInt64 { session.version }
    func record(_ entity: Entity, id: Int64) throws -> RecordView? { try session.record(entity, id: id) }
    func scan(_ request: FetchRequest) throws -> Scan { try session.scan(request) }
    func count(_ request: FetchRequest) throws -> Int { try session.count(request) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { try session.related(relationship, of: sources) }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try session.plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try session.explain(request) }

    func value(named name: String) throws -> [UInt8]? { try session.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try session.valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try session.logEntries(after: position, limit: limit) }
    func logBounds() throws -> LogBounds { try session.logBounds() }

    func end() {
        guard !session.isEnded else { return }
        session.end()
        guard session.connection.process.isCurrent else { return }
        let connection = session.connection
        // Nothing was written, so a refused commit is as good as a rollback.
        do { try connection.commit() } catch { connection.rollback() }
        pool.giveBack(reader: connection)
    }
}
