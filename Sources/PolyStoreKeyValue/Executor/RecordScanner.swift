import PolyStoreBackend
import PolyStoreQuery

/// Scans an entity's records in batches, for conditions and aggregates, without a cursor call per row.
///
/// If only fields of fixed width are needed, only the heads of records are verified, and their remaining bytes are not accessed.
final class RecordScanner {
    private let reader: SnapshotReader
    private let entity: Entity
    private let range: KeyRange
    private let cursor: EngineCursor
    private let entries: EntryBatch
    private let batch: RecordBatch
    private let decoder: StoredRecordDecoder
    /// A Boolean value that indicates whether fields of variable length are needed.
    private let needsHeap: Bool
    private let isChecked: Bool
    private let head: Int
    private let layoutNumber: UInt16
    /// A Boolean value that indicates whether records may have an old layout.
    private let hasOldLayouts: Bool
    /// The translated records of a batch that had an old layout.
    private let translated = RecordArena()
    /// Copies of entries, for engines whose entries do not stay in place.
    private let arena = RecordArena()
    // Used by one thread, and by one method at a time.
    @exclusivity(unchecked) private var offsets: [Int] = []

    @exclusivity(unchecked) private var isStarted = false
    @exclusivity(unchecked) private var isAtEnd = false
    /// The fetched entries that have not been returned yet.
    @exclusivity(unchecked) private var position = 0
    @exclusivity(unchecked) private var count = 0

    /// - Parameters:
    ///   - ids: A range of keys within the entity's records; `nil` for all.
    ///   - fields: The fields that are needed.
    init(_ reader: SnapshotReader, _ entity: Entity, ids: KeyRange?, fields: FieldMask) throws {
        self.reader = reader
        self.entity = entity
        range = ids ?? KeyRange(recordsOf: reader.layout.number(of: entity))
        let format = reader.layout.format(of: entity)
        layoutNumber = format.number
        hasOldLayouts = !format.old.isEmpty
        // A record of an old layout has its fields at other offsets.
        needsHeap = hasOldLayouts || entity.fields.contains { $0.type.fixedWidth == 0 && fields.contains($0.index) }
        isChecked = reader.layout.traits.checksumsRecords
        head = entity.layout.minimumSize
        entries = EntryBatch(copied: needsHeap ? 0 : head)
        batch = RecordBatch(entity.layout, capacity: EntryBatch.capacity, records: entries.values, counts: entries.valueCounts)
        decoder = StoredRecordDecoder(reader.layout)
        cursor = try reader.snapshot.cursor()
    }

    func close() { cursor.close() }

    /// Returns the next rows, all of them selected, which are valid until the next call; `nil` at the end.
    func next() throws -> RecordBatch? {
        try reader.check()
        if position == count {
            if isAtEnd { return nil }
            count = try fetch()
            try reader.examine(count)
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

    /// Copies entries that the next move invalidates.
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

    /// Removes entries after the end of the range, and reads the row ids of the others.
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

    /// Verifies the heads of all fetched records, for fields of fixed width.
    private func takeHeads() throws {
        let tail = isChecked ? RecordChecksum.tailSize : 0
        for number in position..<count {
            guard entries.valueCounts[number] >= head + tail else { throw damage(number, isSound: false) }
            // The remaining bytes must not be read.
            entries.valueCounts[number] = head
        }
        if isChecked {
            let sound = RecordChecksum.soundHeads(
                entries.values + position, keys: entries.keys + position, keyCount: KeyWriter.recordKeySize, head: head,
                count: count - position)
            guard sound == count - position else { throw damage(position + sound, isSound: false) }
            if let other = batch.firstOfAnotherLayout(position..<count, number: layoutNumber) { throw damage(other, isSound: true) }
        }
        position = count
    }

    private func damage(_ number: Int, isSound: Bool) -> StoreError {
        decoder.corrupt(entity, batch.ids[number], isSound ? "its layout is another" : "its checksum does not fit")
    }

    /// Verifies complete records up to the first one with chunked fields, which forms its own batch.
    private func takeWhole() throws {
        let first = position
        var moved: [(row: Int, offset: Int)] = []
        translated.removeAll()
        // The arena may move as it grows.
        defer { for (row, offset) in moved { entries.values[row] = translated.bytes(offset, 0).baseAddress } }
        while position < count {
            let isChunked = StoredRecord.isChunked(entries.value(position))
            if isChunked, position > first { return }
            if hasOldLayouts, !isChunked, let old = try decoder.oldLayout(of: entries.value(position), entity, batch.ids[position]) {
                let offset = translated.count
                let view = try decoder.translate(
                    entries.value(position), old, entity, batch.ids[position], key: entries.key(position), reader.snapshot,
                    into: translated)
                entries.valueCounts[position] = view.count
                moved.append((position, offset))
                position += 1
                continue
            }
            let view = try decoder.decode(
                entries.value(position), entity, batch.ids[position], key: entries.key(position), reader.snapshot)
            entries.set(position, entries.key(position), view.bytes)
            position += 1
            if isChunked { return }
        }
    }
}

extension SnapshotReader {
    /// Returns a scanner for the records on which a plan's conditions are evaluated; `nil` if the plan is not a scan.
    func scanner(_ plan: RequestPlan, _ entity: Entity, fields: FieldMask) throws -> RecordScanner? {
        guard case .scan(let ids, _) = plan.path else { return nil }
        var fields = fields
        plan.residual?.collectFields(into: &fields)
        return try RecordScanner(self, entity, ids: ids, fields: fields)
    }
}
