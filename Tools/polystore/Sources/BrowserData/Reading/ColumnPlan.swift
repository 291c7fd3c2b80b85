import PolyStoreBackend
import PolyStoreCore

/// The columns of rows with the values to read for them.
struct ColumnPlan: Sendable {
    let columns: [RowColumn]
    /// The terms of the columns, then those of the names of related objects.
    private let terms: [SelectTerm]
    /// The name of the term with the display name of the related object, for each column that has one.
    private let labels: [String?]
    private let model: EntityModel
    /// Whether values can be of any size: texts, bytes, JSON, calculations, and the names of related objects.
    private let hasLargeValues: Bool

    private static let id = "id"
    private static let kind = "kind"

    /// - Throws: `invalidPredicate` for a list with an empty column.
    init(_ list: [String], of model: EntityModel, in store: BrowserStore) throws {
        let parts = list.isEmpty ? Self.all(model) : list.map(Self.named)
        guard !parts.contains(where: { $0.term.isEmpty }) else {
            throw StoreError(.invalidPredicate, "A column is empty; separate the columns by one comma.", entity: model.name)
        }
        var terms: [SelectTerm] = []
        var labels: [String?] = []
        columns = parts.enumerated().map { index, part in
            let property = store.property(at: part.term, of: model)
            var column = RowColumn(
                title: part.title, term: part.term, type: nil, destination: nil,
                isIndexed: part.term == Self.objectID
                    || (PathNames(part.term).map { $0.names.count == 1 && model.isIndexed($0.names[0]) } ?? false))
            var label: String?
            switch property {
            case .attribute(let attribute)?:
                column = column.with(type: attribute.type)
                terms.append(SelectTerm(part.term, as: "c\(index)"))
            case .relationship(let relationship)? where relationship.isToMany:
                terms.append(SelectTerm("\(part.term).@count", as: "c\(index)"))
                column = column.counting
            case .relationship(let relationship)?:
                column = column.with(destination: relationship.destination)
                terms.append(SelectTerm(part.term, as: "c\(index)"))
                if let name = (try? store.model(relationship.destination))?.label {
                    label = "l\(index)"
                    terms.append(SelectTerm("\(part.term).\(name.asPath)", as: "l\(index)"))
                }
            case nil: terms.append(SelectTerm(part.term, as: "c\(index)"))
            }
            labels.append(label)
            return column
        }
        (self.terms, self.labels, self.model) = (terms, labels, model)
        hasLargeValues =
            labels.contains { $0 != nil }
            || columns.contains { column in
                guard let type = column.type else {
                    return column.destination == nil && column.term != Self.objectID && !column.term.hasSuffix(".@count")
                }
                return [.string, .data, .json, .url].contains(type)
            }
    }

    static let objectID = "objectID"

    private static func all(_ model: EntityModel) -> [(term: String, title: String)] {
        let values = model.properties.filter { if case .relationship(let relationship) = $0 { !relationship.isToMany } else { true } }
        let kind = model.hasSubentities ? [(EntityHierarchy.classifier.asPath, "entity")] : []
        return [(objectID, "id")] + kind + values.map { ($0.name.asPath, $0.name) }
    }

    /// Splits a column into what it selects and its title: `population / areaKm2 as density`.
    static func named(_ text: String) -> (term: String, title: String) {
        let text = text.trimmingWhitespace
        if let path = PathNames(text) { return (text, path.names.joined(separator: ".")) }
        guard let match = text.wholeMatch(of: /(.+)\s+[aA][sS]\s+([^\s'"()]+)/.dotMatchesNewlines()) else { return (text, text) }
        return (String(match.1).trimmingWhitespace, String(match.2))
    }

    // MARK: Reading

    /// The exact values of the first of some objects, in their order: of so many that the values have 4 MiB, approximately. Objects that do not exist are absent.
    /// - Returns: The rows, and the number of ids that were read.
    func exact(_ ids: [AnyObjectID], in context: Context) throws -> (rows: [ExactRow], count: Int) {
        var (found, start, bytes) = ([ExactRow](), 0, 0)
        while start < ids.count, bytes < Self.mostBytes {
            let part = Array(ids[start..<min(start + mostRows, ids.count)])
            var rows: [Int64: ExactRow] = [:]
            for row in try read(part, context) {
                guard case .objectID(let id)? = row[Self.id] else { continue }
                for case let value? in row.values { bytes += Self.size(value) }
                rows[id.rowID] = ExactRow(object: object(id, row), values: columns.indices.map { row["c\($0)"] })
            }
            found += part.compactMap { rows[$0.rowID] }
            start += part.count
        }
        return (found, start)
    }

    /// The values of objects as a page shows them, by their row ids.
    ///
    /// The first objects are read alone, so that the number of objects with large values that are in memory together is small.
    func shown(_ ids: [AnyObjectID], in context: Context) throws -> [Int64: RowsPage.Row] {
        var rows: [Int64: RowsPage.Row] = [:]
        var (start, size) = (0, 2)
        while start < ids.count {
            var bytes = 0
            for row in try read(Array(ids[start..<min(start + size, ids.count)]), context) {
                guard case .objectID(let id)? = row[Self.id] else { continue }
                for case let value? in row.values { bytes += Self.size(value) }
                rows[id.rowID] = RowsPage.Row(object: object(id, row), values: columns.indices.map { shown(row, $0) })
            }
            start += size
            size = max(1, min(Self.mostBytes / max(bytes / size, 1), mostRows))
        }
        return rows
    }

    /// The greatest number of rows that are read together. The sizes of texts and bytes are not known before they are read: any number of small ones can precede large ones.
    private var mostRows: Int { hasLargeValues ? 16 : 1000 }

    /// The number of bytes of values that are read together, approximately.
    private static let mostBytes = 4 << 20

    /// The number of bytes of a value, approximately.
    static func size(_ value: QueryValue) -> Int {
        switch value {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        case .url(let url): url.absoluteString.utf8.count
        default: 16
        }
    }

    private func read(_ ids: [AnyObjectID], _ context: Context) throws -> [QueryRow] {
        guard !ids.isEmpty else { return [] }
        let kind = model.root.hierarchy == nil ? [] : [SelectTerm(EntityHierarchy.classifier.asPath, as: Self.kind)]
        return try context.queryAttributes(
            EntityQuery(model.name).where("objectID IN %@", ids), Select(terms + kind + [.objectID(as: Self.id)]))
    }

    private func object(_ id: AnyObjectID, _ row: QueryRow) -> ObjectReference {
        ObjectReference(entity: row[Self.kind]?.string ?? id.entityName, rowID: id.rowID)
    }

    private func shown(_ row: QueryRow, _ column: Int) -> BrowserValue {
        let value = row["c\(column)"]
        if case .objectID(let id)? = value {
            // The id of the row itself is a number.
            if columns[column].destination == nil { return BrowserValue(kind: .number, text: "\(id.rowID)", number: Double(id.rowID)) }
            if let label = labels[column], case .text(let name)? = row[label], !name.isEmpty {
                let shown = BrowserValue(.text(name))
                return BrowserValue(RelatedObject(reference: ObjectReference(entity: id.entityName, rowID: id.rowID), name: shown.text))
            }
        }
        return BrowserValue(value, columns[column].type)
    }
}

extension RowColumn {
    fileprivate func with(type: AttributeType) -> RowColumn {
        RowColumn(title: title, term: term, type: type, destination: nil, isIndexed: isIndexed)
    }

    fileprivate func with(destination: String) -> RowColumn {
        RowColumn(title: title, term: term, type: nil, destination: destination, isIndexed: isIndexed)
    }

    /// The column with the number of related objects.
    fileprivate var counting: RowColumn {
        RowColumn(title: title, term: "\(term).@count", type: nil, destination: nil, isIndexed: false)
    }
}

extension BrowserStore {
    /// Returns the property at the end of a path of names over to-one relationships; nil for anything else, such as a calculation.
    func property(at path: String, of model: EntityModel) -> PropertyDescription? { schema.property(at: path, of: model.root) }

    /// Returns the columns of a request.
    /// - Throws: `storeNotFound` for an entity that the store does not have, `invalidPredicate` for an empty column.
    package func columns(of request: RowsRequest) throws -> [RowColumn] {
        try ColumnPlan(request.columns, of: model(request.entity), in: self).columns
    }
}
