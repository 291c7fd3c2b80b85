import PolyStoreBackend

/// Walks over an entity's records many at a time, for conditions and aggregates: no row passes through a cursor.
///
/// Where only fields of fixed width are looked at, only the heads of records are checked, and the rest of their bytes is not touched.
final class RecordScanner {
    private let reader: SnapshotReader
    private let entity: Entity
    private let range: KeyRange
    private let cursor: EngineCursor
    private let entries: EntryBatch
    private let batch: RecordBatch
    private let decoder: RecordDecoder
    /// Fields of variable length are looked at.
    private let needsHeap: Bool
    private let isChecked: Bool
    private let head: Int
    /// Copies, where entries do not stay.
    private let arena = RecordArena()
    // One thread uses it, and no method holds one of these while another runs.
    @exclusivity(unchecked) private var offsets: [Int] = []

    @exclusivity(unchecked) private var isStarted = false
    @exclusivity(unchecked) private var isAtEnd = false
    /// Entries that were fetched and not handed over yet.
    @exclusivity(unchecked) private var position = 0
    @exclusivity(unchecked) private var count = 0

    /// - Parameters:
    ///   - ids: a range of keys within the entity's records; nil: all.
    ///   - fields: those that will be looked at.
    init(_ reader: SnapshotReader, _ entity: Entity, ids: KeyRange?, fields: FieldMask) throws {
        self.reader = reader
        self.entity = entity
        range = ids ?? KeyRange(recordsOf: reader.layout.number(of: entity))
        needsHeap = entity.fields.contains { $0.type.fixedWidth == 0 && fields.contains($0.ordinal) }
        isChecked = reader.layout.traits.checksumsRecords
        head = entity.layout.minimumSize
        entries = EntryBatch(copied: needsHeap ? 0 : head)
        batch = RecordBatch(entity.layout, capacity: EntryBatch.capacity, records: entries.values, counts: entries.valueCounts)
        decoder = RecordDecoder(reader.layout)
        cursor = try reader.snapshot.cursor()
    }

    func close() { cursor.close() }

    /// The next rows, all of them selected; valid until the next call. nil at the end.
    func next() throws -> RecordBatch? {
        try reader.check()
        if position == count {
            if isAtEnd { return nil }
            count = try fetch()
            position = 0
            try cut()
            if count == 0 { return nil }
        }
        let first = position
        if needsHeap { try takeWhole() } else { try takeHeads() }
        batch.select(first..<position)
        return batch
    }

    // MARK: Fetching

    private func fetch() throws -> Int {
        guard isStarted else {
            isStarted = true
            guard try range.start.withUnsafeBytes({ try cursor.seek($0) }) else { return 0 }
            entries.set(0, cursor.key, cursor.value)
            return 1
        }
        if let count = try cursor.next(into: entries) {
            if count < EntryBatch.capacity { isAtEnd = true }
            return count
        }
        if needsHeap { return try copyWhole() }
        let count = try cursor.next(copyingInto: entries)
        if count < EntryBatch.capacity { isAtEnd = true }
        return count
    }

    /// Copies entries that are gone with the next move.
    private func copyWhole() throws -> Int {
        arena.removeAll()
        offsets.removeAll(keepingCapacity: true)
        while offsets.count < EntryBatch.capacity {
            guard try cursor.next() else {
                isAtEnd = true
                break
            }
            let (key, value) = (cursor.key, cursor.value)
            let number = offsets.count
            offsets.append(arena.append(key))
            _ = arena.append(value)
            entries.keyCounts[number] = key.count
            entries.valueCounts[number] = value.count
        }
        for (number, offset) in offsets.enumerated() {
            let key = arena.bytes(offset, entries.keyCounts[number])
            entries.keys[number] = key.baseAddress
            entries.values[number] = key.baseAddress.map { $0 + key.count }
        }
        return offsets.count
    }

    /// Drops what is behind the end, and reads the ids of the rest.
    private func cut() throws {
        try range.end.withUnsafeBytes { end in
            if count > 0, Order.of(entries.key(count - 1), end) >= 0 {
                isAtEnd = true
                while count > 0, Order.of(entries.key(count - 1), end) >= 0 { count -= 1 }
            }
            for number in 0..<count {
                guard entries.keyCounts[number] == KeyWriter.recordKeySize else { throw reader.corrupt("a key of \(entity.name)") }
                batch.ids[number] = entries.key(number).id(at: 5)
            }
        }
    }

    // MARK: Checking

    /// Of fields of fixed width. Everything that was fetched is taken.
    private func takeHeads() throws {
        let tail = isChecked ? RecordChecksum.tailSize : 0
        for number in position..<count {
            guard entries.valueCounts[number] >= head + tail else { throw damage(number, isSound: false) }
            // Of the rest nothing may be read.
            entries.valueCounts[number] = head
        }
        if isChecked {
            let sound = RecordChecksum.soundHeads(
                entries.values + position, keys: entries.keys + position, keyCount: KeyWriter.recordKeySize, head: head,
                count: count - position)
            guard sound == count - position else { throw damage(position + sound, isSound: false) }
            if let other = batch.firstOfAnotherLayout(position..<count) { throw damage(other, isSound: true) }
        }
        position = count
    }

    private func damage(_ number: Int, isSound: Bool) -> StoreError {
        decoder.corrupt(entity, batch.ids[number], isSound ? "its layout is another" : "its checksum does not fit")
    }

    /// Up to the first record that must be put together: that one alone.
    private func takeWhole() throws {
        let first = position
        while position < count {
            let isChunked = StoredRecord.isChunked(entries.value(position))
            if isChunked, position > first { return }
            let view = try decoder.decode(
                entries.value(position), entity, batch.ids[position], key: entries.key(position), reader.snapshot)
            entries.set(position, entries.key(position), view.bytes)
            position += 1
            if isChunked { return }
        }
    }
}

extension SnapshotReader {
    /// A walk over the records that a plan's conditions still have to be tested on, many at a time; nil where the plan does not walk over records.
    func scanner(_ plan: RequestPlan, _ entity: Entity, fields: FieldMask) throws -> RecordScanner? {
        guard case .scan(let ids, _) = plan.path else { return nil }
        var fields = fields
        plan.predicate?.collectFields(into: &fields)
        return try RecordScanner(self, entity, ids: ids, fields: fields)
    }
}
