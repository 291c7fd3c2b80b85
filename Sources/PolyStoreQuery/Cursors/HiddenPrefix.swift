import PolyStoreBackend

/// The stored rows at the start of a request's order that a transaction has updated or deleted.
///
/// A transaction that repeatedly fetches the first object and deletes it would otherwise read all deleted rows at each fetch. Fetches with the same
/// predicate and order start after the rows that an earlier one found to be hidden. The rows stay hidden as long as the transaction keeps its changes
/// and the store shows the same version; otherwise `PendingRecords` discards the prefix.
package final class HiddenPrefix {
    /// A row in the order of the request.
    package struct Row {
        package let id: Int64
        /// The values of the sort keys; null for the row id.
        package let values: [Value]
    }

    package let predicate: QueryPredicate
    package let keys: [SortKey]
    private let entity: Entity
    /// The last row of the prefix; nil if it is empty.
    package private(set) var last: Row?
    /// The number of rows in the prefix.
    package private(set) var count = 0

    /// The minimum count for starting after the prefix. Reading a shorter one again costs less than one query per sort key.
    private static let worthwhileCount = 16

    /// - Returns: nil if the request cannot start after a given row in its order.
    package init?(_ request: FetchRequest) {
        predicate = request.predicate
        keys = request.sortKeys
        entity = request.entity
        // A predicate of the maximum depth cannot be combined with another one.
        var narrowed = request
        narrowed.predicate = .and([request.predicate, .compare(.objectID, .greater, .integer(0))])
        guard (try? narrowed.validate()) != nil else { return nil }
    }

    /// Returns whether the sort keys of a request can be read from its rows and compared.
    package static func canFollow(_ request: FetchRequest) -> Bool {
        request.sortKeys.allSatisfy { key in
            guard key.expression == nil else { return false }
            if key.field.isObjectID { return true }
            return key.field.type != .json && key.field.type != .decimal && request.fields?.contains(key.field.index) ?? true
        }
    }

    /// Appends the next hidden row.
    /// - Parameter count: the new number of rows in the prefix.
    package func append(_ id: Int64, _ record: RecordView, count: Int) {
        guard count > self.count else { return }
        last = Row(id: id, values: keys.map { $0.field.isObjectID ? .null : record.value(entity.fields[$0.field.index]) })
        self.count = count
    }

    /// The last row of the prefix, or nil if requests should start at the first row.
    package var start: Row? { count >= Self.worthwhileCount ? last : nil }

    /// Returns requests for the rows after a given row, to be executed in order: rows with equal sort keys and a greater row id, then rows that
    /// differ in the last key only, and so on.
    package func requests(_ request: FetchRequest, behind row: Row) -> [FetchRequest] {
        func narrowed(_ conditions: [QueryPredicate]) -> FetchRequest {
            var narrowed = request
            narrowed.predicate = .and([request.predicate] + conditions)
            return narrowed
        }
        // Sort keys after the row id are irrelevant, because it is unique.
        let keyCount = keys.firstIndex { $0.field.isObjectID } ?? keys.count
        let isAscending = keyCount < keys.count ? keys[keyCount].ascending : true
        let equal = zip(keys, row.values).prefix(keyCount).map { key, value in
            value.isNull ? QueryPredicate.isNull(key.field) : .compare(key.field, .equal, value)
        }
        var requests = [narrowed(equal + [.compare(.objectID, isAscending ? .greater : .less, .integer(row.id))])]
        for position in (0..<keyCount).reversed() {
            for condition in Self.conditions(keys[position], behind: row.values[position]) {
                requests.append(narrowed(equal[..<position] + [condition]))
            }
        }
        return requests
    }

    /// Returns the conditions for values after a given value, in order.
    private static func conditions(_ key: SortKey, behind value: Value) -> [QueryPredicate] {
        if value.isNull { return key.nullsComeFirst ? [.not(.isNull(key.field))] : [] }
        let beyond = QueryPredicate.compare(key.field, key.ascending ? .greater : .less, value)
        return key.nullsComeFirst ? [beyond] : [beyond, .isNull(key.field)]
    }
}
