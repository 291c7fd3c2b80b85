import PolyStoreBackend

/// The created and changed objects of one entity as records, with indexes by value: what a transaction's fetches look through.
///
/// An object is encoded once, and again only after it was changed. Records and indexes are brought up to date when somebody asks.
final class PendingRecords {
    /// What was done, to be looked at by tests.
    struct Statistics {
        /// Records that were encoded.
        var encoded = 0
        /// Records that a predicate was tested on.
        var evaluated = 0
    }

    private struct Row {
        let object: any Model
        let id: Int64
        var offset: Int
        var count: Int
    }

    private let entry: StoreEntity
    private var entity: Entity { entry.entity }
    private var arena = RecordArena()
    private var builder: RecordBuilder
    private var rows: [Row] = []
    /// Rows whose objects were changed since they were encoded.
    private var outdated: [Int32] = []
    private var insertedCount = 0
    private var updatedCount = 0
    /// Bytes of the arena that no row needs any more.
    private var wasted = 0
    /// By field; that of the ids is at the end.
    private var indexes: [PendingIndex?]
    private(set) var statistics = Statistics()
    /// What was asked about last, the latest at the end.
    private var watches: [PendingWatch] = []
    /// Rows whose records or objects were changed since the first of these was made, in order.
    private var changed: [Int32] = []

    private static let watchLimit = 4

    init(_ entry: StoreEntity) {
        self.entry = entry
        builder = RecordBuilder(arena)
        indexes = Array(repeating: nil, count: entry.entity.fields.count + 1)
    }

    // MARK: Keeping up

    /// Called when an object is about to change that has a record.
    func willChange(_ edit: EditState) {
        edit.isRecorded = false
        if edit.row >= 0 { outdated.append(edit.row) }
    }

    /// Called when an object that has a record was deleted.
    func didDelete(_ row: Int32) { if !watches.isEmpty { changed.append(row) } }

    /// Called when the store shows another version.
    func forgetStored() { for index in watches.indices { watches[index].forgetStored() } }

    /// Encodes what is new or was changed.
    func catchUp(_ own: Transaction.Pending) throws {
        while insertedCount < own.inserted.count {
            try add(own.inserted[insertedCount])
            insertedCount += 1
        }
        while updatedCount < own.updated.count {
            try add(own.updated[updatedCount])
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
        rows.append(Row(object: object, id: object._$state.key, offset: 0, count: 0))
        do { try encode(rows.count - 1) } catch {
            rows.removeLast()
            throw error
        }
    }

    private func encode(_ row: Int) throws {
        let object = rows[row].object
        guard !object.isDeleted, let edit = object._$state.edit else { return }
        let place = try encoded(object)
        statistics.encoded += 1
        wasted += rows[row].count
        rows[row].offset = place.offset
        rows[row].count = place.count
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

    // MARK: Looking

    /// The rows that a request selects, in its order, copied to an arena: the cursor over them bears any change.
    /// The request must not need other objects; see ``Transaction/mergedRows(_:_:_:isSteady:)``.
    func matching(_ request: FetchRequest, _ found: RecordArena) throws -> [MaterializedCursor.Row] {
        let places: [Int]
        if let candidates = candidates(request.predicate) {
            places = try filtered(candidates, request.predicate)
        } else {
            places = try watch(request.predicate, isIndexed: false) { $0.selected.sorted() }.map { Int($0) }
        }
        var selected = places.map { place in
            let row = rows[place]
            return MaterializedCursor.Row(id: row.id, offset: found.append(arena.bytes(row.offset, row.count)), count: row.count)
        }
        found.sort(&selected, by: RecordOrder(request.sortKeys), layout: entity.layout)
        return selected
    }

    /// How many objects a condition selects, by the store's rows and by those that were created or changed here.
    /// - Parameter untouched: gives the number of the store's rows that nothing was done to.
    func count(_ predicate: QueryPredicate, _ untouched: (inout PendingWatch) throws -> Int) throws -> Int {
        guard let candidates = candidates(predicate) else {
            return try watch(predicate, isIndexed: false) { watch in try watch.selected.count + untouched(&watch) }
        }
        return try filtered(candidates, predicate).count + watch(predicate, isIndexed: true, untouched)
    }

    /// Those of some rows that a condition selects.
    private func filtered(_ candidates: [Int], _ predicate: QueryPredicate) throws -> [Int] {
        let evaluator = PredicateEvaluator(predicate)
        return try candidates.filter { place in
            let row = rows[place]
            guard !row.object.isDeleted else { return false }
            statistics.evaluated += 1
            return try evaluator.matches(id: row.id, arena.view(row.offset, row.count, entity.layout))
        }
    }

    /// Brings what a condition selects up to date, or finds it out.
    /// - Parameter isIndexed: the pending rows are found by an index; the watch is of the store's alone.
    private func watch<R>(_ predicate: QueryPredicate, isIndexed: Bool, _ body: (inout PendingWatch) throws -> R) throws -> R {
        func record(_ row: Int32) -> (id: Int64, view: RecordView)? {
            let row = rows[Int(row)]
            if row.object.isDeleted { return nil }
            statistics.evaluated += 1
            return (row.id, arena.view(row.offset, row.count, entity.layout))
        }
        var watch: PendingWatch
        if let known = watches.lastIndex(where: { $0.predicate == predicate && $0.isIndexed == isIndexed }) {
            watch = watches.remove(at: known)
            try watch.catchUp(changed, record)
        } else {
            watch = PendingWatch(predicate, isIndexed: isIndexed, position: changed.count)
            if !isIndexed { for row in rows.indices { try watch.look(Int32(row), record) } }
            if watches.count == Self.watchLimit { watches.removeFirst() }
        }
        if changed.count > 4096, changed.count > 2 * rows.count {
            // Everybody has to read them before they go.
            for index in watches.indices { try watches[index].catchUp(changed, record) }
            for index in watches.indices { watches[index].didEmpty() }
            watch.didEmpty()
            changed = []
        }
        defer { watches.append(watch) }
        return try body(&watch)
    }

    /// The record of an object that was created or changed; valid until the next one is asked for.
    func record(_ edit: EditState) -> RecordView? {
        guard rows.indices.contains(Int(edit.row)) else { return nil }
        let row = rows[Int(edit.row)]
        return arena.view(row.offset, row.count, entity.layout)
    }

    /// Rows, each once, among which are all that a predicate selects: those that the equality with the fewest has. nil: all.
    private func candidates(_ predicate: QueryPredicate) -> [Int]? {
        var best: (field: Int, hashes: Set<Int>, count: Int)?
        for part in predicate.conjuncts {
            let field: FieldReference
            let values: [Value]
            switch part.node {
            case .constant(false): return []
            case .compare(let compared, .equal, let value): (field, values) = (compared, [value])
            case .oneOf(let compared, let some): (field, values) = (compared, some)
            default: continue
            }
            // Null equals nothing.
            let hashes = Set(values.lazy.compactMap(PendingIndex.hash))
            let place = field.isObjectID ? entity.fields.count : field.ordinal
            let count = index(place).count(hashes)
            if count < best?.count ?? .max { best = (place, hashes, count) }
        }
        return best.map { index($0.field).rows($0.hashes) }
    }

    private func index(_ field: Int) -> PendingIndex {
        if let index = indexes[field] { return index }
        var index = PendingIndex()
        for row in rows.indices { index.set(row, hash(row, field)) }
        indexes[field] = index
        return index
    }

    private func hash(_ row: Int, _ field: Int) -> Int? {
        let row = rows[row]
        guard field < entity.fields.count else { return PendingIndex.hash(row.id) }
        return PendingIndex.hash(arena.view(row.offset, row.count, entity.layout), entity.fields[field])
    }
}
