import CPostgreSQL
import PolyStoreBackend

/// A schema of a database on a server, which contains one store or none.
struct Database: RemoteStore {
    let address: ServerAddress
    /// The location of the store, without passwords.
    let location: String
    let options: PostgreSQLOptions

    /// What a schema contains.
    enum Contents {
        /// There is no such schema.
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

    /// The statement that limits the time that the transaction waits for other writers.
    var waitingForWriters: Statement { Self.waiting(longestLock) }

    /// The maximum time to wait for a lock. The server must answer before the connection gives the response up.
    private var longestLock: Duration { min(options.busyTimeout, options.responseTimeout.map { $0 / 2 } ?? options.busyTimeout) }

    private static func waiting(_ time: Duration) -> Statement { Statement("SET LOCAL lock_timeout = \(max(1, time.inMilliseconds))") }

    func identity() throws -> String { location }

    func exists() throws -> Bool {
        if case .store = try contents(connect()) { true } else { false }
    }

    /// Removes the tables of the store, and the schema if the store created it and nobody else uses it.
    func erase() throws {
        let connection = try connect()
        switch try contents(connection) {
        case .absent, .empty: return
        case .foreign: throw foreign
        case .store: break
        }
        let isOwner: Bool
        do {
            isOwner = try StoreTables.ownsSchema(options.schema, connection)
            try connection.run(
                [.once("BEGIN"), waitingForReaders] + (try StoreTables.removal(from: options.schema, connection)).map { .once($0) })
            try connection.run([.once("COMMIT")])
        } catch {
            connection.post([.once("ROLLBACK")])
            throw error
        }
        guard isOwner else { return }
        // Others may have created something in the schema.
        _ = try? connection.run([.once("DROP SCHEMA \(SQLNames.quoted(options.schema)) RESTRICT")])
    }

    /// Opens a connection and prepares it for a store.
    /// - Throws: `unsupported` for a server or a database that cannot hold a store.
    func connect() throws -> Connection {
        let connection = try Connection(
            address, location: location, connectTimeout: options.connectTimeout, responseTimeout: options.responseTimeout)
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
        try connection.run([
            .once("SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"),
            .once(
                "SELECT set_config('standard_conforming_strings', 'on', false) WHERE current_setting('standard_conforming_strings') = 'off'"
            ),
            // A transaction can wait for its user as long as it likes.
            .once("SET idle_in_transaction_session_timeout = 0"),
        ])
        return connection
    }

    /// Returns what the schema contains.
    func contents(_ connection: Connection) throws -> Contents {
        let rows = try connection.rows(
            """
            SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1),
            EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1),
            EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'schemaHash'
            WHERE n.nspname = $1 AND c.relname = 'polystore_metadata' AND c.relkind = 'r')
            """, [.text(options.schema)])
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
