import PolyStoreBackend
import PolyStoreQuery
import Synchronization

/// A store in an ordered key-value engine. The engine stores ordered bytes; this layer implements everything else.
///
///     StoreConfiguration(engine: "mine", location: path) { request in
///         try KeyValueBackend(EngineHandle.shared(path, isReadOnly: request.isReadOnly) { try MyEngine(path) }, request)
///     }
public final class KeyValueBackend: RebuildsIndexes, @unchecked Sendable {  // All mutable state is accessed under the lock.
    /// The newest format that this version reads and writes; see ``Keyspace``. Stores with full-text indexes have it.
    public static let format = 3
    /// The format of migrated stores without full-text indexes.
    static let migratedFormat = 2
    /// The format of all other stores, which earlier versions can read too.
    static let plainFormat = 1

    /// The metadata of the store when it was opened.
    public let metadata: StoreMetadata
    /// The features and durabilities of the engine, and those that the record layer adds.
    public let capabilities: Capabilities
    let layout: StoreLayout
    let handle: EngineHandle
    private let isReadOnly: Bool
    private let logger: any StoreLogger
    private let background: BackgroundWork
    private let lock = Lock(.backend)
    private var isClosed = false
    /// A Boolean value that becomes true with `isClosed`, for batches that hold the lock of the engine.
    private let isClosing = Atomic<Bool>(false)
    /// The number of maintenance calls that write in batches.
    private var batchedCalls = 0

    /// Opens the store in an engine, or creates it if the engine is empty. Takes ownership of the handle, which is released when the store is closed or when
    /// this throws.
    /// - Throws: `notAStore` if the engine contains other data; the errors of `StoreMetadata.check(_:supportedFormat:url:acceptsOtherIndexes:)`.
    public init(_ handle: EngineHandle, _ request: OpenRequest) throws {
        self.handle = handle
        isReadOnly = request.isReadOnly
        logger = request.logger
        let traits = handle.engine.traits
        var features = traits.features
        // A store that does not outlive its closing cannot be opened with another schema.
        if features.contains(.persistence) { features.insert(.migration) }
        features.formUnion([.concurrentReaders, .verification, .plannedIndexes, .searchIndexes, .namedValues, .changeLog])
        // The record layer's own write transaction is in memory, over a snapshot that any thread may use.
        if !(handle.engine is any TransactionalEngine) { features.insert(.transferableWriter) }
        capabilities = Capabilities(features: features, durabilities: traits.durabilities)
        do {
            let opener = KeyValueOpener(handle: handle, request: request)
            (metadata, layout) = try opener.open()
            background = BackgroundWork(handle, layout, logger)
            if !request.isReadOnly { try resume(keepsMigration: request.keepsInterruptedMigration) }
        } catch {
            handle.release()
            throw error
        }
    }

    /// Continues work that an earlier opening has not finished.
    ///
    /// Does not interfere with a migration by another process or another store of this process; the store can be read during it.
    private func resume(keepsMigration: Bool) throws {
        let hasJournal = try reading { try $0.get(MigrationJournal.key) != nil }
        if hasJournal {
            guard !keepsMigration, try endInterruptedMigration(handle, waits: false) else { return }
        }
        let builder = IndexBuilder(handle, layout, logger)
        try builder.resumeUniqueIndexes()
        let hasRemovals = try reading { try !PendingRemoval.all($0).isEmpty }
        background.start(
            try hasRemovals || builder.unfinished().contains { !$0.isUnique } || !SearchIndexBuilder(handle, layout).unfinished().isEmpty)
    }

    private func reading<Result>(_ body: (any EngineSnapshot) throws -> Result) throws -> Result {
        let snapshot = try handle.engine.snapshot()
        defer { snapshot.end() }
        return try body(snapshot)
    }

    /// The progress of the index that is built in the background; `nil` if there is none.
    public var indexBuild: IndexBuildProgress? { background.progress }

    /// Waits until the background work has ended: new indexes are complete and obsolete keys are removed, or an error or the closing of the store has
    /// interrupted the work.
    public func waitForBackgroundWork() { background.wait() }

    deinit { shut() }

    /// The files that a commit writes to, as reported by the engine.
    public var commitFiles: [String] { handle.engine.commitFiles }

    /// The sessions of the engine, as reported by the engine.
    public var readSessions: ReadSessions? { handle.engine.readSessions }

    /// Closes the store and stops its background work. A second call has no effect. Running transactions keep the engine open until they end.
    public func close() throws { shut() }

    private func shut() {
        // A forked child process has nothing to close.
        guard handle.process.isCurrent else { return }
        let isFirst = lock.withLock {
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        isClosing.store(true, ordering: .relaxed)
        background.stop()
        lock.withLock {
            let deadline = Deadline(milliseconds: Self.longestWait)
            while batchedCalls > 0 { guard lock.wait(until: deadline) else { break } }
        }
        handle.release()
    }

    /// Retains the engine for a transaction.
    private func use() throws -> EngineHandle {
        // Before the lock, which another thread may have held when the process was forked.
        try handle.process.check(handle.engine.location)
        return try lock.withLock {
            if isClosed { throw StoreError(.closed, "The store \(handle.engine.location) was closed.", location: handle.engine.location) }
            handle.retain()
            return handle
        }
    }

    /// The time that closing waits for a batch of a maintenance call, in milliseconds.
    private static let longestWait = 5000

    /// Runs a maintenance call that writes in batches. Closing the store ends it after a batch.
    /// - Throws: `closed` if the store was closed meanwhile.
    private func inBatches(_ body: (EngineHandle, _ isCancelled: @escaping () -> Bool) throws -> Void) throws {
        let handle = try use()
        lock.withLock { batchedCalls += 1 }
        defer {
            lock.withLock {
                batchedCalls -= 1
                lock.broadcast()
            }
            handle.release()
        }
        let isCancelled = { [self] in isClosing.load(ordering: .relaxed) }
        do { try body(handle, isCancelled) } catch {
            if isCancelled() {
                throw StoreError(.closed, "The store \(handle.engine.location) was closed.", location: handle.engine.location)
            }
            throw error
        }
    }

    /// Begins a read transaction over the newest version.
    public func beginRead() throws -> any ReadTransaction {
        let handle = try use()
        do {
            return try KeyValueReadTransaction(handle, layout)
        } catch {
            handle.release()
            throw error
        }
    }

    /// Begins a write transaction. Waits while another one runs.
    public func beginWrite() throws -> any WriteTransaction {
        try checkMayWrite()
        let handle = try use()
        do {
            while true {
                do { return try KeyValueWriteTransaction(handle, layout, logger) } catch is UnfinishedMigration {
                    try endInterruptedMigration(handle)
                }
            }
        } catch {
            handle.release()
            throw error
        }
    }

    /// - Returns: `false` if the migration is still in progress and the caller does not wait.
    @discardableResult
    private func endInterruptedMigration(_ handle: EngineHandle, waits: Bool = true) throws -> Bool {
        guard try handle.endInterruptedMigration(waits: waits, { try handle.check(layout, $0) }) else { return false }
        logger.write(.notice, "A migration of \(layout.location) was interrupted, and what it has written is removed.")
        background.start(true)
        return true
    }

    /// Begins a migration in several transactions, so that its memory use does not depend on the number of records.
    ///
    /// Carried records are not rewritten: a migration without new entities consists of one small transaction, regardless of the number of records, and the
    /// building of new indexes. The migration is bound to one thread if the engine's write transactions are, like those of LMDB.
    public func beginMigration(_ change: SchemaChange) throws -> any StoreMigration {
        try checkMayWrite()
        guard capabilities.has(.migration) else {
            throw StoreError(
                .unsupported,
                "The store \(layout.location) ends with its use, so it cannot be migrated. Copy its objects to another store.",
                location: layout.location)
        }
        let handle = try use()
        do {
            return try KeyValueMigration(handle, layout, change, logger) { [weak self] isCommitted in
                if isCommitted { self?.shut() } else { self?.background.start(true) }
            }
        } catch {
            handle.release()
            throw error
        }
    }

    /// Copies the newest version to another location; see ``OrderedEngine/copy(to:reporting:)``.
    public func copy(to path: String, reporting report: MaintenanceReport) throws {
        guard capabilities.has(.copying) else {
            throw StoreError(.unsupported, "The engine of \(layout.location) cannot copy its stores.", location: layout.location)
        }
        let handle = try use()
        defer { handle.release() }
        try handle.engine.copy(to: path, reporting: report)
    }

    /// Compacts the store; see ``OrderedEngine/compact()``.
    public func compact() throws {
        try checkMayWrite()
        let handle = try use()
        defer { handle.release() }
        try handle.engine.checkFiles()
        if capabilities.has(.compaction) {
            try inBatches { try SearchIndexBuilder($0, layout, isCancelled: $1).compact(logger) }
        }
        try handle.compact()
    }

    private func checkMayWrite() throws {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store \(layout.location) was opened for reading only.", location: layout.location)
        }
    }

    /// Verifies the whole store: the engine's own checks, then every record, index entry, link, chunk and number against each other.
    ///
    /// The engine's checks count as half of the work.
    public func verify(reporting report: MaintenanceReport) throws -> [String] {
        let handle = try use()
        defer { handle.release() }
        try handle.engine.checkFiles()
        var findings: [String] = []
        let keys = try expectedKeys(handle)
        do {
            findings = try handle.engine.verify { progress in
                let done = Int((progress.fractionCompleted ?? 0) * Double(keys))
                try report(MaintenanceProgress(activity: progress.activity, completed: done, total: 2 * keys))
            }
        } catch let damage as EngineDamage {
            return damage.findings
        } catch let error as StoreError where error.code == .corrupt {
            findings = ["\(error)"]
        }
        let reader = SnapshotReader(layout, try handle.engine.snapshot(), isWritten: false)
        defer { reader.end() }
        try handle.check(layout, reader.snapshot)
        return try withoutActuallyEscaping(report) { report in
            var verifier = try StoreVerifier(reader, expectedKeys: keys, report: report)
            return findings + (try verifier.findings())
        }
    }

    /// Returns the number of records and index entries by the store's statistics.
    private func expectedKeys(_ handle: EngineHandle) throws -> Int {
        let reader = SnapshotReader(layout, try handle.engine.snapshot(), isWritten: false)
        defer { reader.end() }
        return try layout.schema.entities.reduce(0) { total, entity in
            let count = Int(clamping: max(0, try reader.recordCount(entity)))
            let keys = count.multipliedReportingOverflow(by: 1 + layout.indexes[entity.index].count)
            return keys.overflow || keys.partialValue > 1 << 48 ? total : total + keys.partialValue
        }
    }

    /// Rebuilds indexes from the records while the store is in use, after ``verify(reporting:)`` has reported that they disagree.
    /// - Parameter names: The `Index.name` of each index, and the `SearchIndex.plainName` of each full-text index; `nil` for all.
    /// - Throws: `readOnly`, `closed`; `notFound` for a name that no index has; `constraint` if two objects have the same value of a unique index, which then stays unused.
    public func rebuildIndexes(_ names: Set<String>? = nil) throws {
        try checkMayWrite()
        try inBatches { handle, isCancelled in
            let (plain, search) = (layout.indexes.flatMap { $0 }, layout.searchIndexes)
            let present = Set(plain.map(\.index.name) + search.map { $0.name(in: layout.schema) })
            try layout.schema.checkIndexNames(names, present: present, location: layout.location)
            do {
                let builder = IndexBuilder(handle, layout, logger, isCancelled: isCancelled)
                for index in plain where names?.contains(index.index.name) ?? true { try builder.rebuild(index) }
                let searchBuilder = SearchIndexBuilder(handle, layout, isCancelled: isCancelled)
                for index in search where names?.contains(index.name(in: layout.schema)) ?? true { try searchBuilder.rebuild(index) }
            } catch {
                // What is begun is continued.
                background.start(true)
                throw error
            }
        }
    }
}
