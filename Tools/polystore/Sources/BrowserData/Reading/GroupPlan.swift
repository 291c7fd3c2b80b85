import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

/// The columns of groups: first what defines them, then functions.
struct GroupPlan: Sendable {
    private struct Column: Sendable {
        let term: String
        let title: String
        let type: AttributeType?
        /// The path of the name of the related object that defines a group.
        let label: String?
    }

    private let request: GroupsRequest
    private let model: EntityModel
    private let keys: [Column]
    private let functions: [Column]
    private let size: Int

    init(_ request: GroupsRequest, _ model: EntityModel, _ store: BrowserStore) {
        (self.request, self.model) = (request, model)
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

    // MARK: Reading

    /// Reads the groups of a page, and one more if there is one.
    func read(_ reader: RowReader, _ context: Context) throws -> [QueryRow] {
        let labels = keys.enumerated().compactMap { index, key in key.label.map { SelectTerm($0, as: "l\(index)") } }
        return try read(reader, context, limit: size + 1, labels, labelPaths: keys.compactMap(\.label))
    }

    /// Reads all groups, without the names of related objects.
    func readAll(_ reader: RowReader, _ context: Context) throws -> [QueryRow] {
        try read(reader, context, limit: nil, [], labelPaths: [])
    }

    private func read(
        _ reader: RowReader, _ context: Context, limit: Int?, _ labels: [SelectTerm], labelPaths: [String]
    ) throws -> [QueryRow] {
        var query = try reader.base(context)
        if let limit { query = query.limit(limit) }
        if let order = request.order {
            let index = (keys + functions).firstIndex { $0.title == order.term }
            query = query.orderBy(index.map(alias) ?? order.term, ascending: order.isAscending)
        }
        let terms = (keys + functions).enumerated().map { SelectTerm($1.term, as: alias($0)) }
        let having = request.having.allSatisfy(\.isWhitespace) ? nil : request.having
        return try context.queryAttributes(query, Select(terms + labels), groupBy: keys.map(\.term) + labelPaths, having: having)
    }

    /// The name of a column in the result. It is the title where conditions on groups can name it.
    private func alias(_ index: Int) -> String {
        let title = (keys + functions)[index].title
        return (keys + functions).firstIndex { $0.title == title } == index ? title : "\(title) \(index)"
    }

    // MARK: Answers

    /// The titles of the columns.
    var titles: [String] { (keys + functions).map(\.title) }

    func table(_ rows: [QueryRow], _ cost: PaneCost) -> GroupTable {
        GroupTable(
            titles: titles, keyCount: keys.count,
            rows: rows.prefix(size).map { row in (keys + functions).enumerated().map { shown(row, $0, $1) } },
            selections: rows.prefix(size).map(selection), hasMore: rows.count > size, cost: cost)
    }

    /// Returns the exact values of a group; the row id of a related object.
    func exact(_ row: QueryRow) -> [JSONValue] {
        (keys + functions).enumerated().map { JSONValue(row[alias($0)], $1.type) }
    }

    private func shown(_ row: QueryRow, _ index: Int, _ column: Column) -> BrowserValue {
        let value = row[alias(index)]
        guard column.label != nil, case .objectID(let id)? = value, case .text(let name)? = row["l\(index)"], !name.isEmpty else {
            return BrowserValue(value, column.type)
        }
        let reference = ObjectReference(entity: id.entityName, rowID: id.rowID)
        return BrowserValue(RelatedObject(reference: reference, name: BrowserValue(.text(name)).text))
    }

    // MARK: The objects of a group

    /// Returns what selects the objects of a group; nil if no condition of the language and no link selects just them.
    private func selection(_ row: QueryRow) -> GroupTable.Selection? {
        var selection = GroupTable.Selection()
        for (index, key) in keys.enumerated() {
            let value = row[alias(index)]
            if case .objectID(let id)? = value {
                guard let names = PathNames(key.term)?.names, names.count == 1, model.relationship(names[0]) != nil else { return nil }
                let reference = ObjectReference(entity: id.entityName, rowID: id.rowID)
                let link = RowsRequest.Link(
                    object: reference, relationship: names[0], incomingFrom: model.root.owner(of: names[0]))
                if !selection.links.contains(link) { selection.links.append(link) }
            } else if let condition = Self.condition(key, value) {
                selection.conditions.append(condition)
            } else {
                return nil
            }
        }
        return selection
    }

    /// Returns the condition that a key has a value; nil if the language has no such condition.
    private static func condition(_ key: Column, _ value: QueryValue?) -> String? {
        if case .data? = value { return nil }
        if value != nil, key.type == .json || FacetCondition.isAbout(value) { return nil }
        let isOneOperand = PathNames(key.term) != nil || key.term.contains(/^\w+\([^()]*\)$/)
        return FacetCondition.of(isOneOperand ? key.term : "(\(key.term))", value)
    }
}
