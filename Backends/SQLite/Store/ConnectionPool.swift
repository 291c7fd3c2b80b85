import CSQLite
import PolyStoreBackend

/// The connections of one open store: one that writes, and as many readers as read at once.
///
/// Sendable: everything that changes is guarded by `lock`, and a connection belongs to whoever borrowed it.
final class ConnectionPool: @unchecked Sendable {
    let path: String
    let tables: StoreTables
    let isReadOnly: Bool
    private let options: SQLiteOptions
    private let logger: any StoreLogger
    private let lock = Lock()
    private let writer: Connection
    private var isWriterBorrowed = false
    private var idle: [Connection] = []
    private var borrowed = 0
    private var isClosed = false
    private var hasWarnedOfLog = false

    init(writer: Connection, options: SQLiteOptions, isReadOnly: Bool, logger: any StoreLogger) {
        self.writer = writer
        path = writer.path
        tables = writer.tables
        self.isReadOnly = isReadOnly
        self.options = options
        self.logger = logger
    }

    deinit { close() }

    private var closed: StoreError { StoreError(.closed, "The store \(path) is closed.", url: path) }

    func borrowReader() throws -> Connection {
        let found: Connection? = try lock.withLock {
            if isClosed { throw closed }
            borrowed += 1
            return idle.popLast()
        }
        if let found { return found }
        do {
            let connection = try Connection(path: path, tables: tables, isReadOnly: isReadOnly, busyTimeout: options.busyTimeout)
            do { try connection.configure(cacheKiB: options.readerCacheKiB, isReader: true) } catch {
                connection.close()
                throw error
            }
            return connection
        } catch {
            lock.withLock { borrowed -= 1 }
            throw error
        }
    }

    func giveBack(reader: Connection) {
        let isKept = lock.withLock {
            borrowed -= 1
            guard !isClosed, idle.count < options.idleReaders else { return false }
            idle.append(reader)
            return true
        }
        if !isKept { reader.close() }
    }

    /// Waits while another transaction has it.
    func borrowWriter() throws -> Connection {
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
            isWriterBorrowed = true
        }
        return writer
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
        let (readers, closesWriter): ([Connection], Bool) = lock.withLock {
            guard !isClosed else { return ([], false) }
            isClosed = true
            lock.broadcast()
            defer { idle = [] }
            return (idle, !isWriterBorrowed)
        }
        for reader in readers { reader.close() }
        if closesWriter { closeWriter() }
    }

    /// Nobody can borrow it any more.
    private func closeWriter() {
        if !isReadOnly && lock.withLock({ borrowed == 0 }) {
            // Not worth waiting for: the next one to open the store does it otherwise.
            sqlite3_busy_timeout(writer.handle, 0)
            sqlite3_wal_checkpoint_v2(writer.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        }
        writer.close()
    }

    /// Warns once when the write-ahead log has become long. Called by the writer.
    ///
    /// When it has been copied into the database it starts over, unless somebody still reads an old version.
    func watchLog() {
        let size = writer.logSize
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
