import PolyStoreBackend

/// Scans an entity's records in row id order, forwards or backwards.
final class RecordCursorOverRange: RecordCursor {
    private let reader: SnapshotReader
    private let entity: Entity
    private let cursor: EngineCursor
    private let range: KeyRange
    private let isReversed: Bool
    private let decoder: StoredRecordDecoder
    /// The common first five bytes of the entity's keys if all records are scanned; the ends of the range then need no comparisons.
    private let whole: UInt64?
    // Used only by `next`, never recursively.
    @exclusivity(unchecked) private var isStarted = false
    @exclusivity(unchecked) private var isOpen = true
    /// Entries that were fetched together. Whether the engine's cursor supports this is not known before the first attempt.
    @exclusivity(unchecked) private var entries: EntryBatch?
    @exclusivity(unchecked) private var position = 0
    @exclusivity(unchecked) private var count = 0
    /// The number of steps after which entries are fetched together: short scans do not need it.
    @exclusivity(unchecked) private var stepsLeft = 8

    /// - Parameter ids: A range of keys within the entity's records; `nil` for all.
    init(_ reader: SnapshotReader, _ entity: Entity, ids: KeyRange?, isReversed: Bool = false) throws {
        self.reader = reader
        self.entity = entity
        let number = reader.layout.number(of: entity)
        whole = ids == nil ? UInt64(Keyspace.record.rawValue) << 32 | UInt64(number) : nil
        range = ids ?? KeyRange(recordsOf: number)
        self.isReversed = isReversed
        cursor = try reader.snapshot.cursor()
        decoder = StoredRecordDecoder(reader.layout)
        super.init(layout: entity.layout)
    }

    deinit { close() }

    override func next() throws -> Bool {
        guard isOpen else { return false }
        try reader.check()
        if position < count, let entries {
            let (key, value) = (entries.key(position), entries.value(position))
            position &+= 1
            return try setEntry(key, value)
        }
        return try step()
    }

    private func step() throws -> Bool {
        try reader.examine()
        let hasEntry: Bool
        if isStarted {
            stepsLeft -= 1
            if stepsLeft < 0, !isReversed, !reader.isWritten, try fetch() { return try next() }
            hasEntry = isReversed ? try cursor.previous() : try cursor.next()
        } else {
            isStarted = true
            hasEntry =
                isReversed
                ? try range.end.withUnsafeBytes { try cursor.seek(before: $0) } : try range.start.withUnsafeBytes { try cursor.seek($0) }
        }
        guard hasEntry else {
            close()
            return false
        }
        return try setEntry(cursor.key, cursor.value)
    }

    /// - Returns: whether there are more entries.
    private func fetch() throws -> Bool {
        let batch = entries ?? EntryBatch()
        guard let count = try cursor.next(into: batch) else {
            stepsLeft = .max
            return false
        }
        (entries, position, self.count) = (batch, 0, count)
        try reader.examine(count)
        return count > 0
    }

    @inline(__always)
    private func setEntry(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool {
        guard isWithin(key) else {
            close()
            return false
        }
        guard key.count == KeyWriter.recordKeySize else { throw reader.corrupt("a key of \(entity.name)") }
        let id = key.id(at: 5)
        setCurrent(id, try decoder.decode(value, entity, id, key: key, reader.snapshot))
        return true
    }

    @inline(__always)
    private func isWithin(_ key: UnsafeRawBufferPointer) -> Bool {
        if let whole, key.count >= 8 { return UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)) >> 24 == whole }
        return isReversed
            ? range.start.withUnsafeBytes { Order.of(key, $0) >= 0 } : range.end.withUnsafeBytes { Order.of(key, $0) < 0 }
    }

    override func close() {
        guard isOpen else { return }
        isOpen = false
        cursor.close()
    }
}
