import CLevelDB
import PolyStoreBackend
import PolyStoreKeyValue

/// One LevelDB database.
///
/// What LevelDB leaves to its users is done here: a lock of this project's own is taken first; checksums are verified on every read; after the first
/// write that failed nothing is written any more, as LevelDB would go on acknowledging writes behind a damaged log; a batch has a limit; everything
/// made through the C interface is destroyed.
///
/// Sendable: LevelDB is made for many threads, and `failure` is touched under the lock only.
final class LevelDBEngine: OrderedEngine, @unchecked Sendable {
    let place: String
    let traits: EngineTraits
    let database: OpaquePointer
    private let options: OpaquePointer
    private let filter: OpaquePointer
    private let cache: OpaquePointer
    private let durable: OpaquePointer
    private let relaxed: OpaquePointer
    private let lockFile: Int32
    private let lock = Lock()
    private var failure: StoreError?

    init(path: String, options settings: LevelDBOptions) throws {
        place = path
        traits = EngineTraits(
            features: [.persistence, .fullDurability], largestTransaction: max(settings.largestTransaction, 1 << 20))
        lockFile = try LevelDBFolder(place: FilePlace(path: path)).lock()
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
            let error = LevelDBError.error(message, "Opening", path)
            Self.destroy(options, filter, cache, [durable, relaxed])
            LevelDBFolder.unlock(lockFile)
            throw error
        }
        database = opened
    }

    private static func destroy(_ options: OpaquePointer, _ filter: OpaquePointer, _ cache: OpaquePointer, _ writing: [OpaquePointer]) {
        leveldb_options_destroy(options)
        leveldb_filterpolicy_destroy(filter)
        leveldb_cache_destroy(cache)
        for options in writing { leveldb_writeoptions_destroy(options) }
    }

    func close() {
        leveldb_close(database)
        Self.destroy(options, filter, cache, [durable, relaxed])
        LevelDBFolder.unlock(lockFile)
    }

    func snapshot() -> any EngineSnapshot { LevelDBSnapshot(self) }

    func apply(_ batch: WriteBatch, _ durability: Durability) throws {
        if let failure = lock.withLock({ failure }) { throw failure }
        let writes = leveldb_writebatch_create()
        defer { leveldb_writebatch_destroy(writes) }
        batch.visit { key, value in
            let name = key.bindMemory(to: CChar.self)
            if let value {
                let bytes = value.bindMemory(to: CChar.self)
                // An empty buffer may have no address, and LevelDB copies from it all the same.
                leveldb_writebatch_put(writes, name.baseAddress, key.count, bytes.baseAddress ?? name.baseAddress, value.count)
            } else {
                leveldb_writebatch_delete(writes, name.baseAddress, key.count)
            }
        }
        var message: UnsafeMutablePointer<CChar>?
        leveldb_write(database, durability == .full ? durable : relaxed, writes, &message)
        guard message != nil else { return }
        let error = LevelDBError.error(message, "Writing", place)
        lock.withLock {
            failure = StoreError(
                error.code,
                "An earlier write to \(place) failed, so nothing more is written: LevelDB would lose it. Close the store and open it again.",
                url: place, underlying: error.underlying)
        }
        throw error
    }

    /// Reads every block with its checksum.
    func verify() throws -> [String] {
        let snapshot = LevelDBSnapshot(self, isScrubbing: true)
        defer { snapshot.end() }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        var more = try [UInt8]().withUnsafeBytes { try cursor.seek($0) }
        while more { more = try cursor.next() }
        return []
    }
}

/// LevelDB's words as errors of the framework.
enum LevelDBError {
    /// - Parameter message: is freed.
    static func error(_ message: UnsafeMutablePointer<CChar>?, _ doing: String, _ path: String) -> StoreError {
        let told = message.map { String(cString: $0) } ?? ""
        // Without the path, which may have any words in it.
        let words = told.split(separator: path, omittingEmptySubsequences: false).joined(separator: "…")
        if let message { leveldb_free(message) }
        let code: StoreError.Code
        let sentence: String
        if words.hasPrefix("Corruption") || words.hasSuffix("Invalid argument") {
            // The second: a damaged footer has led past the end of a file.
            (code, sentence) = (.corrupt, "\(doing) failed: the store \(path) is damaged.")
        } else if words.contains("does not match existing comparator") {
            (code, sentence) = (.notAStore, "The folder \(path) is a LevelDB database of somebody else. It was left as it is.")
        } else if words.contains("No space left") || words.contains("quota") || words.contains("File too large") {
            (code, sentence) = (.full, "There is no room left for \(path).")
        } else if words.hasPrefix("IO error: lock") {
            (code, sentence) = (.busy, "The store \(path) is open in another process, and LevelDB serves one at a time.")
        } else {
            (code, sentence) = (.io, "\(doing) failed: \(path).")
        }
        return StoreError(code, sentence, url: path, underlying: told.isEmpty ? nil : told)
    }
}
