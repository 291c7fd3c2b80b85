import PolyStoreBackend
import PolyStoreQuery

extension ValuePlan {
    /// Returns a row for each object.
    func rows() throws -> [[QueryValue?]] {
        for term in terms where term.function != nil && !term.leadsToMany(entries[0]) {
            let single = zip(terms, names).first { $0.0.function == nil }?.1 ?? ""
            throw fault(
                "\"\(single)\" is of each object, and \(term.name) of many: group by \"\(single)\", or leave one of them out.")
        }
        let isMerged = entries.count > 1
        let merged: MergedCursors
        var parts: [(columns: [ValueColumn], values: SortValues)] = []
        var requests: [(request: FetchRequest, values: [(expression: QueryExpression, target: Entity?)])] = []
        for entry in entries {
            let values = try terms.map { try $0.value(entry) }
            var request = FetchRequest(
                entry.entity, predicate: try context.predicate(query.chain, entry),
                sortKeys: try sortKeys(entry, values.map(\.expression)))
            if !options.returnsDistinctResults {
                let end = options.limit.map { Int(clamping: $0.magnitude + options.offset.magnitude) }
                (request.limit, request.offset) = isMerged ? (end, 0) : (options.limit, options.offset)
            }
            var fields = FieldMask()
            for expression in values.map(\.expression) + request.sortKeys.map({ $0.expression ?? .field($0.field) }) {
                expression.collectFields(into: &fields)
            }
            request.fields = fields
            requests.append((request, values))
        }
        merged = MergedCursors(requests[0].request.sortKeys)
        defer { merged.close() }
        for (entry, (request, values)) in zip(entries, requests) {
            let expressions = values.map(\.expression)
            let (rows, related) = try context.rows(entry, request, options).ahead(
                nil, expressions + (isMerged ? request.sortKeys.compactMap(\.expression) : []), try context.related(entry.store, options),
                entry.entity.layout, limit: options.limit)
            parts.append((values.map { ValueColumn(type: $0.expression.type, target: $0.target) }, SortValues(expressions, related)))
            try merged.add(rows, request.hasComputedKeys && isMerged ? SortValues(request.sortKeys, related) : nil)
        }
        var answers = Answers(options, isCut: !isMerged && !options.returnsDistinctResults)
        while !answers.isFull, let index = try merged.next() {
            let (id, record) = (merged.cursors[index].rowID, merged.cursors[index].record)
            let values = try parts[index].values.values(id, record)
            answers.add(try zip(values, parts[index].columns).map { try context.value($0, $1, entries[index]) })
        }
        return answers.rows
    }

    private func sortKeys(_ entry: StoreEntity, _ selected: [QueryExpression]) throws -> [SortKey] {
        try (query.chain.order?.keys ?? []).map { key in
            if let alias = alias(key.name) { return try key.key(by: selected[alias], entry) }
            if case .text(let text) = key.name, let term = try? QueryTerm(parsing: text), term.function != nil {
                guard term.leadsToMany(entry) else {
                    throw fault("The order is by \(term.name), which differs between objects, and the query has no groups. Add GroupBy.")
                }
                return try key.key(by: try term.value(entry).expression, entry)
            }
            return try key.key(context, entry)
        }
    }
}

/// Collects the rows of a query, removes duplicates if requested, and applies the slice.
struct Answers {
    private(set) var rows: [[QueryValue?]] = []
    private var known: Set<DistinctRow>?
    private var toSkip: Int
    private let limit: Int?

    /// - Parameter isCut: whether limit and offset have already been applied.
    init(_ options: FetchOptions, isCut: Bool) {
        known = options.returnsDistinctResults ? [] : nil
        toSkip = isCut ? 0 : options.offset
        limit = isCut ? nil : options.limit
    }

    var isFull: Bool { limit.map { rows.count >= $0 } ?? false }

    mutating func add(_ row: [QueryValue?]) {
        if isFull || known?.insert(DistinctRow(row)).inserted == false { return }
        if toSkip > 0 {
            toSkip -= 1
        } else {
            rows.append(row)
        }
    }
}

/// A row compared as in `returnsDistinctResults` and in groups: texts by their UTF-8 bytes, other values by equality.
private struct DistinctRow: Hashable {
    private let values: [QueryValue?]

    init(_ values: [QueryValue?]) { self.values = values }

    private static func bytes(_ value: QueryValue?) -> String.UTF8View? {
        switch value {
        case .text(let text): text.utf8
        case .url(let url): url.absoluteString.utf8
        default: nil
        }
    }

    static func == (left: DistinctRow, right: DistinctRow) -> Bool {
        left.values.elementsEqual(right.values) { first, second in
            guard first == second else { return false }
            guard let bytes = Self.bytes(first), let others = Self.bytes(second) else { return true }
            return bytes.elementsEqual(others)
        }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
