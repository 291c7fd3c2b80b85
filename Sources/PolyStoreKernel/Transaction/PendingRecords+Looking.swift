import PolyStoreBackend
import PolyStoreQuery

extension PendingRecords {
    /// The maximum number of candidate rows for which the predicate is evaluated each time instead of caching its result.
    private static let few = 64

    /// Returns the first matching rows of a request, up to limit plus offset, in its order. They are copied to an arena, so later changes do not
    /// affect the cursor over them. The request must not read related objects; see ``Editor/mergedRows(_:_:_:isSteady:)``.
    func matching(_ request: FetchRequest, _ found: RecordArena) throws -> [MaterializedCursor.Row] {
        let most = request.limit.map { Int(clamping: $0.magnitude + request.offset.magnitude) } ?? .max
        let positions =
            try fewRows(request.predicate)
            ?? watch(request.predicate, isIndexed: false) { watch in watch.first(most, by: request.sortKeys, record) }
        var selected = positions.map { position in
            let row = rows[Int(position)]
            return MaterializedCursor.Row(id: row.id, offset: found.append(arena.bytes(row.offset, row.count)), count: row.count)
        }
        found.sort(&selected, by: RecordOrder(request.sortKeys), layout: entity.layout)
        return selected.count > most ? Array(selected.prefix(most)) : selected
    }

    /// Returns the number of objects that match a predicate: unchanged rows of the store plus pending rows.
    /// - Parameter untouched: returns the number of unchanged rows of the store.
    func count(_ predicate: QueryPredicate, _ untouched: (inout PendingWatch) throws -> Int) throws -> Int {
        if let few = try fewRows(predicate) { return try few.count + watch(predicate, isIndexed: true, untouched) }
        return try watch(predicate, isIndexed: false) { watch in try watch.selected.count + untouched(&watch) }
    }

    /// Returns the matching rows if an index yields few candidates, otherwise nil.
    private func fewRows(_ predicate: QueryPredicate) throws -> [Int32]? {
        guard let candidates = try candidates(predicate), candidates.count <= Self.few else { return nil }
        let evaluator = PredicateEvaluator(predicate)
        return try candidates.rows(of: self).filter { row in
            guard let (id, view) = living(row) else { return false }
            return try evaluator.matches(id: id, view)
        }
    }

    /// Updates or creates the cached result of a predicate.
    /// - Parameter isIndexed: whether an index finds the pending rows; only the store's count is then cached.
    private func watch<R>(_ predicate: QueryPredicate, isIndexed: Bool, _ body: (inout PendingWatch) throws -> R) throws -> R {
        var watch: PendingWatch
        if let known = watches.lastIndex(where: { $0.predicate == predicate && $0.isIndexed == isIndexed }) {
            watch = watches.remove(at: known)
            try watch.catchUp(changed, living, record)
        } else {
            watch = PendingWatch(predicate, isIndexed: isIndexed, position: changed.count)
            if !isIndexed { try lookAtAll(&watch) }
            if watches.count == Self.watchLimit { watches.removeFirst() }
        }
        if changed.count > 4096, changed.count > 2 * rows.count {
            // Every cached result must process the changed rows before they are discarded.
            for index in watches.indices { try watches[index].catchUp(changed, living, record) }
            for index in watches.indices { watches[index].didEmpty() }
            watch.didEmpty()
            changed = []
        }
        defer { watches.append(watch) }
        return try body(&watch)
    }

    private func lookAtAll(_ watch: inout PendingWatch) throws {
        if let candidates = try candidates(watch.predicate) {
            for row in candidates.rows(of: self) { try watch.look(row, living, record) }
        } else {
            let all = 0..<Int32(rows.count)
            for row in all { try watch.look(row, living, record) }
            ranges.didWalk(all.filter { !rows[Int($0)].object.isDeleted }, for: watch.predicate, record)
        }
    }

    /// Returns the record of a row, whether or not its object is deleted.
    func record(_ row: Int32) -> (id: Int64, view: RecordView) {
        let row = rows[Int(row)]
        return (row.id, arena.view(row.offset, row.count, entity.layout))
    }

    /// Returns the record of a row for evaluation, or nil if its object is deleted.
    private func living(_ row: Int32) -> (id: Int64, view: RecordView)? {
        if rows[Int(row)].object.isDeleted { return nil }
        statistics.evaluated += 1
        return record(row)
    }

    /// Returns the record of an inserted or updated object. It is valid until the next record is requested.
    func record(_ edit: EditState) -> RecordView? { rows.indices.contains(Int(edit.row)) ? record(edit.row).view : nil }

    // MARK: Indexes

    /// A superset of the matching rows, without duplicates.
    private enum Candidates {
        case none
        case equal(field: Int, hashes: Set<Int>, count: Int)
        case between(PendingRanges.Range)

        var count: Int {
            switch self {
            case .none: 0
            case .equal(_, _, let count): count
            case .between(let range): range.count
            }
        }

        func rows(of records: PendingRecords) -> [Int32] {
            switch self {
            case .none: []
            case .equal(let field, let hashes, _): records.index(field).rows(hashes)
            case .between(let range): range.rows
            }
        }
    }

    /// Returns the smallest set of candidates from an equality index or a sorted order; nil if neither applies.
    private func candidates(_ predicate: QueryPredicate) throws -> Candidates? {
        var best: Candidates?
        for part in predicate.conjuncts {
            let field: FieldReference
            let values: [Value]
            if part == .none { return Candidates.none }
            switch part.fieldCondition {
            case .compare(let compared, .equal, let value)?: (field, values) = (compared, [value])
            case .oneOf(let compared, let some)?: (field, values) = (compared, some)
            default: continue
            }
            // Comparisons with null are never true.
            let hashes = Set(values.lazy.compactMap(PendingIndex.hash))
            let fieldIndex = field.isObjectID ? entity.fields.count : field.index
            let count = index(fieldIndex).count(hashes)
            if count < best?.count ?? .max { best = .equal(field: fieldIndex, hashes: hashes, count: count) }
        }
        if best?.count ?? .max > Self.few, let range = try ranges.fewest(predicate, record), range.count < best?.count ?? .max {
            best = .between(range)
        }
        return best
    }

    private func index(_ field: Int) -> PendingIndex {
        if let index = indexes[field] { return index }
        var index = PendingIndex()
        for row in rows.indices { index.set(row, hash(row, field)) }
        indexes[field] = index
        return index
    }

    /// Returns the hash of a field of a row, or of its row id.
    func hash(_ row: Int, _ field: Int) -> Int? {
        let row = rows[row]
        guard field < entity.fields.count else { return PendingIndex.hash(row.id) }
        return PendingIndex.hash(arena.view(row.offset, row.count, entity.layout), entity.fields[field])
    }
}
