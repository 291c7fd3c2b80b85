import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// One LMDB environment: a file that is mapped into memory, read in place and never written through the map.
///
/// What LMDB leaves to its users is done here: an environment is opened once per process (``EngineHandle``); a write transaction stays on its
/// thread; readers are not tied to threads (`MDB_NOTLS`) and are kept for the next; the map grows behind a gate that lets no transaction in; dead
/// processes' readers are cleared; the file is checked before it is read (``LMDBFile``); after a failed flush LMDB's environment is replaced, and nothing
/// is written before the last committed state is known to be on the disk.
final class LMDBEngine: TransactionalEngine, @unchecked Sendable {  // everything mutable is touched under the lock only
    let place: String
    let traits: EngineTraits
    private let options: LMDBOptions
    private let opener: LMDBEnvironment
    /// Which file was opened: another one may have its name later.
    private let identity: String
    /// The data and the lock file: a writer that has another lock than the next process would write at the same time.
    private let files: WatchedFiles
    /// The one database, without a name.
    let database: MDB_dbi

    private let gate = Lock()
    /// nil after LMDB has lost its map and the environment could not be opened again: tried with the next transaction. Replaced only while no transaction
    /// runs, so whoever runs one may use it without the lock.
    private(set) var environment: OpaquePointer?
    /// Goes up with each new environment.
    private var generation = 0
    private var mapSize = 0
    /// Whether the last committed state is on the disk: not known of a file that others have written, nor after a failed commit.
    private var isFlushed: Bool
    /// Transactions that use the map.
    private var running = 0
    private var isChanging = false
    /// Until when transactions wait for others that keep an environment of no use; nil while it is of use.
    private var replacement: Deadline?
    /// Readers between two uses.
    private var idle: [OpaquePointer] = []
    private static let mostIdle = 16
    /// A write transaction was ended on another thread than its own: LMDB's lock can no longer be given back.
    private var isStuck = false
    private var mappedPages: LMDBMappedPages

    init(path: String, options: LMDBOptions, isReadOnly: Bool) throws {
        place = path
        self.options = options
        traits = EngineTraits(features: [.persistence, .multiProcess, .readOnlyOpen, .fullDurability], valuesStay: true)
        mappedPages = LMDBMappedPages(path: path)
        let file = LMDBFile(place: FilePlace(path: path))
        opener = LMDBEnvironment(file: file, options: options, isReadOnly: isReadOnly)
        let opened = try opener.open(mapSize: options.mapSize)
        do {
            identity = try file.place.identity()
            files = isReadOnly ? WatchedFiles() : try WatchedFiles([path, path + "-lock"])
        } catch {
            mdb_env_close(opened.environment)
            throw error
        }
        (environment, database, isFlushed) = (opened.environment, opened.database, opened.isFlushed)
    }

    var commitFiles: [String] { [place] }

    func checkFiles() throws { try files.check(place) }

    func close() {
        gate.withLock {
            dropIdle()
            closeEnvironment()
        }
    }

    /// Checks every page of the file, with plain reads: LMDB itself may crash on a damaged one.
    func verify() throws -> [String] {
        let findings = try opener.file.findings(begin: beginReader, end: giveBack)
        if !findings.isEmpty { throw EngineDamage(findings) }
        return []
    }

    // MARK: Readers

    func snapshot() throws -> any EngineSnapshot { LMDBSnapshot(self, try beginReader()) }

    private func beginReader() throws -> OpaquePointer {
        var hasCleared = false
        while true {
            let entry = try enter()
            var transaction = entry.reader
            let code =
                entry.reader.map { mdb_txn_renew($0) } ?? mdb_txn_begin(entry.environment, nil, UInt32(MDB_RDONLY), &transaction)
            if code == MDB_SUCCESS, let transaction { return transaction }
            if let kept = entry.reader { mdb_txn_abort(kept) }
            if code == MDB_READERS_FULL, !hasCleared {
                // Readers of processes that are gone, or kept by this one.
                hasCleared = true
                var dead: Int32 = 0
                mdb_reader_check(entry.environment, &dead)
                gate.withLock { dropIdle() }
                leave()
                continue
            }
            leave()
            try overcome(code, entry.generation, "Reading")
        }
    }

    private struct Entry {
        let environment: OpaquePointer
        let generation: Int
        let isFlushed: Bool
        /// One that was kept.
        let reader: OpaquePointer?
    }

    /// Waits at the gate.
    private func enter(reader: Bool = true) throws -> Entry {
        try gate.withLock {
            while isChanging { gate.wait() }
            let environment = try environment ?? openAgain()
            running += 1
            return Entry(
                environment: environment, generation: generation, isFlushed: isFlushed, reader: reader ? idle.popLast() : nil)
        }
    }

    private func leave() {
        gate.withLock {
            running -= 1
            gate.broadcast()
        }
    }

    /// Keeps a reader for the next, without its view.
    func giveBack(reader: OpaquePointer) {
        mdb_txn_reset(reader)
        gate.withLock {
            // Aborting needs the environment, which may be replaced as soon as nothing runs.
            if idle.count < Self.mostIdle { idle.append(reader) } else { mdb_txn_abort(reader) }
            running -= 1
            gate.broadcast()
        }
    }

    /// To be called with the lock held.
    private func dropIdle() {
        for reader in idle { mdb_txn_abort(reader) }
        idle = []
    }

    // MARK: The writer

    func beginWrite() throws -> any EngineWriter {
        while true {
            if gate.withLock({ isStuck }) { throw stuck }
            let entry = try enter(reader: false)
            var transaction: OpaquePointer?
            let code = mdb_txn_begin(entry.environment, nil, 0, &transaction)
            guard code == MDB_SUCCESS, let transaction else {
                leave()
                try overcome(code, entry.generation, "Writing")
                continue
            }
            do {
                if !entry.isFlushed { try flushCommitted(entry.environment) }
            } catch {
                mdb_txn_abort(transaction)
                leave()
                throw error
            }
            return LMDBWriter(self, transaction)
        }
    }

    private var stuck: StoreError {
        StoreError(
            .misuse,
            "A write transaction of \(place) was ended on another thread than the one that began it, which LMDB does not allow. "
                + "Close the store and open it again.", url: place)
    }

    /// Makes sure that the last committed state is on the disk before pages of older ones are written over.
    private func flushCommitted(_ environment: OpaquePointer) throws {
        var descriptor: mdb_filehandle_t = -1
        try LMDBError.check(mdb_env_get_fd(environment, &descriptor), "Writing", place)
        do { try opener.file.flushMetas(descriptor) } catch let error as StoreError {
            throw StoreError(
                error.code, "Nothing can be written to \(place), because its last committed state cannot be flushed: \(error.message)",
                url: place,
                engineCode: error.engineCode, underlying: error.underlying)
        }
        gate.withLock { isFlushed = true }
    }

    /// - Parameters:
    ///   - code: of the commit.
    ///   - writtenKeys: the number of keys that the commit has written.
    /// - Returns: the error of a commit that failed.
    @discardableResult
    func finishWriting(_ code: Int32 = MDB_SUCCESS, writtenKeys: Int = 0) -> (any Error)? {
        // LMDB cannot tell a full disk from a broken one where the system writes only a part.
        var isFull = false
        var descriptor: mdb_filehandle_t = -1
        if code == EIO, mdb_env_get_fd(environment, &descriptor) == MDB_SUCCESS { isFull = LMDBFile.isFull(descriptor) }
        gate.withLock {
            // Codes of the system come from writing or flushing.
            if code > 0 { isFlushed = false }
            mappedPages.didWrite(writtenKeys)
            running -= 1
            gate.broadcast()
        }
        return LMDBError.failure(isFull ? ENOSPC : code, "Committing", place)
    }

    func reportStuck() { gate.withLock { isStuck = true } }

    // MARK: Changing the map and the environment

    /// Deals with what kept a transaction from beginning.
    private func overcome(_ code: Int32, _ generation: Int, _ doing: String) throws {
        switch code {
        case MDB_MAP_RESIZED: try resize { try LMDBEnvironment.neededSize($0, place) }
        case MDB_PANIC: try replaceEnvironment(generation)
        default: throw LMDBError.error(code, doing, place)
        }
    }

    /// Makes the map twice as large.
    func makeRoom() throws {
        try resize { environment in
            // A reader of a process that is gone would keep the pages that could be used instead.
            var dead: Int32 = 0
            mdb_reader_check(environment, &dead)
            let (size, isTooLarge) = size(of: environment).multipliedReportingOverflow(by: 2)
            guard !isTooLarge else { throw LMDBError.error(ENOMEM, "Making room", place) }
            return size
        }
    }

    private func size(of environment: OpaquePointer) -> Int {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        return info.me_mapsize
    }

    /// Closes the gate, waits for the transactions that run, and changes something with the lock held.
    private func change(until deadline: Deadline, refusal: (Int) -> StoreError, _ body: () throws -> Void) throws {
        try gate.withLock {
            while isChanging { gate.wait() }
            // The lost transaction uses the map for ever.
            if isStuck { throw stuck }
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

    /// Changes the size of the map.
    private func resize(to size: (OpaquePointer) throws -> Int) throws {
        func refusal(_ running: Int) -> StoreError {
            StoreError(
                .full,
                "The map of \(place) must grow, and \(running) transactions did not end in time. End long reads, or open the store with a larger mapSize.",
                url: place)
        }
        try change(until: Deadline(milliseconds: options.growthTimeout), refusal: refusal) {
            guard let environment else { return }
            let old = self.size(of: environment)
            let new = try size(environment)
            if new == old { return }
            mappedPages.forget()
            let code = mdb_env_set_mapsize(environment, new)
            if code == MDB_SUCCESS { return }
            // LMDB has given up the old map before it asked for the new one: without a map, the next read would be a crash.
            closeEnvironment()
            mapSize = old
            _ = try? openAgain()
            throw LMDBError.error(code, "Making room", place)
        }
    }

    /// Replaces an environment that LMDB lets nobody use any more: a write of the page that names the last transaction has failed. The map is as it was,
    /// and so is the last committed state.
    private func replaceEnvironment(_ failed: Int) throws {
        let deadline = gate.withLock {
            let deadline = replacement ?? Deadline(milliseconds: options.growthTimeout)
            if generation == failed { replacement = deadline }
            return deadline
        }
        func refusal(_ running: Int) -> StoreError {
            StoreError(
                .io,
                "An earlier commit to \(place) could not be written to the disk, and LMDB begins no transaction until its file is opened again. "
                    + "That happens by itself when the \(running) transactions that are open have ended.", url: place,
                engineCode: Int(MDB_PANIC), underlying: String(cString: mdb_strerror(MDB_PANIC)))
        }
        try change(until: deadline, refusal: refusal) {
            guard generation == failed, let environment else { return }
            mapSize = size(of: environment)
            closeEnvironment()
            _ = try openAgain()
        }
    }

    /// To be called with the lock held, and no transaction running.
    private func closeEnvironment() {
        guard let closed = environment else { return }
        environment = nil
        mappedPages.forget()
        mdb_env_close(closed)
    }

    /// To be called with the lock held, and no environment open.
    private func openAgain() throws -> OpaquePointer {
        guard try opener.file.place.identity() == identity else {
            throw StoreError(
                .io, "The file \(place) was replaced by another one while the store was open. Close the store, and open it again.",
                url: place)
        }
        let opened = try opener.open(mapSize: mapSize, mustExist: true)
        environment = opened.environment
        generation += 1
        isFlushed = false
        replacement = nil
        return opened.environment
    }

    func setRelaxed(_ isRelaxed: Bool) {
        // Data pages reach the disk before the page that makes them count: a power cut may lose commits, and cannot tear one. `MDB_NOSYNC` could.
        mdb_env_set_flags(environment, UInt32(MDB_NOMETASYNC), isRelaxed ? 1 : 0)
    }
}
