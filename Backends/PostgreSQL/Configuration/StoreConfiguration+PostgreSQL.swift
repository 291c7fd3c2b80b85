public import PolyStoreBackend

extension StoreConfiguration {
    /// A store in a schema of a PostgreSQL database. The database must exist; the schema is created if it does not. Any client can read its tables.
    ///
    /// ```
    /// let store = try StoreConfiguration.postgreSQL("postgresql://jane@db.example.com/company?schema=shop")
    /// ```
    ///
    /// - Parameters:
    ///   - url: The URL of the database; see ``PolyStoreBackend/StoreEngine/postgreSQL``. Its options take precedence over `options`.
    ///   - options: The schema, the number of connections and timeouts.
    /// - Throws: `misuse` for an invalid URL.
    public static func postgreSQL(_ url: String, options: PostgreSQLOptions = PostgreSQLOptions()) throws -> StoreConfiguration {
        try StoreEngines([.postgreSQL(options)]).configuration(url)
    }
}

extension StoreEngine {
    /// The scheme `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`, with the options `schema`, `maximumConnections`, `busyTimeout`, `connectTimeout`, `responseTimeout`, `statementTimeout`,
    /// `lockTimeout` and `idleTransactionTimeout` (milliseconds), `pooler` (`session` or `transaction`), and
    /// those of libpq that concern the host, the login and encryption, such as `sslmode`. A host that begins with a slash, written as `%2F`, is the folder of a Unix socket.
    public static let postgreSQL = postgreSQL(PostgreSQLOptions())

    private static let timeouts: [(name: String, path: WritableKeyPath<PostgreSQLOptions, Duration?> & Sendable)] = [
        ("responseTimeout", \.responseTimeout), ("statementTimeout", \.statementTimeout), ("lockTimeout", \.lockTimeout),
        ("idleTransactionTimeout", \.idleTransactionTimeout),
    ]
    private static let ownOptions = Set(["schema", "maximumConnections", "busyTimeout", "connectTimeout", "pooler"] + timeouts.map(\.name))

    /// Returns the location of the store, which names the schema unless it is the default one.
    private static func named(_ url: StoreURL, _ schema: String) throws -> String {
        var url = url
        if url.options["schema"] == nil, schema != PostgreSQLOptions().schema {
            url = try StoreURL(url.text + (url.text.contains("?") ? "&" : "?") + "schema=" + escaped(schema))
        }
        let names: Set<String> = schema == PostgreSQLOptions().schema ? ["host", "service"] : ["host", "service", "schema"]
        let location = url.serverLocation(defaultPort: 5432, namedBy: names)
        guard ["", "/"].contains(url.location), url.options["service"] == nil, let user = url.server?.user else { return location }
        // The database has the name of the user.
        let parts = location.split(separator: "?", maxSplits: 1)
        return parts[0] + escaped(user) + (parts.count > 1 ? "?" + parts[1] : "")
    }

    /// Returns a text in which all bytes but ASCII letters are escaped.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 0x80 && Character(Unicode.Scalar(byte)).isLetter
                ? String(Unicode.Scalar(byte)) : (byte < 16 ? "%0" : "%") + digits
        }.joined()
    }

    /// Returns the schema of a database that a URL names.
    /// - Throws: `misuse` for an option that is not a number, and a name that a schema cannot have.
    static func database(_ url: StoreURL, _ defaults: PostgreSQLOptions) throws -> Database {
        var options = defaults
        if let name = url.options["schema"] { options.schema = name }
        if let count = try url.number("maximumConnections") { options.maximumConnections = count }
        if let timeout = try url.number("busyTimeout") { options.busyTimeout = .milliseconds(timeout) }
        if let timeout = try url.number("connectTimeout") { options.connectTimeout = .milliseconds(timeout) }
        for (name, path) in timeouts { if let timeout = try url.number(name) { options[keyPath: path] = .milliseconds(timeout) } }
        let location = try named(url, options.schema)
        switch url.options["pooler"] {
        case nil: break
        case "session": options.usesTransactionPooler = false
        case "transaction": options.usesTransactionPooler = true
        case .some(let value): throw StoreError(.misuse, "pooler=\(value) is neither session nor transaction.", location: location)
        }
        guard !options.schema.isEmpty, options.schema.utf8.count <= SQLNames.longest, !options.schema.hasPrefix("pg_"),
            options.schema != "information_schema"
        else {
            throw StoreError(
                .misuse,
                "\"\(options.schema)\" cannot be the schema of a store: a name has 1 to \(SQLNames.longest) bytes, and names that begin with pg_ belong to PostgreSQL.",
                location: location)
        }
        return Database(address: ServerAddress(url), location: location, options: options)
    }

    /// Returns the engine with other default options.
    fileprivate static func postgreSQL(_ defaults: PostgreSQLOptions) -> StoreEngine {
        StoreEngine(name: "postgresql", options: ownOptions.union(ServerAddress.options), acceptsServers: true) { url in
            let database = try database(url, defaults)
            let location = database.location
            return StoreConfiguration(engine: "postgresql", location: location, remote: database) { request in
                try StoreOpener(database: database, request: request).open()
            }
        }
    }
}
