import PolyStoreBackend
import PolyStoreQuery

extension SnapshotReader {
    /// Returns the cursor of a request, and the work that remains for the shared executor.
    func scan(_ request: FetchRequest) throws -> Scan {
        try interruption?.check()
        if request.hasComputedKeys {
            if let ordered = try ordered(request) { return Scan(try cursor(ordered.plan, ordered.request), residual: ordered.residual) }
            var scan = try scan(request.unsorted)
            scan.residual = Scan.Residual(predicate: scan.residual.predicate, sort: true, slice: true)
            return scan
        }
        let plan = try Planner(self, request).plan()
        return Scan(try cursor(plan, request), residual: Self.residual(plan, request))
    }

    /// A request whose computed sort keys are the order of an index.
    private struct OrderedRequest {
        /// The request with fields in place of the sort keys.
        let request: FetchRequest
        let plan: RequestPlan
        var residual: Scan.Residual { SnapshotReader.residual(plan, request) }
    }

    /// Returns the request with its plan, if an index provides the order of its computed sort keys.
    private func ordered(_ request: FetchRequest) throws -> OrderedRequest? {
        guard let ordered = request.orderedByIndexedJSON else { return nil }
        let plan = try Planner(self, ordered).plan()
        return plan.isOrdered ? OrderedRequest(request: ordered, plan: plan) : nil
    }

    static func residual(_ plan: RequestPlan, _ request: FetchRequest) -> Scan.Residual {
        if case .nothing = plan.path { return .nothing }
        if plan.orderedKeys > 0 { return .nothing }
        let isSliced = (request.limit != nil || request.offset > 0) && !plan.isSliced
        return Scan.Residual(
            predicate: plan.residual, sort: !plan.isOrdered, slice: isSliced || plan.residual != nil || !plan.isOrdered)
    }

    private func cursor(_ plan: RequestPlan, _ request: FetchRequest) throws -> RecordCursor {
        let entity = request.entity
        switch plan.path {
        case .nothing: return RecordCursor(layout: entity.layout)
        case .scan(let ids, let isReversed): return try RecordCursorOverRange(self, entity, ids: ids, isReversed: isReversed)
        case .ids(let ids): return RecordCursorOverIDs(self, entity, IDList(ids), mustExist: false)
        case .search(let search):
            if plan.merges {
                let slice = plan.isSliced ? RowSlice(offset: request.offset, limit: request.limit) : nil
                return RecordCursorOverIDs(
                    self, entity, MergedIndexSource(self, search, isReversed: plan.isReversed), mustExist: true, slice: slice)
            }
            let source = try IndexSource.make(self, search.index, search.ranges, isReversed: plan.isReversed)
            if plan.orderedKeys > 0 {
                return GroupSortCursor(RecordCursorOverIDs(self, entity, source, mustExist: true), request, orderedKeys: plan.orderedKeys)
            }
            if plan.isCovering, !plan.collectsIDs {
                return CoveringCursor(self, entity, source, onlyIDs: plan.needsIDsOnly)
            }
            guard plan.collectsIDs else {
                let slice = plan.isSliced ? RowSlice(offset: request.offset, limit: request.limit) : nil
                return RecordCursorOverIDs(self, entity, source, mustExist: true, slice: slice)
            }
            if !plan.isCovering, !request.predicate.needsRelated, let limit = request.limit, limit &+ request.offset > 0,
                limit &+ request.offset <= 1 << 12
            {
                return try firstByID(source, request, limit + request.offset)
            }
            let ids = try collect(source)
            if plan.isCovering { return IDCursor(IDList(ids, examined: source.examined), entity) }
            return RecordCursorOverIDs(self, entity, IDList(ids, examined: source.examined), mustExist: true)
        case .union:
            let found = try union(plan.path, entity)
            return RecordCursorOverIDs(self, entity, IDList(found.ids, examined: found.examined), mustExist: !found.isNamed)
        }
    }

    /// Returns the rows of a search in row id order if only a limited number is requested.
    ///
    /// If the search finds many rows, a scan of the records reaches the first of them soon. The scan is abandoned if it does not.
    private func firstByID(_ source: IndexSource, _ request: FetchRequest, _ wanted: Int) throws -> RecordCursor {
        var ids: [Int64] = []
        let few = wanted + 8
        while ids.count < few, let id = try source.next() { ids.append(id) }
        guard ids.count == few else {
            ids.sort()
            source.close()
            return RecordCursorOverIDs(self, request.entity, IDList(ids, examined: source.examined), mustExist: true)
        }
        return TrialCursor(
            try RecordCursorOverRange(self, request.entity, ids: nil), request.entity, PredicateEvaluator(request.predicate),
            wanted: wanted, recordLimit: 64 + 8 * wanted,
            source
        ) { last in
            ids += try self.collect(source)
            ids = ids.filter { $0 > last }
            ids.sort()
            return RecordCursorOverIDs(self, request.entity, IDList(ids), mustExist: true)
        }
    }

    /// Returns the estimated number of examined rows or entries, without executing the plan.
    private func estimate(_ plan: RequestPlan, _ request: FetchRequest) throws -> Int {
        let all = Int(try recordCount(request.entity))
        func found(_ path: RequestPlan.Path) throws -> Int {
            switch path {
            case .nothing: 0
            case .scan: all
            case .ids(let ids): ids.count
            case .search(let search): search.isSearch ? try entries(search, upTo: Self.mostEntriesEstimated) : all
            case .union(let paths): min(all, try paths.reduce(0) { $0 + (try found($1)) })
            }
        }
        let rows = try found(plan.path)
        guard let limit = request.limit, plan.isOrdered, plan.residual == nil, !plan.collectsIDs else { return rows }
        let (most, overflow) = limit.addingReportingOverflow(request.offset)
        return overflow ? rows : min(rows, most)
    }

    /// The maximum number of entries that are counted for an estimate.
    private static let mostEntriesEstimated = 10_000

    /// Returns the number of entries that a search finds, up to a maximum.
    func entries(_ search: IndexSearch, upTo most: Int) throws -> Int {
        let source = try IndexSource.make(self, search.index, search.ranges, isReversed: false)
        defer { source.close() }
        var count = 0
        while count < most, try source.next() != nil { count += 1 }
        return count
    }

    private func collect(_ source: IndexSource) throws -> [Int64] {
        defer { source.close() }
        var ids: [Int64] = []
        var isSorted = true
        while let id = try source.next() {
            if let last = ids.last, last > id { isSorted = false }
            ids.append(id)
        }
        if !isSorted { ids.sort() }
        return ids
    }

    /// The row ids that an access path provides.
    private struct FoundIDs {
        var ids: [Int64] = []
        /// The number of entries and records that were examined.
        var examined = 0
        /// A Boolean value that indicates whether the caller has named some of the row ids, so that their records need not exist.
        var isNamed = false
    }

    /// Returns the unique row ids of all paths in ascending order.
    private func union(_ path: RequestPlan.Path, _ entity: Entity) throws -> FoundIDs {
        switch path {
        case .nothing: return FoundIDs()
        case .ids(let ids): return FoundIDs(ids: ids, isNamed: true)
        case .search(let search):
            let source = try IndexSource.make(self, search.index, search.ranges, isReversed: false)
            return FoundIDs(ids: try collect(source), examined: source.examined)
        case .scan(let range, _):
            let cursor = try RecordCursorOverRange(self, entity, ids: range)
            defer { cursor.close() }
            var ids: [Int64] = []
            while try cursor.next() { ids.append(cursor.rowID) }
            return FoundIDs(ids: ids, examined: ids.count)
        case .union(let paths):
            var ids: Set<Int64> = []
            var all = FoundIDs()
            for path in paths {
                let found = try union(path, entity)
                ids.formUnion(found.ids)
                all.examined += found.examined
                all.isNamed = all.isNamed || found.isNamed
            }
            all.ids = ids.sorted()
            return all
        }
    }

    // MARK: Counting

    func count(_ request: FetchRequest) throws -> Int {
        try interruption?.check()
        try request.validate()
        if request.limit == 0 { return 0 }
        var request = request
        request.sortKeys = []
        request.onlyIDs = true
        if request.predicate == .all, !request.ignoresIndexes {
            return Self.slice(Int(try recordCount(request.entity)), request)
        }
        let plan = try Planner(self, request).plan()
        // The number of entries is the result; nothing needs to be sorted or read.
        if case .search(let search) = plan.path, plan.residual == nil {
            let source = try IndexSource.make(self, search.index, search.ranges, isReversed: false)
            defer { source.close() }
            let (most, isEndless) = request.offset.addingReportingOverflow(request.limit ?? .max)
            var count = 0
            while count < (isEndless ? .max : most), try source.next() != nil { count += 1 }
            return Self.slice(count, request)
        }
        let evaluator = plan.residual.map { PredicateEvaluator($0, ScanTransaction(self)) }
        let (most, isEndless) = request.offset.addingReportingOverflow(request.limit ?? .max)
        var count = 0
        if let scanner = try scanner(plan, request.entity, fields: FieldMask()) {
            defer { scanner.close() }
            while count < (isEndless ? .max : most), let batch = try scanner.next() {
                try evaluator?.select(batch)
                count += batch.selected
            }
            return Self.slice(count, request)
        }
        let scan = Scan(try cursor(plan, request), residual: Self.residual(plan, request))
        defer { scan.cursor.close() }
        while count < (isEndless ? .max : most), try scan.cursor.next() {
            if try evaluator?.matches(id: scan.cursor.rowID, scan.cursor.record) ?? true { count += 1 }
        }
        return Self.slice(count, request)
    }

    private static func slice(_ count: Int, _ request: FetchRequest) -> Int {
        max(0, min(request.limit ?? .max, count - request.offset))
    }

    // MARK: Explaining

    func plan(_ request: FetchRequest) throws -> QueryPlan {
        try request.validate()
        if request.hasComputedKeys {
            guard let ordered = try ordered(request) else { return try plan(request.unsorted).sorted(for: request) }
            return try described(ordered.plan, ordered.request)
        }
        if request.isCount, request.predicate == .all, !request.ignoresIndexes {
            return QueryPlan(entity: request.entity.name, accesses: [QueryPlan.Access(.statistics)], pushedDown: ["count"])
        }
        return try described(try Planner(self, request).plan(), request)
    }

    /// Returns a plan in words.
    private func described(_ plan: RequestPlan, _ request: FetchRequest) throws -> QueryPlan {
        var pushed: [String] = []
        let evaluated: [QueryPredicate]
        if case .nothing = plan.path {
            evaluated = request.predicate.conjuncts
        } else {
            let residual = Set(plan.residual?.conjuncts ?? [])
            let predicate = request.predicate.replacingIndexedJSON(of: request.entity).normalized.restoringIndexedJSON(of: request.entity)
            evaluated = predicate.conjuncts.filter { !residual.contains($0) }
        }
        if !evaluated.isEmpty { pushed.append("filter \(QueryPredicate.and(evaluated))") }
        if plan.isOrdered { pushed.append("order by \((request.sortKeys.map(\.field.name) + ["objectID"]).joined(separator: ", "))") }
        if plan.isSliced || plan.orderedKeys > 0 {
            if let limit = request.limit { pushed.append("limit \(limit)") }
            if request.offset > 0 { pushed.append("offset \(request.offset)") }
        }
        var explained = QueryPlan(
            entity: request.entity.name, accesses: plan.path.accesses(of: plan), pushedDown: pushed,
            residual: Self.residual(plan, request).described(for: request))
        explained.rowsEstimated = try estimate(plan, request)
        return explained
    }

    /// Executes a request and returns its plan with the row counts.
    func explain(_ request: FetchRequest) throws -> QueryPlan {
        var plan = try plan(request)
        let execution = try countingRelatedRows {
            let cursor = try fetch(request)
            defer { cursor.close() }
            var returned = 0
            while try cursor.next() { returned += 1 }
            return (examined: cursor.rowsExamined, returned: returned)
        }
        (plan.rowsExamined, plan.rowsReturned) = execution.result
        if request.needsRelated { plan.relatedRowsExamined = execution.rows }
        return plan
    }

    // MARK: Aggregates

    /// Returns groups by fields, in ascending order; `nil` for groups and operands that are other expressions.
    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? {
        guard let fields = request.fieldGroups else { return nil }
        try interruption?.check()
        return GroupScan(all: try groups(request, by: fields), of: request)
    }

    private func groups(_ request: AggregateRequest, by fields: [FieldReference]) throws -> [AggregateRow] {
        if fields.isEmpty, !request.ignoresIndexes, let row = try fromEnds(request) { return [row] }
        let aggregator = FieldAggregator(request.entity, groupBy: fields, request.aggregates)
        let source = request.source
        let plan = try Planner(self, source).plan()
        let condition = plan.residual.map { PredicateEvaluator($0, ScanTransaction(self)) }
        if let scanner = try scanner(plan, request.entity, fields: source.fields ?? FieldMask()) {
            defer { scanner.close() }
            while let batch = try scanner.next() {
                try condition?.select(batch)
                aggregator.add(batch)
            }
            return try aggregator.finish()
        }
        let scan = Scan(try cursor(plan, source), residual: Self.residual(plan, source))
        defer { scan.cursor.close() }
        if let condition {
            while try scan.cursor.next() {
                if try condition.matches(id: scan.cursor.rowID, scan.cursor.record) {
                    aggregator.add(id: scan.cursor.rowID, scan.cursor.record)
                }
            }
        } else {
            try aggregator.add(scan.cursor)
        }
        return try aggregator.finish()
    }

    /// Returns counts, and minima and maxima of indexed fields, which are at the ends of their indexes; `nil` for other aggregates.
    private func fromEnds(_ request: AggregateRequest) throws -> AggregateRow? {
        var values: [Value] = []
        for aggregate in request.aggregates {
            switch (aggregate.function, aggregate.field) {
            case (.count, nil): values.append(.integer(Int64(try count(FetchRequest(request.entity, predicate: request.predicate)))))
            case (.minimum, let field?) where !field.isObjectID, (.maximum, let field?) where !field.isObjectID:
                let isLeast = aggregate.function == .minimum
                let source = FetchRequest(
                    request.entity, predicate: .and([request.predicate, .not(.isNull(field))]),
                    sortKeys: [SortKey(field, ascending: isLeast)], limit: 1)
                let plan = try Planner(self, source).plan()
                guard case .search = plan.path, plan.isOrdered else { return nil }
                let cursor = try fetch(source)
                defer { cursor.close() }
                values.append(try cursor.next() ? cursor.record.value(request.entity.fields[field.index]) : .null)
            default: return nil
            }
        }
        return AggregateRow(group: [], values: values)
    }

    /// Returns the final rows of a request.
    private func fetch(_ request: FetchRequest) throws -> RecordCursor { try ScanTransaction(self).fetch(request) }
}

/// A cursor over row ids alone.
private final class IDCursor: RecordCursor {
    private let source: IDList
    private let arena = RecordArena(capacity: 256)

    init(_ source: IDList, _ entity: Entity) {
        self.source = source
        super.init(layout: entity.layout)
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        // A record without values is always valid.
        if let empty = try? builder.finishedView() { setCurrent(0, empty) }
    }

    override func next() throws -> Bool {
        guard let id = try source.next() else { return false }
        setCurrent(id, record)
        return true
    }

    override var rowsExamined: Int { source.examined }
}
