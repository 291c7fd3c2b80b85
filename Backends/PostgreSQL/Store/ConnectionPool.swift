import PolyStoreBackend

/// The connections of a store. Their number is limited; one of them at a time writes.
final class ConnectionPool: Sendable {
    private struct State {
        var idle: [Connection] = []
        /// The number of connections that are in use or being opened.
        var used = 0
        var hasWriter = false
        var isClosed = false
        /// When the last commit was announced.
        var lastAnnouncement: ContinuousClock.Instant?
    }

    let database: Database
    let tables: StoreTables
    // Guarded by the lock.
    private nonisolated(unsafe) var state = State()
    private let lock = Lock()

    var location: String { database.location }

    private let storeID: String
    /// The number of migrations before the store was opened.
    private let generation: Int64
    /// Identifies this store object among those that announce commits.
    let sender = String(UInt64.random(in: 0 ... .max), radix: 16)
    /// The channel on which the commits of the store are announced.
    var channel: String { "polystore_\(storeID)" }

    init(_ database: Database, _ tables: StoreTables, storeID: String, generation: Int64, first: Connection) {
        self.storeID = storeID
        self.generation = generation
        self.database = database
        self.tables = tables
        state.idle = [first]
    }

    var readSessions: ReadSessions {
        lock.withLock {
            ReadSessions(active: state.used, idle: state.idle.count, maximumIdle: database.options.maximumIdleConnections)
        }
    }

    private var closed: StoreError { StoreError(.closed, "The store \(location) is closed.", location: location) }

    /// Returns a connection, an idle one if there is one.
    /// - Parameter isFresh: Whether a new connection is opened in any case, because the idle ones may have been closed by the server.
    func borrow(isFresh: Bool = false) throws -> (connection: Connection, isReused: Bool) {
        let deadline = Deadline(after: database.options.busyTimeout)
        var discarded: [Connection] = []
        defer { discarded.removeAll() }
        let kept: Connection? = try lock.withLock {
            if isFresh {
                discarded = state.idle
                state.idle = []
            }
            while true {
                if state.isClosed { throw closed }
                if let connection = state.idle.popLast() {
                    state.used += 1
                    return connection
                }
                if state.used < max(2, database.options.maximumConnections) {
                    state.used += 1
                    return nil
                }
                guard lock.wait(until: deadline) else {
                    throw StoreError(
                        .busy,
                        "All \(state.used) connections to \(location) are in use. End transactions and contexts earlier, or raise maximumConnections.",
                        location: location)
                }
            }
        }
        if let kept { return (kept, true) }
        do { return (try database.connect(), false) } catch {
            lock.withLock {
                state.used -= 1
                lock.signal()
            }
            throw error
        }
    }

    /// Takes a connection back. One that failed is closed, and so is one of too many idle ones.
    func giveBack(_ connection: Connection) {
        var discarded: Connection? = connection
        lock.withLock {
            state.used -= 1
            if connection.failure == nil, !state.isClosed, state.idle.count < max(1, database.options.maximumIdleConnections) {
                state.idle.append(connection)
                discarded = nil
            }
            lock.broadcast()
        }
        _ = discarded
    }

    /// Sends statements over a borrowed connection. If an idle connection turns out to be closed, they are sent over a new one.
    func begin(_ statements: [Statement]) throws -> (connection: Connection, results: [Rows]) {
        var isFresh = false
        while true {
            let (connection, isReused) = try borrow(isFresh: isFresh)
            connection.forgetParsed()
            do { return (connection, try connection.run(statements)) } catch {
                let hasFailed = connection.failure != nil
                if !hasFailed { connection.post([.once("ROLLBACK")]) }
                giveBack(connection)
                if isReused, hasFailed, (error as? StoreError)?.recovery == .connectionLost {
                    isFresh = true
                    continue
                }
                throw error
            }
        }
    }

    // MARK: Versions

    /// The statement that reads the version of the store, and whether it is still the one that was opened.
    var versionStatement: Statement {
        Statement("SELECT version, \"storeID\", generation FROM \(tables.own("state")), \(tables.own("metadata"))")
    }

    /// The statement that waits for a migration or a reset that is being committed. It takes no snapshot, so that the statement after it reads what was committed.
    private var waitingForReplacement: Statement {
        Statement("LOCK TABLE \(tables.own("state")), \(tables.own("metadata")) IN ACCESS SHARE MODE")
    }

    /// Returns the version in the result of ``versionStatement``.
    /// - Throws: `differentStoreAtURL` if the store was migrated, or replaced by another one; `corrupt` for a version that no commit writes.
    func version(_ rows: Rows?) throws -> UInt64 {
        guard let rows, rows.count == 1, let version = rows.integer(0, 0) else {
            throw StoreError(.corrupt, "polystore_state of \(location) does not have one row.", location: location)
        }
        guard rows.text(0, 1) == storeID, rows.integer(0, 2) == generation else { throw replaced }
        guard version >= 0, version < Int64.max else {
            throw StoreError(.corrupt, "The version in polystore_state of \(location) is \(version).", location: location)
        }
        return UInt64(version)
    }

    /// The error after the store was migrated, or replaced by another one.
    private var replaced: StoreError {
        StoreError(
            .differentStoreAtURL, "The store \(location) was migrated or replaced since it was opened. Open it again.", location: location)
    }

    /// Begins a transaction and returns its connection with the version that it reads.
    /// - Parameter statements: The statements that begin it.
    func beginTransaction(_ statements: [Statement]) throws -> (connection: Connection, version: UInt64) {
        let connection: Connection
        let results: [Rows]
        do { (connection, results) = try begin(statements + [waitingForReplacement, versionStatement]) } catch let error as StoreError
            where error.sqlState == "42P01"
        {
            throw replaced
        }
        do { return (connection, try version(results.last)) } catch {
            connection.post([.once("ROLLBACK")])
            giveBack(connection)
            throw error
        }
    }

    // MARK: Writers

    /// Waits until no other transaction of this store object writes.
    func beginWriting() throws {
        let deadline = Deadline(after: database.options.busyTimeout)
        try lock.withLock {
            while state.hasWriter, !state.isClosed {
                guard lock.wait(until: deadline) else {
                    throw StoreError(.busy, "Another transaction writes to \(location). Try again later.", location: location)
                }
            }
            if state.isClosed { throw closed }
            state.hasWriter = true
        }
    }

    func endWriting() {
        lock.withLock {
            state.hasWriter = false
            lock.broadcast()
        }
    }

    // MARK: Announcements

    /// The minimum time between two announcements. Each takes a lock of the whole server.
    private static let announcementInterval = Duration.milliseconds(5)

    /// Announces a commit to others, unless another one has been announced just before. Does not wait for the server.
    func announce(_ connection: Connection) {
        let now = ContinuousClock.now
        let isDue = lock.withLock {
            if let last = state.lastAnnouncement, now - last < Self.announcementInterval { return false }
            state.lastAnnouncement = now
            return true
        }
        if isDue { connection.post([.once("NOTIFY \(SQLNames.quoted(channel)), \(SQLNames.literal(sender))")]) }
    }

    // MARK: End

    /// Closes the idle connections. Those in use are closed when they are given back.
    func close() {
        var discarded: [Connection] = []
        lock.withLock {
            state.isClosed = true
            discarded = state.idle
            state.idle = []
            lock.broadcast()
        }
        discarded.removeAll()
    }

    var isClosed: Bool { lock.withLock { state.isClosed } }
}
