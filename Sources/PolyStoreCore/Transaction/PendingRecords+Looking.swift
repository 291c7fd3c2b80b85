import PolyStoreBackend

extension PendingRecords {
    /// So many rows are looked at each time, and nothing is kept about the condition.
    private static let few = 64

    /// The first rows that a request selects, as many as it can need, in its order, copied to an arena: the cursor over them bears any change.
    /// The request must not need other objects; see ``Transaction/mergedRows(_:_:_:isSteady:)``.
    func matching(_ request: FetchRequest, _ found: RecordArena) throws -> [MaterializedCursor.Row] {
        let most = request.limit.map { Int(clamping: $0.magnitude + request.offset.magnitude) } ?? .max
        let places =
            try fewRows(request.predicate)
            ?? watch(request.predicate, isIndexed: false) { watch in watch.first(most, by: request.sortKeys, record) }
        var selected = places.map { place in
            let row = rows[Int(place)]
            return MaterializedCursor.Row(id: row.id, offset: found.append(arena.bytes(row.offset, row.count)), count: row.count)
        }
        found.sort(&selected, by: RecordOrder(request.sortKeys), layout: entity.layout)
        return selected.count > most ? Array(selected.prefix(most)) : selected
    }

    /// How many objects a condition selects, by the store's rows and by those that were created or changed here.
    /// - Parameter untouched: gives the number of the store's rows that nothing was done to.
    func count(_ predicate: QueryPredicate, _ untouched: (inout PendingWatch) throws -> Int) throws -> Int {
        if let few = try fewRows(predicate) { return try few.count + watch(predicate, isIndexed: true, untouched) }
        return try watch(predicate, isIndexed: false) { watch in try watch.selected.count + untouched(&watch) }
    }

    /// The rows that a condition selects, where an index leaves few to look at; otherwise nil.
    private func fewRows(_ predicate: QueryPredicate) throws -> [Int32]? {
        guard let candidates = try candidates(predicate), candidates.count <= Self.few else { return nil }
        let evaluator = PredicateEvaluator(predicate)
        return try candidates.rows(of: self).filter { row in
            guard let (id, view) = living(row) else { return false }
            return try evaluator.matches(id: id, view)
        }
    }

    /// Brings what a condition selects up to date, or finds it out.
    /// - Parameter isIndexed: the pending rows are found by an index; the watch is of the store's alone.
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
            // Every watch has to read them before they are discarded.
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

    /// The record of a row, whether its object is deleted or not.
    func record(_ row: Int32) -> (id: Int64, view: RecordView) {
        let row = rows[Int(row)]
        return (row.id, arena.view(row.offset, row.count, entity.layout))
    }

    /// The record of a row, for a condition; nil where its object is deleted.
    private func living(_ row: Int32) -> (id: Int64, view: RecordView)? {
        if rows[Int(row)].object.isDeleted { return nil }
        statistics.evaluated += 1
        return record(row)
    }

    /// The record of an object that was created or changed; valid until the next one is asked for.
    func record(_ edit: EditState) -> RecordView? { rows.indices.contains(Int(edit.row)) ? record(edit.row).view : nil }

    // MARK: Indexes

    /// Rows, each once, among which are all that a condition selects.
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

    /// The rows that the equality with the fewest has, or the range of values with fewer. nil: there is neither.
    private func candidates(_ predicate: QueryPredicate) throws -> Candidates? {
        var best: Candidates?
        for part in predicate.conjuncts {
            let field: FieldReference
            let values: [Value]
            switch part.node {
            case .constant(false): return Candidates.none
            case .compare(let compared, .equal, let value): (field, values) = (compared, [value])
            case .oneOf(let compared, let some): (field, values) = (compared, some)
            default: continue
            }
            // Null equals nothing.
            let hashes = Set(values.lazy.compactMap(PendingIndex.hash))
            let place = field.isObjectID ? entity.fields.count : field.ordinal
            let count = index(place).count(hashes)
            if count < best?.count ?? .max { best = .equal(field: place, hashes: hashes, count: count) }
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

    /// The hash of what a row has in a field, or of its id.
    func hash(_ row: Int, _ field: Int) -> Int? {
        let row = rows[row]
        guard field < entity.fields.count else { return PendingIndex.hash(row.id) }
        return PendingIndex.hash(arena.view(row.offset, row.count, entity.layout), entity.fields[field])
    }
}
