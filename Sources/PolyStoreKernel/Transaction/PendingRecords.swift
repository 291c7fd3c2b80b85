import PolyStoreBackend
import PolyStoreQuery

/// The records of the inserted and updated objects of one entity, with indexes by value, for fetches that include pending changes.
///
/// An object is encoded once, and again only after it changes. Records and indexes are updated on demand.
final class PendingRecords {
    /// Counters for tests.
    struct Statistics {
        /// The number of encoded records.
        var encoded = 0
        /// The number of records that a predicate was evaluated on.
        var evaluated = 0
    }

    struct Row {
        let object: any Model
        let id: Int64
        var offset: Int
        var count: Int
    }

    let entry: StoreEntity
    var entity: Entity { entry.entity }
    var arena = RecordArena()
    private var builder: RecordBuilder
    var rows: [Row] = []
    /// The rows whose objects have changed since they were encoded.
    private var outdated: [Int32] = []
    private var insertedCount = 0
    private var updatedCount = 0
    /// The number of unused bytes in the arena.
    private var wasted = 0
    /// The indexes by field; the last one is the index of row ids.
    var indexes: [PendingIndex?]
    /// The sorted orders for range conditions.
    var ranges: PendingRanges
    var statistics = Statistics()
    /// The cached results of recent predicates, the most recently used last.
    var watches: [PendingWatch] = []
    /// The rows whose records or objects have changed since the first cached result was created, in order.
    var changed: [Int32] = []

    /// The hidden rows at the start of recent orders, the most recently used last.
    private var prefixes: [HiddenPrefix] = []

    static let watchLimit = 4
    private static let prefixLimit = 4

    init(_ entry: StoreEntity) {
        self.entry = entry
        builder = RecordBuilder(arena)
        indexes = Array(repeating: nil, count: entry.entity.fields.count + 1)
        ranges = PendingRanges(entry.entity)
    }

    // MARK: Updates

    /// Called before an encoded object changes.
    func willChange(_ edit: EditState) {
        edit.isRecorded = false
        if edit.row >= 0 { outdated.append(edit.row) }
    }

    /// Called after an object was deleted.
    func didDelete(_ object: any Model) {
        guard let row = object._$state.edit?.row, rows.indices.contains(Int(row)), rows[Int(row)].object === object else { return }
        forget(row)
    }

    /// Removes a row from all orders and cached results, which are sorted by its current record.
    private func forget(_ row: Int32) {
        guard rows[Int(row)].count > 0 else { return }
        ranges.remove(row, record)
        for index in watches.indices { watches[index].forget(row, record) }
    }

    /// Called when the store shows another version.
    func forgetStored() {
        for index in watches.indices { watches[index].forgetStored() }
        prefixes = []
    }

    /// Returns the known hidden rows at the start of a request's order.
    /// - Returns: nil if a request cannot start after a given row in that order.
    func prefix(of request: FetchRequest) -> HiddenPrefix? {
        guard HiddenPrefix.canFollow(request) else { return nil }
        if let known = prefixes.lastIndex(where: { $0.predicate == request.predicate && $0.keys == request.sortKeys }) {
            prefixes.append(prefixes.remove(at: known))
        } else if let new = HiddenPrefix(request) {
            if prefixes.count == Self.prefixLimit { prefixes.removeFirst() }
            prefixes.append(new)
        } else {
            return nil
        }
        return prefixes.last
    }

    /// Encodes inserted and changed objects.
    func catchUp(_ changes: ChangeBuffer.EntityChanges) throws {
        while insertedCount < changes.inserted.count {
            try add(changes.inserted[insertedCount])
            insertedCount += 1
        }
        while updatedCount < changes.updated.count {
            try add(changes.updated[updatedCount])
            updatedCount += 1
        }
        while let row = outdated.last {
            try encode(Int(row))
            outdated.removeLast()
        }
        if wasted > 1 << 16, wasted > arena.count / 2 { compact() }
    }

    private func add(_ object: any Model) throws {
        guard !object.isDeleted, let edit = object._$state.edit else { return }
        edit.row = Int32(rows.count)
        rows.append(Row(object: object, id: object._$state.rowID, offset: 0, count: 0))
        do { try encode(rows.count - 1) } catch {
            rows.removeLast()
            throw error
        }
    }

    private func encode(_ row: Int) throws {
        let object = rows[row].object
        guard !object.isDeleted, let edit = object._$state.edit else { return }
        let range = try encoded(object)
        statistics.encoded += 1
        forget(Int32(row))
        wasted += rows[row].count
        rows[row].offset = range.offset
        rows[row].count = range.count
        ranges.insert(Int32(row), record)
        edit.isRecorded = true
        if !watches.isEmpty { changed.append(Int32(row)) }
        for field in indexes.indices where indexes[field] != nil { indexes[field]?.set(row, hash(row, field)) }
    }

    private func encoded(_ object: some Model) throws -> (offset: Int, count: Int) {
        let start = arena.count
        do {
            builder.begin(entity.layout)
            try entry.encode(object, into: &builder)
            return try builder.finish()
        } catch {
            arena.truncate(start)
            throw error
        }
    }

    private func compact() {
        let kept = RecordArena(capacity: arena.count)
        for row in rows.indices { rows[row].offset = kept.append(arena.bytes(rows[row].offset, rows[row].count)) }
        arena = kept
        builder = RecordBuilder(kept)
        wasted = 0
    }
}
