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
        let key = Key(database)
        if let spare = state.withLock({ $0.spares.removeValue(forKey: key)?.connection }), spare.process.isCurrent {
            do { return try body(spare) } catch let error as StoreError where error.recovery == .connectionLost {}
        }
        return try body(database.connect())
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
