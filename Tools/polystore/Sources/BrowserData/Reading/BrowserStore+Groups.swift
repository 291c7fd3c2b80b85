import PolyStoreBackend
import PolyStoreCore

extension BrowserStore {
    /// Returns groups of objects with functions of each.
    /// - Throws: ``FilterMistake`` for a mistake in the filter, `invalidPredicate` for groups, functions, an order or a condition on groups that the entity does not have, and the errors of
    ///   the store.
    package func groups(_ request: GroupsRequest, timeLimit: Duration? = BrowserStore.defaultTimeLimit) async throws -> GroupTable {
        var rows = RowsRequest(request.entity)
        (rows.filter, rows.search, rows.searchIndex) = (request.filter, request.search, request.searchIndex)
        let reader = try RowReader(rows, self)
        let plan = GroupPlan(request, reader.model, self)
        return try await mistakes(request.filter, of: request.entity) {
            try await reading(timeLimit: timeLimit) { context in
                let (rows, cost) = try context.pane(wantsPlans: request.wantsCost) { try plan.read(reader, context) }
                return plan.table(rows, cost)
            }
        }
    }
}

/// The columns of groups: first what defines them, then functions.
private struct GroupPlan: Sendable {
    private struct Column: Sendable {
        let term: String
        let title: String
        let type: AttributeType?
        /// The path of the name of the related object that defines a group.
        let label: String?
    }

    private let request: GroupsRequest
    private let keys: [Column]
    private let functions: [Column]
    private let size: Int

    init(_ request: GroupsRequest, _ model: EntityModel, _ store: BrowserStore) {
        self.request = request
        size = max(1, min(request.size, GroupsRequest.greatestSize))
        keys = request.groups.map { text in
            let part = ColumnPlan.named(text)
            switch store.property(at: part.term, of: model) {
            case .attribute(let attribute)?: return Column(term: part.term, title: part.title, type: attribute.type, label: nil)
            case .relationship(let relationship)? where !relationship.isToMany:
                let label = (try? store.model(relationship.destination))?.label
                return Column(term: part.term, title: part.title, type: nil, label: label.map { "\(part.term).\($0.asPath)" })
            default: return Column(term: part.term, title: part.title, type: nil, label: nil)
            }
        }
        functions = request.functions.map { text in
            let part = ColumnPlan.named(text)
            let inner = part.term.wholeMatch(of: /(?:min|max|minimum|maximum|mode)\((.*)\)/.ignoresCase()).map { String($0.1) }
            var type: AttributeType?
            if let inner, case .attribute(let attribute)? = store.property(at: inner, of: model) { type = attribute.type }
            return Column(term: part.term, title: part.title, type: type, label: nil)
        }
    }

    func read(_ reader: RowReader, _ context: Context) throws -> [QueryRow] {
        var query = try reader.base(context).limit(size + 1)
        if let order = request.order {
            let index = (keys + functions).firstIndex { $0.title == order.term }
            query = query.orderBy(index.map(alias) ?? order.term, ascending: order.isAscending)
        }
        let terms = (keys + functions).enumerated().map { SelectTerm($1.term, as: alias($0)) }
        let labels = keys.enumerated().compactMap { index, key in key.label.map { SelectTerm($0, as: "l\(index)") } }
        let having = request.having.allSatisfy(\.isWhitespace) ? nil : request.having
        return try context.queryAttributes(
            query, Select(terms + labels), groupBy: keys.map(\.term) + keys.compactMap(\.label), having: having)
    }

    /// The name of a column in the result. It is the title where conditions on groups can name it.
    private func alias(_ index: Int) -> String {
        let title = (keys + functions)[index].title
        return (keys + functions).firstIndex { $0.title == title } == index ? title : "\(title) \(index)"
    }

    func table(_ rows: [QueryRow], _ cost: PaneCost) -> GroupTable {
        GroupTable(
            titles: (keys + functions).map(\.title), keyCount: keys.count,
            rows: rows.prefix(size).map { row in (keys + functions).enumerated().map { shown(row, $0, $1) } }, hasMore: rows.count > size,
            cost: cost)
    }

    private func shown(_ row: QueryRow, _ index: Int, _ column: Column) -> BrowserValue {
        let value = row[alias(index)]
        guard column.label != nil, case .objectID(let id)? = value, case .text(let name)? = row["l\(index)"], !name.isEmpty else {
            return BrowserValue(value, column.type)
        }
        let reference = ObjectReference(entity: id.entityName, rowID: id.rowID)
        return BrowserValue(RelatedObject(reference: reference, name: BrowserValue(.text(name)).text))
    }
}
