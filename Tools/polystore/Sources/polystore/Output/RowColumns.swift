import BrowserData
import PolyStoreBackend
import PolyStoreCore

/// The columns of a query of objects, and the values to read for them.
struct RowColumns: Sendable {
    private struct Column: Sendable {
        let title: String
        /// The type of the attribute; nil for anything else.
        let type: AttributeType?
        /// The alias of the name of a related object that is shown in place of its id.
        let label: String?
    }

    private let columns: [Column]
    private let terms: [SelectTerm]
    private let isAggregated: Bool
    /// The alias of the object's id, which no column has.
    private let idAlias: String
    let titles: [String]

    /// The column of the ids.
    static let id = "objectID"
    /// The number of objects that are read together.
    private static let batch = 1000

    /// - Parameters:
    ///   - list: The columns as the user writes them; nil for all properties with a value.
    ///   - showsLabels: Whether related objects are shown by their names.
    init(_ list: [(text: String, name: String?)]?, of entity: EntityProperties, showsLabels: Bool) {
        let named = list ?? Self.all(entity)
        var terms: [SelectTerm] = []
        columns = named.enumerated().map { index, term in
            let title = term.name ?? term.text
            terms.append(SelectTerm(term.text, as: title))
            switch entity.property(at: term.text) {
            case .relationship(let relationship)? where showsLabels && !relationship.isToMany:
                let target = entity.schema.entities.first { $0.name == relationship.destination }
                guard let label = target.flatMap({ EntityProperties($0, in: entity.schema).label }) else { break }
                let alias = "\(index) \(title)"
                terms.append(SelectTerm("\(term.text).\(label.asPath)", as: alias))
                return Column(title: title, type: nil, label: alias)
            default: break
            }
            return Column(title: title, type: entity.type(of: term.text), label: nil)
        }
        isAggregated = named.contains { TermList.isAggregate($0.text) }
        titles = columns.map(\.title)
        var alias = "id of the row"
        while columns.contains(where: { $0.title == alias || $0.label == alias }) { alias += "'" }
        idAlias = alias
        self.terms = terms
    }

    private static func all(_ entity: EntityProperties) -> [(text: String, name: String?)] {
        let names = entity.properties.compactMap { property -> String? in
            if case .relationship(let relationship) = property, relationship.isToMany { return nil }
            return property.name
        }
        let kind = entity.hasSubentities ? [EntityHierarchy.classifier] : []
        let id = names.contains(Self.id) ? [] : [Self.id]
        return id.map { ($0, nil) } + (kind + names).map { ($0.asPath, $0) }
    }

    /// Reads the rows of a query in batches, so that the memory does not grow with their number.
    /// - Returns: The number of rows.
    func read(_ query: EntityQuery, isDistinct: Bool, in context: Context, _ body: ([Cell]) throws -> Void) throws -> Int {
        guard !isAggregated, !isDistinct, query.options.limit.map({ $0 > Self.batch }) ?? true else {
            let select = isDistinct ? Select(terms).distinct() : Select(terms)
            let rows = try context.queryAttributes(query, select)
            for row in rows { try body(cells(row)) }
            return rows.count
        }
        let ids = try context.fetchObjectIDs(query)
        for start in stride(from: 0, to: ids.count, by: Self.batch) {
            try Task.checkCancellation()
            let part = Array(ids[start..<min(start + Self.batch, ids.count)])
            let rows = try context.queryAttributes(
                EntityQuery(query.entity).where("objectID IN %@", part), Select(terms + [.objectID(as: idAlias)]))
            var byID: [AnyObjectID: QueryRow] = [:]
            for row in rows { if case .objectID(let id)? = row[idAlias] { byID[id] = row } }
            for id in part {
                guard let row = byID[id] else { throw ToolError(.failure, "\(id) was found, but its values cannot be read.") }
                try body(cells(row))
            }
        }
        return ids.count
    }

    private func cells(_ row: QueryRow) -> [Cell] {
        columns.map { column in
            var cell = Cell(row[column.title], column.type)
            if case .objectID(let id)? = row[column.title] {
                if column.title == Self.id { (cell.text, cell.isNumber) = ("\(id.rowID)", true) }
                if let label = column.label, case .text(let text)? = row[label], !text.isEmpty { cell.text = text }
            }
            return cell
        }
    }
}
