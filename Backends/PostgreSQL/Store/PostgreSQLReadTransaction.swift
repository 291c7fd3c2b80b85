import PolyStoreBackend

/// A snapshot: a connection inside a transaction that reads the state of its beginning.
final class PostgreSQLReadTransaction: SessionTransaction {
    let session: Session
    let pool: ConnectionPool

    /// Begins the transaction without waiting for the server, whose response is read with that to the first request.
    init(_ pool: ConnectionPool) throws {
        let opening = try pool.open()
        session = Session(opening, opening.tables)
        self.pool = pool
    }

    deinit { end() }

    var version: UInt64 { get throws { try session.version } }

    /// Ends the transaction. Does not wait for the server.
    func end() {
        guard !session.isEnded else { return }
        session.end { [pool] in pool.rollback($0) {} }
    }
}

extension Rows {
    /// The version of the store, if that is the only value.
    var storeVersion: UInt64? { count == 1 ? integer(0, 0).map { UInt64(bitPattern: $0) } : nil }
}
