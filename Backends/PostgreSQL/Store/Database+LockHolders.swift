import PolyStoreBackend

extension Database {
    /// The maximum number of sessions that an error names.
    private static let mostHolders = 5

    /// Returns an error of a lock that was not free in time, with the locked tables, the sessions that hold the locks, and what to do. Returns other errors unchanged.
    ///
    /// Ends the transaction of the connection, whose locks are not those of others.
    func namingHolders(in error: StoreError, _ connection: Connection) -> StoreError {
        guard error.sqlState == "55P03", connection.failure == nil else { return error }
        _ = try? connection.run([.once("ROLLBACK")])
        guard let holders = lockHolders(connection) else { return error }
        var error = error
        error.message += " \(holders)"
        return error
    }

    /// Returns sentences that name the tables of the store that other sessions have locked, these sessions, and what to do; nil if the server does not report them.
    ///
    /// The name of the application is known of every session. The server shows the state of the sessions of other users only to members of `pg_read_all_stats`.
    /// - Parameter connection: A connection without a transaction.
    func lockHolders(_ connection: Connection) -> String? {
        // A writer has locked more than one table.
        let found = try? connection.rows(
            """
            SELECT l.pid::bigint, string_agg(DISTINCT c.relname::text, ', '), max(a.application_name), max(a.usename::text), max(a.state)
            FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_class c ON c.oid = l.relation JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
            WHERE l.granted AND l.pid <> pg_catalog.pg_backend_pid() AND n.nspname = $1 AND c.relkind = 'r'
            AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
            GROUP BY l.pid ORDER BY l.pid
            """, [.text(options.schema)])
        guard let found else { return nil }
        guard found.count > 0 else { return "The locks are free meanwhile. Try again." }
        let holders = (0..<min(found.count, Self.mostHolders)).map { row in
            let details = [
                found.text(row, 2).flatMap { $0.isEmpty ? nil : "application \"\($0)\"" }, found.text(row, 3).map { "user \($0)" },
                found.text(row, 4),
            ].compactMap(\.self)
            return "process \(found.integer(row, 0) ?? 0) (\(details.joined(separator: ", "))) has locked \(found.text(row, 1) ?? "")"
        }
        let rest = found.count > holders.count ? "; and \(found.count - holders.count) others" : ""
        return
            "In the schema \(options.schema), \(holders.joined(separator: "; "))\(rest). Wait for the end of these transactions, or end their sessions with "
            + "SELECT pg_terminate_backend(\(found.integer(0, 0) ?? 0)), and try again."
    }
}
