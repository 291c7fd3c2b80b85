import PolyStoreBackend
import PolyStoreCollections
import PolyStoreKernel
import PolyStoreQuery

/// The rows of a query in order and by section, updated with each commit.
///
/// If possible, a commit is applied incrementally: each changed row is tested against the condition, and its sort key determines its position. Otherwise the
/// list is refetched and compared; see ``Mode``.
final class ObservedList {
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
    }

    let query: ListQuery
    var resolved: ResolvedList
    var mode: Mode
    var sections: SectionCounts
    /// The rows of an incrementally updated list.
    var ordered = OrderedRows()
    /// The rows of a refetched list.
    private var listed: [RowReference] = []
    /// The positions in `listed`, computed on first use.
    private var positions: [RowReference: Int]?
    /// The sort key of the last row, for a full window that begins at the first row.
    private var lastKey: OrderedRows.Key?
    /// The evaluator for rows, if the condition reads no other objects.
    var evaluator: PredicateEvaluator?
    /// Hashes of the rows' properties when the list was read; empty unless hashes are needed to detect changes.
    private var hashes: [RowReference: Int] = [:]
    /// A Boolean value that indicates whether section names did not match the order. From then on each change refetches the list.
    private var isRegrouped = false

    /// - Parameter isKnown: Whether the query was resolved before; see ``ListQuery/resolveAgain(_:)``.
    init(_ query: ListQuery, _ context: Context, isKnown: Bool = false) throws {
        self.query = query
        resolved = isKnown ? try query.resolveAgain(context) : try query.resolve(context)
        mode = .incremental
        sections = SectionCounts(isSectioned: query.isSectioned)
        try load(context)
    }

    var entityIndex: Int32 { resolved.parts[0].entityIndex }

    // MARK: Access

    var count: Int { sections.rowCount }

    subscript(position: Int) -> RowReference {
        mode == .incremental ? RowReference(entityIndex: entityIndex, rowID: ordered[position]) : listed[position]
    }

    func rows(_ range: Range<Int>) -> [RowReference] {
        guard mode == .incremental else { return Array(listed[range]) }
        let entityIndex = entityIndex
        return ordered[range].map { RowReference(entityIndex: entityIndex, rowID: $0) }
    }

    func position(of row: RowReference) -> Int? {
        if mode == .incremental { return row.entityIndex == entityIndex ? ordered.position(of: row.rowID) : nil }
        if let positions { return positions[row] }
        let all = Dictionary(listed.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        positions = all
        return all[row]
    }

    func contains(_ row: RowReference) -> Bool {
        mode == .incremental ? row.entityIndex == entityIndex && ordered.contains(row.rowID) : position(of: row) != nil
    }

    /// The rows by section.
    var groups: [(name: String, rows: [RowReference])] {
        (0..<sections.count).map { (sections.name($0), rows(sections.range($0))) }
    }

    // MARK: Loading

    /// Fetches the list.
    private func load(_ context: Context) throws {
        let reason = isRegrouped ? Reason.sections : reason(context)
        mode = reason.map { .refetched($0) } ?? .incremental
        (ordered, listed, positions, lastKey, evaluator, hashes) = (OrderedRows(), [], nil, nil, nil, [:])
        sections = SectionCounts(isSectioned: query.isSectioned)
        if mode == .incremental {
            guard try !loadOrdered(context) else { return }
            isRegrouped = true
            return try load(context)
        }
        try loadListed(context)
    }

    private func reason(_ context: Context) -> Reason? {
        if context.changeBuffer != nil { return .pending }
        if resolved.parts.isEmpty { return .removal }
        if resolved.parts.count != 1 { return .stores }
        return resolved.isWindow ? .window : nil
    }

    /// - Returns: `false` if rows of one section are not contiguous.
    private func loadOrdered(_ context: Context) throws -> Bool {
        let part = resolved.parts[0]
        let related = try context.related(part.entry.store, part.options)
        let encoder = SortKeyEncoder(part.request.sortKeys, related)
        let namer = SectionNamer(query, part, related)
        let cursor = try context.rows(part.entry, request(part), part.options)
        defer { cursor.close() }
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

    private func loadListed(_ context: Context) throws {
        var groups: [(name: String, rows: [RowReference])] = []
        var indexes: [String: Int] = [:]
        let namers = try resolved.parts.map { SectionNamer(query, $0, try context.related($0.entry.store, $0.options)) }
        func add(_ part: Int, _ cursor: RecordCursor) throws {
            let name = try namers[part]?.name(cursor.rowID, cursor.record) ?? ""
            let row = RowReference(entityIndex: resolved.parts[part].entityIndex, rowID: cursor.rowID)
            if mode == .refetched(.pending) { hashes[row] = Self.hash(cursor.record, resolved.parts[part].entry) }
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
            try context.walk(fetch, open) { part, cursor in try add(entityIndexes.firstIndex(of: part.entityIndex) ?? 0, cursor) }
        } else if let part = resolved.parts.first {
            try readWindow(part, context, add)
        }
        listed = groups.flatMap(\.rows)
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

    private func readWindow(_ part: ResolvedList.Part, _ context: Context, _ add: (Int, RecordCursor) throws -> Void) throws {
        let encoder = SortKeyEncoder(part.request.sortKeys, try context.related(part.entry.store, part.options))
        let cursor = try context.rows(part.entry, request(part), part.options)
        defer { cursor.close() }
        var count = 0
        var key: [UInt8] = []
        while try cursor.next() {
            try add(0, cursor)
            count += 1
            guard count == part.request.limit, part.request.offset == 0, mode == .refetched(.window) else { continue }
            try encoder.encode(cursor.rowID, cursor.record, into: &key)
            lastKey = OrderedRows.Key(cursor.rowID, key)
        }
    }

    // MARK: Following

    /// Refetches the list.
    /// - Parameters:
    ///   - isUpdated: Returns whether the properties of an existing row have changed.
    func refetch(_ context: Context, isUpdated: (RowReference) -> Bool) throws -> ListDelta {
        let (old, oldHashes) = (groups, hashes)
        resolved = try query.resolveAgain(context)
        try load(context)
        return ListDiff.delta(from: old, to: groups) { isUpdated($0) || oldHashes[$0] != hashes[$0] }
    }

    /// Applies the changes of commits. The context must show the snapshot after them.
    /// - Returns: `nil` if the list is unchanged.
    func update(_ step: CommittedStep, _ context: Context) throws -> ListDelta? {
        let isRelatedChanged = resolved.parts.contains { step.touches($0.dependencies, in: $0.entry.store) }
        let delta: ListDelta?
        if mode == .incremental, !isRelatedChanged {
            guard let rows = step.rows[entityIndex] else { return nil }
            delta = try follow(rows, context)
        } else {
            guard try isRelatedChanged || concerns(step, context) else { return nil }
            delta = try refetch(context) { row in step.row(row.entityIndex, row.rowID)?.isUpdate ?? false }
        }
        return delta.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Called when section names did not match the order.
    func regroup(_ old: [(name: String, rows: [RowReference])], _ step: [CommittedStep.Row], _ context: Context) throws -> ListDelta {
        isRegrouped = true
        let updated = Set(step.lazy.filter(\.isUpdate).map(\.rowID))
        try load(context)
        return ListDiff.delta(from: old, to: groups) { updated.contains($0.rowID) }
    }

    /// Returns whether a change may affect a list that is not updated incrementally.
    private func concerns(_ step: CommittedStep, _ context: Context) throws -> Bool {
        for part in resolved.parts {
            guard let rows = step.rows[part.entityIndex] else { continue }
            // A change before the window shifts it.
            if resolved.options.offset != 0 || part.request.offset != 0 { return true }
            let related = try context.related(part.entry.store, part.options)
            let evaluator = PredicateEvaluator(part.request.predicate, related)
            let encoder = SortKeyEncoder(part.request.sortKeys, related)
            let storage = try context.storage(part.entry.store)
            for row in rows {
                if contains(RowReference(entityIndex: part.entityIndex, rowID: row.rowID)) { return true }
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
