import PolyStoreBackend
import PolyStoreCore

/// A row in its order: the value of the order and its id.
struct RowKey {
    /// The value; nil for null, and for rows in the order of their ids.
    let value: QueryValue?
    let id: AnyObjectID

    var token: PageToken { PageToken(value: value, rowID: id.rowID) }
}

/// Finds the rows before and after a place of an order, without reading those in between.
///
/// The order is ascending: by a value, null first, and by the id where values are equal. A page of the descending order is read backwards. Each step is a condition that an index serves as a
/// range: the rows with the value of the place and a greater id, then those with a greater value. No step reads rows that it leaves out, if there is an index.
struct RowKeys {
    let store: BrowserStore
    let context: Context
    let entity: String
    /// The objects that are shown, without an order.
    let base: EntityQuery
    /// The path of the order, as conditions have it; nil for the order of the ids.
    let path: String?
    /// The path as orders have it.
    let orderPath: String
    /// Whether the value can be null.
    let isOptional: Bool
    /// Whether no two rows have the same value, null aside.
    let isUnique: Bool
    /// Whether an index has the values alone, or the order is that of the ids.
    let isIndexed: Bool
    /// All objects of the entity of the store in the same order; nil if ``base`` has no condition, one that is costly for few objects, or one that the
    /// index of the order serves.
    let whole: EntityQuery?

    /// A place in the order.
    struct Place {
        let value: QueryValue?
        let rowID: Int64
    }

    // MARK: Forwards

    /// Returns the first rows after a place; nil for the beginning.
    func following(_ place: Place?, _ count: Int) throws -> [RowKey] {
        if let found = try nearby(place, count, forwards: true) { return found }
        guard let path else { return try byID(base, after: place?.rowID, count) }
        guard let place else { return try keys(base.orderBy(orderPath), count) }
        var found: [RowKey] = []
        if place.value == nil || !isUnique { found = try byID(with(place.value), after: place.rowID, count) }
        if found.count < count {
            let greater =
                place.value.map { base.where("\(path) > %@", $0) } ?? base.where("\(path) != NULL")
            found += try keys(greater.orderBy(orderPath), count - found.count)
        }
        return found
    }

    private func byID(_ query: EntityQuery, after rowID: Int64?, _ count: Int) throws -> [RowKey] {
        let rest = try rowID.map { query.where("objectID > %@", try store.stack.objectID(entity, rowID: $0)) } ?? query
        return try keys(rest.orderBy(ColumnPlan.objectID), count)
    }

    /// Returns the objects with a value.
    private func with(_ value: QueryValue?) -> EntityQuery {
        guard let path else { return base }
        return value.map { base.where("\(path) == %@", $0) } ?? base.where("\(path) == NULL")
    }

    // MARK: Backwards

    /// Returns the last rows before a place, in ascending order; nil for the end.
    func preceding(_ place: Place?, _ count: Int) throws -> [RowKey] {
        if let found = try nearby(place, count, forwards: false) { return found }
        guard let path else { return try last(base, before: place?.rowID, count) }
        var found: [RowKey] = []
        if let place, place.value == nil || !isUnique { found = try last(with(place.value), before: place.rowID, count) }
        if found.count < count, place.map({ $0.value != nil }) ?? true {
            let smaller: EntityQuery
            if let value = place?.value {
                smaller = base.where("\(path) < %@", value)
            } else {
                smaller = isOptional ? base.where("\(path) != NULL") : base
            }
            found = try greatest(smaller, count - found.count) + found
            if found.count < count, isOptional { found = try last(with(nil), before: nil, count - found.count) + found }
        }
        return found
    }

    /// Returns the last rows of objects that all have a value, in ascending order.
    private func greatest(_ query: EntityQuery, _ count: Int) throws -> [RowKey] {
        let descending = query.orderBy(orderPath, ascending: false)
        if !store.sortsIDsBackwards { return try keys(descending.orderBy(ColumnPlan.objectID, ascending: false), count).reversed() }
        // Rows with equal values are in ascending order of their ids. The rows of the last value are read again, because its last rows belong to the result, not its first.
        let found = try keys(descending, count)
        var groups: [[RowKey]] = []
        for key in found {
            if let value = groups.last?.first?.value, let own = key.value, ExactValue(value) == ExactValue(own) {
                groups[groups.count - 1].append(key)
            } else {
                groups.append([key])
            }
        }
        if found.count == count, !isUnique, let cut = groups.popLast(), let value = cut.first?.value {
            groups.append(try last(with(value), before: nil, cut.count))
        }
        return groups.reversed().flatMap { $0 }
    }

    /// Returns the last rows with an id below another, or of all, in the order of their ids.
    private func last(_ query: EntityQuery, before rowID: Int64?, _ count: Int) throws -> [RowKey] {
        // The index of one value has the ids in ascending order. The table itself is read backwards.
        if store.sortsIDsBackwards, isIndexed, path != nil { return try lastByRanges(query, before: rowID, count) }
        let rest = try rowID.map { query.where("objectID < %@", try store.stack.objectID(entity, rowID: $0)) } ?? query
        return try keys(rest.orderBy(ColumnPlan.objectID, ascending: false), count).reversed()
    }

    /// Returns the last rows by reading ranges of ids forwards, the last range first. A range that has few rows is followed by a longer one.
    private func lastByRanges(_ query: EntityQuery, before rowID: Int64?, _ count: Int) throws -> [RowKey] {
        var end = rowID
        if end == nil {
            let greatest = try keys(EntityQuery(base.entity).orderBy(ColumnPlan.objectID, ascending: false), 1).first?.id.rowID
            end = greatest.map { $0 == .max ? $0 : $0 + 1 }
        }
        guard var end else { return [] }
        let most = 4 * count + 16
        var (width, found) = (Int64(most), [RowKey]())
        while end > 1, found.count < count {
            let start = max(1, end - width)
            let (first, limit) = (try store.stack.objectID(entity, rowID: start), try store.stack.objectID(entity, rowID: end))
            let range = query.where("objectID >= %@ AND objectID < %@", first, limit).orderBy(ColumnPlan.objectID)
            let part = try keys(range, most + 1)
            if part.count > most {
                width = max(width / 4, Int64(most))
                continue
            }
            found = part + found
            end = start
            if part.count < count, width < .max / 8 { width *= 4 }
        }
        return found.suffix(count)
    }

    // MARK: Conditions that many rows satisfy

    /// The greatest number of rows that are read in the order to find those that satisfy a condition.
    private static let mostNearby = 2000

    /// Returns rows beside a place that satisfy the conditions, by reading the rows there in their order and testing each.
    ///
    /// An index of a condition that many rows satisfy would have to be read as a whole, to bring the rows into the order.
    /// - Returns: nil if so few of the rows there satisfy the conditions that another way is better.
    private func nearby(_ place: Place?, _ count: Int, forwards: Bool) throws -> [RowKey]? {
        guard let whole, isIndexed else { return nil }
        let all = RowKeys(
            store: store, context: context, entity: whole.entity, base: whole, path: path, orderPath: orderPath, isOptional: isOptional,
            isUnique: isUnique, isIndexed: true, whole: nil)
        var (place, found, examined, size) = (place, [RowKey](), 0, 2 * count)
        while size > 0 {
            let part = forwards ? try all.following(place, size) : try all.preceding(place, size)
            let rows = try context.queryAttributes(
                base.where("objectID IN %@", part.map(\.id)), Select(SelectTerm.objectID(as: "id")))
            let ids = Set(rows.compactMap { if case .objectID(let id)? = $0["id"] { id.rowID } else { nil } })
            let selected = part.filter { ids.contains($0.id.rowID) }
            found = forwards ? found + selected : selected + found
            if part.count < size || found.count >= count { return forwards ? Array(found.prefix(count)) : Array(found.suffix(count)) }
            guard let end = forwards ? part.last : part.first else { return found }
            place = Place(value: end.value, rowID: end.id.rowID)
            examined += part.count
            size = min(size * 3, Self.mostNearby - examined)
        }
        return nil
    }

    // MARK: Reading

    /// Returns the first rows of a query that has an order.
    private func keys(_ query: EntityQuery, _ count: Int) throws -> [RowKey] {
        guard count > 0 else { return [] }
        let terms = [SelectTerm.objectID(as: "id")] + (path.map { [SelectTerm($0, as: "key")] } ?? [])
        return try context.queryAttributes(query.limit(count), Select(terms)).compactMap { row in
            guard case .objectID(let id)? = row["id"] else { return nil }
            return RowKey(value: row["key"], id: id)
        }
    }
}

extension BrowserStore {
    /// A Boolean value that indicates whether the engine reads an index backwards with ascending ids among equal values; SQL reads both backwards.
    var sortsIDsBackwards: Bool { !["sqlite", "postgresql"].contains(store.configuration.engine) }
}
