import CSQLite
import Dispatch
import PolyStoreBackend
import PolyStoreQuery

/// Creates the missing plain indexes of a store, one after another, while the store is in use.
///
/// Each index is created in its own write transaction on its own connection: other writers wait for at most one index, and readers never wait. An index that is
/// not complete when the store is closed is created after the store is opened again, which detects that it is missing.
///
/// Sendable: mutable state is guarded by `lock`.
final class SQLiteIndexBuilder: @unchecked Sendable {
    /// An index and the statement that creates it.
    struct MissingIndex: Sendable {
        let name: String
        let entity: String
        let sql: String
    }

    private let missing: [MissingIndex]
    private let connection: Connection
    private let logger: any StoreLogger
    private let lock = Lock(.backend)
    private var isStarted = false
    private var isCancelled = false
    private var isFinished = false
    private var isBeginning = false
    /// The number of attempts to begin.
    private var attempts = 0
    /// Counts the beginnings and the ends of write transactions: odd while an index is being created.
    private var turn = 0

    /// The time that one attempt to begin a write waits for other writers, in milliseconds; also the interval at which the builder checks for cancellation.
    static let busyTimeout = Duration.milliseconds(50)

    private static let longestPause = 50

    /// - Parameter connection: The connection, which the builder owns from now on.
    init(_ missing: [MissingIndex], _ connection: Connection, logger: any StoreLogger) {
        self.missing = missing
        self.connection = connection
        self.logger = logger
    }

    /// Starts on another thread.
    /// - Parameter didFail: Called with the write error before ``stop()`` returns.
    func start(didFail: @escaping @Sendable (any Error) -> Void) {
        DispatchQueue(label: "polystore.sqlite.indexes", qos: .utility).async { [self] in
            let isCancelled = lock.withLock {
                isStarted = true
                return isFinished
            }
            if isCancelled { return }
            var failure: (any Error)?
            do {
                for index in missing { try create(index) }
                try buildSearchIndexes()
            } catch { failure = error }
            // Before the end, after which the store may be closed: a checkpoint must not follow a failed flush.
            if let failure { didFail(failure) }
            // With the lock held, because it must not be interrupted any more.
            lock.withLock { finish() }
        }
    }

    /// Closes the connection without a checkpoint, which would copy frames that are not durable after a failed flush. Call it with the lock held.
    private func finish() {
        polystore_sqlite_leave_wal(connection.handle)
        connection.close()
        isFinished = true
        lock.broadcast()
    }

    /// Interrupts the index that is being created, and returns once the builder has released the store. A second call has no effect.
    func stop() {
        lock.withLock {
            isCancelled = true
            // The queue may not have started the builder yet.
            if !isStarted, !isFinished { finish() }
            while !isFinished {
                // Repeated, because an interrupt that arrives just before a statement begins has no effect on it.
                sqlite3_interrupt(connection.handle)
                _ = lock.wait(until: Deadline(milliseconds: 5))
            }
        }
    }

    /// Lets the builder begin no further write.
    func cancel() { lock.withLock { isCancelled = true } }

    /// Returns when every index has been created, or when the builder was stopped.
    func wait() { lock.withLock { while !isFinished { lock.wait() } } }

    /// The current turn, to be passed to ``hasWritten(since:)`` after an attempt to write that found the store busy.
    var currentTurn: Int { lock.withLock { turn } }

    /// Returns whether an index was being created at any time since a turn, so that it can be why the store was busy.
    ///
    /// Waits for the result of an attempt to begin, because the store is locked a moment before the builder knows it.
    func hasWritten(since earlier: Int) -> Bool {
        lock.withLock {
            let attempt = attempts
            while isBeginning, attempts == attempt { lock.wait() }
            return !earlier.isMultiple(of: 2) || turn != earlier
        }
    }

    /// A Boolean value that indicates whether indexes remain to be created.
    var isRunning: Bool { lock.withLock { !isFinished } }

    private func create(_ index: MissingIndex) throws {
        do {
            let start = ContinuousClock.now
            let isCreated: Void? = try transaction { connection in
                // Another process may have created it.
                if try connection.texts("SELECT name FROM sqlite_master WHERE name = \(SQLNames.literal(index.name))").isEmpty {
                    try connection.execute(index.sql)
                }
            }
            if isCreated == nil { return }
            logger.write(
                .notice,
                "Created the index \(index.name) of \(index.entity) in the store \(connection.path) in \(ContinuousClock.now - start).")
        } catch let error as StoreError where error.code == .cancelled {
            // Closing the store has interrupted the builder.
        } catch let error as StoreError where error.code == .differentStoreAtURL {
            // Another process has migrated or reset the store, so the index is obsolete.
        } catch {
            logger.write(
                .warning,
                "Cannot create the index \(index.name) of \(index.entity): \(error). Queries do without it; the next opening of the store tries again."
            )
            throw error
        }
    }

    /// Runs a closure in a write transaction.
    /// - Returns: The result; nil if the builder was cancelled.
    private func transaction<Result>(_ body: (Connection) throws -> Result) throws -> Result? {
        guard try begin() else { return nil }
        defer { lock.withLock { turn += 1 } }
        do {
            let result = try body(connection)
            try connection.commit()
            return result
        } catch {
            connection.rollback()
            throw error
        }
    }

    // MARK: Full-text indexes

    /// Builds the full-text indexes that are not complete, one batch after another. Pauses after each batch for as long as it took, so that other writers can run.
    private func buildSearchIndexes() throws {
        do {
            var current: (index: StoredSearchIndex, count: Int)?
            while true {
                let start = ContinuousClock.now
                let batch = try transaction { connection in
                    let part = SearchIndexBatch(connection: connection)
                    guard let index = try part.next() else { return nil as (StoredSearchIndex, Int, Bool)? }
                    let (count, isComplete) = try part.add(to: index)
                    return (index, count, isComplete)
                }
                guard let batch, let (index, count, isComplete) = batch else { return }
                if current?.index != index { logger.write(.notice, "The index \(name(of: index)) is built in the background.") }
                let done = (current?.index == index ? current?.count ?? 0 : 0) + count
                current = (index, done)
                if isComplete { logger.write(.notice, "The index \(name(of: index)) is complete: \(done) rows were added.") }
                pause(since: start)
            }
        } catch let error as StoreError where error.code == .cancelled || error.code == .differentStoreAtURL {
            // Closing the store has interrupted the builder, or the index is obsolete.
        } catch {
            logger.write(
                .warning,
                "Cannot build the full-text indexes of \(connection.path): \(error). Searches read the rows; the next opening of the store continues."
            )
            throw error
        }
    }

    private func name(of index: StoredSearchIndex) -> String { "\(index.name(in: connection.tables.schema)) of \(connection.path)" }

    private func pause(since start: ContinuousClock.Instant) {
        let time = min((ContinuousClock.now - start).inMilliseconds, Self.longestPause)
        lock.withLock { if time > 0, !isCancelled { _ = lock.wait(until: Deadline(milliseconds: time)) } }
    }

    /// Begins a write transaction and waits for other writers without a time limit.
    /// - Returns: `false` if the builder was cancelled.
    private func begin() throws -> Bool {
        while true {
            let isCancelled = lock.withLock {
                attempts += 1
                isBeginning = !self.isCancelled
                return self.isCancelled
            }
            if isCancelled { return false }
            var hasBegun = false
            defer {
                lock.withLock {
                    isBeginning = false
                    if hasBegun { turn += 1 }
                    lock.broadcast()
                }
            }
            do {
                _ = try connection.begin(writing: true)
                hasBegun = true
                return true
            } catch let error as StoreError where error.code == .busy {}
        }
    }
}
