import PolyStoreBackend

/// Finds what keeps the server from removing earlier versions of rows, and logs what does so for long.
final class HolderWatch: Sendable {
    private struct State {
        var lastCheck = ContinuousClock.now
        /// The holders of the last check that were logged, without what changes.
        var logged: Set<SnapshotHolder> = []
    }

    private let database: Database
    private let logger: any StoreLogger
    private let state = Protected(State())

    init(_ database: Database, _ logger: any StoreLogger) { (self.database, self.logger) = (database, logger) }

    /// The transactions, prepared transactions and slots that concern the database, the oldest first. VACUUM ignores its own kind. The server shows the age and the state of other users'
    /// transactions only to members of `pg_read_all_stats`.
    private static let sql = """
        SELECT kind, process, name, account, state, age FROM (
        SELECT CASE a.backend_type WHEN 'walsender' THEN 'replicationSlot' ELSE 'transaction' END AS kind, a.pid::bigint AS process, a.application_name::text AS name, a.usename::text AS account, a.state::text AS state,
        (extract(epoch FROM pg_catalog.clock_timestamp() - a.xact_start) * 1000)::bigint AS age,
        greatest(pg_catalog.age(a.backend_xid), pg_catalog.age(a.backend_xmin)) AS versions
        FROM pg_catalog.pg_stat_activity a
        WHERE (a.backend_xid IS NOT NULL OR a.backend_xmin IS NOT NULL) AND a.pid <> pg_catalog.pg_backend_pid()
        AND (a.datname = pg_catalog.current_database() OR a.datname IS NULL)
        AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_stat_progress_vacuum v WHERE v.pid = a.pid)
        AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_replication_slots s WHERE s.active_pid = a.pid AND s.xmin IS NOT NULL)
        UNION ALL
        SELECT 'preparedTransaction', NULL, p.gid, p.owner::text, NULL,
        (extract(epoch FROM pg_catalog.clock_timestamp() - p.prepared) * 1000)::bigint, pg_catalog.age(p.transaction)
        FROM pg_catalog.pg_prepared_xacts p WHERE p.database = pg_catalog.current_database()
        UNION ALL
        SELECT 'replicationSlot', s.active_pid::bigint, s.slot_name::text, NULL, NULL, NULL, pg_catalog.age(s.xmin)
        FROM pg_catalog.pg_replication_slots s WHERE s.xmin IS NOT NULL
        ) AS holders ORDER BY versions DESC, age DESC NULLS LAST, process LIMIT 100
        """

    /// Returns the present holders, the one with the oldest version first; nil if the server has no views of them.
    func holders(_ pool: ConnectionPool) throws -> [SnapshotHolder]? {
        do {
            let (connection, results) = try pool.begin([Statement(Self.sql)])
            pool.giveBack(connection)
            return results.last.map(Self.read)
        } catch let error as StoreError where error.sqlState.hasPrefix("42") {
            // Such as a relative of PostgreSQL without one of the views.
            return nil
        }
    }

    private static func read(_ rows: Rows) -> [SnapshotHolder] {
        (0..<rows.count).compactMap { row in
            rows.text(row, 0).flatMap(SnapshotHolder.Kind.init).map { kind in
                SnapshotHolder(
                    kind, process: rows.integer(row, 1), name: rows.text(row, 2), user: rows.text(row, 3), state: rows.text(row, 4),
                    age: rows.integer(row, 5).map { .milliseconds(max(0, $0)) })
            }
        }
    }

    /// Requests the holders over a connection after a commit, which may leave earlier versions, unless they were requested a short time ago. The response is read
    /// and logged before the next statements of the connection, so that nothing waits for it.
    func check(over connection: Connection) {
        // A pooler loses the response of what is sent before it.
        guard let age = database.options.transactionWarningAge, !database.options.usesTransactionPooler else { return }
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            guard now - state.lastCheck >= database.options.holderCheckTime else { return false }
            state.lastCheck = now
            return true
        }
        guard isDue else { return }
        let response = PostedResponse()
        response.onEnd = { [weak self, weak response] in
            if let rows = response?.rows.last { self?.log(Self.read(rows), since: age) }
        }
        connection.post([.once("/* not awaited */ " + Self.sql)], to: response)
    }

    /// Logs each holder once.
    private func log(_ holders: [SnapshotHolder], since age: Duration) {
        var known: Set<SnapshotHolder> = []
        var old: [SnapshotHolder] = []
        // The age of a transaction is unknown only if the user may not see it.
        for holder in holders where holder.age.map({ $0 >= age }) ?? (holder.kind != .transaction) {
            known.insert(SnapshotHolder(holder.kind, process: holder.process, name: holder.name, user: holder.user))
            old.append(holder)
        }
        let logged = state.withLock { state in
            defer { state.logged = known }
            return state.logged
        }
        for holder in old
        where !logged.contains(SnapshotHolder(holder.kind, process: holder.process, name: holder.name, user: holder.user)) {
            logger.write(
                .warning,
                "The server cannot remove earlier versions of the rows of \(database.location), whose tables grow, because of the \(holder). End it if nothing needs it."
            )
        }
    }
}
