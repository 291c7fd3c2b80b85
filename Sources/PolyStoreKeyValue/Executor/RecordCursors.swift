import PolyStoreBackend

/// Walks over an entity's records by id, forwards or backwards.
final class RecordCursorOverRange: RecordCursor {
    private let reader: SnapshotReader
    private let entity: Entity
    private let cursor: EngineCursor
    private let range: KeyRange
    private let isReversed: Bool
    private let decoder: RecordDecoder
    /// The first five bytes of every key of the entity, where all its records are walked over; then the ends need not be compared with.
    private let whole: UInt64?
    // Only `next` uses them, and never while they are in use.
    @exclusivity(unchecked) private var isStarted = false
    @exclusivity(unchecked) private var isOpen = true
    /// Entries that were fetched together; whether the cursor can do that is not known before it is asked.
    @exclusivity(unchecked) private var entries: EntryBatch?
    @exclusivity(unchecked) private var position = 0
    @exclusivity(unchecked) private var count = 0
    /// Steps after which entries are fetched together: a walk that ends soon needs none of them.
    @exclusivity(unchecked) private var stepsLeft = 8

    /// - Parameter ids: a range of keys within the entity's records; nil: all.
    init(_ reader: SnapshotReader, _ entity: Entity, ids: KeyRange?, isReversed: Bool = false) throws {
        self.reader = reader
        self.entity = entity
        let number = reader.layout.number(of: entity)
        whole = ids == nil ? UInt64(Keyspace.record.rawValue) << 32 | UInt64(number) : nil
        range = ids ?? KeyRange(recordsOf: number)
        self.isReversed = isReversed
        cursor = try reader.snapshot.cursor()
        decoder = RecordDecoder(reader.layout)
        super.init(layout: entity.layout)
    }

    deinit { close() }

    override func next() throws -> Bool {
        guard isOpen else { return false }
        try reader.check()
        if position < count, let entries {
            let (key, value) = (entries.key(position), entries.value(position))
            position &+= 1
            return try stand(key, value)
        }
        return try step()
    }

    private func step() throws -> Bool {
        let isThere: Bool
        if isStarted {
            stepsLeft -= 1
            if stepsLeft < 0, !isReversed, !reader.isWritten, try fetch() { return try next() }
            isThere = isReversed ? try cursor.previous() : try cursor.next()
        } else {
            isStarted = true
            isThere =
                isReversed
                ? try range.end.withUnsafeBytes { try cursor.seek(before: $0) } : try range.start.withUnsafeBytes { try cursor.seek($0) }
        }
        guard isThere else {
            close()
            return false
        }
        return try stand(cursor.key, cursor.value)
    }

    /// - Returns: whether there are entries to go on with.
    private func fetch() throws -> Bool {
        let batch = entries ?? EntryBatch()
        guard let count = try cursor.next(into: batch) else {
            stepsLeft = .max
            return false
        }
        (entries, position, self.count) = (batch, 0, count)
        return count > 0
    }

    @inline(__always)
    private func stand(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool {
        guard isWithin(key) else {
            close()
            return false
        }
        guard key.count == KeyWriter.recordKeySize else { throw reader.corrupt("a key of \(entity.name)") }
        let id = key.id(at: 5)
        stand(on: id, try decoder.decode(value, entity, id, key: key, reader.snapshot))
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

/// Where rows come from: ids, one after another.
class IDSource {
    /// How many entries were looked at.
    final var examined = 0
    /// - Returns: nil at the end.
    func next() throws -> Int64? { nil }
    func close() {}
}

/// Ids that are known.
final class IDList: IDSource {
    private let ids: [Int64]
    @exclusivity(unchecked) private var position = 0

    init(_ ids: [Int64], examined: Int = 0) {
        self.ids = ids
        super.init()
        self.examined = examined
    }

    override func next() throws -> Int64? {
        guard position < ids.count else { return nil }
        position += 1
        return ids[position - 1]
    }
}

/// Looks up the record of each id.
final class RecordCursorOverIDs: RecordCursor {
    private let reader: SnapshotReader
    private let entity: Entity
    private let source: IDSource
    /// Whether an id without a record is damage; ids that a caller names may be of nothing.
    private let mustExist: Bool
    @exclusivity(unchecked) private var isOpen = true
    @exclusivity(unchecked) private var looked = 0
    /// Ids that are still to be passed over, without a look at their records.
    @exclusivity(unchecked) private var skip: Int
    /// Rows that are still to be given.
    @exclusivity(unchecked) private var left: Int
    private let keys = KeyWriter()
    private let number: UInt32
    private let decoder: RecordDecoder

    /// - Parameter slice: the rows to be given, of ids all of which must exist; nil: all.
    init(_ reader: SnapshotReader, _ entity: Entity, _ source: IDSource, mustExist: Bool, slice: (offset: Int, limit: Int?)? = nil) {
        self.reader = reader
        self.entity = entity
        self.source = source
        self.mustExist = mustExist
        skip = slice?.offset ?? 0
        left = slice?.limit ?? .max
        number = reader.layout.number(of: entity)
        decoder = RecordDecoder(reader.layout)
        super.init(layout: entity.layout)
    }

    deinit { close() }

    override func next() throws -> Bool {
        guard isOpen else { return false }
        try reader.check()
        while left > 0, let id = try source.next() {
            if skip > 0 {
                skip &-= 1
                continue
            }
            looked &+= 1
            let key = keys.record(number, id)
            guard let stored = try reader.snapshot.get(key) else {
                if mustExist {
                    throw decoder.corrupt(
                        entity, id, "an index leads to it and it is not there; verify the store, and build its indexes anew")
                }
                continue
            }
            stand(on: id, try decoder.decode(found: stored, entity, id, key: key, reader.snapshot))
            left &-= 1
            return true
        }
        close()
        return false
    }

    override func close() {
        guard isOpen else { return }
        isOpen = false
        source.close()
    }

    override var rowsExamined: Int { max(source.examined, looked) }
}
