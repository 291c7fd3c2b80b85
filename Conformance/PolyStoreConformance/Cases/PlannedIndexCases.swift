import PolyStoreBackend

/// For an indexable condition, the plan names an index and few rows are examined.
let plannedIndexCases: [ConformanceCase] =
    kinds.map { name, statement, belongs in
        ConformanceCase("plan.index.\(name)", statement, requires: [.plannedIndexes]) { run in
            let (store, item) = try ItemCatalog.open(run, items: rows)
            let conditions = try ItemCatalog.served(store).filter { belongs($0.0) }
            try run.expect(!conditions.isEmpty, "a condition is missing")
            try store.read { transaction in
                for (what, predicate) in conditions {
                    let plan = try transaction.explain(FetchRequest(item, predicate: predicate))
                    try run.expect(!plan.isScan, "\(what): \(plan)")
                    try run.expect(plan.rowsExamined ?? .max < rows / 2, "\(what): \(plan)")
                    try run.expect(
                        plan.rowsReturned, equals: try transaction.ids(FetchRequest(item, predicate: predicate)).count, "\(what): \(plan)")
                }
            }
        }
    } + [
        ConformanceCase(
            "plan.index.names-are-of-the-schema", "Plans name indexes of the entity.", requires: [.plannedIndexes]
        ) {
            run in
            let (store, item) = try ItemCatalog.open(run, items: rows)
            let names = Set(item.indexes.map(\.name))
            try store.read { transaction in
                for (what, predicate) in try ItemCatalog.served(store) {
                    for access in try transaction.plan(FetchRequest(item, predicate: predicate)).accesses {
                        switch access.path {
                        case .search, .index:
                            try run.expect(access.index.map(names.contains) ?? false, "\(what): \(access), of \(names.sorted())")
                        default: try run.expect(access.index, equals: nil, "\(what): \(access)")
                        }
                    }
                }
            }
        },
        ConformanceCase(
            "plan.index.ranges-of-every-type",
            "Equality and one-sided ranges are index searches for every type: unsigned, with NaN, bytes.",
            requires: [.plannedIndexes]
        ) { run in
            for (type, value) in ladders {
                let store = try run.open(Fixtures.thing(type), type.rawValue)
                // In descending order.
                try store.insert("Thing", (0..<400).reversed().map { [value($0)] })
                let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
                let conditions: [(ComparisonOperator, Int, Int)] = [
                    (.equal, 7, 1), (.less, 5, 5), (.lessOrEqual, 5, 6), (.greater, 390, 9), (.greaterOrEqual, 390, 10),
                ]
                try store.read { transaction in
                    for (comparison, rank, count) in conditions {
                        let request = FetchRequest(thing, predicate: .compare(field, comparison, value(rank)))
                        let plan = try transaction.explain(request)
                        try run.expect(!plan.isScan, "\(type) \(comparison): \(plan)")
                        try run.expect(plan.rowsExamined ?? .max <= 40, "\(type) \(comparison): \(plan)")
                        try run.expect(plan.rowsReturned, equals: count, "\(type) \(comparison): \(plan)")
                        let least = comparison == .equal ? rank : (comparison.accepts(-1) ? 0 : 400 - count)
                        try run.expect(
                            try transaction.ids(request), equals: (0..<count).map { Int64(400 - least - count + 1 + $0) },
                            "\(type) \(comparison)")
                    }
                }
            }
        },
        ConformanceCase(
            "plan.index.order-of-every-type",
            "An index serves an order by it for every type, in both directions, and values added later keep their place: NaN, unsigned values above 2^63 − 1.",
            requires: [.plannedIndexes]
        ) { run in
            for (type, value) in ladders {
                let store = try run.open(Fixtures.thing(type), "order-\(type.rawValue)")
                func ranked(_ rank: Int) -> Value { type == .uint64 ? .integer(Int64(rank) << 20) : value(rank) }
                // Without the first rank, which is NaN for reals, in descending order.
                try store.insert("Thing", (1..<400).reversed().map { [ranked($0)] })
                let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
                func check(_ isAscending: Bool, examining most: Int, _ expected: [Int64]) throws {
                    let request = FetchRequest(thing, sortKeys: [SortKey(field, ascending: isAscending)], limit: 5)
                    let (plan, ids) = try store.read { (try $0.explain(request), try $0.ids(request)) }
                    try run.expect(ids, equals: expected, "\(type), ascending \(isAscending)")
                    try run.expect(plan.rowsExamined ?? .max <= most, "\(type), ascending \(isAscending): \(plan)")
                }
                try check(true, examining: 40, [399, 398, 397, 396, 395])
                try check(false, examining: 40, [1, 2, 3, 4, 5])
                guard type == .uint64 || type == .double else { continue }
                // The greatest and the least value.
                try store.change { try $0.insert(thing, rowID: 400, [type == .uint64 ? .integer(-1) : .real(.nan)]) }
                try check(true, examining: 400, type == .uint64 ? [399, 398, 397, 396, 395] : [400, 399, 398, 397, 396])
                try check(false, examining: 400, type == .uint64 ? [400, 1, 2, 3, 4] : [1, 2, 3, 4, 5])
            }
        },
        ConformanceCase(
            "plan.index.order-and-limit", "The first rows in the order of an index, or of ids, are read without the others.",
            requires: [.plannedIndexes]
        ) { run in
            let (store, item) = try ItemCatalog.open(run, items: rows)
            func key(_ name: String, ascending: Bool = true) throws -> SortKey {
                SortKey(name == "id" ? .objectID : try store.field("Item", name), ascending: ascending)
            }
            let orders: [[SortKey]] = [
                [try key("price")], [try key("price", ascending: false)], [try key("title")], [try key("weight", ascending: false)],
                [try key("added")], [try key("sku", ascending: false)], [try key("shelf"), try key("slot")],
                [try key("shelf", ascending: false), try key("slot", ascending: false)], [try key("maker")],
            ]
            try store.read { transaction in
                for order in orders {
                    let what = order.map { "\($0.field.name)\($0.ascending ? "" : " down")" }.joined(separator: ", ")
                    let plan = try transaction.explain(FetchRequest(item, sortKeys: order, limit: 5))
                    try run.expect(!plan.isScan, "\(what): \(plan)")
                    try run.expect(plan.rowsExamined ?? .max < rows / 2, "\(what): \(plan)")
                }
                for isAscending in [true, false] {
                    let request = FetchRequest(item, sortKeys: [try key("id", ascending: isAscending)], limit: 5, offset: 3)
                    try run.expect(try transaction.explain(request).rowsExamined ?? .max <= 8, "by id, ascending \(isAscending)")
                }
            }
        },
        ConformanceCase(
            "plan.index.condition-order-and-limit", "One compound index can serve both a condition and an order.",
            requires: [.plannedIndexes]
        ) { run in
            let (store, item) = try ItemCatalog.open(run, items: rows)
            let (shelf, slot) = (try store.field("Item", "shelf"), try store.field("Item", "slot"))
            for isAscending in [true, false] {
                let request = FetchRequest(
                    item, predicate: .compare(shelf, .equal, .text("shelf2")), sortKeys: [SortKey(slot, ascending: isAscending)], limit: 5)
                let plan = try store.read { try $0.explain(request) }
                try run.expect(!plan.isScan, "\(plan)")
                try run.expect(plan.rowsExamined ?? .max < rows / 8, "\(plan)")
            }
        },
        ConformanceCase(
            "plan.index.follows-writes", "Plans of a write transaction also name an index, before and after changes are applied.",
            requires: [.plannedIndexes]
        ) { run in
            let (store, item) = try ItemCatalog.open(run, items: rows)
            let request = FetchRequest(item, predicate: .compare(try store.field("Item", "price"), .equal, .integer(3)))
            try store.write { transaction in
                try run.expect(!(try transaction.plan(request).isScan), "before")
                let changes = ChangeSet(store.schema)
                for id in 1...20 as ClosedRange<Int64> { try changes.update(item, rowID: id, ["price": .integer(3)]) }
                try transaction.apply(changes)
                let plan = try transaction.explain(request)
                try run.expect(!plan.isScan && plan.rowsExamined ?? .max < rows / 2, "after: \(plan)")
            }
        },
    ]

private let rows = 800

/// Four hundred values of a type in ascending order.
private let ladders: [(AttributeType, @Sendable (Int) -> Value)] = [
    (.int64, { .integer(Int64($0) - 200) }), (.uint64, { .integer(Int64(bitPattern: UInt64($0) << 55)) }),
    (.double, { $0 == 0 ? .real(.nan) : .real(Double($0) / 2 - 100) }), (.date, { .real(Double($0) * 1000 - 200_000) }),
    (.string, { .text(String(1000 + $0)) }), (.data, { .blob([UInt8($0 / 256), UInt8($0 % 256)]) }),
    (.uuid, { .blob([UInt8($0 / 256), UInt8($0 % 256)] + [UInt8](repeating: 7, count: 14)) }),
]

private let kinds: [(String, String, @Sendable (String) -> Bool)] = [
    ("equality", "Equality on an indexed field is an index search.", { $0.hasPrefix("equality") }),
    (
        "range", "A range of an indexed field is an index search.",
        { $0.hasPrefix("range of") && $0 != "range of ids" || $0 == "range with two ends" }
    ),
    ("prefix", "A prefix condition on an indexed field is an index search.", { $0.hasPrefix("prefix") }),
    ("in", "A list of values of an indexed field is one index search per value.", { $0.hasPrefix("in of") }),
    ("or", "An OR of indexed conditions is one index search per condition.", { $0.hasPrefix("or of") }),
    ("compound", "A compound index serves its first field, and all of its fields.", { $0.hasSuffix("of a compound") }),
    ("primary-key", "Ids, lists of ids and ranges of ids are looked up by id.", { $0 == "id" || $0 == "ids" || $0 == "range of ids" }),
]
