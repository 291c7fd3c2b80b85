import PolyStoreBackend
import PolyStoreCollections
import PolyStoreKernel
import PolyStoreQuery

/// The rows of a query in order and by section, updated with each commit.
///
/// If possible, a commit is applied incrementally: each changed row is tested against the condition, and its sort key determines its position. Otherwise the
/// list is read again and compared; see ``Mode``. If reading fails, the rows stay as they are.
struct ListRows {
    /// The way in which the list is updated.
    enum Mode: Equatable {
        /// Changed rows are removed and inserted one by one. A change of related objects that the query reads refetches the list.
        case incremental
        /// The list is refetched when a change may affect it.
        case refetched(Reason)
    }

    /// The reason why a list cannot be updated incrementally.
    enum Reason: String {
        case window = "it has a limit or an offset"
        case stores = "it joins several stores"
        case pending = "it includes pending changes of a transaction"
        case sections = "its section names do not follow its order"
        case removal = "its store was removed from the stack"
        case failure = "it could not be read after the last change"
    }

    private(set) var query: ListQuery
    private(set) var resolved: ResolvedList
    private(set) var mode: Mode
    var sections: SectionCounts
    /// The rows of an incrementally updated list.
    var ordered = OrderedRows()
    /// The rows of a refetched list.
    private(set) var listed: [RowReference] = []
    /// The positions in `listed`, computed on first use.
    private var positions: [RowReference: Int]?
    /// The sort key of the last row, for a full window that begins at the first row.
    private var lastKey: OrderedRows.Key?
    /// The evaluator for rows, if the condition reads no other objects.
    var evaluator: PredicateEvaluator?
    /// Hashes of the rows' properties when the list was read; empty unless hashes are needed to detect changes.
    private var hashes: [RowReference: Int] = [:]

    /// Reads the list.
    /// - Parameter isRegrouped: A Boolean value that indicates whether section names did not match the order. From then on each change refetches the list.
    init(_ query: ListQuery, _ resolved: ResolvedList, _ context: Context, isRegrouped: Bool = false) throws {
        self.query = query
        self.resolved = resolved
        mode = (isRegrouped ? .sections : Self.reason(resolved, context)).map { .refetched($0) } ?? .incremental
        sections = SectionCounts(isSectioned: query.isSectioned)
        if mode != .incremental {
            try readListed(context)
        } else if try !readOrdered(context) {
            self = try ListRows(query, resolved, context, isRegrouped: true)
        }
    }

    var entityIndex: Int32 { resolved.parts[0].entityIndex }

    // MARK: Access

    func rows(_ range: Range<Int>) -> [RowReference] {
        guard mode == .incremental else { return Array(listed[range]) }
        let entityIndex = entityIndex
        return ordered[range].map { RowReference(entityIndex: entityIndex, rowID: $0) }
    }

    mutating func position(of row: RowReference) -> Int? {
        if mode == .incremental { return row.entityIndex == entityIndex ? ordered.position(of: row.rowID) : nil }
        if positions == nil { positions = Dictionary(listed.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first }) }
        return positions?[row]
    }

    /// The rows by section.
    var groups: [ListDiff.Section] { (0..<sections.count).map { (sections.name($0), rows(sections.range($0))) } }

    /// The first equality that the condition requires; `nil` if there is none or if the condition reads other objects.
    var route: ObserverRoute? {
        guard mode == .incremental, let part = resolved.parts.first, !part.needsRelated else { return nil }
        for conjunct in part.request.predicate.conjuncts {
            guard case .compare(let field, .equal, let value)? = conjunct.fieldCondition, !field.isObjectID, !value.isNull else { continue }
            return ObserverRoute(field: ObserverRoute.Field(entityIndex: part.entityIndex, index: field.index), value: value)
        }
        return nil
    }

    // MARK: Reading

    private static func reason(_ resolved: ResolvedList, _ context: Context) -> Reason? {
        if context.changeBuffer != nil { return .pending }
        if resolved.parts.isEmpty { return .removal }
        if resolved.parts.count != 1 { return .stores }
        return resolved.isWindow ? .window : nil
    }

    /// - Returns: `false` if rows of one section are not contiguous.
    private mutating func readOrdered(_ context: Context) throws -> Bool {
        let part = resolved.parts[0]
        let (cursor, related) = try context.rows(part.entry, request(part), part.options).ahead(
            nil, part.request.sortKeys.compactMap(\.expression) + (part.section.map { [$0] } ?? []),
            try context.related(part.entry.store, part.options), part.entry.entity.layout)
        defer { cursor.close() }
        let encoder = SortKeyEncoder(part.request.sortKeys, related)
        let namer = SectionNamer(query, part, related)
        var loader = OrderedRows.Loader()
        var key: [UInt8] = []
        while try cursor.next() {
            let name = try namer?.name(cursor.rowID, cursor.record) ?? ""
            guard sections.append(name) else { return false }
            try encoder.encode(cursor.rowID, cursor.record, into: &key)
            loader.append(cursor.rowID, key)
        }
        ordered = loader.finish()
        sections.finishLoading()
        return true
    }

    private mutating func readListed(_ context: Context) throws {
        var groups: [ListDiff.Section] = []
        var indexes: [String: Int] = [:]
        let namers = try resolved.parts.map { SectionNamer(query, $0, try context.related($0.entry.store, $0.options)) }
        func add(_ part: Int, _ cursor: RecordCursor, _ rows: inout ListRows) throws {
            let name = try namers[part]?.name(cursor.rowID, cursor.record) ?? ""
            let row = RowReference(entityIndex: rows.resolved.parts[part].entityIndex, rowID: cursor.rowID)
            if rows.mode == .refetched(.pending) { rows.hashes[row] = Self.hash(cursor.record, rows.resolved.parts[part].entry) }
            if let index = indexes[name] { return groups[index].rows.append(row) }
            indexes[name] = groups.count
            groups.append((name, [row]))
        }
        if resolved.isMerged {
            let fetch = ResolvedFetch(
                parts: resolved.parts.map {
                    ResolvedFetch.Part(entry: $0.entry, entityIndex: $0.entityIndex, request: $0.request, options: $0.options)
                },
                options: resolved.options)
            let entityIndexes = resolved.parts.map(\.entityIndex)
            func open(_ part: ResolvedFetch.Part) throws -> RecordCursor { try context.rows(part.entry, part.request, part.options) }
            try context.walk(fetch, open) { part, cursor in try add(entityIndexes.firstIndex(of: part.entityIndex) ?? 0, cursor, &self) }
        } else if let part = resolved.parts.first {
            try readWindow(part, context, add)
        }
        show(groups)
    }

    /// Shows rows that are not updated one by one.
    private mutating func show(_ groups: [ListDiff.Section]) {
        listed = groups.flatMap(\.rows)
        sections = SectionCounts(isSectioned: query.isSectioned)
        for group in groups { sections.append(group.name, rowCount: group.rows.count) }
        sections.finishLoading()
    }

    private static func hash(_ record: RecordView, _ entry: StoreEntity) -> Int {
        var hasher = Hasher()
        for field in entry.entity.fields where entry.declaredFields.contains(field.index) { hasher.combine(record.value(field)) }
        return hasher.finalize()
    }

    /// Returns the request for the rows of a part: with the fields that determine the order, or with all fields if properties are compared.
    private func request(_ part: ResolvedList.Part) -> FetchRequest {
        var request = part.request
        if mode != .refetched(.pending) { request.fields = part.placing }
        return request
    }

    private mutating func readWindow(
        _ part: ResolvedList.Part, _ context: Context, _ add: (Int, RecordCursor, inout ListRows) throws -> Void
    ) throws {
        let encoder = SortKeyEncoder(part.request.sortKeys, try context.related(part.entry.store, part.options))
        let cursor = try context.rows(part.entry, request(part), part.options)
        defer { cursor.close() }
        var count = 0
        var key: [UInt8] = []
        while try cursor.next() {
            try add(0, cursor, &self)
            count += 1
            guard count == part.request.limit, part.request.offset == 0, mode == .refetched(.window) else { continue }
            try encoder.encode(cursor.rowID, cursor.record, into: &key)
            lastKey = OrderedRows.Key(cursor.rowID, key)
        }
    }

    // MARK: Following

    /// Returns the list as the context shows it now, read completely.
    func readAgain(_ context: Context) throws -> ListRows {
        try ListRows(query, query.resolveAgain(context), context, isRegrouped: mode == .refetched(.sections))
    }

    /// Replaces the rows by others of the same query, which were read later.
    /// - Parameter isUpdated: Returns whether the properties of a row in both lists have changed.
    mutating func replace(by new: ListRows, isUpdated: (RowReference) -> Bool) -> ListDelta {
        let delta = ListDiff.delta(from: groups, to: new.groups) { isUpdated($0) || hashes[$0] != new.hashes[$0] }
        self = new
        return delta
    }

    /// Applies the changes of commits. The context must show the snapshot after them.
    /// - Returns: `nil` if no change affects the list.
    mutating func update(_ step: CommittedStep, _ context: Context) throws -> ListDelta? {
        let isRelatedChanged = resolved.parts.contains { step.touches($0.dependencies, in: $0.entry.store) }
        if mode == .incremental, !isRelatedChanged {
            guard let changed = step.rows[entityIndex] else { return nil }
            return try follow(changed, context)
        }
        guard try isRelatedChanged || concerns(step, context) else { return nil }
        return replace(by: try readAgain(context)) { row in step.row(row.entityIndex, row.rowID)?.isUpdate ?? false }
    }

    /// Reads the list again because section names did not match the order.
    mutating func regroup(_ old: [ListDiff.Section], _ step: [CommittedStep.Row], _ context: Context) throws -> ListDelta {
        let updated = Set(step.lazy.filter(\.isUpdate).map(\.rowID))
        self = try ListRows(query, resolved, context, isRegrouped: true)
        return ListDiff.delta(from: old, to: groups) { updated.contains($0.rowID) }
    }

    /// Shows the rows before a change that could be applied in part only.
    mutating func restore(_ groups: [ListDiff.Section]) {
        mode = .refetched(.failure)
        (ordered, positions) = (OrderedRows(), nil)
        show(groups)
    }

    /// Returns whether a change may affect a list that is not updated incrementally.
    private mutating func concerns(_ step: CommittedStep, _ context: Context) throws -> Bool {
        for part in resolved.parts {
            guard let rows = step.rows[part.entityIndex] else { continue }
            // A change before the window shifts it.
            if resolved.options.offset != 0 || part.request.offset != 0 { return true }
            let related = try context.related(part.entry.store, part.options)
            let evaluator = PredicateEvaluator(part.request.predicate, related)
            let encoder = SortKeyEncoder(part.request.sortKeys, related)
            let storage = try context.storage(part.entry.store)
            for row in rows {
                if position(of: RowReference(entityIndex: part.entityIndex, rowID: row.rowID)) != nil { return true }
                guard let record = try row.record(part.entry.entity, storage), try evaluator.matches(id: row.rowID, record) else {
                    continue
                }
                guard let lastKey else { return true }
                var key: [UInt8] = []
                try encoder.encode(row.rowID, record, into: &key)
                if key.lexicographicallyPrecedes(lastKey.bytes) || key == lastKey.bytes && row.rowID < lastKey.rowID { return true }
            }
        }
        return false
    }
}
