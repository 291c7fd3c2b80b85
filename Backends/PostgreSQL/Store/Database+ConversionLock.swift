import PolyStoreBackend

extension Database: ConversionLocking {
    /// A connection that has the lock until it is closed.
    private final class Lock: @unchecked Sendable {  // the connection is only released
        let connection: Connection

        init(_ connection: Connection) { self.connection = connection }
    }

    func lockConversion() throws -> (any AnyObject & Sendable)? {
        // The connections of a pooler are not those of one client.
        guard !options.usesTransactionPooler else { return nil }
        let connection = try connect()
        let found = try connection.rows(
            "SELECT pg_try_advisory_lock(pg_catalog.hashtextextended($1, 0))", [.text("polystore conversion \(options.schema)")])
        guard found.bool(0, 0) else { throw ConversionTarget.busyError(location) }
        return Lock(connection)
    }
}
