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
/// processes' readers are cleared; the length of the file is checked before it is read, as a short one would be a bus error.
final class LMDBEngine: TransactionalEngine, @unchecked Sendable {  // everything mutable is touched under the lock only
    let place: String
    let traits: EngineTraits
    private let options: LMDBOptions
    private let isReadOnly: Bool
    let environment: OpaquePointer
    /// The data and the lock file: a writer that has another lock than the next process would write at the same time.
    private let files: WatchedFiles
    /// The one database, without a name.
    let database: MDB_dbi

    private let gate = Lock()
    /// Transactions that use the map.
    private var running = 0
    private var isGrowing = false
    /// Readers between two uses.
    private var idle: [OpaquePointer] = []
    private static let mostIdle = 16
    /// A write transaction was ended on another thread than its own: LMDB's lock can no longer be given back.
    private var isStuck = false

    init(path: String, options: LMDBOptions, isReadOnly: Bool) throws {
        place = path
        self.options = options
        self.isReadOnly = isReadOnly
        traits = EngineTraits(features: [.persistence, .multiProcess, .readOnlyOpen, .fullDurability], valuesStay: true)
        (environment, database) = try Self.open(path, options, isReadOnly)
        do { files = isReadOnly ? WatchedFiles() : try WatchedFiles([path, path + "-lock"]) } catch {
            mdb_env_close(environment)
            throw error
        }
    }

    private static func open(_ path: String, _ options: LMDBOptions, _ isReadOnly: Bool) throws -> (OpaquePointer, MDB_dbi) {
        var size = max(options.mapSize, 1 << 20)
        while true {
            var made: OpaquePointer?
            try LMDBError.check(mdb_env_create(&made), "Opening", path)
            guard let environment = made else { throw LMDBError.error(ENOMEM, "Opening", path) }
            do {
                try LMDBError.check(mdb_env_set_mapsize(environment, size), "Setting the size of the map", path)
                try LMDBError.check(mdb_env_set_maxreaders(environment, options.mostReaders), "Setting the number of readers", path)
                let flags = UInt32(MDB_NOSUBDIR | MDB_NOTLS | (isReadOnly ? MDB_RDONLY : 0))
                try LMDBError.check(mdb_env_open(environment, path, flags, mode_t(options.fileMode)), "Opening", path)
                var dead: Int32 = 0
                mdb_reader_check(environment, &dead)
                try LMDBFile(place: FilePlace(path: path)).checkLength(environment)
                return (environment, try openDatabase(environment, path))
            } catch let error as StoreError where [ENOMEM, EINVAL].contains(Int32(clamping: error.engineCode)) && size > 64 << 20 {
                // Less address space than asked for: under a limit, a sanitizer, or an emulator, some of which call the size itself invalid.
                mdb_env_close(environment)
                size /= 2
            } catch {
                mdb_env_close(environment)
                throw error
            }
        }
    }

    private static func openDatabase(_ environment: OpaquePointer, _ path: String) throws -> MDB_dbi {
        var transaction: OpaquePointer?
        try LMDBError.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction), "Reading", path)
        defer { mdb_txn_abort(transaction) }
        var database: MDB_dbi = 0
        try LMDBError.check(mdb_dbi_open(transaction, nil, 0, &database), "Reading", path)
        return database
    }

    func checkFiles() throws { try files.check(place) }

    func close() {
        gate.withLock {
            for reader in idle { mdb_txn_abort(reader) }
            idle = []
        }
        mdb_env_close(environment)
    }

    // MARK: Readers

    func snapshot() throws -> any EngineSnapshot { LMDBSnapshot(self, try beginReader()) }

    private func beginReader() throws -> OpaquePointer {
        var hasCleared = false
        while true {
            let kept = enter()
            var transaction = kept
            let code = kept.map { mdb_txn_renew($0) } ?? mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
            if code == MDB_SUCCESS, let transaction { return transaction }
            if let kept { mdb_txn_abort(kept) }
            leave()
            switch code {
            case MDB_MAP_RESIZED: try resize(to: 0)
            case MDB_READERS_FULL where !hasCleared:
                // Readers of processes that are gone, or kept by this one.
                hasCleared = true
                var dead: Int32 = 0
                mdb_reader_check(environment, &dead)
                dropIdle()
            default: throw LMDBError.error(code, "Reading", place)
            }
        }
    }

    /// Waits at the gate.
    /// - Returns: a reader that was kept.
    private func enter(reader: Bool = true) -> OpaquePointer? {
        gate.withLock {
            while isGrowing { gate.wait() }
            running += 1
            return reader ? idle.popLast() : nil
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
        let isKept = gate.withLock {
            running -= 1
            gate.broadcast()
            guard idle.count < Self.mostIdle else { return false }
            idle.append(reader)
            return true
        }
        if !isKept { mdb_txn_abort(reader) }
    }

    private func dropIdle() {
        let dropped = gate.withLock {
            defer { idle = [] }
            return idle
        }
        for reader in dropped { mdb_txn_abort(reader) }
    }

    // MARK: The writer

    func beginWrite() throws -> any EngineWriter {
        while true {
            if gate.withLock({ isStuck }) { throw stuck }
            _ = enter(reader: false)
            var transaction: OpaquePointer?
            let code = mdb_txn_begin(environment, nil, 0, &transaction)
            if code == MDB_SUCCESS, let transaction { return LMDBWriter(self, transaction) }
            leave()
            guard code == MDB_MAP_RESIZED else { throw LMDBError.error(code, "Writing", place) }
            try resize(to: 0)
        }
    }

    private var stuck: StoreError {
        StoreError(
            .misuse,
            "A write transaction of \(place) was ended on another thread than the one that began it, which LMDB does not allow. "
                + "Close the store and open it again.", url: place)
    }

    func finishWriting() { leave() }

    func reportStuck() { gate.withLock { isStuck = true } }

    /// Makes the map twice as large.
    func makeRoom() throws {
        // A reader of a process that is gone would keep the pages that could be used instead.
        var dead: Int32 = 0
        mdb_reader_check(environment, &dead)
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        let (size, isTooLarge) = info.me_mapsize.multipliedReportingOverflow(by: 2)
        guard !isTooLarge else { throw LMDBError.error(ENOMEM, "Making room", place) }
        try resize(to: size)
    }

    /// Closes the gate, waits for the transactions that run, and changes the size of the map.
    /// - Parameter size: 0: as large as another process made it.
    private func resize(to size: Int) throws {
        let deadline = Deadline(milliseconds: options.growthTimeout)
        try gate.withLock {
            while isGrowing { gate.wait() }
            // The lost transaction uses the map for ever.
            if isStuck { throw stuck }
            isGrowing = true
            defer {
                isGrowing = false
                gate.broadcast()
            }
            while running > 0 {
                guard gate.wait(until: deadline) else {
                    throw StoreError(
                        .full,
                        "The map of \(place) must grow, and \(running) transactions did not end in time. End long reads, or open the store with a larger mapSize.",
                        url: place)
                }
            }
            for reader in idle { mdb_txn_abort(reader) }
            idle = []
            let code = mdb_env_set_mapsize(environment, size)
            if code != MDB_SUCCESS { throw LMDBError.error(code, "Making room", place) }
        }
    }

    func setRelaxed(_ isRelaxed: Bool) -> Int32 {
        // Data pages reach the disk before the page that makes them count: a power cut may lose commits, and cannot tear one. `MDB_NOSYNC` could.
        mdb_env_set_flags(environment, UInt32(MDB_NOMETASYNC), isRelaxed ? 1 : 0)
    }
}
