import PolyStoreBackend

/// Chooses the access path of a request by fixed rules, so that equal requests have equal plans.
///
/// In order of preference: named row ids; an index with fixed values in its leading fields, the more the better; a bounded index range; the union of such paths
/// for the parts of an OR; an index in the requested order; a full scan. Among equal paths, one that also provides the order, or that needs no records, is
/// preferred.
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
        // Values within JSON attributes that are components of indexes are fields here; residual predicates restore them.
        let predicate = request.predicate.replacingIndexedJSON(of: entity).normalized
        let nothing = RequestPlan(path: .nothing, residual: nil, isOrdered: true)
        if predicate.isNeverTrue || request.limit == 0 { return nothing }
        if request.ignoresIndexes { return scan(nil, predicate) }
        // Rows that are named evaluate conditions on related objects themselves.
        if let plan = named(predicate.conjuncts) { return plan }
        guard predicate.needsRelated else { return try plan(predicate) }
        let joined = QueryPredicate.and(try SemiJoin(reader: reader).joined(predicate.conjuncts))
        if joined.isNeverTrue { return nothing }
        return try named(joined.conjuncts) ?? plan(joined)
    }

    private func plan(_ predicate: QueryPredicate) throws -> RequestPlan {
        let conjuncts = predicate.conjuncts
        var best: (plan: RequestPlan, preference: PathPreference)?
        var searches: [Candidate] = []
        func consider(_ plan: RequestPlan, _ preference: PathPreference) {
            if best.map({ $0.preference < preference }) ?? true { best = (plan, preference) }
        }
        var mentioned = FieldMask()
        restored(predicate).collectFields(into: &mentioned)
        if let first = request.sortKeys.first, !first.field.isObjectID {
            mentioned.insert(entity.indexedJSON(at: first.field.index)?.attribute ?? first.field.index)
        }
        for (position, index) in reader.layout.indexes[entity.index].enumerated() {
            // Neither a condition nor the order refers to the first field of the index.
            if !mentioned.contains(index.index.fields[0]) { continue }
            let state = try reader.state(entity, position)
            guard state.phase == .readable else { continue }
            let search = IndexSearch(index, conjuncts)
            if let candidate = use(search, conjuncts, state) {
                consider(candidate.plan, candidate.preference)
                if search.isSearch { searches.append(candidate) }
            }
        }
        if searches.count > 1, let best, best.preference < .uniqueMatch, let rarest = try rarest(searches) { return rarest }
        if best.map({ $0.preference < .oneFixedField }) ?? true, let union = try union(conjuncts) {
            consider(RequestPlan(path: .union(union), residual: restored(predicate), isOrdered: isOrderedByID, collectsIDs: true), .union)
        }
        let range = idRange(conjuncts)
        consider(scan(range, predicate), range == nil ? .fullScan : .rangeOfIDs)
        return best?.plan ?? scan(nil, predicate)
    }

    /// Returns the plan of a search that finds far fewer entries than the preferred one; `nil` if there is none.
    private func rarest(_ searches: [Candidate]) throws -> RequestPlan? {
        let searches = searches.sorted { $1.preference < $0.preference }
        guard searches.allSatisfy({ $0.search.ranges.count <= Self.mostRangesCounted }) else { return nil }
        var least = try reader.entries(searches[0].search, upTo: Self.mostEntriesCounted)
        // Too few entries to justify further searches.
        if least <= 16 { return nil }
        var rarest: RequestPlan?
        for other in searches.dropFirst() {
            let count = try reader.entries(other.search, upTo: least / 2)
            if count < least / 2 { (least, rarest) = (count, other.plan) }
        }
        return rarest
    }

    /// The maximum number of entries that are counted to choose between indexes.
    private static let mostEntriesCounted = 256
    private static let mostRangesCounted = 32

    /// Returns a predicate with values within JSON attributes in place of the fields that the planner uses for them.
    private func restored(_ predicate: QueryPredicate) -> QueryPredicate { predicate.restoringIndexedJSON(of: entity) }

    // MARK: Row ids

    /// A Boolean value that indicates whether the requested order is that of the row ids.
    private var isOrderedByID: Bool {
        guard let first = request.sortKeys.first else { return true }
        return first.field.isObjectID && first.ascending
    }

    /// Returns a full scan, or a scan of a range of row ids, in the requested direction.
    private func scan(_ range: KeyRange?, _ predicate: QueryPredicate) -> RequestPlan {
        let isReversed = request.sortKeys.first.map { $0.field.isObjectID && !$0.ascending } ?? false
        return RequestPlan(
            path: .scan(ids: range, isReversed: isReversed), residual: predicate == .all ? nil : restored(predicate),
            isOrdered: isOrderedByID || isReversed)
    }

    /// Returns a plan if the condition names row ids.
    private func named(_ conjuncts: [QueryPredicate]) -> RequestPlan? {
        var ids: Set<Int64>?
        var residual: [QueryPredicate] = []
        for part in conjuncts {
            switch part.fieldCondition {
            case .compare(.objectID, .equal, .integer(let id))?: ids = ids.map { $0.intersection([id]) } ?? [id]
            case .oneOf(.objectID, let values)?:
                let named = Set(values.compactMap { if case .integer(let id) = $0 { id } else { nil } })
                ids = ids.map { $0.intersection(named) } ?? named
            default: residual.append(part)
            }
        }
        guard let ids else { return nil }
        return RequestPlan(
            path: .ids(ids.sorted()), residual: residual.isEmpty ? nil : restored(.and(residual)), isOrdered: isOrderedByID || ids.count < 2
        )
    }

    /// Returns the range of records for the bounds of the row id; `nil` for all.
    private func idRange(_ conjuncts: [QueryPredicate]) -> KeyRange? {
        guard let bounds = IDBounds(conjuncts) else { return nil }
        return bounds.range(behind: KeyRange(recordsOf: reader.layout.number(of: entity)).start, keys)
    }

    // MARK: Indexes

    /// A plan that uses an index.
    private struct Candidate {
        let plan: RequestPlan
        let search: IndexSearch
        let preference: PathPreference
    }

    /// Returns the plan and the preference of an index for the request; `nil` if the index is not useful.
    private func use(_ original: IndexSearch, _ conjuncts: [QueryPredicate], _ state: IndexState) -> Candidate? {
        var search = original
        let unsatisfied = conjuncts.enumerated().filter { !search.satisfied.contains($0.offset) }.map(\.element)
        let residual: QueryPredicate? = unsatisfied.isEmpty ? nil : restored(.and(unsatisfied))
        let isOnePoint = search.fixedFields == search.index.fields.count && search.ranges.count <= 1
        let order = request.sortKeys.isEmpty ? nil : order(search, state)
        let direction = order.flatMap { $0.isWhole ? $0.direction : nil }
        if let order, order.splitsNulls { search.putNullsLast() }
        var plan = RequestPlan(path: .search(search), residual: residual, isOrdered: false)
        plan.merges = order?.merges ?? false
        if isOrderedByID {
            plan.isOrdered = true
            plan.collectsIDs = !isOnePoint
        } else if let direction {
            plan.isOrdered = true
            plan.isReversed = direction < 0
        } else {
            plan.isOrdered = false
            plan.collectsIDs = false
            // Sorting within groups of equal keys ends with the slice. Without a slice, or if few rows match, all rows would be looked up individually.
            if let order, order.keys > 0, let limit = request.limit, limit &+ request.offset <= 1 << 12, limit &+ request.offset >= 0,
                residual == nil, !request.sortKeys.contains(where: { entity.indexedJSON(at: $0.field.index) != nil })
            {
                plan.orderedKeys = order.keys
                plan.isReversed = order.direction < 0
                plan.isOrdered = true
            }
        }
        if plan.orderedKeys == 0, !plan.merges { (plan.isCovering, plan.needsIDsOnly) = covers(search, plan, state) }
        guard search.isSearch || plan.isOrdered && (direction != nil || plan.orderedKeys > 0) else { return nil }
        var preference = PathPreference(search)
        if direction != nil {
            preference += .order
        } else if plan.orderedKeys > 0 {
            preference += .partOfOrder
        }
        if plan.isCovering { preference += .covering }
        return Candidate(plan: plan, search: original, preference: preference)
    }

    /// The order of the entries of a search, compared with the requested order.
    private struct FoundOrder {
        /// 1 forwards, −1 backwards.
        var direction: Int
        /// A Boolean value that indicates whether it is the complete requested order.
        var isWhole: Bool
        /// The number of leading sort keys that it covers if it is not complete.
        var keys: Int
        /// A Boolean value that indicates whether null must be moved to the other end.
        var splitsNulls = false
        /// A Boolean value that indicates whether the ranges must be merged.
        var merges = false
    }

    /// - Returns: `nil` if the entries are in another order.
    private func order(_ search: IndexSearch, _ state: IndexState) -> FoundOrder? {
        guard !(state.holdsCutEntries && search.index.hasVariableFields) else { return nil }
        let fields = search.index.fields
        // Leading fields with one value per range do not affect the order within a range; several ranges are then merged.
        if search.pointFields > search.fixedFields, !search.hasRange, request.limit != nil, search.ranges.count <= Self.mostRangesMerged,
            !search.index.isUnique, search.pointFields < fields.count,
            let found = order(search, from: search.pointFields), found.isWhole, !found.splitsNulls
        {
            var merged = found
            merged.merges = true
            return merged
        }
        // Consecutive ranges are in order if only the last bounded field varies.
        guard search.pointFields == search.fixedFields || search.pointFields == search.fixedFields + 1 else { return nil }
        return order(search, from: search.fixedFields)
    }

    private static let mostRangesMerged = 64

    /// - Parameter first: The first field that can have more than one value in a range.
    private func order(_ search: IndexSearch, from first: Int) -> FoundOrder? {
        let fields = search.index.fields
        var found = FoundOrder(direction: 0, isWhole: false, keys: 0)
        var position = first
        var matched = 0
        // The remaining sort keys are sorted within groups.
        func prefix() -> FoundOrder? {
            guard found.direction != 0, matched > 0 else { return nil }
            found.keys = matched
            return found
        }
        for key in request.sortKeys {
            if key.field.isObjectID {
                // Entries end with the row id, ascending. In a backward scan, equal entries are also returned in ascending row id order.
                guard position == fields.count, key.ascending else { return prefix() }
                found.isWhole = true
                if found.direction == 0 { found.direction = 1 }
                return found
            }
            // A field with one value does not affect the order.
            if fields.prefix(search.fixedFields).contains(where: { $0.index == key.field.index }) {
                matched += 1
                continue
            }
            guard position < fields.count, fields[position].index == key.field.index else { return prefix() }
            if fields[position].isOptional, key.nullsComeFirst != key.ascending {
                // Bounds and lists exclude null; a complete scan of one field can be split into two parts.
                let hasNoNulls = position < search.pointFields || position == search.pointFields && search.hasRange
                if !hasNoNulls {
                    guard position == first, first == search.fixedFields, search.pointFields == first, search.ranges.count == 1 else {
                        return prefix()
                    }
                    found.splitsNulls = true
                }
            }
            let direction = key.ascending ? 1 : -1
            guard found.direction == 0 || found.direction == direction else { return prefix() }
            found.direction = direction
            position += 1
            matched += 1
        }
        guard position == fields.count else { return prefix() }
        found.isWhole = true
        if found.direction == 0 { found.direction = 1 }
        return found
    }

    /// Returns whether the entries alone provide the result, and whether only their row ids are needed.
    private func covers(_ search: IndexSearch, _ plan: RequestPlan, _ state: IndexState) -> (Bool, Bool) {
        guard request.onlyIDs || request.fields != nil else { return (false, false) }
        var needed = request.onlyIDs ? FieldMask() : request.fields ?? FieldMask()
        plan.residual?.collectFields(into: &needed)
        if !plan.isOrdered {
            for key in request.sortKeys where entity.fields.indices.contains(key.field.index) { needed.insert(key.field.index) }
        }
        if needed.isEmpty { return (true, true) }
        // Values are read from the current entry, so neither collected row ids nor runs of backward scans provide them.
        if plan.collectsIDs || plan.isReversed { return (false, false) }
        let isWhole = !(state.holdsCutEntries && search.index.hasVariableFields)
        return (isWhole && needed.indexes.allSatisfy { search.index.covered.contains($0) }, false)
    }

    // MARK: Unions

    /// Returns the paths for all parts of an OR among the conjuncts, if every part has one.
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

    /// Returns a path without a full scan; `nil` if there is none.
    private func path(_ part: QueryPredicate) throws -> RequestPlan.Path? {
        if part.isNeverTrue { return .nothing }
        let conjuncts = part.conjuncts
        if let plan = named(conjuncts) { return plan.path }
        var best: (search: IndexSearch, preference: PathPreference)?
        for (position, index) in reader.layout.indexes[entity.index].enumerated()
        where try reader.state(entity, position).phase == .readable {
            let search = IndexSearch(index, conjuncts)
            let preference = PathPreference(search)
            if search.isSearch, best.map({ $0.preference < preference }) ?? true { best = (search, preference) }
        }
        if let best { return .search(best.search) }
        if let nested = try union(conjuncts) { return .union(nested) }
        if let range = idRange(conjuncts) { return .scan(ids: range, isReversed: false) }
        return nil
    }
}
