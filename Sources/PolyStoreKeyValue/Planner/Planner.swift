import PolyStoreBackend

/// Decides how to carry out a request: by rules, so that the same request always goes the same way.
///
/// The best path is, in this order: ids that are named; an index whose leading fields have fixed values, the more the better; a bounded range of an
/// index; the union of such paths for the parts of an OR; an index in the order that is asked for; all records. Among equals the one that also gives
/// the order, or that needs no record, wins.
struct Planner {
    let reader: SnapshotReader
    let request: FetchRequest
    private let entity: Entity
    private let keys = KeyWriter()

    init(_ reader: SnapshotReader, _ request: FetchRequest) {
        self.reader = reader
        self.request = request
        entity = request.entity
    }

    func plan() throws -> RequestPlan {
        let predicate = request.predicate.normalized
        let nothing = RequestPlan(path: .nothing, predicate: nil, isOrdered: true)
        if predicate.isNeverTrue || request.limit == 0 { return nothing }
        if request.ignoresIndexes { return scan(nil, predicate) }
        // Rows that are named ask for their others themselves.
        if let plan = named(predicate.conjuncts) { return plan }
        guard predicate.needsRelated else { return try plan(predicate) }
        let joined = QueryPredicate.and(try SemiJoin(reader: reader).joined(predicate.conjuncts))
        if joined.isNeverTrue { return nothing }
        return try named(joined.conjuncts) ?? plan(joined)
    }

    private func plan(_ predicate: QueryPredicate) throws -> RequestPlan {
        let conjuncts = predicate.conjuncts
        var best: (plan: RequestPlan, score: Int)?
        func consider(_ plan: RequestPlan, _ score: Int) { if score > best?.score ?? .min { best = (plan, score) } }
        var mentioned = FieldMask()
        predicate.collectFields(into: &mentioned)
        if let first = request.sortKeys.first, !first.field.isObjectID { mentioned.insert(first.field.ordinal) }
        for (position, index) in reader.layout.indexes[entity.index].enumerated() {
            // Neither a condition nor the order says anything of its first field.
            if !mentioned.contains(index.fields[0].ordinal) { continue }
            let state = try reader.state(entity, position)
            guard state.phase == .readable else { continue }
            if let (plan, score) = use(IndexSearch(index, conjuncts), conjuncts, state) { consider(plan, score) }
        }
        if best?.score ?? 0 < 100, let union = try union(conjuncts) {
            consider(RequestPlan(path: .union(union), predicate: predicate, isOrdered: isOrderedByID, collectsIDs: true), 90)
        }
        let range = idRange(conjuncts)
        consider(scan(range, predicate), range == nil ? 0 : 60)
        return best?.plan ?? scan(nil, predicate)
    }

    // MARK: Ids

    /// Whether the request's order is that of the ids.
    private var isOrderedByID: Bool {
        guard let first = request.sortKeys.first else { return true }
        return first.field.isObjectID && first.ascending
    }

    /// A walk over records, all or within a range of ids, in whichever direction the order asks for.
    private func scan(_ range: KeyRange?, _ predicate: QueryPredicate) -> RequestPlan {
        let isReversed = request.sortKeys.first.map { $0.field.isObjectID && !$0.ascending } ?? false
        return RequestPlan(
            path: .scan(ids: range, isReversed: isReversed), predicate: predicate == .all ? nil : predicate,
            isOrdered: isOrderedByID || isReversed)
    }

    /// Where the condition names ids.
    private func named(_ conjuncts: [QueryPredicate]) -> RequestPlan? {
        var ids: Set<Int64>?
        var rest: [QueryPredicate] = []
        for part in conjuncts {
            switch part.node {
            case .compare(.objectID, .equal, .integer(let id)): ids = ids.map { $0.intersection([id]) } ?? [id]
            case .oneOf(.objectID, let values):
                let named = Set(values.compactMap { if case .integer(let id) = $0 { id } else { nil } })
                ids = ids.map { $0.intersection(named) } ?? named
            default: rest.append(part)
            }
        }
        guard let ids else { return nil }
        let predicate: QueryPredicate? = rest.isEmpty ? nil : .and(rest)
        return RequestPlan(path: .ids(ids.sorted()), predicate: predicate, isOrdered: isOrderedByID || ids.count < 2)
    }

    /// The records that bounds of the id leave; nil: all.
    private func idRange(_ conjuncts: [QueryPredicate]) -> KeyRange? {
        guard let bounds = IDBounds(conjuncts) else { return nil }
        return bounds.range(behind: KeyRange(recordsOf: reader.layout.number(of: entity)).start, keys)
    }

    // MARK: Indexes

    /// What an index is worth for the request; nil: nothing.
    private func use(_ search: IndexSearch, _ conjuncts: [QueryPredicate], _ state: IndexState) -> (RequestPlan, Int)? {
        let rest = conjuncts.enumerated().filter { !search.satisfied.contains($0.offset) }.map(\.element)
        let predicate: QueryPredicate? = rest.isEmpty ? nil : .and(rest)
        let isOnePoint = search.fixedFields == search.index.fields.count && search.ranges.count <= 1
        let direction = request.sortKeys.isEmpty ? nil : order(search, state)
        var plan = RequestPlan(path: .search(search), predicate: predicate, isOrdered: false)
        if isOrderedByID {
            plan.isOrdered = true
            plan.collectsIDs = !isOnePoint
        } else if let direction {
            plan.isOrdered = true
            plan.isReversed = direction < 0
        } else {
            plan.isOrdered = false
            plan.collectsIDs = false
        }
        (plan.isCovering, plan.needsIDsOnly) = covers(search, plan, state)
        guard search.isSearch || direction != nil else { return nil }
        var score = 0
        if search.isUniqueMatch {
            score = 1000
        } else {
            score = search.fixedFields * 100 + (search.pointFields - search.fixedFields) * 95
            if search.hasRange { score += search.conditions.count - search.pointFields > 1 ? 75 : 65 }
        }
        if direction != nil { score += 20 }
        if plan.isCovering { score += 10 }
        return (plan, score)
    }

    /// Whether the entries come in the order that is asked for: 1 forwards, −1 backwards, nil not.
    private func order(_ search: IndexSearch, _ state: IndexState) -> Int? {
        guard !(state.holdsCutEntries && search.index.hasVariableFields) else { return nil }
        // Several ranges are in order one after another, as long as only the last bounded field varies.
        guard search.pointFields == search.fixedFields || search.pointFields == search.fixedFields + 1 else { return nil }
        var direction: Int?
        var position = search.fixedFields
        let fields = search.index.fields
        var keys = request.sortKeys[...]
        while let key = keys.first {
            if key.field.isObjectID {
                // The id is the last word anyway, ascending. Walked backwards, equal entries give it ascending too.
                return position == fields.count && key.ascending ? direction ?? 1 : nil
            }
            keys = keys.dropFirst()
            // A field with one value orders nothing.
            if fields.prefix(search.fixedFields).contains(where: { $0.ordinal == key.field.ordinal }) { continue }
            guard position < fields.count, fields[position].ordinal == key.field.ordinal else { return nil }
            if fields[position].isOptional, key.nullsComeFirst != key.ascending { return nil }
            let way = key.ascending ? 1 : -1
            guard direction == nil || direction == way else { return nil }
            direction = way
            position += 1
        }
        return position == fields.count ? direction ?? 1 : nil
    }

    /// Whether the entries alone can answer, and whether only their ids are needed.
    private func covers(_ search: IndexSearch, _ plan: RequestPlan, _ state: IndexState) -> (Bool, Bool) {
        guard request.onlyIDs || request.fields != nil else { return (false, false) }
        var needed = request.onlyIDs ? FieldMask() : request.fields ?? FieldMask()
        plan.predicate?.collectFields(into: &needed)
        if !plan.isOrdered { for key in request.sortKeys where !key.field.isObjectID { needed.insert(key.field.ordinal) } }
        if needed.isEmpty { return (true, true) }
        // Values are taken from entries one by one, so neither collected ids nor runs walked over backwards have them.
        if plan.collectsIDs || plan.isReversed { return (false, false) }
        let isWhole = !(state.holdsCutEntries && search.index.hasVariableFields)
        return (isWhole && needed.ordinals.allSatisfy { search.index.mask.contains($0) }, false)
    }

    // MARK: Unions

    /// Paths for all parts of an OR among the conjuncts, if every part has one.
    private func union(_ conjuncts: [QueryPredicate]) throws -> [RequestPlan.Path]? {
        for conjunct in conjuncts {
            guard case .or(let parts) = conjunct.node, parts.count <= 256 else { continue }
            var paths: [RequestPlan.Path] = []
            for part in parts {
                guard let path = try path(part) else { break }
                paths.append(path)
            }
            if paths.count == parts.count { return paths }
        }
        return nil
    }

    /// A path without a walk over all records; nil where there is none.
    private func path(_ part: QueryPredicate) throws -> RequestPlan.Path? {
        if part.isNeverTrue { return .nothing }
        let conjuncts = part.conjuncts
        if let plan = named(conjuncts) { return plan.path }
        var best: (search: IndexSearch, score: Int)?
        for (position, index) in reader.layout.indexes[entity.index].enumerated()
        where try reader.state(entity, position).phase == .readable {
            let search = IndexSearch(index, conjuncts)
            let score = search.fixedFields * 100 + search.pointFields * 95 + (search.hasRange ? 60 : 0)
            if search.isSearch, score > best?.score ?? 0 { best = (search, score) }
        }
        if let best { return .search(best.search) }
        if let nested = try union(conjuncts) { return .union(nested) }
        if let range = idRange(conjuncts) { return .scan(ids: range, isReversed: false) }
        return nil
    }
}
