import CLevelDB
import PolyStoreBackend
import PolyStoreKeyValue

/// A version of the database that LevelDB keeps until it is released.
final class LevelDBSnapshot: EngineSnapshot {
    private let engine: LevelDBEngine
    private let snapshot: OpaquePointer
    private let options: OpaquePointer
    private var isEnded = false
    /// What the last look-up found; LevelDB gives a copy.
    private var found: UnsafeMutablePointer<CChar>?
    private var cursors: [WeakCursor] = []

    private struct WeakCursor {
        weak var cursor: LevelDBCursor?
    }

    /// - Parameter isScrubbing: everything is read once, which must not drive what is in use out of the cache.
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
        StoreError(.closed, "The transaction of \(engine.place) has ended.", url: engine.place)
    }

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        if isEnded { throw ended() }
        if let found { leveldb_free(found) }
        var count = 0
        var message: UnsafeMutablePointer<CChar>?
        found = leveldb_get(engine.database, options, key.bindMemory(to: CChar.self).baseAddress, key.count, &count, &message)
        if message != nil { throw LevelDBError.error(message, "Reading", engine.place) }
        return found.map { UnsafeRawBufferPointer(start: $0, count: count) }
    }

    func cursor() throws -> EngineCursor {
        if isEnded { throw ended() }
        let cursor = LevelDBCursor(engine.place, leveldb_create_iterator(engine.database, options))
        if cursors.count > 16 { cursors.removeAll { $0.cursor == nil } }
        cursors.append(WeakCursor(cursor: cursor))
        return cursor
    }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        // An iterator pins files, and the database cannot be closed while there is one.
        for cursor in cursors { cursor.cursor?.close() }
        if let found { leveldb_free(found) }
        found = nil
        leveldb_readoptions_destroy(options)
        leveldb_release_snapshot(engine.database, snapshot)
    }
}

/// A LevelDB iterator.
final class LevelDBCursor: EngineCursor {
    private let place: String
    private let iterator: OpaquePointer
    // Only the methods below use it, and never while it is in use.
    @exclusivity(unchecked) private var isOpen = true

    init(_ place: String, _ iterator: OpaquePointer) {
        self.place = place
        self.iterator = iterator
        super.init()
    }

    deinit { close() }

    override func close() {
        guard isOpen else { return }
        isOpen = false
        leveldb_iter_destroy(iterator)
    }

    private func check() throws {
        if !isOpen { throw StoreError(.closed, "The transaction of this walk over \(place) has ended.", url: place) }
    }

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try check()
        if let start = key.bindMemory(to: CChar.self).baseAddress {
            leveldb_iter_seek(iterator, start, key.count)
        } else {
            leveldb_iter_seek_to_first(iterator)
        }
        return try stand()
    }

    override func last() throws -> Bool {
        try check()
        leveldb_iter_seek_to_last(iterator)
        return try stand()
    }

    override func next() throws -> Bool {
        try check()
        leveldb_iter_next(iterator)
        return try stand()
    }

    override func next(copyingInto batch: EntryBatch) throws -> Int {
        try check()
        let iterator = iterator
        var position = 0
        while position < EntryBatch.capacity {
            leveldb_iter_next(iterator)
            guard leveldb_iter_valid(iterator) != 0 else { break }
            var keyCount = 0
            var valueCount = 0
            let key = leveldb_iter_key(iterator, &keyCount)
            let value = leveldb_iter_value(iterator, &valueCount)
            batch.copy(
                position, UnsafeRawBufferPointer(start: key, count: keyCount), UnsafeRawBufferPointer(start: value, count: valueCount))
            position &+= 1
        }
        // LevelDB remembers the first block that it skipped, so one check covers the whole batch.
        try checkError()
        return position
    }

    override func previous() throws -> Bool {
        try check()
        leveldb_iter_prev(iterator)
        return try stand()
    }

    /// Throws if any move so far has skipped a block that cannot be read.
    ///
    /// LevelDB's iterators skip such a block and stay valid: they leave out its keys, and bring back deleted ones whose tombstones it held. An iterator
    /// keeps its first error, so a check after a move covers all moves before it.
    private func checkError() throws {
        var message: UnsafeMutablePointer<CChar>?
        leveldb_iter_get_error(iterator, &message)
        if message != nil { throw LevelDBError.error(message, "Reading", place) }
    }

    private func stand() throws -> Bool {
        // After every move, not only at the end: a caller may stop anywhere and rely on what it has seen.
        try checkError()
        guard leveldb_iter_valid(iterator) != 0 else { return false }
        var count = 0
        let start = leveldb_iter_key(iterator, &count)
        let key = UnsafeRawBufferPointer(start: start, count: count)
        let bytes = leveldb_iter_value(iterator, &count)
        stand(on: key, UnsafeRawBufferPointer(start: bytes, count: count))
        return true
    }
}
