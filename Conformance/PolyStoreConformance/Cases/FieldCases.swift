import PolyStoreBackend

/// Fetches of some fields, and results without indexes.
let fieldCases: [ConformanceCase] = [
    ConformanceCase("fields.each.alone", "A fetch of one field returns its value in every row, for every type.") { run in
        let types = AttributeType.allCases
        let schema = SchemaDescription(
            name: "All",
            entities: [
                EntityDescription(
                    name: "All",
                    properties: types.map { .attribute(AttributeDescription(name: $0.rawValue, type: $0, isOptional: true)) })
            ])
        let store = try run.open(schema)
        let all = try store.entity("All")
        var rows: [[Value]] = []
        for rotation in 0..<6 {
            rows.append(
                types.map { type in
                    guard rotation < 5, let values = edges.first(where: { $0.0 == type })?.1 else { return .null }
                    return values[rotation % values.count]
                })
        }
        try store.insert("All", rows)
        try store.read { transaction in
            for field in all.fields {
                try run.expect(try transaction.rows(FetchRequest(all), only: [field]), equals: rows.map { [$0[field.index]] }, field.name)
                // Two non-adjacent fields.
                let pair = [all.fields[0], field]
                try run.expect(
                    try transaction.rows(FetchRequest(all), only: pair), equals: rows.map { [$0[0], $0[field.index]] },
                    "\(field.name) and the first")
            }
        }
    },
    ConformanceCase("fields.none.still-ids", "A fetch of no fields returns the same ids in the same order.") { run in
        let (store, _) = try ItemCatalog.open(run, items: 60)
        try store.read { transaction in
            for var request in try ItemCatalog.requests(store) {
                let ids = try transaction.ids(request)
                request.fields = FieldMask()
                try run.expect(try transaction.ids(request), equals: ids, "\(request.predicate)")
                request.onlyIDs = true
                try run.expect(try transaction.ids(request), equals: ids, "\(request.predicate), ids only")
            }
        }
    },
    ConformanceCase("fields.condition.on-others", "Conditions and orders can use fields that are not fetched.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 60)
        try store.read { transaction in
            for (number, request) in try ItemCatalog.requests(store).enumerated() {
                let wanted = [item.fields[number % item.fields.count], item.fields[(number / 9 + 4) % item.fields.count]]
                let expected = try transaction.rows(request).map { row in wanted.map { row[$0.index] } }
                try run.expect(
                    try transaction.rows(request, only: wanted), equals: expected,
                    "\(wanted.map(\.name)) where \(request.predicate) by \(request.sortKeys.map(\.field.name))")
            }
        }
    },
    ConformanceCase(
        "fields.remainder.on-others",
        "A residual predicate has access to the fields that it needs, also with a sort order."
    ) { run in
        let (store, item) = try ItemCatalog.open(run, items: 200)
        let (title, price) = (try store.field("Item", "title"), try store.field("Item", "price"))
        let list: [Value] = (0..<900).map { .text("t\($0 % 40)-\($0)") }
        var deep = QueryPredicate.compare(title, .less, .text("t2"))
        for _ in 0..<150 { deep = .not(deep) }
        let orders: [[SortKey]] = [[], [SortKey(price, ascending: false)], [SortKey(title)]]
        for predicate in [
            QueryPredicate.oneOf(title, list), deep, .and([deep, .oneOf(title, list), .compare(price, .less, .integer(40))]),
        ] {
            for order in orders {
                for (limit, offset) in [(nil, 0), (7, 3), (2, 500)] as [(Int?, Int)] {
                    let request = FetchRequest(item, predicate: predicate, sortKeys: order, limit: limit, offset: offset)
                    let (sku, maker) = (item.fields[0], item.fields[8])
                    let expected = try store.read { try $0.rows(request).map { [$0[0], $0[8]] } }
                    try run.expect(
                        try store.read { try $0.rows(request, only: [sku, maker]) }, equals: expected, "by \(order.map(\.field.name))")
                    try run.expect(limit == 2 || expected.count > 3, "the case has too few rows: \(expected.count)")
                }
            }
        }
    },
    ConformanceCase("fields.null.is-null", "A fetched field without a value is null, regardless of other fields.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 0)
        let rows = (0..<item.fields.count).map { missing in
            ItemCatalog.row(4).enumerated().map { location, value in location == missing || location == 0 ? Value.null : value }
        }
        try store.insert("Item", rows)
        try store.read { transaction in
            for field in item.fields {
                try run.expect(
                    try transaction.rows(FetchRequest(item), only: [field]), equals: rows.map { [$0[field.index]] }, field.name)
            }
        }
    },
    ConformanceCase("fields.wide.few-of-many", "A few fields of the maximum number are correct, at both ends and in the middle.") { run in
        let schema = SchemaDescription(
            name: "Wide",
            entities: [
                EntityDescription(
                    name: "Wide",
                    properties: (0..<FieldMask.capacity).map { number in
                        .attribute(AttributeDescription(name: "f\(number)", type: number % 3 == 0 ? .string : .int64, isOptional: true))
                    })
            ])
        let store = try run.open(schema)
        let wide = try store.entity("Wide")
        func value(_ number: Int, _ row: Int) -> Value { number % 3 == 0 ? .text("\(row):\(number)") : .integer(Int64(number * 10 + row)) }
        try store.insert("Wide", (0..<3).map { row in (0..<FieldMask.capacity).map { value($0, row) } })
        for numbers in [[0], [255], [0, 255], [63, 64, 65], [127, 128], [191, 192, 193], [3, 99, 201, 254]] {
            let found = try store.read { try $0.rows(FetchRequest(wide), only: numbers.map { wide.fields[$0] }) }
            try run.expect(found, equals: (0..<3).map { row in numbers.map { value($0, row) } }, "\(numbers)")
        }
    },
    ConformanceCase("fields.write.after-changes", "Fetches of some fields in a write transaction include its pending changes.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 30)
        let price = try store.field("Item", "price")
        try store.write { transaction in
            let changes = ChangeSet(store.schema)
            for id in 1...5 as ClosedRange<Int64> {
                try changes.update(item, rowID: id, ["price": .integer(100 - id), "note": .text("new \(id)")])
            }
            try transaction.apply(changes)
            let request = FetchRequest(item, predicate: .compare(price, .greater, .integer(90)), sortKeys: [SortKey(price)])
            try run.expect(try transaction.rows(request, only: [item.fields[5]]), equals: [5, 4, 3, 2, 1].map { [.text("new \($0)")] })
        }
    },
    ConformanceCase("indexes.ignored.same-rows", "A fetch without indexes returns the same rows in the same order.") { run in
        let (store, _) = try ItemCatalog.open(run, items: 60)
        try store.read { transaction in
            for var request in try ItemCatalog.requests(store) {
                let rows = try transaction.rows(request)
                request.ignoresIndexes = true
                try run.expect(
                    try transaction.rows(request), equals: rows, "\(request.predicate) by \(request.sortKeys.map(\.field.name))")
            }
        }
    },
    ConformanceCase("indexes.ignored.same-counts", "Counts and fetches of ids or of some fields are the same without indexes.") {
        run in
        let (store, _) = try ItemCatalog.open(run, items: 60)
        try store.read { transaction in
            for var request in try ItemCatalog.requests(store) {
                let ids = try transaction.ids(request)
                request.ignoresIndexes = true
                try run.expect(try transaction.count(request), equals: ids.count, "\(request.predicate)")
                request.onlyIDs = true
                try run.expect(try transaction.ids(request), equals: ids, "\(request.predicate), ids only")
                request.onlyIDs = false
                request.fields = FieldMask(first: 1)
                try run.expect(try transaction.ids(request), equals: ids, "\(request.predicate), the first field")
            }
        }
    },
    ConformanceCase("indexes.ignored.after-writes", "After updates and deletions, the results with and without indexes are equal.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 80)
        for round in 0..<4 as Range<Int64> {
            try store.change { changes in
                for id in 1...80 as ClosedRange<Int64> where id % 4 == round {
                    if id % 3 == 0 {
                        changes.delete(item, rowID: id)
                    } else {
                        let title: Value = id % 5 == 0 ? .null : .text("moved \(id % 6)")
                        try changes.update(
                            item, rowID: id, ["title": title, "price": .integer(id % 13), "weight": .null, "slot": .integer(-id)])
                    }
                }
            }
            try store.read { transaction in
                for var request in try ItemCatalog.requests(store) where request.limit == nil {
                    let ids = try transaction.ids(request)
                    request.ignoresIndexes = true
                    try run.expect(try transaction.ids(request), equals: ids, "round \(round): \(request.predicate)")
                }
            }
        }
    },
]

extension ReadTransaction {
    /// Returns some values of the rows of a request, fetched with only these fields.
    fileprivate func rows(_ request: FetchRequest, only fields: [Field]) throws -> [[Value]] {
        var request = request
        var mask = FieldMask()
        for field in fields { mask.insert(field.index) }
        request.fields = mask
        let cursor = try fetch(request)
        defer { cursor.close() }
        var rows: [[Value]] = []
        while try cursor.next() { rows.append(fields.map { cursor.record.value($0) }) }
        return rows
    }
}
