import CSQLite
import PolyStoreBackend

/// The connections of an open store: one writing connection and any number of reading connections.
///
/// Sendable: mutable state is guarded by `lock`, and a borrowed connection is used by its borrower only.
final class ConnectionPool: @unchecked Sendable {
    let path: String
    /// The file; `nil` after the pool was closed.
    private var file: OpenFile?
    let tables: StoreTables
    let access: Connection.Access
    var isReadOnly: Bool { access != .writing }
    /// Modified only while the store is being opened.
    private var identity: SQLiteStoreIdentity
    private let process = OwningProcess()
    let options: SQLiteOptions
    let logger: any StoreLogger
    private let lock = Lock()
    /// The writing connection; `nil` until the first write after the pool released its descriptors.
    private var writer: Connection?
    private var isWriterBorrowed = false
    private var idle: [Connection] = []
    private var borrowed = 0
    /// The number of connections that were closed while others were open. SQLite keeps their descriptors while any connection of the process holds a lock on
    /// the file, because closing a descriptor would release that lock. In WAL mode every open connection holds one.
    private var keptDescriptors = 0
    private static let mostKeptDescriptors = 32
    private var isClosed = false
    private var builder: SQLiteIndexBuilder?
    private var hasWarnedOfLog = false
    /// The number of snapshots of each version, and the newest known version.
    private var snapshots: [UInt64: Int] = [:]
    private var newest: UInt64 = 0
    /// A Boolean value that indicates whether a checkpoint could not copy all of a long log because a snapshot was reading it.
    private var isLogStalled = false
    /// The number of complete checkpoints of a stalled log. A snapshot that began before such a checkpoint reads the log; one that began after it reads only
    /// the database.
    private var completeCheckpoints = 0
    /// The error of an earlier flush; every write fails with it.
    private var failure: StoreError?
    /// A Boolean value that indicates whether the whole log is durable or was written by this pool. Used by the writer.
    private var isLogFlushed: Bool
    /// The files that the writer modifies.
    @exclusivity(unchecked) private var files: WatchedFiles
    /// The subset of `files` that exists while no connection is open.
    private let lastingFiles: WatchedFiles
    /// The state of a read-only file when it was opened.
    private let stamp: StorePath.Stamp?

    /// - Parameter isLogFlushed: A Boolean value that indicates whether the write-ahead log contains only frames that the writer has flushed.
    init(
        file: OpenFile, writer: Connection, identity: SQLiteStoreIdentity, options: SQLiteOptions, access: Connection.Access,
        isLogFlushed: Bool,
        logger: any StoreLogger
    ) throws {
        self.file = file
        self.writer = writer
        self.identity = identity
        writer.identity = identity
        path = writer.path
        tables = writer.tables
        self.access = access
        self.isLogFlushed = isLogFlushed
        let storePath = StorePath(path: writer.path)
        lastingFiles = access == .writing ? try WatchedFiles([storePath.path]) : WatchedFiles()
        files = lastingFiles
        stamp = access == .readingUnchangedFile ? try storePath.stamp() : nil
        self.options = options
        self.logger = logger
    }

    deinit { close() }

    private var closed: StoreError { StoreError(.closed, "The store \(path) is closed.", location: path) }

    /// The numbers of reading connections.
    var readSessions: ReadSessions {
        lock.withLock { ReadSessions(active: borrowed, idle: idle.count, maximumIdle: options.maximumIdleReaders) }
    }

    /// Borrows a reading connection and begins a snapshot in it.
    func beginReading() throws -> (connection: Connection, version: UInt64) {
        while true {
            let (connection, isReused) = try borrow()
            do { return (connection, try connection.begin(writing: false)) } catch {
                // SQLite's own errors have a code.
                let isUsable = ((error as? StoreError).map { $0.engineCode == 0 || $0.code == .busy }) ?? true
                giveBack(reader: connection, isUsable: isUsable)
                // A connection that was idle may have become unusable; a new one shows whether the store has.
                guard isReused, !isUsable else { throw error }
            }
        }
    }

    func borrowReader() throws -> Connection { try borrow().connection }

    /// - Returns: The connection, and a Boolean value that indicates whether it was idle before.
    private func borrow() throws -> (connection: Connection, isReused: Bool) {
        // Checked before the lock is taken: another thread may have held it when the process was forked.
        try process.check(path)
        try checkUnchanged()
        let found: Connection? = try lock.withLock {
            if isClosed { throw closed }
            borrowed += 1
            if let kept = idle.popLast() { return kept }
            // The new connection reuses a kept descriptor if there is one.
            keptDescriptors = max(keptDescriptors - 1, 0)
            return nil
        }
        if let found { return (found, true) }
        do { return (try open(isReader: true), false) } catch {
            lock.withLock { borrowed -= 1 }
            throw error
        }
    }

    /// Opens a connection for the target schema of a migration. The caller must have borrowed the writer and closes the connection with ``close(migrating:)``.
    func openMigrating(_ tables: StoreTables) throws -> Connection { try openChanging(tables, busyTimeout: options.busyTimeout) }

    /// Opens a connection that modifies tables or indexes.
    private func openChanging(_ tables: StoreTables, busyTimeout: Duration) throws -> Connection {
        let connection = try Connection(file: openFile(), tables: tables, access: access, busyTimeout: busyTimeout)
        connection.identity = identity
        do {
            try connection.configure(cacheKiB: options.writerCacheKiB, isReader: false)
            // Sorting the entries of a large index may need more space than there is memory.
            try connection.execute("PRAGMA temp_store = FILE")
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    func close(migrating connection: Connection) {
        let isLogLeft = lock.withLock {
            keptDescriptors += 1
            return leavesLog
        }
        close(connection, leavesLog: isLogLeft)
    }

    private func openFile() throws -> OpenFile {
        guard let file = lock.withLock({ file }) else { throw closed }
        return file
    }

    private func open(isReader: Bool) throws -> Connection {
        let connection = try Connection(file: openFile(), tables: tables, access: access, busyTimeout: options.busyTimeout)
        connection.identity = identity
        do {
            try connection.configure(cacheKiB: isReader ? options.readerCacheKiB : options.writerCacheKiB, isReader: isReader)
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    /// - Parameter isUsable: Whether the connection may be kept for later snapshots.
    func giveBack(reader: Connection, isUsable: Bool = true) {
        let (isKept, isLogLeft): (Bool, Bool) = lock.withLock {
            borrowed -= 1
            guard !isClosed, isUsable, idle.count < options.maximumIdleReaders else {
                keptDescriptors += 1
                return (false, leavesLog)
            }
            idle.append(reader)
            return (true, false)
        }
        if !isKept { close(reader, leavesLog: isLogLeft) }
        giveBackDescriptors()
    }

    /// Closes every connection if none is in use and SQLite keeps many descriptors of closed connections, so that SQLite releases them. The next use opens new
    /// connections.
    private func giveBackDescriptors() {
        let unused: [Connection]? = lock.withLock {
            guard keptDescriptors >= Self.mostKeptDescriptors, borrowed == 0, !isWriterBorrowed, !isClosed, !leavesLog else { return nil }
            keptDescriptors = 0
            // Prevents another transaction from beginning to write.
            isWriterBorrowed = true
            defer {
                idle = []
                writer = nil
                files = lastingFiles
            }
            return idle + (writer.map { [$0] } ?? [])
        }
        guard let unused else { return }
        // Skips the checkpoint: it takes time and is not required to release the descriptors.
        for connection in unused { close(connection, leavesLog: true) }
        giveBackWriter()
    }

    /// A Boolean value that indicates whether connections must be closed without a checkpoint. A checkpoint would copy frames that may not be durable, and a
    /// power failure during it would leave pages of two versions in the database. Call it with the lock held.
    private var leavesLog: Bool { !isReadOnly && (failure != nil || !isLogFlushed) }

    private func close(_ connection: Connection, leavesLog: Bool) {
        if leavesLog { polystore_sqlite_leave_wal(connection.handle) }
        connection.close()
    }

    /// Throws an error if a file that is read without locks has changed since it was opened.
    private func checkUnchanged() throws {
        guard let stamp else { return }
        let storePath = StorePath(path: path)
        guard try storePath.stamp() == stamp, storePath.walSize() == 0 else {
            throw StoreError(
                .busy,
                "The store \(path) was opened without locks, because its folder accepts no side files or its file has several names, and another program has "
                    + "written to it. Close it and open it again.", location: path)
        }
    }

    /// Borrows the writing connection. Blocks while another transaction holds it.
    func borrowWriter() throws -> Connection {
        try process.check(path)
        if isReadOnly { throw StoreError(.readOnly, "The store \(path) was opened for reading only.", location: path) }
        try lock.withLock {
            let deadline = isWriterBorrowed ? Deadline(after: options.busyTimeout) : nil
            while isWriterBorrowed && !isClosed {
                guard lock.wait(until: deadline ?? Deadline(after: options.busyTimeout)) || !isWriterBorrowed else {
                    throw StoreError(
                        .busy, "Another transaction has been writing to \(path) for more than \(options.busyTimeout.inMilliseconds) ms.",
                        location: path)
                }
            }
            if isClosed { throw closed }
            if let failure { throw failure }
            isWriterBorrowed = true
        }
        if let writer { return writer }
        do {
            let opened = try open(isReader: false)
            writer = opened
            return opened
        } catch {
            giveBackWriter()
            throw error
        }
    }

    /// Begins a transaction on the borrowed writer. Waits without a time limit while an index is created in the background.
    func beginWriting(_ connection: Connection) throws -> UInt64 {
        do { return try connection.begin(writing: true) } catch let error as StoreError where error.code == .busy {
            guard let builder = lock.withLock({ builder }) else { throw error }
            while true {
                let turn = builder.currentTurn
                do { return try connection.begin(writing: true) } catch let error as StoreError where error.code == .busy {
                    if !builder.hasWritten(since: turn) { throw error }
                }
            }
        }
    }

    /// The hash of the stored schema.
    var schemaHash: String { identity.schemaHash }

    /// Records that the store now has another schema of the same data.
    func adopt(schemaHash: String, _ connection: Connection) {
        identity.schemaHash = schemaHash
        connection.identity = identity
    }

    /// Flushes the log before anything is written that depends on it. Call it with the borrowed writer, outside a transaction.
    func flushLog(_ connection: Connection) throws {
        if isLogFlushed { return }
        _ = try connection.begin(writing: true)
        defer { connection.rollback() }
        try flushLog()
    }

    /// Creates indexes in the background, unless a builder runs already, a write has failed, or the store is being closed.
    func startIndexing(_ missing: [SQLiteIndexBuilder.MissingIndex]) throws {
        let previous = indexBuilder
        if previous?.isRunning == true || lock.withLock({ failure != nil }) { return }
        let connection = try openChanging(tables, busyTimeout: SQLiteIndexBuilder.busyTimeout)
        let builder = SQLiteIndexBuilder(missing, connection, logger: logger)
        let isWanted = lock.withLock {
            guard !isClosed, failure == nil, self.builder === previous else { return false }
            self.builder = builder
            return true
        }
        guard isWanted else { return close(migrating: connection) }
        builder.start { [weak self] error in self?.recordFailure(error) }
    }

    /// The builder that creates indexes in the background; `nil` if the store had all indexes when it was opened.
    var indexBuilder: SQLiteIndexBuilder? { lock.withLock { builder } }

    func giveBackWriter() {
        let isLast = lock.withLock {
            isWriterBorrowed = false
            lock.signal()
            return isClosed
        }
        if isLast { closeWriter() }
    }

    /// Closes all idle connections. Borrowed connections are closed when they are returned.
    func close() {
        // A forked child process owns no connection.
        guard process.isCurrent else { return }
        indexBuilder?.stop()
        let (readers, isLogLeft, closesWriter): ([Connection], Bool, Bool) = lock.withLock {
            guard !isClosed else { return ([], false, false) }
            isClosed = true
            lock.broadcast()
            defer { idle = [] }
            return (idle, leavesLog, !isWriterBorrowed)
        }
        // One that was started meanwhile.
        indexBuilder?.stop()
        for reader in readers { close(reader, leavesLog: isLogLeft) }
        if closesWriter { closeWriter() }
    }

    /// Closes the writer. It cannot be borrowed any more.
    private func closeWriter() {
        defer {
            // Released without the lock, because its end takes another one.
            _ = lock.withLock { file.take() }
        }
        let (isFree, hasFailed) = lock.withLock { (borrowed == 0, failure != nil) }
        // Without a writer, the log was left in place when the last connection was closed.
        guard let writer = writer ?? (isReadOnly ? nil : try? open(isReader: false)) else { return }
        self.writer = nil
        guard !isReadOnly else { return writer.close() }
        // Does not wait for locks: the next process that opens the store runs the checkpoint.
        sqlite3_busy_timeout(writer.handle, 0)
        if hasFailed || !flushLogAtEnd(writer) { return close(writer, leavesLog: true) }
        var isSound = true
        if isFree {
            isSound = sqlite3_wal_checkpoint_v2(writer.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) & 0xff != SQLITE_IOERR
        }
        close(writer, leavesLog: !isSound)
    }

    /// - Returns: A Boolean value that indicates whether the log is durable.
    private func flushLogAtEnd(_ writer: Connection) -> Bool {
        if isLogFlushed { return true }
        do {
            _ = try writer.begin(writing: true)
            defer { writer.rollback() }
            try flushLog()
            return true
        } catch {
            return false
        }
    }

    /// Makes frames that other connections left in the log durable before anything is written that depends on them. Call it with the write lock held.
    ///
    /// The last flush of another process may have failed. The system then no longer marks those pages as dirty but still returns them to readers; only writing
    /// them again makes them durable.
    private func flushLog() throws {
        if isLogFlushed { return }
        try StorePath(path: path).rewriteLog()
        lock.withLock { isLogFlushed = true }
    }

    /// Checks and flushes the log. The writer calls it when its transaction has begun.
    func didBeginWriting() throws {
        if files.count == 1 { try files.add(StorePath(path: path).walPath) }
        try flushLog()
    }

    /// Checks the store's files. The writer calls it before it commits.
    /// - Throws: `io` if the files were deleted or replaced.
    func checkFiles() throws { try files.check(path) }

    /// Checks that this process has opened the store, and that the database file is still at its path.
    /// - Throws: `misuse` in a forked child; `io` if the file was deleted or replaced.
    func checkMayBeVerified() throws {
        try process.check(path)
        try lastingFiles.check(path)
    }

    /// The codes of read and memory errors: `SQLITE_IOERR_READ`, `_SHORT_READ`, `_NOMEM`.
    private static let harmlessCodes: [Int32] = [1, 2, 12].map { SQLITE_IOERR | $0 << 8 }

    /// Records a write error. Call it with every error of a write. After an I/O error, all writes fail until the store is opened again: data of the failed
    /// flush may be lost although it can still be read, and a second flush would not report that.
    func recordFailure(_ error: any Error) {
        guard let error = error as? StoreError, error.engineCode & 0xff == Int(SQLITE_IOERR),
            !Self.harmlessCodes.contains(Int32(truncatingIfNeeded: error.engineCode))
        else { return }
        lock.withLock {
            guard failure == nil else { return }
            failure = StoreError(
                .io,
                "An earlier write to \(path) failed, so nothing more is written: what it was to flush may not be on the disk. Reads still work. "
                    + "Close the store and open it again.", location: path, engineCode: error.engineCode, underlying: error.underlying)
        }
        indexBuilder?.cancel()
    }

    // MARK: The log

    /// Registers a new snapshot.
    /// - Returns: the number of complete checkpoints of a stalled log.
    func didBeginReading(_ version: UInt64) -> Int {
        lock.withLock {
            snapshots[version, default: 0] += 1
            newest = max(newest, version)
            return completeCheckpoints
        }
    }

    func didEndReading(_ version: UInt64) {
        lock.withLock {
            let count = snapshots[version] ?? 0
            snapshots[version] = count > 1 ? count - 1 : nil
        }
    }

    /// Whether a snapshot of the newest version should be renewed so that the log can start over.
    enum Renewal {
        /// The snapshot should begin again, to read only the database.
        case wanted
        /// This snapshot and all others of the version should begin again.
        case wantedByAll
    }

    /// Runs a complete checkpoint of a stalled log if all snapshots show the newest version.
    /// - Parameter known: The number of complete checkpoints when the snapshot began.
    /// - Returns: `nil` if the snapshot does not prevent the log from starting over.
    func renewal(_ version: UInt64, since known: Int) -> Renewal? {
        let (isComplete, mayCheckpoint): (Bool, Bool) = lock.withLock {
            guard version == newest else { return (false, false) }
            let mayCheckpoint =
                isLogStalled && !isWriterBorrowed && writer != nil && !isClosed && failure == nil && isLogFlushed && snapshots.count == 1
            if mayCheckpoint { isWriterBorrowed = true }
            return (completeCheckpoints > known, mayCheckpoint)
        }
        guard mayCheckpoint, let writer else { return isComplete ? .wanted : nil }
        defer { giveBackWriter() }
        writer.checkpoint()
        if let error = writer.checkpointFailure { recordFailure(error) }
        let isStalled = writer.isLogStalled
        lock.withLock {
            isLogStalled = false
            if !isStalled { completeCheckpoints += 1 }
        }
        return isStalled ? nil : .wantedByAll
    }

    /// Records the length of the log after a commit and warns once when the log has become long. Called by the writer.
    ///
    /// After a complete checkpoint the log starts over, unless a snapshot still reads it.
    func watchLog(_ version: UInt64) {
        guard let writer else { return }
        lock.withLock {
            newest = max(newest, version)
            isLogStalled = writer.isLogStalled
        }
        let size = writer.logSize
        guard size > options.logWarningSize else {
            hasWarnedOfLog = false
            return
        }
        guard !hasWarnedOfLog else { return }
        hasWarnedOfLog = true
        logger.write(
            .warning,
            "The write-ahead log of \(path) has grown to \(size.byteCountText). It can only start over when no transaction reads an old version: end long reads."
        )
    }
}
