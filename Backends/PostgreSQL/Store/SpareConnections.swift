import Dispatch
import PolyStoreBackend

/// Idle connections over which a store was looked up a moment ago. The opening of the store, which usually follows, uses them.
enum SpareConnections {
    /// The values that a connection depends on. They contain the password, so that only callers who could open a connection use it.
    private struct Key: Hashable {
        let address: [String]
        let options: PostgreSQLOptions

        init(_ database: Database) {
            address = database.address.pairs.flatMap { [$0.0, $0.1] }
            options = database.options
        }
    }

    // A connection is not used while it is kept.
    private struct State: @unchecked Sendable {
        var spares: [Key: (connection: Connection, number: Int)] = [:]
        /// The number of connections that were kept so far.
        var count = 0
    }

    private static let state = Protected(State())
    /// The time after which an unused connection is closed.
    private static let lifetime = DispatchTimeInterval.seconds(1)

    /// Calls a closure with a connection to the server, a spare one if there is one. If the server has closed that, the closure is called again with a new one.
    static func using<Result>(_ database: Database, _ body: (Connection) throws -> Result) throws -> Result {
        try usingSpare(database, body) ?? body(database.connect())
    }

    /// Calls a closure with a spare connection.
    /// - Returns: nil if there is none, or if the server has closed it.
    private static func usingSpare<Result>(_ database: Database, _ body: (Connection) throws -> Result) throws -> Result? {
        let key = Key(database)
        guard let spare = state.withLock({ $0.spares.removeValue(forKey: key)?.connection }), spare.process.isCurrent else { return nil }
        do { return try body(spare) } catch let error as StoreError where error.recovery == .connectionLost { return nil }
    }

    /// Executes a statement without parameters, and keeps the connection. A new connection sends it with its settings, in one round trip.
    /// - Throws: `busy` if the server does not answer within the time to connect, over a new connection also within that of a response.
    static func rows(_ statement: Statement, _ database: Database) throws -> Rows {
        func answer(_ connection: Connection) throws -> Rows {
            connection.responseTimeout = database.options.connectTimeout
            defer {
                connection.responseTimeout = database.options.responseTimeout
                keep(connection, database)
            }
            return try connection.rows(statement)
        }
        if let rows = try usingSpare(database, answer) { return rows }
        let (connection, rows) = try database.connect(with: statement)
        guard let rows else { return try answer(connection) }
        keep(connection, database)
        return rows
    }

    /// Keeps a connection for a short time.
    static func keep(_ connection: Connection, _ database: Database) {
        guard connection.failure == nil else { return }
        let key = Key(database)
        let (number, replaced) = state.withLock { state in
            state.count += 1
            return (state.count, state.spares.updateValue((connection, state.count), forKey: key))
        }
        // A connection is closed when it is released, which must not happen under the lock.
        withExtendedLifetime(replaced) {}
        DispatchQueue.global().asyncAfter(deadline: .now() + lifetime) {
            let unused = state.withLock { $0.spares[key]?.number == number ? $0.spares.removeValue(forKey: key) : nil }
            withExtendedLifetime(unused) {}
        }
    }
}
