import CSQLite
import PolyStoreBackend
import PolyStoreQuery

// For a list of values and an order by the next field of an index, as in `city IN (1, 2) ORDER BY age LIMIT 5`, SQLite reads and sorts every row of the list. One
// statement for each value returns its rows in order, and the first rows of the merged results are the slice, as in the record layer.

extension Session {
    /// The maximum number of values whose rows are merged. Each needs a statement of its own.
    private static let mostMerged = 16
    /// The largest end of a slice for which rows are merged. Of a larger slice, every statement could read as many rows as one statement for all values.
    private static let longestSlice = 4096

    /// Returns a query for each value of a list. Each returns its rows in the requested order, and the caller merges them. `nil` if one statement serves the request as
    /// well.
    /// - Parameter countsRows: Whether the statements report every row that they examine; see ``RowCounter``.
    func listQueries(_ request: FetchRequest, countsRows: Bool = false) throws -> [CompiledQuery]? {
        guard let parts = try listRequests(request) else { return nil }
        let queries = try parts.map { try compile($0, countsRows: countsRows) }
        return queries.allSatisfy { $0.residual == nil } ? queries : nil
    }

    private func listRequests(_ request: FetchRequest) throws -> [FetchRequest]? {
        guard let limit = request.limit, limit > 0, limit <= Self.longestSlice, request.offset <= Self.longestSlice - limit,
            !request.ignoresIndexes, !request.sortKeys.isEmpty, !request.hasComputedKeys,
            let list = ListCondition(request.predicate, most: Self.mostMerged)
        else { return nil }
        let table = try tables.table(request.entity)
        guard let sorted = sortedFields(request, fixed: list.fixed, table),
            table.indexes.contains(where: { list.isServed(by: $0.components, sorted) })
        else { return nil }
        return list.values.map { value in
            var part = request
            part.predicate = .and(list.others + [.compare(list.field, .equal, value)])
            (part.limit, part.offset) = (limit + request.offset, 0)
            // The rows are compared by their sort keys.
            if request.onlyIDs { (part.onlyIDs, part.fields) = (false, FieldMask()) }
            for field in sorted { part.fields?.insert(field) }
            return part
        }
    }

    /// Returns the fields of the order that vary within a value of the list; `nil` if no index of SQLite is in that order.
    private func sortedFields(_ request: FetchRequest, fixed: Set<Int>, _ table: EntityTable) -> [Int]? {
        var fields: [Int] = []
        var direction: Bool?
        for key in request.sortKeys {
            if key.field.isObjectID {
                guard key.ascending else { return nil }
                break
            }
            if fixed.contains(key.field.index) { continue }
            // The rows of several statements are merged by fields of the record.
            guard key.field.index < table.fieldCount else { return nil }
            guard key.nullsComeFirst == key.ascending || !table.entity.fields[key.field.index].isOptional,
                direction == nil || direction == key.ascending, !connection.misordered.contains(key.field, of: table.entity.index)
            else { return nil }
            direction = key.ascending
            fields.append(key.field.index)
        }
        return fields.isEmpty ? nil : fields
    }
}

/// A conjunction of equalities and one list of values.
private struct ListCondition {
    let field: FieldReference
    /// The distinct values of the list.
    let values: [Value]
    /// The fields with an equality.
    private(set) var fixed: Set<Int> = []
    /// The equalities.
    private(set) var others: [QueryPredicate] = []

    /// - Parameter most: The maximum number of distinct values.
    /// - Returns: `nil` for another predicate, and for a list without two values, with null or with numbers that have several forms.
    init?(_ predicate: QueryPredicate, most: Int) {
        var list: (field: FieldReference, values: [Value])?
        for part in predicate.conjuncts {
            switch part.fieldCondition {
            case .compare(let field, .equal, let value)? where !field.isObjectID && value != .null:
                fixed.insert(field.index)
                others.append(part)
            case .oneOf(let field, let values)? where list == nil && !field.isObjectID && values.count <= 4 * most: list = (field, values)
            default: return nil
            }
        }
        guard let list, !fixed.contains(list.field.index), let values = Self.distinct(list.values), 2...most ~= values.count else {
            return nil
        }
        field = list.field
        self.values = values
    }

    private static func distinct(_ values: [Value]) -> [Value]? {
        var (integers, texts): (Set<Int64>, Set<[UInt8]>) = ([], [])
        var distinct: [Value] = []
        for value in values {
            switch value {
            case .integer(let integer): if integers.insert(integer).inserted { distinct.append(value) }
            case .text(let text): if texts.insert(Array(text.utf8)).inserted { distinct.append(value) }
            case .null, .real, .blob: return nil
            }
        }
        return distinct
    }

    /// Returns whether an index has the fields of the conditions, in any order, and then those of the order.
    func isServed(by index: [Int], _ sorted: [Int]) -> Bool {
        let count = fixed.count + 1
        return Set(index.prefix(count)) == fixed.union([field.index]) && index.dropFirst(count).starts(with: sorted)
    }
}
