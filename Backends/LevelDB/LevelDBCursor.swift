import CLevelDB
import PolyStoreBackend
import PolyStoreKeyValue

/// A LevelDB iterator.
///
/// LevelDB's iterators skip an unreadable block and stay valid: they omit its keys, and return deleted keys whose tombstones were in it. Only the iterator's
/// status reports the error, which an iterator keeps. The status is therefore checked before an entry is returned. A check costs about as much as a move, so
/// long scans read entries ahead and check them together.
final class LevelDBCursor: EngineCursor {
    private let location: String
    private let database: OpaquePointer
    private let options: OpaquePointer
    // Used only by the methods below, never recursively.
    @exclusivity(unchecked) private var iterator: OpaquePointer
    @exclusivity(unchecked) private var isOpen = true

    /// The number of moves after which entries are read ahead: short scans do not need them.
    private static let singleMoves = 8
    private static let largestReadAhead = 64
    private static let readAheadBytes = 32 << 10
    /// The number of single moves before reading ahead.
    @exclusivity(unchecked) private var singleMovesLeft = singleMoves
    /// The number of entries of the next read-ahead.
    @exclusivity(unchecked) private var readAheadCount = singleMoves
    /// Copies of the entries that were read ahead. The iterator is at the last of them, or at the end.
    @exclusivity(unchecked) private var copies: RecordArena?
    @exclusivity(unchecked) private var entries: [(offset: Int, keyCount: Int, valueCount: Int)] = []
    @exclusivity(unchecked) private var position = 0
    /// A Boolean value that indicates whether the current key is one of those copies.
    @exclusivity(unchecked) private var isAhead = false

    /// - Parameter options: The read options, which must outlive the cursor.
    init(_ location: String, _ database: OpaquePointer, _ options: OpaquePointer) {
        self.location = location
        self.database = database
        self.options = options
        iterator = leveldb_create_iterator(database, options)
        super.init()
    }

    deinit { close() }

    override func close() {
        guard isOpen else { return }
        isOpen = false
        leveldb_iter_destroy(iterator)
    }

    private func check() throws {
        if !isOpen { throw StoreError(.closed, "The transaction of this cursor over \(location) has ended.", location: location) }
    }

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try check()
        forget()
        move(to: key)
        return try setEntry()
    }

    override func last() throws -> Bool {
        try check()
        forget()
        leveldb_iter_seek_to_last(iterator)
        return try setEntry()
    }

    override func next() throws -> Bool {
        try check()
        if position < entries.count { return standAhead() }
        if singleMovesLeft <= 0 { return try readAhead() }
        singleMovesLeft -= 1
        leveldb_iter_next(iterator)
        return try setEntry()
    }

    override func previous() throws -> Bool {
        try check()
        try rejoin()
        leveldb_iter_prev(iterator)
        return try setEntry()
    }

    override func next(copyingInto batch: EntryBatch) throws -> Int {
        try check()
        try rejoin()
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
        try checkError()
        return position
    }

    // MARK: Reading ahead

    /// Copies the next entries and moves to the first of them.
    private func readAhead() throws -> Bool {
        // The iterator is at the end: the last entry that was read ahead was the last one.
        if isAhead, leveldb_iter_valid(iterator) == 0 { return false }
        let key = [UInt8](key)
        let copies = copies ?? RecordArena(capacity: Self.readAheadBytes)
        self.copies = copies
        copies.removeAll()
        entries.removeAll(keepingCapacity: true)
        position = 0
        while entries.count < readAheadCount, copies.count < Self.readAheadBytes {
            leveldb_iter_next(iterator)
            guard leveldb_iter_valid(iterator) != 0 else { break }
            var keyCount = 0
            var valueCount = 0
            let key = leveldb_iter_key(iterator, &keyCount)
            let value = leveldb_iter_value(iterator, &valueCount)
            let offset = copies.append(UnsafeRawBufferPointer(start: key, count: keyCount))
            _ = copies.append(UnsafeRawBufferPointer(start: value, count: valueCount))
            entries.append((offset, keyCount, valueCount))
        }
        readAheadCount = min(2 * readAheadCount, Self.largestReadAhead)
        if hasError {
            // The damage may be outside the caller's range: from now on the cursor makes single moves, so that only a move that reaches it fails.
            forget()
            singleMovesLeft = .max
            leveldb_iter_destroy(iterator)
            iterator = leveldb_create_iterator(database, options)
            try key.withUnsafeBytes { try move(backTo: $0) }
            return try next()
        }
        isAhead = !entries.isEmpty
        return isAhead && standAhead()
    }

    private func standAhead() -> Bool {
        guard let copies else { return false }
        let entry = entries[position]
        position &+= 1
        setCurrent(copies.bytes(entry.offset, entry.keyCount), copies.bytes(entry.offset + entry.keyCount, entry.valueCount))
        return true
    }

    /// Discards the entries that were read ahead.
    private func forget() {
        entries.removeAll(keepingCapacity: true)
        (position, isAhead, singleMovesLeft, readAheadCount) = (0, false, Self.singleMoves, Self.singleMoves)
    }

    /// Moves the iterator back to the current key if it is ahead.
    private func rejoin() throws {
        guard isAhead else { return }
        // The key stays in place until the next read-ahead.
        forget()
        try move(backTo: key)
    }

    private func move(to key: UnsafeRawBufferPointer) {
        if let start = key.bindMemory(to: CChar.self).baseAddress {
            leveldb_iter_seek(iterator, start, key.count)
        } else {
            leveldb_iter_seek_to_first(iterator)
        }
    }

    private func move(backTo key: UnsafeRawBufferPointer) throws {
        move(to: key)
        try checkError()
        guard leveldb_iter_valid(iterator) != 0 else {
            throw StoreError(.corrupt, "A key of \(location) cannot be found again.", location: location)
        }
    }

    // MARK: Errors

    private var hasError: Bool {
        var message: UnsafeMutablePointer<CChar>?
        leveldb_iter_get_error(iterator, &message)
        if let message { leveldb_free(message) }
        return message != nil
    }

    /// Throws an error if any move so far has skipped an unreadable block.
    private func checkError() throws {
        var message: UnsafeMutablePointer<CChar>?
        leveldb_iter_get_error(iterator, &message)
        if message != nil { throw StoreError(levelDB: message, "Reading", path: location) }
    }

    private func setEntry() throws -> Bool {
        try checkError()
        guard leveldb_iter_valid(iterator) != 0 else { return false }
        var count = 0
        let start = leveldb_iter_key(iterator, &count)
        let key = UnsafeRawBufferPointer(start: start, count: count)
        let bytes = leveldb_iter_value(iterator, &count)
        setCurrent(key, UnsafeRawBufferPointer(start: bytes, count: count))
        return true
    }
}
