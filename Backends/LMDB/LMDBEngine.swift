import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue
import PolyStorePlatform

/// An LMDB environment: a memory-mapped file that is read in place and never written through the map.
///
/// The engine implements what LMDB requires of its users. A process opens an environment once (``EngineHandle``). A write transaction stays on its thread.
/// Readers are not tied to threads (`MDB_NOTLS`) and are reused. The map grows while a gate blocks new transactions. Readers of terminated processes are
/// cleared. The file is checked before it is read (``LMDBFile``). After a failed flush the environment is replaced, and nothing is written until the last
/// committed state is known to be durable. Compaction replaces the file; readers of the old one keep its environment open.
final class LMDBEngine: TransactionalEngine, FileReplacingEngine, @unchecked Sendable {  // All mutable state is accessed under the lock.
    let location: String
    let traits: EngineTraits
    private let options: LMDBOptions
    private let opener: LMDBEnvironment
    /// The identity of the opened file; another file may have its path later.
    private var identity: String
    /// The data file and the lock file. If the lock file is replaced, a process that opens the new one could write at the same time.
    private var files: WatchedFiles
    /// The state of a file with several names when it was opened; nil for a file with one name. See ``LMDBOptions/readsHardLinkedFiles``.
    private let stamp: StorePath.Stamp?
    /// The unnamed database, the only one.
    let database: MDB_dbi

    private let gate = Lock()
    /// The environment; `nil` after LMDB has lost its map and the environment could not be reopened, which the next transaction tries again. Replaced only
    /// while no transaction runs, so a running transaction can use it without the lock.
    private(set) var environment: OpaquePointer?
    /// Incremented with each new environment.
    private var generation = 0
    private var mapSize = 0
    /// A Boolean value that indicates whether the last committed state is durable. Unknown for a file that other processes have written, and after a failed
    /// commit.
    private var isFlushed: Bool
    /// The number of transactions that use the environment.
    private var running = 0
    /// Environments of files that compaction replaced, by generation.
    private var retired: [Int: RetiredEnvironment] = [:]
    /// A descriptor of the lock file with which compaction tested for other processes. Closing it would release LMDB's locks, so it is closed after the
    /// environment.
    private var lockTest: Int32?
    /// A Boolean value that indicates whether the folder entry of a compacted file may not be durable.
    private var isFolderUnflushed = false
    private var isChanging = false
    /// The time until which new transactions wait for running ones, because the environment must be replaced; `nil` while it is usable.
    private var replacement: Deadline?
    /// The number of readers with a snapshot.
    private var reading = 0
    /// Idle readers, kept for reuse.
    private var idle: [OpaquePointer] = []
    private static let mostIdle = 16
    /// A Boolean value that indicates whether a write transaction was ended on the wrong thread, after which LMDB's lock cannot be released.
    private var isWriterLost = false
    private var mappedPages: LMDBMappedPages
    /// The descriptor of the migration lock; `nil` while this process does not hold it.
    private var migrationLock: Int32?

    /// - Parameter expected: The identity of the file.
    /// - Throws: ``LMDBFile/Replaced`` if the path has another file.
    init(path: String, identity expected: String, options: LMDBOptions, isReadOnly: Bool) throws {
        location = path
        self.options = options
        var traits = EngineTraits(
            features: [.persistence, .multiProcess, .readOnlyOpen, .fullDurability, .copying, .compaction], valuesStay: true)
        traits.migrationTimeout = options.migrationTimeout
        self.traits = traits
        mappedPages = LMDBMappedPages(path: path)
        let file = LMDBFile(storePath: StorePath(path: path))
        let isUnlocked = try file.hasSeveralNames(isReadOnly: isReadOnly, options: options)
        stamp = isUnlocked ? try file.storePath.stamp() : nil
        opener = LMDBEnvironment(file: file, options: options, isReadOnly: isReadOnly, isUnlocked: isUnlocked)
        let opened = try opener.open(mapSize: options.mapSize, identity: expected)
        identity = expected
        do {
            files = isReadOnly ? WatchedFiles() : try WatchedFiles([path, path + "-lock"])
        } catch {
            mdb_env_close(opened.environment)
            throw error
        }
        (environment, database, isFlushed) = (opened.environment, opened.database, opened.isFlushed)
    }

    var commitFiles: [String] { [location] }

    var readSessions: ReadSessions? { gate.withLock { ReadSessions(active: reading, idle: idle.count, maximumIdle: Self.mostIdle) } }

    func checkFiles() throws { try gate.withLock { files }.check(location) }

    func close() {
        gate.withLock {
            dropIdle()
            closeEnvironment()
            for environment in retired.values { environment.close() }
            retired = [:]
        }
    }

    /// Checks every page of the file with plain reads, because LMDB may crash on a damaged page.
    func verify(reporting report: MaintenanceReport) throws -> [String] {
        var generation = 0
        let findings = try opener.file.findings(
            begin: {
                let reader = try beginReader()
                generation = reader.generation
                return reader.transaction
            }, end: { giveBack(reader: $0, generation: generation) }, reporting: report)
        if !findings.isEmpty { throw EngineDamage(findings) }
        return []
    }

    // MARK: Migrations and copies

    /// Takes a descriptor lock on a file beside the store. The lock is released when the process ends.
    func lockMigration() throws -> Bool {
        if gate.withLock({ migrationLock != nil }) { return false }
        do {
            let descriptor = try StorePath(path: migrationFile).openLocked(mode: options.fileMode)
            gate.withLock { migrationLock = descriptor }
            return true
        } catch let error as StoreError where error.code == .busy { return false }
    }

    func unlockMigration() {
        let descriptor = gate.withLock {
            defer { migrationLock = nil }
            return migrationLock
        }
        guard let descriptor else { return }
        LMDBFile.removeMigrationFile(migrationFile, descriptor)
        StorePath.closeLocked(descriptor)
    }

    private var migrationFile: String { LMDBFile.migrationFile(of: location) }

    /// Copies the pages of one snapshot, up to its last used page.
    ///
    /// LMDB writes them in one call, which can be cancelled only before it begins.
    func copy(to path: String, reporting report: MaintenanceReport) throws {
        try report(MaintenanceProgress(activity: "pages"))
        try LMDBFile(storePath: StorePath(path: path)).createCopy(mode: options.fileMode) { descriptor in
            while true {
                let entry = try enter(reader: false)
                let code = mdb_env_copyfd2(entry.environment, descriptor, UInt32(MDB_CP_COMPACT))
                leave(entry.generation)
                if code == MDB_SUCCESS { return }
                try recover(code, entry.generation, "Copying")
                ftruncate(descriptor, 0)
                lseek(descriptor, 0, SEEK_SET)
            }
        }
    }

    // MARK: Readers

    func snapshot() throws -> any EngineSnapshot {
        let reader = try beginReader()
        return LMDBSnapshot(self, reader.transaction, generation: reader.generation)
    }

    private func beginReader() throws -> (transaction: OpaquePointer, generation: Int) {
        if let stamp, try opener.file.storePath.stamp() != stamp {
            throw StoreError(
                .busy,
                "The store \(location) was opened without locks, because its file has several names, and another process has written to it. "
                    + "Close it and open it again.", location: location)
        }
        var hasCleared = false
        while true {
            let entry = try enter()
            var transaction = entry.reader
            let code =
                entry.reader.map { mdb_txn_renew($0) } ?? mdb_txn_begin(entry.environment, nil, UInt32(MDB_RDONLY), &transaction)
            if code == MDB_SUCCESS, let transaction {
                gate.withLock { reading += 1 }
                return (transaction, entry.generation)
            }
            if let kept = entry.reader { mdb_txn_abort(kept) }
            if code == MDB_READERS_FULL, !hasCleared {
                // Clears the readers of terminated processes and the idle readers of this process.
                hasCleared = true
                var dead: Int32 = 0
                mdb_reader_check(entry.environment, &dead)
                gate.withLock { dropIdle() }
                leave(entry.generation)
                continue
            }
            leave(entry.generation)
            try recover(code, entry.generation, "Reading")
        }
    }

    private struct Entry {
        let environment: OpaquePointer
        let generation: Int
        let isFlushed: Bool
        /// An idle reader to reuse.
        let reader: OpaquePointer?
    }

    /// Waits until no change of the environment is in progress.
    private func enter(reader: Bool = true) throws -> Entry {
        try gate.withLock {
            while isChanging { gate.wait() }
            let environment = try environment ?? reopen()
            running += 1
            return Entry(
                environment: environment, generation: generation, isFlushed: isFlushed, reader: reader ? idle.popLast() : nil)
        }
    }

    private func leave(_ generation: Int) {
        gate.withLock {
            if generation != self.generation { return leaveRetired(generation) }
            running -= 1
            gate.broadcast()
        }
    }

    /// Resets a reader and keeps it for reuse.
    func giveBack(reader: OpaquePointer, generation: Int) {
        mdb_txn_reset(reader)
        gate.withLock {
            reading -= 1
            guard generation == self.generation else {
                mdb_txn_abort(reader)
                return leaveRetired(generation)
            }
            // Aborting needs the environment, which may be replaced as soon as no transaction runs.
            if idle.count < Self.mostIdle { idle.append(reader) } else { mdb_txn_abort(reader) }
            running -= 1
            gate.broadcast()
        }
    }

    /// Ends the use of the environment of a replaced file. Call it with the lock held.
    private func leaveRetired(_ generation: Int) {
        retired[generation]?.running -= 1
        guard let environment = retired[generation], environment.running == 0 else { return }
        retired[generation] = nil
        environment.close()
    }

    /// Aborts the idle readers. Call it with the lock held.
    private func dropIdle() {
        for reader in idle { mdb_txn_abort(reader) }
        idle = []
    }

    // MARK: Write transactions

    func beginWrite() throws -> any EngineWriter {
        while true {
            if gate.withLock({ isWriterLost }) { throw lostWriter }
            let entry = try enter(reader: false)
            var transaction: OpaquePointer?
            let code = mdb_txn_begin(entry.environment, nil, 0, &transaction)
            guard code == MDB_SUCCESS, let transaction else {
                leave(entry.generation)
                try recover(code, entry.generation, "Writing")
                continue
            }
            guard gate.withLock({ generation == entry.generation }) else {
                // The file was replaced while this writer waited for its turn.
                mdb_txn_abort(transaction)
                leave(entry.generation)
                continue
            }
            do {
                if !entry.isFlushed { try flushCommitted(entry.environment) }
            } catch {
                mdb_txn_abort(transaction)
                leave(entry.generation)
                throw error
            }
            return LMDBWriter(self, transaction, generation: entry.generation)
        }
    }

    private var lostWriter: StoreError {
        StoreError(
            .misuse,
            "A write transaction of \(location) was ended on another thread than the one that began it, which LMDB does not allow. "
                + "Close the store and open it again.", location: location)
    }

    /// Ensures that the last committed state is durable before pages of older states are overwritten.
    private func flushCommitted(_ environment: OpaquePointer) throws {
        var descriptor: mdb_filehandle_t = -1
        try LMDBResult.check(mdb_env_get_fd(environment, &descriptor), "Writing", location)
        do {
            try opener.file.flushMetas(descriptor)
            if gate.withLock({ isFolderUnflushed }) { try opener.file.storePath.flushFolder() }
        } catch let error as StoreError {
            throw StoreError(
                error.code, "Nothing can be written to \(location), because its last committed state cannot be flushed: \(error.message)",
                location: location,
                engineCode: error.engineCode, underlying: error.underlying)
        }
        gate.withLock { (isFlushed, isFolderUnflushed) = (true, false) }
    }

    /// Ends a write transaction.
    /// - Parameters:
    ///   - code: The result of the commit.
    ///   - generation: The generation of the transaction's environment.
    ///   - writtenKeys: The number of written keys that have not been passed to ``didWrite(_:)``.
    /// - Returns: the error of a failed commit.
    @discardableResult
    func finishWriting(_ code: Int32 = MDB_SUCCESS, generation: Int, writtenKeys: Int = 0) -> (any Error)? {
        // LMDB reports the same error for a full disk and for an I/O error if the system writes only a part.
        var isFull = false
        var descriptor: mdb_filehandle_t = -1
        if code == EIO, mdb_env_get_fd(environment, &descriptor) == MDB_SUCCESS { isFull = LMDBFile.isFull(descriptor) }
        gate.withLock {
            if generation != self.generation { return leaveRetired(generation) }
            // System error codes come from writing or flushing.
            if code > 0 { isFlushed = false }
            mappedPages.didWrite(writtenKeys)
            running -= 1
            gate.broadcast()
        }
        return LMDBResult.failure(isFull ? ENOSPC : code, "Committing", location)
    }

    /// Counts written keys. The write transaction calls it regularly, so that a large transaction does not make the whole file resident.
    func didWrite(_ keys: Int) { gate.withLock { mappedPages.didWrite(keys) } }

    func reportLostWriter() { gate.withLock { isWriterLost = true } }

    // MARK: Compaction

    /// Copies the pages in use to a new file and puts it in the place of the store's. Call it without a write transaction of this process.
    ///
    /// LMDB's write lock is held from the copy to the replacement. The new file is open before it replaces the old one, so nothing that opening needs can be
    /// missing afterwards. Running readers keep the old file and its environment until they end.
    /// - Parameter replacing: Runs the replacement; see ``FileReplacingEngine``.
    /// - Throws: `busy` while another process has the file open; `full`, `io`. The store is then unchanged.
    func compact(replacing: (_ identity: String, _ replace: () throws -> Void) throws -> Void) throws {
        guard let writer = try beginWrite() as? LMDBWriter else { return }
        defer { writer.end() }
        var test = gate.withLock { lockTest }
        defer { gate.withLock { if lockTest == nil { lockTest = test } } }
        let file = opener.file
        if let names = try file.storePath.severalNames(removesTemporaryNames: true) {
            // The other names would keep the old file.
            throw file.storePath.error(names, what: "compacted", sideFiles: LMDBFile.sideFiles, options: nil)
        }
        // Before the copy, which can take long.
        try file.lockAgainstOthers(&test)
        file.unlockAgainstOthers(test)
        let environment = writer.environment
        let compacted = try file.makeCompacted(mode: options.fileMode) { descriptor in
            try LMDBResult.check(mdb_env_copyfd2(environment, descriptor, UInt32(MDB_CP_COMPACT)), "Compacting", location)
        }
        // After the replacement, the files have other names.
        defer { compacted.remove() }
        let identity = try compacted.storePath.identity()
        let opened = try open(compacted.storePath)
        var isReplaced = false
        defer { if !isReplaced { mdb_env_close(opened.environment) } }
        try withoutNewTransactions {
            try file.alone {
                try file.lockAgainstOthers(&test)
                do { try replacing(Self.registryName(identity)) { try file.replace(with: compacted) } } catch {
                    file.unlockAgainstOthers(test)
                    throw error
                }
                isReplaced = true
                retire(environment, test, by: opened, identity)
                test = nil
            }
        }
        try finishCompaction()
    }

    /// Opens the compacted file under its temporary name.
    private func open(_ compacted: StorePath) throws -> LMDBEnvironment.Opened {
        let opener = LMDBEnvironment(file: LMDBFile(storePath: compacted), options: options, isReadOnly: false, isUnlocked: false)
        do {
            return try opener.openTemporary(mapSize: gate.withLock { environment.map { size(of: $0) } ?? options.mapSize })
        } catch let error as StoreError {
            throw StoreError(
                error.code, "The store \(location) is unchanged, because the compacted file cannot be opened: \(error.message)",
                location: location,
                engineCode: error.engineCode, underlying: error.underlying)
        }
    }

    /// Runs a closure while transactions that begin wait. Running ones continue.
    private func withoutNewTransactions(_ body: () throws -> Void) rethrows {
        gate.withLock {
            while isChanging { gate.wait() }
            isChanging = true
        }
        defer {
            gate.withLock {
                isChanging = false
                gate.broadcast()
            }
        }
        try body()
    }

    /// The name of a file in the registry of open engines.
    static func registryName(_ identity: String) -> String { "lmdb:\(identity)" }

    /// Replaces the environment. That of the replaced file is kept for its readers.
    private func retire(_ environment: OpaquePointer, _ lockTest: Int32?, by opened: LMDBEnvironment.Opened, _ identity: String) {
        gate.withLock {
            dropIdle()
            retired[generation] = RetiredEnvironment(environment: environment, lockTest: lockTest, running: running)
            mapSize = size(of: opened.environment)
            mappedPages.forget()
            self.identity = identity
            self.environment = opened.environment
            // A file that is missing by now is reported by the next commit.
            files = (try? WatchedFiles([location, location + "-lock"])) ?? files
            self.lockTest = nil
            generation += 1
            running = 0
            (isFlushed, isFolderUnflushed, replacement) = (false, true, nil)
        }
    }

    /// Makes the folder entries of the new files durable, which the next write transaction tries again if it fails.
    private func finishCompaction() throws {
        try opener.file.storePath.flushFolder()
        gate.withLock { isFolderUnflushed = false }
    }

    // MARK: Changing the map and the environment

    /// Resolves the condition that prevented a transaction from beginning.
    private func recover(_ code: Int32, _ generation: Int, _ doing: String) throws {
        switch code {
        case MDB_MAP_RESIZED: try resize { try LMDBEnvironment.neededSize($0, location) }
        case MDB_PANIC: try replaceEnvironment(generation)
        default: throw StoreError(lmdb: code, doing, path: location)
        }
    }

    /// Doubles the map size.
    func makeRoom() throws {
        try resize { environment in
            // Readers of terminated processes would prevent the reuse of free pages.
            var dead: Int32 = 0
            mdb_reader_check(environment, &dead)
            let (size, isTooLarge) = size(of: environment).multipliedReportingOverflow(by: 2)
            guard !isTooLarge else { throw StoreError(lmdb: ENOMEM, "Making room", path: location) }
            return size
        }
    }

    func hasRoom(for bytes: Int) -> Bool {
        gate.withLock {
            guard let environment else { return true }
            var info = MDB_envinfo()
            var stat = MDB_stat()
            mdb_env_info(environment, &info)
            mdb_env_stat(environment, &stat)
            // Free pages within the file are not counted.
            let (used, isTooLarge) = (info.me_last_pgno + 1).multipliedReportingOverflow(by: Int(stat.ms_psize))
            return !isTooLarge && info.me_mapsize - used >= bytes
        }
    }

    private func size(of environment: OpaquePointer) -> Int {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        return info.me_mapsize
    }

    /// Blocks new transactions, waits for running ones, and runs a closure with the lock held.
    private func change(until deadline: Deadline, refusal: (Int) -> StoreError, _ body: () throws -> Void) throws {
        try gate.withLock {
            while isChanging { gate.wait() }
            // The lost transaction never releases the map.
            if isWriterLost { throw lostWriter }
            isChanging = true
            defer {
                isChanging = false
                gate.broadcast()
            }
            while running > 0 { guard gate.wait(until: deadline) else { throw refusal(running) } }
            dropIdle()
            try body()
        }
    }

    /// Changes the map size.
    private func resize(to size: (OpaquePointer) throws -> Int) throws {
        func refusal(_ running: Int) -> StoreError {
            StoreError(
                .full,
                "The map of \(location) must grow, and \(running) transactions did not end in time. End long reads, or open the store with a larger mapSize.",
                location: location)
        }
        try change(until: Deadline(after: options.growthTimeout), refusal: refusal) {
            guard let environment else { return }
            let old = self.size(of: environment)
            let new = try size(environment)
            if new == old { return }
            mappedPages.forget()
            let code = mdb_env_set_mapsize(environment, new)
            if code == MDB_SUCCESS { return }
            // LMDB unmaps the old map before it requests the new one: without a map, the next read would crash.
            closeEnvironment()
            mapSize = old
            _ = try? reopen()
            throw StoreError(lmdb: code, "Making room", path: location)
        }
    }

    /// Replaces an environment that LMDB has disabled because a write of the page with the last transaction failed. The map and the last committed state are
    /// unchanged.
    private func replaceEnvironment(_ failed: Int) throws {
        let deadline = gate.withLock {
            let deadline = replacement ?? Deadline(after: options.growthTimeout)
            if generation == failed { replacement = deadline }
            return deadline
        }
        func refusal(_ running: Int) -> StoreError {
            StoreError(
                .io,
                "An earlier commit to \(location) could not be written to the disk, and LMDB begins no transaction until its file is opened again. "
                    + "This happens automatically when the \(running) transactions that are open have ended.", location: location,
                engineCode: Int(MDB_PANIC), underlying: String(cString: mdb_strerror(MDB_PANIC)))
        }
        try change(until: deadline, refusal: refusal) {
            guard generation == failed, let environment else { return }
            mapSize = size(of: environment)
            closeEnvironment()
            _ = try reopen()
        }
    }

    /// Closes the environment. Call it with the lock held while no transaction runs.
    private func closeEnvironment() {
        guard let closed = environment else { return }
        environment = nil
        mappedPages.forget()
        mdb_env_close(closed)
        if let lockTest { LMDBFile.close(lockTest) }
        lockTest = nil
    }

    /// Reopens the environment. Call it with the lock held while none is open.
    private func reopen() throws -> OpaquePointer {
        let opened: LMDBEnvironment.Opened
        do {
            opened = try opener.open(mapSize: mapSize, identity: identity, mustExist: true)
        } catch is LMDBFile.Replaced {
            throw StoreError(
                .io, "The file \(location) was replaced by another one while the store was open. Close the store, and open it again.",
                location: location)
        }
        environment = opened.environment
        generation += 1
        isFlushed = false
        // Compaction replaces both files.
        if files.count > 0 { files = try WatchedFiles([location, location + "-lock"]) }
        replacement = nil
        return opened.environment
    }

    func setRelaxed(_ isRelaxed: Bool) {
        // Data pages become durable before the meta page that refers to them: a power failure may lose commits but cannot tear one. With `MDB_NOSYNC` it could.
        mdb_env_set_flags(environment, UInt32(MDB_NOMETASYNC), isRelaxed ? 1 : 0)
    }
}
