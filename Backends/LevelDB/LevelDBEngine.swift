import CLevelDB
import PolyStoreBackend
import PolyStoreKeyValue

/// An open LevelDB database.
///
/// The engine implements what LevelDB requires of its users. It takes a separate lock first. It checks the files before LevelDB opens them
/// (``LevelDBRecovery``). Every read verifies checksums. Earlier logs are flushed (``LevelDBDurability``). After the first failed write all writes fail,
/// because LevelDB would continue to acknowledge writes after a damaged part of the log. Batches are limited in size. All objects of the C interface are
/// destroyed.
///
/// Sendable: LevelDB is thread-safe, `failure` is accessed under the lock, and `durability` by one commit at a time.
final class LevelDBEngine: OrderedEngine, @unchecked Sendable {
    let location: String
    let traits: EngineTraits
    let database: OpaquePointer
    private let settings: LevelDBOptions
    private let options: OpaquePointer
    private let filter: OpaquePointer
    private let cache: OpaquePointer
    private let durable: OpaquePointer
    private let relaxed: OpaquePointer
    private let lockFile: Int32
    private let files: WatchedFiles
    private let durability: LevelDBDurability
    private let lock = Lock()
    private var failure: StoreError?

    init(path: String, options settings: LevelDBOptions) throws {
        location = path
        self.settings = settings
        traits = EngineTraits(
            features: [.persistence, .fullDurability, .copying, .compaction],
            maximumTransactionSize: max(settings.maximumTransactionSize, 1 << 20))
        let folder = LevelDBFolder(storePath: StorePath(path: path))
        let mark: LevelDBMark?
        (lockFile, mark) = try folder.lock()
        do {
            files = try WatchedFiles([path, path + "/" + LevelDBFolder.lockName])
            try LevelDBRecovery(folder.storePath, mark: mark, repairs: settings.repairsLog).run()
        } catch {
            LevelDBFolder.unlock(lockFile)
            throw error
        }
        options = leveldb_options_create()
        filter = leveldb_filterpolicy_create_bloom(10)
        cache = leveldb_cache_create_lru(max(settings.cacheSize, 1 << 20))
        leveldb_options_set_create_if_missing(options, 1)
        leveldb_options_set_paranoid_checks(options, 1)
        leveldb_options_set_filter_policy(options, filter)
        leveldb_options_set_cache(options, cache)
        leveldb_options_set_write_buffer_size(options, max(settings.writeBufferSize, 64 << 10))
        durable = leveldb_writeoptions_create()
        leveldb_writeoptions_set_sync(durable, 1)
        relaxed = leveldb_writeoptions_create()
        var message: UnsafeMutablePointer<CChar>?
        guard let opened = leveldb_open(options, path, &message) else {
            let error = StoreError(levelDB: message, "Opening", path: path)
            Self.destroy(options, filter, cache, [durable, relaxed])
            LevelDBFolder.unlock(lockFile)
            throw error
        }
        database = opened
        do {
            // A store without a mark may be new.
            if mark == nil { try folder.flushName() }
            durability = try LevelDBDurability(folder.storePath, lockFile: lockFile)
        } catch {
            leveldb_close(opened)
            Self.destroy(options, filter, cache, [durable, relaxed])
            LevelDBFolder.unlock(lockFile)
            throw error
        }
    }

    private static func destroy(_ options: OpaquePointer, _ filter: OpaquePointer, _ cache: OpaquePointer, _ writing: [OpaquePointer]) {
        leveldb_options_destroy(options)
        leveldb_filterpolicy_destroy(filter)
        leveldb_cache_destroy(cache)
        for options in writing { leveldb_writeoptions_destroy(options) }
    }

    func checkFiles() throws { try files.check(location) }

    func close() {
        leveldb_close(database)
        durability.end(flushes: lock.withLock { failure == nil })
        Self.destroy(options, filter, cache, [durable, relaxed])
        LevelDBFolder.unlock(lockFile)
    }

    func snapshot() -> any EngineSnapshot { LevelDBSnapshot(self) }

    func apply(_ batch: WriteBatch, _ durability: Durability) throws {
        if let failure = lock.withLock({ failure }) { throw failure }
        do { try self.durability.prepare(durability) } catch let error as StoreError { throw failed(error) }
        let writes = leveldb_writebatch_create()
        defer { leveldb_writebatch_destroy(writes) }
        batch.visit { key, value in
            let name = key.bindMemory(to: CChar.self)
            if let value {
                let bytes = value.bindMemory(to: CChar.self)
                // The base address of an empty buffer may be nil, and LevelDB copies from it regardless.
                leveldb_writebatch_put(writes, name.baseAddress, key.count, bytes.baseAddress ?? name.baseAddress, value.count)
            } else {
                leveldb_writebatch_delete(writes, name.baseAddress, key.count)
            }
        }
        var message: UnsafeMutablePointer<CChar>?
        leveldb_write(database, durability == .full ? durable : relaxed, writes, &message)
        if message != nil { throw failed(StoreError(levelDB: message, "Writing", path: location)) }
        do { try self.durability.commit(durability) } catch let error as StoreError { throw failed(error) }
    }

    /// Rejects all later writes.
    private func failed(_ error: StoreError) -> StoreError {
        lock.withLock {
            failure = StoreError(
                error.code,
                "An earlier write to \(location) failed, so nothing more is written: LevelDB would lose it. Close the store and open it again.",
                location: location, underlying: error.underlying ?? error.message)
        }
        return error
    }

    /// Copies the keys of a snapshot to a new database, which gets its name when it is complete.
    func copy(to path: String, reporting report: MaintenanceReport) throws {
        let target = StorePath(path: path)
        guard try target.kind() == .absent else {
            throw StoreError(.io, "Cannot copy to \(path): there is a file or folder already. Choose another path.", location: path)
        }
        target.removeLeftovers()
        let temporary = try TemporaryEntry(beside: target, isFolder: true, mode: settings.folderMode)
        defer { temporary.remove() }
        let copy = try LevelDBEngine(path: temporary.storePath.path, options: settings)
        do { try copyEntries(to: copy, reporting: report) } catch {
            copy.close()
            throw error
        }
        copy.close()
        try LevelDBFolder(storePath: target).take(temporary)
    }

    /// Merges all tables, which drops overwritten and deleted entries unless a snapshot reads them.
    func compact() throws {
        if let failure = lock.withLock({ failure }) { throw failure }
        leveldb_compact_range(database, nil, 0, nil, 0)
    }

    /// Reads every block and verifies its checksum.
    func verify(reporting report: MaintenanceReport) throws -> [String] {
        let snapshot = LevelDBSnapshot(self, isScrubbing: true)
        defer { snapshot.end() }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        var more = try [UInt8]().withUnsafeBytes { try cursor.seek($0) }
        var count = 0
        while more {
            count += 1
            if count % 1024 == 0 { try report(MaintenanceProgress(activity: "blocks", completed: count)) }
            more = try cursor.next()
        }
        return []
    }
}
