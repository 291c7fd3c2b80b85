import CPostgreSQL
import PolyStoreBackend

/// A schema of a database on a server, which contains one store or none.
struct Database: RemoteStore {
    let address: ServerAddress
    /// The location of the store, without passwords.
    let location: String
    let options: PostgreSQLOptions

    /// The contents of a schema.
    enum Contents {
        /// The schema does not exist.
        case absent
        /// The schema contains nothing.
        case empty
        /// The schema contains the metadata of a store.
        case store
        /// The schema contains tables of others.
        case foreign
    }

    /// The maximum time to wait for the snapshots of others before tables are removed. They can be open for a long time.
    private static let longestWait = Duration.seconds(10)

    /// The statement that limits the time that the transaction waits for the snapshots of others.
    var waitingForReaders: Statement { Self.waiting(min(longestLock, Self.longestWait)) }

    /// The statement that limits the time for which new readers wait for the end of a migration, which waits for earlier ones.
    var waitingBriefly: Statement { Self.waiting(min(longestLock, options.renamingTime)) }

    /// The statement that limits the time that the transaction waits for other writers.
    var waitingForWriters: Statement { Self.waiting(longestLock) }

    /// The statement that limits the time that a change of tables waits for other clients of the database, which can have locked any table.
    var waitingForTables: Statement { Self.waiting(min(longestLock, options.lockTimeout ?? longestLock)) }

    /// The statement that limits the time for which others wait for a transaction that replaces the tables and whose process has stopped.
    var endingWhenIdle: Statement {
        let time = min(options.replacementIdleTime, options.idleTransactionTimeout ?? options.replacementIdleTime)
        return Statement("SET LOCAL idle_in_transaction_session_timeout = \(max(1, time.inMilliseconds))")
    }

    /// The maximum time to wait for a lock. The server must answer before the connection gives the response up.
    private var longestLock: Duration { min(options.busyTimeout, options.responseTimeout.map { $0 / 2 } ?? options.busyTimeout) }

    private static func waiting(_ time: Duration) -> Statement { Statement("SET LOCAL lock_timeout = \(max(1, time.inMilliseconds))") }

    /// The database cluster, the start of the server, the database and the schema, as the server names them. The start distinguishes servers whose data directories are copies of one.
    func identity() throws -> String {
        try ServerIdentities.identity("\(address.key) schema=\(SQLNames.literal(options.schema))") {
            let rows = try SpareConnections.rows(
                .once(
                    """
                    SELECT system_identifier::text || '.' || extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text || '.' || (SELECT oid::text
                    FROM pg_catalog.pg_database WHERE datname = current_database()) FROM pg_catalog.pg_control_system()
                    """), self)
            guard let name = rows.count == 1 ? rows.text(0, 0) : nil else {
                throw StoreError(.io, "The server of \(location) does not say which one it is.", location: location)
            }
            return "\(name).\(options.schema)"
        }
    }

    func exists() throws -> Bool {
        try SpareConnections.using(self) { connection in
            defer { SpareConnections.keep(connection, self) }
            return if case .store = try contents(connection) { true } else { false }
        }
    }

    /// Removes the tables of the store, and the schema if the store created it and it contains nothing else.
    func erase() throws { try erase { _ in } }

    /// - Parameter check: Called before the tables are removed, when no other transaction can read or write them.
    func erase(checking check: (Connection) throws -> Void) throws { try SpareConnections.using(self) { try erase($0, check) } }

    private func erase(_ connection: Connection, _ check: (Connection) throws -> Void) throws {
        switch try contents(connection) {
        case .absent, .empty: return
        case .foreign: throw foreign
        case .store: break
        }
        let isOwner: Bool
        do {
            try connection.run([
                .once("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"), endingWhenIdle, waitingForWriters,
                .once("LOCK TABLE \(own("lock")) IN ACCESS EXCLUSIVE MODE"),
                waitingForReaders, .once("LOCK TABLE \(own("state")), \(own("metadata")) IN ACCESS EXCLUSIVE MODE"),
            ])
            try check(connection)
            // Another process may have migrated the store meanwhile.
            isOwner = try StoreTables.ownsSchema(options.schema, connection)
            try connection.run(try StoreTables.removal(from: options.schema, connection).map { .once($0) } + [.once("COMMIT")])
        } catch {
            _ = try? connection.run([.once("ROLLBACK")])
            guard let error = error as? StoreError else { throw error }
            // Another process may have erased the store meanwhile.
            if ["42P01", "3F000"].contains(error.sqlState), try isEmpty(connection) { return }
            throw namingHolders(in: error, connection)
        }
        guard isOwner else { return }
        // Others may have created something in the schema.
        _ = try? connection.run([.once("DROP SCHEMA \(SQLNames.quoted(options.schema)) RESTRICT")])
    }

    func own(_ name: String) -> String { "\(SQLNames.quoted(options.schema)).polystore_\(name)" }

    /// Returns whether there is nothing in the schema.
    private func isEmpty(_ connection: Connection) throws -> Bool {
        switch try contents(connection) {
        case .absent, .empty: true
        case .store, .foreign: false
        }
    }

    /// Opens a connection and prepares it for a store.
    /// - Throws: `unsupported` for a server or a database that cannot hold a store.
    func connect() throws -> Connection { try connect(with: nil).connection }

    /// Opens a connection and prepares it for a store, and executes a statement in the same round trip.
    /// - Parameter statement: A statement that does not change the connection.
    /// - Returns: The connection, and the rows; nil if the statement was not executed.
    /// - Throws: The error of the statement; `unsupported` for a server or a database that cannot hold a store.
    func connect(with statement: Statement?) throws -> (connection: Connection, rows: Rows?) {
        let (connection, rows) = try prepared(statement)
        connection.responseTimeout = options.responseTimeout
        return (connection, rows)
    }

    /// The server must answer what prepares the connection within the time to connect.
    private func prepared(_ statement: Statement?) throws -> (Connection, Rows?) {
        let connection = try Connection(
            address, location: location, connectTimeout: options.connectTimeout,
            responseTimeout: min(options.connectTimeout, options.responseTimeout ?? options.connectTimeout),
            usesNames: !options.usesTransactionPooler)
        connection.cancelTimeout = options.cancelTimeout
        let version = PQserverVersion(connection.handle)
        guard version >= 130_000 else {
            throw StoreError(
                .unsupported, "The server of \(location) is PostgreSQL \(version / 10_000), and 13 or newer is needed. Update the server.",
                location: location)
        }
        let encoding = PQparameterStatus(connection.handle, "server_encoding").map { String(cString: $0) } ?? "unknown"
        guard encoding == "UTF8" else {
            throw StoreError(
                .unsupported,
                "The database of \(location) has the encoding \(encoding), and only UTF8 holds every text. Create another one: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
                location: location)
        }
        // The settings of a transaction pooler's connections belong to others.
        guard !options.usesTransactionPooler else { return (connection, nil) }
        let process = PQbackendPID(connection.handle)
        let condition = process == 0 ? "true" : "pg_catalog.pg_backend_pid() = \(process)"
        let found = try connection.run([.once(setting(if: condition))] + (statement.map { [$0] } ?? []))
        guard found.first?.count == 0 else { return (connection, found.dropFirst().first) }
        // Between the client and the server is a pooler.
        try checkPooler(connection)
        try connection.run([.once(setting(if: "true"))])
        return (connection, nil)
    }

    /// The statements that begin a transaction. They take no snapshot, and set what a connection of a transaction pooler does not keep.
    func beginning(_ modes: String) -> [Statement] {
        let local = options.usesTransactionPooler ? settings + [("standard_conforming_strings", "on")] : []
        return [Statement("BEGIN \(modes)")] + local.map { Statement("SET LOCAL \($0.name) = \($0.value)") }
    }

    /// The timeouts of the store's transactions.
    private var settings: [(name: String, value: String)] {
        // By default a transaction can wait for its user as long as it likes.
        var settings = [("idle_in_transaction_session_timeout", "\(options.idleTransactionTimeout?.inMilliseconds ?? 0)")]
        if let timeout = options.statementTimeout { settings.append(("statement_timeout", "\(timeout.inMilliseconds)")) }
        if let timeout = options.lockTimeout { settings.append(("lock_timeout", "\(timeout.inMilliseconds)")) }
        return settings
    }

    /// Returns the statement that sets what all transactions of a connection need. It returns a row if the condition is true.
    private func setting(if condition: String) -> String {
        // Lets the server end the transaction of a client whose machine has disappeared, which can hold the lock of the writers.
        let network = [("tcp_keepalives_idle", "30"), ("tcp_keepalives_interval", "10"), ("tcp_keepalives_count", "3")]
        let own = (settings + network).map { "set_config('\($0.name)', '\($0.value)', false)" }
        let other = ["synchronous_commit", "standard_conforming_strings"].map {
            "CASE current_setting('\($0)') WHEN 'off' THEN set_config('\($0)', 'on', false) END"
        }
        return "SELECT \((own + other).joined(separator: ", ")) WHERE \(condition)"
    }

    /// The statements that a durable commit needs. A connection of a transaction pooler can have another setting.
    var durableCommit: [Statement] {
        guard options.usesTransactionPooler else { return [] }
        return [Statement("SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'")]
    }

    /// The statement that ends the limit of ``waitingForWriters`` and ``waitingForReaders``.
    var waitingAsUsual: Statement {
        Statement("SET LOCAL lock_timeout " + (options.lockTimeout.map { "= \($0.inMilliseconds)" } ?? "TO DEFAULT"))
    }

    /// Checks that a pooler keeps the connection of the server for its client. A pooler in transaction mode gives it to others too, which a second client notices unless many others are active.
    /// - Throws: `unsupported` for a pooler in transaction mode.
    private func checkPooler(_ connection: Connection) throws {
        let other = try Connection(
            address, location: location, connectTimeout: options.connectTimeout, responseTimeout: options.connectTimeout,
            usesNames: false)
        func process(_ connection: Connection) throws -> Int64? {
            try connection.run([.once("SELECT pg_catalog.pg_backend_pid()")]).last?.integer(0, 0)
        }
        let first = try process(connection)
        for _ in 0..<Self.poolerChecks where try process(other) == first || process(connection) != first {
            throw StoreError(
                .unsupported,
                "The server of \(location) is reached through a pooler in transaction mode. Add pooler=transaction to the URL, or connect to the server itself.",
                location: location)
        }
    }

    /// The number of statements by which a pooler in transaction mode is found.
    private static let poolerChecks = 5

    /// Returns what the schema contains.
    func contents(_ connection: Connection) throws -> Contents { contents(try connection.rows(contentsStatement)) }

    /// The statement whose result states the contents of the schema. It joins no tables, because planning a join of the catalog takes more time than the statement.
    var contentsStatement: Statement {
        let schema = "(SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1)"
        return Statement(
            """
            SELECT \(schema) IS NOT NULL, EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relnamespace = \(schema)),
            EXISTS (SELECT 1 FROM pg_catalog.pg_attribute WHERE attname = 'schemaHash' AND attrelid = (SELECT oid FROM pg_catalog.pg_class
            WHERE relname = 'polystore_metadata' AND relkind = 'r' AND relnamespace = \(schema)))
            """, [.text(options.schema)])
    }

    /// Returns what the schema contains by the result of ``contentsStatement``.
    func contents(_ rows: Rows) -> Contents {
        if rows.bool(0, 2) { return .store }
        if rows.bool(0, 1) { return .foreign }
        return rows.bool(0, 0) ? .empty : .absent
    }

    /// The error for a schema that contains tables of others.
    var foreign: StoreError {
        StoreError(
            .notAStore, "The schema \(options.schema) of \(location) contains tables that are not those of a store. It was left as it is.",
            location: location)
    }
}
