import CLMDB
import PolyStoreBackend
import PolyStorePlatform

/// Opens LMDB environments.
struct LMDBEnvironment {
    let file: LMDBFile
    let options: LMDBOptions
    let isReadOnly: Bool
    /// A Boolean value that indicates whether the file is read without a lock file, because it has several names.
    let isUnlocked: Bool
    private var path: String { file.storePath.path }

    /// An opened environment.
    struct Opened {
        let environment: OpaquePointer
        /// The unnamed database, the only one.
        let database: MDB_dbi
        /// A Boolean value that indicates whether the file was just created and flushed.
        let isFlushed: Bool
    }

    /// Opens the file, and creates a database in an empty one.
    /// - Parameters:
    ///   - mapSize: The map size, which is halved until the system accepts it.
    ///   - identity: The identity of the file.
    ///   - mustExist: Whether an empty file is an error.
    /// - Throws: ``LMDBFile/Replaced`` if the path has another file.
    func open(mapSize: Int, identity: String, mustExist: Bool = false) throws -> Opened {
        try file.alone {
            guard try file.storePath.identity() == identity else { throw LMDBFile.Replaced() }
            return try openAlone(mapSize, mustExist)
        }
    }

    /// Opens a complete file that only this process uses, which holds a descriptor lock on it.
    func openTemporary(mapSize: Int) throws -> Opened { try openAlone(mapSize, true) }

    private func openAlone(_ mapSize: Int, _ mustExist: Bool) throws -> Opened {
        let isEmpty = try file.admit(isReadOnly: isReadOnly, timeout: options.growthTimeout)
        if isEmpty, mustExist {
            throw StoreError(.corrupt, "The file \(path) was emptied while the store was open.", location: path)
        }
        var size = max(mapSize, 1 << 20)
        while true {
            do { return try open(size, isNew: isEmpty) } catch let error as StoreError
                where [ENOMEM, EINVAL].contains(Int32(clamping: error.engineCode)) && size > 64 << 20
            {
                // The address space is limited, for example by a resource limit, a sanitizer or an emulator; some report the size as invalid.
                size /= 2
            } catch {
                if isEmpty { file.forgetCreation() }
                throw error
            }
        }
    }

    /// - Parameter isNew: Whether LMDB creates a database.
    private func open(_ size: Int, isNew: Bool) throws -> Opened {
        var made: OpaquePointer?
        try LMDBResult.check(mdb_env_create(&made), "Opening", path)
        guard let environment = made else { throw StoreError(lmdb: ENOMEM, "Opening", path: path) }
        do {
            try LMDBResult.check(mdb_env_set_mapsize(environment, size), "Setting the size of the map", path)
            try LMDBResult.check(mdb_env_set_maxreaders(environment, options.maximumReaders), "Setting the number of readers", path)
            if !isUnlocked { try file.reserveLock(readers: options.maximumReaders, mode: options.fileMode) }
            let flags = UInt32(MDB_NOSUBDIR | MDB_NOTLS | (isReadOnly ? MDB_RDONLY : 0) | (isUnlocked ? MDB_NOLOCK : 0))
            try LMDBResult.check(mdb_env_open(environment, path, flags, mode_t(options.fileMode)), "Opening", path)
            var dead: Int32 = 0
            mdb_reader_check(environment, &dead)
            let database = try openDatabase(environment)
            try checkPages(environment)
            return Opened(environment: environment, database: database, isFlushed: try flushIfUnused(environment) && isNew)
        } catch {
            mdb_env_close(environment)
            throw error
        }
    }

    private func openDatabase(_ environment: OpaquePointer) throws -> MDB_dbi {
        let transaction = try begin(environment)
        defer { mdb_txn_abort(transaction) }
        var database: MDB_dbi = 0
        try LMDBResult.check(mdb_dbi_open(transaction, nil, 0, &database), "Reading", path)
        return database
    }

    /// Begins the first read transaction of the environment.
    private func begin(_ environment: OpaquePointer) throws -> OpaquePointer {
        while true {
            var transaction: OpaquePointer?
            let code = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
            if code == MDB_SUCCESS, let transaction { return transaction }
            guard code == MDB_MAP_RESIZED else { throw StoreError(lmdb: code, "Reading", path: path) }
            // Another process has enlarged the map.
            let size = try Self.neededSize(environment, path)
            try LMDBResult.check(mdb_env_set_mapsize(environment, size), "Setting the size of the map", path)
        }
    }

    /// Detects a truncated file before its pages are used, because reading past the end of a mapped file is a bus error.
    ///
    /// A sound file may end before the last allocated page, because pages that are freed before they are written are never written. Only a file that ends there
    /// is checked page by page, unless the options request the check.
    private func checkPages(_ environment: OpaquePointer) throws {
        let findings = try file.findings(
            onlyIfShort: !options.checksPages, begin: { try begin(environment) }, end: { mdb_txn_abort($0) })
        guard let first = findings.first else { return }
        let more = findings.count > 1 ? " There are \(findings.count - 1) more such findings." : ""
        throw StoreError(.corrupt, "The store \(path) is damaged. \(first)\(more) Restore it from a backup.", location: path)
    }

    /// Flushes a file without transactions and its folder entry. Later commits flush only the file.
    ///
    /// In a file that this process has not created, an earlier flush may have failed. The system then no longer marks the pages as unwritten, so this flush does
    /// not cover them, and the first write transaction rewrites them: see ``LMDBEngine/beginWrite()``.
    private func flushIfUnused(_ environment: OpaquePointer) throws -> Bool {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        guard info.me_last_txnid == 0, !isReadOnly else { return false }
        var descriptor: mdb_filehandle_t = -1
        try LMDBResult.check(mdb_env_get_fd(environment, &descriptor), "Opening", path)
        try file.flushCreation(descriptor)
        return true
    }

    /// Returns the map size, doubled until the file fits.
    static func neededSize(_ environment: OpaquePointer, _ path: String) throws -> Int {
        var info = MDB_envinfo()
        var stat = MDB_stat()
        mdb_env_info(environment, &info)
        mdb_env_stat(environment, &stat)
        let (needed, isTooLarge) = (info.me_last_pgno + 1).multipliedReportingOverflow(by: Int(stat.ms_psize))
        var size = info.me_mapsize
        while size < needed, size <= Int.max / 2 { size *= 2 }
        guard !isTooLarge, size >= needed else { throw StoreError(lmdb: ENOMEM, "Making room", path: path) }
        return size
    }
}
