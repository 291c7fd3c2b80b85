import Foundation
import PolyStoreBackend

/// The connections of a store. Their number is limited; one of them at a time writes.
final class ConnectionPool: Sendable {
    private struct State {
        var idle: [Connection] = []
        /// The number of connections that are in use or being opened.
        var used = 0
        var hasWriter = false
        var isClosed = false
        /// A Boolean value that indicates whether the tables have the names of a migration.
        var isStaged = false
        /// The newest version that was read or committed.
        var newest: UInt64 = 0
        /// The snapshots whose beginning the server may not have executed.
        var openings: [ObjectIdentifier: Opening] = [:]
        /// When the last commit was announced.
        var lastAnnouncement: ContinuousClock.Instant?
        /// A Boolean value that indicates whether a commit after the last announcement has not been announced.
        var owesAnnouncement = false
        /// A Boolean value that indicates whether a thread announces what is owed.
        var hasAnnouncer = false
    }

    let database: Database
    private let final: StoreTables
    /// The tables with the names of a migration that is not complete; nil if it was complete when the store was opened.
    private let staged: StoreTables?
    // Guarded by the lock.
    private nonisolated(unsafe) var state = State()
    private let lock = Lock()

    var location: String { database.location }
    /// Finds what keeps the server from removing earlier versions of rows.
    let watch: HolderWatch

    private let storeID: String
    /// The number of migrations before the store was opened.
    private let migrations: Int64
    /// The full-text indexes of the store.
    let search: SearchCatalog
    /// Identifies this store object among those that announce commits.
    let sender = String(UInt64.random(in: 0 ... .max), radix: 16)
    /// The channel on which the commits of the store are announced.
    var channel: String { "polystore_\(storeID)" }

    init(
        _ database: Database, _ tables: StoreTables, storeID: String, search: SearchCatalog, generation: Int64, isStaged: Bool = false,
        first: Connection, logger: any StoreLogger
    ) {
        watch = HolderWatch(database, logger)
        self.storeID = storeID
        migrations = StoreTables.migrations(generation)
        self.search = search
        self.database = database
        final = tables
        staged = isStaged ? StoreTables(tables.schema, in: tables.plainSchema, isStaged: true) : nil
        (state.idle, state.isStaged) = ([first], isStaged)
    }

    /// A Boolean value that indicates whether the tables still have the names of a migration.
    var isStaged: Bool { lock.withLock { state.isStaged } }
    /// The tables with their present names.
    var tables: StoreTables { isStaged ? staged ?? final : final }
    /// Called when the tables have received the names of the model.
    func didRename() { lock.withLock { state.isStaged = false } }

    private var mostConnections: Int { max(2, database.options.maximumConnections) }
    /// The maximum number of snapshots at the same time. One connection remains for the write transaction.
    var mostSnapshots: Int { mostConnections - 1 }

    var readSessions: ReadSessions {
        lock.withLock {
            ReadSessions(active: state.used, idle: state.idle.count, maximumIdle: database.options.maximumIdleConnections)
        }
    }

    var closed: StoreError { StoreError(.closed, "The store \(location) is closed.", location: location) }

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
                if state.used < mostConnections {
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
        if let kept {
            if isUsable(kept) { return (kept, true) }
            discarded.append(kept)
        }
        do { return (try database.connect(), false) } catch {
            lock.withLock {
                state.used -= 1
                // Those that wait for the writer wait on the same condition.
                lock.broadcast()
            }
            throw error
        }
    }

    private func isUsable(_ connection: Connection) -> Bool {
        // A pooler loses the responses of a transaction that is sent before the end of the one before it.
        if database.options.usesTransactionPooler { try? connection.readPosted() }
        guard .now - connection.idleSince >= database.options.idleCheckTime else { return connection.failure == nil }
        // The version is needed if the connection ends during a commit; see ``PostgreSQLWriteTransaction/commitOutcome()``.
        guard let rows = connection.answer(to: versionStatement, within: Self.longestCheck) else { return false }
        _ = try? state(rows)
        return true
    }

    /// The maximum time to wait for the answer of a connection that was not used for long.
    private static let longestCheck = Duration.seconds(5)

    /// Takes a connection back. One that failed is closed, and so is one of too many idle ones.
    func giveBack(_ connection: Connection) {
        var discarded: Connection? = connection
        connection.idleSince = .now
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

    /// Ends the transaction of a connection and takes the connection back. Does not wait for the server: a thread of its own cancels a statement whose rows are not read any more.
    /// - Parameter completion: Called when the connection has been taken back. Not called in a forked child.
    func rollback(_ connection: Connection, _ completion: @escaping @Sendable () -> Void) {
        guard connection.process.isCurrent else { return }
        if connection.cancellation?.hasEnded ?? true, connection.skipArrivedRows() {
            connection.post([.once("ROLLBACK")])
            giveBack(connection)
            return completion()
        }
        // Only the thread uses the connection from now on.
        nonisolated(unsafe) let connection = connection
        Thread.detachNewThread { [self] in
            connection.abandonStream()
            connection.post([.once("ROLLBACK")])
            giveBack(connection)
            completion()
        }
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
        Statement("SELECT version, \"storeID\", generation, \"isStaged\", format FROM \(final.own("state")), \(final.own("metadata"))")
    }

    /// The newest version that was read or committed.
    var newestVersion: UInt64 { lock.withLock { state.newest } }

    /// Called with the version of a transaction.
    func didSee(_ version: UInt64) { lock.withLock { state.newest = max(state.newest, version) } }

    /// Returns the statement that fails unless the store is the one that was opened, with the full-text indexes of a generation, and its tables have the names of the model, so that nothing after it in a pipeline is executed.
    private func guardStatement(_ generation: Int64) -> Statement {
        let isSame = "\"storeID\" = $1 AND generation = $2 AND NOT \"isStaged\" AND version >= 0 AND version < \(Int64.max)"
        return Statement(
            "SELECT 1 / (CASE WHEN count(*) = 1 AND bool_and(\(isSame)) THEN 1 ELSE 0 END) "
                + "FROM \(final.own("state")), \(final.own("metadata"))", [.text(storeID), .integer(generation)])
    }

    /// The statements that wait for a migration or a reset that is being committed, and read the version. The first ones take no snapshot, so that the last one reads what was committed.
    /// They follow ``Database/waitingForWriters``, which limits the time.
    private var versionStatements: [Statement] {
        [
            Statement("LOCK TABLE \(tables.own("state")), \(tables.own("metadata")) IN ACCESS SHARE MODE"),
            database.waitingAsUsual, versionStatement,
        ]
    }

    /// Returns what the result of ``versionStatement`` contains.
    /// - Parameter expected: The tables whose names the transaction already uses.
    /// - Throws: `differentStoreAtURL` if the store was migrated, or replaced by another one; `corrupt` for a version that no commit writes.
    @discardableResult
    func state(_ rows: Rows?, for expected: StoreTables? = nil) throws -> StoreState {
        guard let rows, rows.count == 1, let version = rows.integer(0, 0) else {
            throw StoreError(.corrupt, "polystore_state of \(location) does not have one row.", location: location)
        }
        guard rows.text(0, 1) == storeID, let generation = rows.integer(0, 2), StoreTables.migrations(generation) == migrations else {
            throw replaced
        }
        guard version >= 0, version < Int64.max else {
            throw StoreError(.corrupt, "The version in polystore_state of \(location) is \(version).", location: location)
        }
        if !rows.bool(0, 3) { didRename() }
        if let expected, expected !== tables {
            throw StoreError(
                .io, "The tables of \(location) have received other names at the end of a migration. Begin the transaction again.",
                location: location, recovery: .connectionLost)
        }
        didSee(UInt64(version))
        let state = StoreState(
            version: UInt64(version), generation: generation, hasSearchIndexes: (rows.integer(0, 4) ?? 0) >= StoreTables.searchFormat)
        search.didSee(state)
        return state
    }

    /// Returns an error of the statements that begin a transaction.
    func explained(_ error: any Error) -> StoreError {
        guard let error = error as? StoreError else { return StoreError(.io, "\(location): \(error)", location: location) }
        return ["42P01", "3F000"].contains(error.sqlState) ? replaced : error
    }

    /// The error after the store was migrated, or replaced by another one.
    private var replaced: StoreError {
        StoreError(
            .differentStoreAtURL, "The store \(location) was migrated or replaced since it was opened. Open it again.", location: location)
    }

    /// Begins a transaction and returns its connection with the state that it reads.
    /// - Parameter statements: The statements that begin it.
    func beginTransaction(_ statements: [Statement]) throws -> (connection: Connection, state: StoreState) {
        let connection: Connection
        let results: [Rows]
        do { (connection, results) = try begin(statements + versionStatements) } catch { throw explained(error) }
        do { return (connection, try state(results.last)) } catch {
            connection.post([.once("ROLLBACK")])
            giveBack(connection)
            throw error
        }
    }

    /// Prepares a write transaction, which begins with its first request.
    /// - Parameters:
    ///   - statements: The statements that begin it.
    ///   - generation: The generation that the store must have.
    func beginLater(_ statements: [Statement], generation: Int64) throws -> WriteBeginning {
        try WriteBeginning(self, statements + versionStatements + [guardStatement(generation)], generation: generation)
    }

    // MARK: Snapshots

    /// Begins a snapshot without waiting for the server.
    func open() throws -> Opening {
        let (connection, isReused) = try borrow()
        do { try connection.process.check(location) } catch {
            giveBack(connection)
            throw error
        }
        connection.forgetParsed()
        let beginning = database.beginning("ISOLATION LEVEL REPEATABLE READ READ ONLY") + [database.waitingForWriters] + versionStatements
        let opening = Opening(self, connection, isReused: isReused, beginning)
        lock.withLock { state.openings[ObjectIdentifier(opening)] = opening }
        return opening
    }

    /// Called when the server has begun a snapshot, or the snapshot has ended.
    func didOpen(_ opening: Opening) { _ = lock.withLock { state.openings.removeValue(forKey: ObjectIdentifier(opening)) } }

    /// Waits until the server has begun the snapshots that were requested before this call, together for `busyTimeout` at most.
    func completeOpenings() {
        let deadline = Deadline(after: database.options.busyTimeout)
        // Their readers get the errors.
        for opening in lock.withLock({ Array(state.openings.values) }) { _ = try? opening.complete(until: deadline) }
    }

    /// Opens a connection in place of one that the server had closed, as it may have closed all idle ones.
    func replacement() throws -> Connection {
        var discarded: [Connection] = []
        defer { discarded.removeAll() }
        try lock.withLock {
            if state.isClosed { throw closed }
            (discarded, state.idle) = (state.idle, [])
        }
        return try database.connect()
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

    /// The statement that announces a commit to others.
    var announcement: [Statement] { [.once("NOTIFY \(SQLNames.quoted(channel)), \(SQLNames.literal(sender))")] }

    /// Announces a commit to others; a little later if another one has been announced just before. Does not wait for the server.
    func announce(_ connection: Connection) {
        let now = ContinuousClock.now
        let (isDue, needsAnnouncer) = lock.withLock {
            guard let last = state.lastAnnouncement, now - last < Self.announcementInterval else {
                (state.lastAnnouncement, state.owesAnnouncement) = (now, false)
                return (true, false)
            }
            defer { (state.owesAnnouncement, state.hasAnnouncer) = (true, true) }
            return (false, !state.hasAnnouncer)
        }
        if isDue { connection.post(announcement) }
        if needsAnnouncer { Thread.detachNewThread { [self] in announceOwed() } }
    }

    /// Announces the last commit of several ones over an idle connection, if none announces them before.
    private func announceOwed() {
        while true {
            // While commits follow each other, they announce what is owed.
            Deadline.pause(milliseconds: 2 * Self.announcementInterval.inMilliseconds)
            let connection: Connection?? = lock.withLock {
                guard state.owesAnnouncement, !state.isClosed else {
                    state.hasAnnouncer = false
                    return .some(nil)
                }
                guard let idle = state.idle.popLast() else { return nil }
                state.used += 1
                (state.owesAnnouncement, state.hasAnnouncer, state.lastAnnouncement) = (false, false, .now)
                return idle
            }
            guard let connection else { continue }
            if let connection {
                if database.options.usesTransactionPooler { try? connection.readPosted() }
                connection.post(announcement)
                giveBack(connection)
            }
            return
        }
    }

    // MARK: End

    /// Closes the idle connections. Those in use are closed when they are given back.
    func close() {
        var discarded: [Connection] = []
        let owesAnnouncement = lock.withLock {
            defer { state.owesAnnouncement = false }
            state.isClosed = true
            discarded = state.idle
            state.idle = []
            lock.broadcast()
            return state.owesAnnouncement
        }
        if owesAnnouncement { discarded.first?.post(announcement) }
        discarded.removeAll()
    }

    var isClosed: Bool { lock.withLock { state.isClosed } }
}
