import CLevelDB
import PolyStoreBackend
import PolyStoreKeyValue

/// A snapshot that LevelDB keeps until it is released.
final class LevelDBSnapshot: EngineSnapshot {
    private let engine: LevelDBEngine
    private let snapshot: OpaquePointer
    private let options: OpaquePointer
    private var isEnded = false
    /// The value of the last lookup, which LevelDB has copied.
    private var found: UnsafeMutablePointer<CChar>?
    private var cursors: [WeakCursor] = []

    private struct WeakCursor {
        weak var cursor: LevelDBCursor?
    }

    /// - Parameter isScrubbing: Whether everything is read once, which must not evict blocks from the cache.
    init(_ engine: LevelDBEngine, isScrubbing: Bool = false) {
        self.engine = engine
        snapshot = leveldb_create_snapshot(engine.database)
        options = leveldb_readoptions_create()
        leveldb_readoptions_set_snapshot(options, snapshot)
        leveldb_readoptions_set_verify_checksums(options, 1)
        leveldb_readoptions_set_fill_cache(options, isScrubbing ? 0 : 1)
    }

    deinit { end() }

    fileprivate func ended() -> StoreError {
        StoreError(.closed, "The transaction of \(engine.location) has ended.", location: engine.location)
    }

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        if isEnded { throw ended() }
        if let found { leveldb_free(found) }
        var count = 0
        var message: UnsafeMutablePointer<CChar>?
        found = leveldb_get(engine.database, options, key.bindMemory(to: CChar.self).baseAddress, key.count, &count, &message)
        if message != nil { throw StoreError(levelDB: message, "Reading", path: engine.location) }
        return found.map { UnsafeRawBufferPointer(start: $0, count: count) }
    }

    func cursor() throws -> EngineCursor {
        if isEnded { throw ended() }
        let cursor = LevelDBCursor(engine.location, engine.database, options)
        if cursors.count > 16 { cursors.removeAll { $0.cursor == nil } }
        cursors.append(WeakCursor(cursor: cursor))
        return cursor
    }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        // An iterator pins files, and the database cannot be closed while an iterator is open.
        for cursor in cursors { cursor.cursor?.close() }
        if let found { leveldb_free(found) }
        found = nil
        leveldb_readoptions_destroy(options)
        leveldb_release_snapshot(engine.database, snapshot)
    }
}
