import CSQLite
import PolyStoreBackend

/// The connections of one open store: one that writes, and as many readers as read at once.
///
/// Sendable: everything that changes is guarded by `lock`, and a connection belongs to whoever borrowed it.
final class ConnectionPool: @unchecked Sendable {
    let path: String
    let tables: StoreTables
    let access: Connection.Access
    var isReadOnly: Bool { access != .writing }
    private let storeID: String
    private let process = OwningProcess()
    private let options: SQLiteOptions
    private let logger: any StoreLogger
    private let lock = Lock()
    /// nil while nobody has used the store since its descriptors were given back.
    private var writer: Connection?
    private var isWriterBorrowed = false
    private var idle: [Connection] = []
    private var borrowed = 0
    /// Connections that were closed while others were open. SQLite keeps their descriptors as long as any connection of the process has a lock on the file,
    /// as closing a descriptor would drop that one too, and in WAL mode every open connection has one.
    private var keptDescriptors = 0
    private static let mostKeptDescriptors = 32
    private var isClosed = false
    private var hasWarnedOfLog = false
    /// What went wrong in an earlier flush: nothing is written any more.
    private var failure: StoreError?
    /// Of the writer: whether everything in the log is known to be on the disk, or was put there by this pool.
    private var isLogFlushed: Bool
    /// Of the writer: the files that it writes.
    @exclusivity(unchecked) private var files: WatchedFiles
    /// Those of them that stay the same when no connection is open.
    private let lastingFiles: WatchedFiles
    /// Of a file that nobody can write: how it was when it was opened.
    private let stamp: FilePlace.Stamp?

    /// - Parameter isLogFlushed: whether the write-ahead log holds nothing but what the writer itself has flushed.
    init(
        writer: Connection, storeID: String, options: SQLiteOptions, access: Connection.Access, isLogFlushed: Bool, logger: any StoreLogger
    ) throws {
        self.writer = writer
        self.storeID = storeID
        writer.storeID = storeID
        path = writer.path
        tables = writer.tables
        self.access = access
        self.isLogFlushed = isLogFlushed
        let place = FilePlace(path: writer.path)
        lastingFiles = access == .writing ? try WatchedFiles([place.path]) : WatchedFiles()
        files = lastingFiles
        stamp = access == .readingUnchangedFile ? try place.stamp() : nil
        self.options = options
        self.logger = logger
    }

    deinit { close() }

    private var closed: StoreError { StoreError(.closed, "The store \(path) is closed.", url: path) }

    func borrowReader() throws -> Connection {
        // Before the lock, which another thread may have held when the process was forked.
        try process.check(path)
        try checkUnchanged()
        let found: Connection? = try lock.withLock {
            if isClosed { throw closed }
            borrowed += 1
            if let kept = idle.popLast() { return kept }
            // It opens with a descriptor that was kept, where there is one.
            keptDescriptors = max(keptDescriptors - 1, 0)
            return nil
        }
        if let found { return found }
        do { return try open(isReader: true) } catch {
            lock.withLock { borrowed -= 1 }
            throw error
        }
    }

    private func open(isReader: Bool) throws -> Connection {
        let connection = try Connection(path: path, tables: tables, access: access, busyTimeout: options.busyTimeout)
        connection.storeID = storeID
        do {
            try connection.configure(cacheKiB: isReader ? options.readerCacheKiB : options.writerCacheKiB, isReader: isReader)
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    func giveBack(reader: Connection) {
        let (isKept, isLogLeft): (Bool, Bool) = lock.withLock {
            borrowed -= 1
            guard !isClosed, idle.count < options.idleReaders else {
                keptDescriptors += 1
                return (false, leavesLog)
            }
            idle.append(reader)
            return (true, false)
        }
        if !isKept { close(reader, leavesLog: isLogLeft) }
        giveBackDescriptors()
    }

    /// Closes every connection, where none is in use and SQLite keeps many descriptors of closed ones: it then gives them back. The next use opens new
    /// connections.
    private func giveBackDescriptors() {
        let unused: [Connection]? = lock.withLock {
            guard keptDescriptors >= Self.mostKeptDescriptors, borrowed == 0, !isWriterBorrowed, !isClosed, !leavesLog else { return nil }
            keptDescriptors = 0
            // Nobody may begin to write meanwhile.
            isWriterBorrowed = true
            defer {
                idle = []
                writer = nil
                files = lastingFiles
            }
            return idle + (writer.map { [$0] } ?? [])
        }
        guard let unused else { return }
        // The log stays as it is: copying it takes its time, and is not what was asked for.
        for connection in unused { close(connection, leavesLog: true) }
        giveBackWriter()
    }

    /// Whether the log must stay as it is when connections are closed: SQLite would copy into the database what may not be on the disk, and a power cut
    /// in between would leave a database of two versions. To be called with the lock held.
    private var leavesLog: Bool { !isReadOnly && (failure != nil || !isLogFlushed) }

    private func close(_ connection: Connection, leavesLog: Bool) {
        if leavesLog { polystore_sqlite_leave_wal(connection.handle) }
        connection.close()
    }

    /// A file that is read without locks may not change under its readers.
    private func checkUnchanged() throws {
        guard let stamp else { return }
        let place = FilePlace(path: path)
        guard try place.stamp() == stamp, place.walSize() == 0 else {
            throw StoreError(
                .busy,
                "The store \(path) was opened as a file that nobody writes, as its folder takes no side files, and somebody has written to it. "
                    + "Close it and open it again.", url: path)
        }
    }

    /// Waits while another transaction has it.
    func borrowWriter() throws -> Connection {
        try process.check(path)
        if isReadOnly { throw StoreError(.readOnly, "The store \(path) was opened for reading only.", url: path) }
        let deadline = Deadline(milliseconds: options.busyTimeout)
        try lock.withLock {
            while isWriterBorrowed && !isClosed {
                guard lock.wait(until: deadline) || !isWriterBorrowed else {
                    throw StoreError(
                        .busy, "Another transaction has been writing to \(path) for more than \(options.busyTimeout) ms.", url: path)
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

    func giveBackWriter() {
        let isLast = lock.withLock {
            isWriterBorrowed = false
            lock.signal()
            return isClosed
        }
        if isLast { closeWriter() }
    }

    /// Closes what nobody uses; the rest closes when it is given back.
    func close() {
        // A child that was forked has nothing to close.
        guard process.isCurrent else { return }
        let (readers, isLogLeft, closesWriter): ([Connection], Bool, Bool) = lock.withLock {
            guard !isClosed else { return ([], false, false) }
            isClosed = true
            lock.broadcast()
            defer { idle = [] }
            return (idle, leavesLog, !isWriterBorrowed)
        }
        for reader in readers { close(reader, leavesLog: isLogLeft) }
        if closesWriter { closeWriter() }
    }

    /// Nobody can borrow it any more.
    private func closeWriter() {
        let (isFree, hasFailed) = lock.withLock { (borrowed == 0, failure != nil) }
        // Where there is none, the log was left when the last connection was closed.
        guard let writer = writer ?? (isReadOnly ? nil : try? open(isReader: false)) else { return }
        self.writer = nil
        guard !isReadOnly else { return writer.close() }
        // Not worth waiting for: the next one to open the store does it otherwise.
        sqlite3_busy_timeout(writer.handle, 0)
        if hasFailed || !flushLogAtEnd(writer) { return close(writer, leavesLog: true) }
        var isSound = true
        if isFree {
            isSound = sqlite3_wal_checkpoint_v2(writer.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) & 0xff != SQLITE_IOERR
        }
        close(writer, leavesLog: !isSound)
    }

    /// - Returns: whether what is in the log is on the disk.
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

    /// Makes sure that what others have left in the log is on the disk, before anything is built upon it. To be called with the write lock.
    ///
    /// Their last flush may have failed. The system then no longer knows that it must write those pages, and shows them all the same; only writing them
    /// again brings them to the disk.
    private func flushLog() throws {
        if isLogFlushed { return }
        try FilePlace(path: path).rewriteLog()
        lock.withLock { isLogFlushed = true }
    }

    /// To be called by the writer when its transaction has begun.
    func didBeginWriting() throws {
        if files.count == 1 { try files.add(FilePlace(path: path).walPath) }
        try flushLog()
    }

    /// To be called by the writer before it commits.
    /// - Throws: `io` where the files were deleted or replaced.
    func checkFiles() throws { try files.check(path) }

    /// Errors of reading and of memory: `SQLITE_IOERR_READ`, `_SHORT_READ`, `_NOMEM`.
    private static let harmlessCodes: [Int32] = [1, 2, 12].map { SQLITE_IOERR | $0 << 8 }

    /// To be called with every error of writing: after one of the system nothing more is written until the store is opened again, as what was to be
    /// flushed may be lost although it can still be read, and a second flush would not tell.
    func note(_ error: any Error) {
        guard let error = error as? StoreError, error.engineCode & 0xff == Int(SQLITE_IOERR),
            !Self.harmlessCodes.contains(Int32(truncatingIfNeeded: error.engineCode))
        else { return }
        lock.withLock {
            guard failure == nil else { return }
            failure = StoreError(
                .io,
                "An earlier write to \(path) failed, so nothing more is written: what it was to flush may not be on the disk. Reading goes on. "
                    + "Close the store and open it again.", url: path, engineCode: error.engineCode, underlying: error.underlying)
        }
    }

    /// Warns once when the write-ahead log has become long. Called by the writer.
    ///
    /// When it has been copied into the database it starts over, unless somebody still reads an old version.
    func watchLog() {
        guard let size = writer?.logSize else { return }
        guard size > options.longLog else {
            hasWarnedOfLog = false
            return
        }
        guard !hasWarnedOfLog else { return }
        hasWarnedOfLog = true
        logger.write(
            .warning,
            "The write-ahead log of \(path) has grown to \(size >> 20) MiB. It can only start over when no transaction reads an old version: end long reads."
        )
    }
}
