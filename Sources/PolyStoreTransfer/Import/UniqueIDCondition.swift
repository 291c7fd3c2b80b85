import PolyStoreBackend
import PolyStoreKernel

/// A condition that selects the objects with the given unique ids.
struct UniqueIDCondition {
    let predicate: QueryPredicate

    /// The number of ids per query: the longest list of text that every backend looks up in an index. SQLite would use a full scan for
    /// a longer one.
    static let limit = 512

    static func batches(_ keys: [ImportKey]) -> [ArraySlice<ImportKey>] {
        stride(from: 0, to: keys.count, by: limit).map { keys[$0..<min($0 + limit, keys.count)] }
    }

    init(_ fields: [FieldReference], _ keys: ArraySlice<ImportKey>) {
        guard fields.count > 1 else {
            predicate = Self.among(fields[0], keys.map(\.firstValue))
            return
        }
        // Ids that differ only in their last part form one list, which an index can serve.
        var lists: [[Value]: [Value]] = [:]
        var order: [[Value]] = []
        for key in keys {
            let leading = Array(key.values.dropLast())
            if lists[leading] == nil { order.append(leading) }
            lists[leading, default: []].append(key.values[fields.count - 1])
        }
        predicate = .or(
            order.map { leading in
                let equal = zip(fields, leading).map { Self.among($0, [$1]) }
                return .and(equal + [Self.among(fields[fields.count - 1], lists[leading] ?? [])])
            })
    }

    private static func among(_ field: FieldReference, _ values: [Value]) -> QueryPredicate {
        let present = values.contains(where: \.isNull) ? values.filter { !$0.isNull } : values
        let some: QueryPredicate = present.count == 1 ? .compare(field, .equal, present[0]) : .oneOf(field, present)
        return present.count == values.count ? some : .or([some, .isNull(field)])
    }
}
