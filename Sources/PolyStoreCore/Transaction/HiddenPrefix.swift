import PolyStoreBackend

/// The stored rows at the start of a request's order that a transaction has updated or deleted.
///
/// A transaction that fetches the first object and deletes it, again and again, would otherwise read all deleted rows at each fetch. Fetches of the same
/// condition in the same order start behind the rows that an earlier one has found to be hidden. The rows stay hidden as long as the transaction keeps its
/// changes and the store shows the same version; ``PendingRecords`` discards the prefix with either.
final class HiddenPrefix {
    /// A row of the order.
    struct Row {
        let id: Int64
        /// The values of the sort keys; null for the object id.
        let values: [Value]
    }

    let predicate: QueryPredicate
    let keys: [SortKey]
    private let entity: Entity
    /// The last row of the prefix; nil for an empty one.
    private(set) var last: Row?
    /// The number of rows in the prefix.
    private(set) var count = 0

    /// A shorter prefix is read again: that costs less than one query for each sort key.
    private static let worthwhileCount = 16

    /// - Returns: nil for a request whose order cannot be continued behind a row.
    init?(_ request: FetchRequest) {
        predicate = request.predicate
        keys = request.sortKeys
        entity = request.entity
        // A condition of the greatest depth takes no other one.
        var narrowed = request
        narrowed.predicate = .and([request.predicate, .compare(.objectID, .greater, .integer(0))])
        guard (try? narrowed.validate()) != nil else { return nil }
    }

    /// Whether the values of the sort keys can be read from the rows of a request, and compared with.
    static func canFollow(_ request: FetchRequest) -> Bool {
        request.sortKeys.allSatisfy { key in
            guard key.expression == nil else { return false }
            if key.field.isObjectID { return true }
            return key.field.type != .json && key.field.type != .decimal && request.fields?.contains(key.field.ordinal) ?? true
        }
    }

    /// Adds the next hidden row.
    /// - Parameter count: the number of rows in the prefix now.
    func append(_ id: Int64, _ record: RecordView, count: Int) {
        guard count > self.count else { return }
        last = Row(id: id, values: keys.map { $0.field.isObjectID ? .null : record.value(entity.fields[$0.field.ordinal]) })
        self.count = count
    }

    /// The last row of the prefix, if requests should start behind it.
    var start: Row? { count >= Self.worthwhileCount ? last : nil }

    /// Requests for the rows of a request behind a row, to be run one after another: rows with the same values of all keys and a greater id, then rows that
    /// differ in the last key only, and so on.
    func requests(_ request: FetchRequest, behind row: Row) -> [FetchRequest] {
        func narrowed(_ conditions: [QueryPredicate]) -> FetchRequest {
            var narrowed = request
            narrowed.predicate = .and([request.predicate] + conditions)
            return narrowed
        }
        // The ids behind the object id as a key are not looked at: it is unique.
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

    /// The conditions on values behind a value, in their order.
    private static func conditions(_ key: SortKey, behind value: Value) -> [QueryPredicate] {
        if value.isNull { return key.nullsComeFirst ? [.not(.isNull(key.field))] : [] }
        let beyond = QueryPredicate.compare(key.field, key.ascending ? .greater : .less, value)
        return key.nullsComeFirst ? [beyond] : [beyond, .isNull(key.field)]
    }
}
