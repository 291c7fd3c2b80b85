import PolyStoreBackend

/// Indexes after updates, deletions and failures.
let indexMaintenanceCases: [ConformanceCase] = [
    ConformanceCase("index.null.there-and-back", "A field that becomes null leaves its index, and returns with its next value.") {
        run in
        let (store, item) = try ItemCatalog.open(run, items: 20)
        let price = try store.field("Item", "price")
        func prices(_ value: Int64) throws -> [Int64] { try store.ids(try store.request("Item", "price", .equal, .integer(value))) }
        for round in 0..<3 as Range<Int64> {
            try store.change { try $0.update(item, rowID: 5, ["price": .null]) }
            try run.expect(try prices(4) + prices(100), equals: [], "round \(round)")
            try run.expect(try store.ids(FetchRequest(item, predicate: .isNull(price))), equals: [5], "round \(round)")
            try run.expect(try store.ids(FetchRequest(item, sortKeys: [SortKey(price)], limit: 2)), equals: [5, 1], "round \(round)")
            try store.change { try $0.update(item, rowID: 5, ["price": .integer(100 + round)]) }
            try run.expect(try prices(100 + round), equals: [5], "round \(round)")
            try run.expect(try store.ids(FetchRequest(item, predicate: .isNull(price))), equals: [], "round \(round)")
            try run.expect(try store.ids(FetchRequest(item, sortKeys: [SortKey(price, ascending: false)], limit: 1)), equals: [5])
        }
        try agree(run, store, "at the end")
    },
    ConformanceCase("index.updates.many-in-one-change-set", "Every object of a large change set is found only by its new values.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 600)
        try store.change { changes in
            for id in 1...600 as ClosedRange<Int64> {
                let title: Value = id % 2 == 0 ? .null : .text("new\(id % 50)")
                try changes.update(
                    item, rowID: id,
                    ["sku": .text("sku\(600 - id)"), "title": title, "price": .integer(1000 + id % 7), "slot": .integer(-id)])
            }
        }
        try run.expect(try store.ids(try store.request("Item", "price", .less, .integer(1000))), equals: [])
        try run.expect(try store.ids(try store.request("Item", "sku", .equal, .text("sku0"))), equals: [600])
        try run.expect(
            try store.ids(try store.request("Item", "title", .equal, .text("new7"))),
            equals: stride(from: 7, through: 600, by: 50).map { Int64($0) })
        try agree(run, store, "after it")
    },
    ConformanceCase(
        "index.updates.many-in-one-transaction", "After many updates of an object in one transaction, every index contains the last one."
    ) { run in
        let (store, item) = try ItemCatalog.open(run, items: 10)
        try store.write { transaction in
            for round in 1...40 as ClosedRange<Int64> {
                let changes = ChangeSet(store.schema)
                try changes.update(
                    item, rowID: 3,
                    ["sku": .text("round\(round)"), "price": .integer(round), "title": round % 2 == 0 ? .null : .text("odd")])
                try transaction.apply(changes)
                let request = FetchRequest(item, predicate: .text(try store.field("Item", "sku"), .beginsWith, "round"))
                try run.expect(try transaction.ids(request), equals: [3], "round \(round)")
            }
        }
        try run.expect(try store.ids(try store.request("Item", "sku", .equal, .text("round39"))), equals: [])
        try run.expect(try store.ids(try store.request("Item", "sku", .equal, .text("round40"))), equals: [3])
        try agree(run, store, "after it")
    },
    ConformanceCase("index.updates.to-the-same-value", "Writing unchanged values does not change any index.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 30)
        for _ in 0..<3 {
            try store.change { changes in
                for id in 1...30 {
                    try changes.update(item, rowID: Int64(id), mask: FieldMask(first: item.fields.count)) { builder in
                        for (field, value) in zip(item.fields, ItemCatalog.row(id - 1)) { try builder.set(field, value) }
                    }
                }
            }
        }
        try run.expect(try store.read { try $0.rows(FetchRequest(item)) }, equals: (0..<30).map(ItemCatalog.row))
        try agree(run, store, "after it")
    },
    ConformanceCase(
        "index.unique.all-replaced-in-one-change-set",
        "All objects can be deleted and as many inserted with their unique values, in one change set."
    ) {
        run in
        let (store, item) = try ItemCatalog.open(run, items: 100)
        for round in 1...3 {
            try store.change { changes in
                for number in 0..<100 {
                    // Alternates between before and after the deletion.
                    if number % 2 == 0 { changes.delete(item, rowID: Int64((round - 1) * 100 + number + 1)) }
                    try changes.insert(item, rowID: Int64(round * 100 + number + 1), ItemCatalog.row(99 - number))
                    if number % 2 == 1 { changes.delete(item, rowID: Int64((round - 1) * 100 + number + 1)) }
                }
            }
            try run.expect(
                try store.ids(try store.request("Item", "sku", .equal, .text("sku99"))), equals: [Int64(round * 100 + 1)], "round \(round)")
            try run.expect(try store.read { try $0.count(FetchRequest(item)) }, equals: 100, "round \(round)")
        }
        try run.expectError(.constraint) { try store.change { try $0.insert(item, rowID: 999, ItemCatalog.row(7)) } }
        try agree(run, store, "at the end")
    },
    ConformanceCase(
        "index.object.deleted-and-inserted-again",
        "An object deleted and inserted with the same id in one transaction has its new values in every index."
    ) {
        run in
        let (store, item) = try ItemCatalog.open(run, items: 10)
        try store.write { transaction in
            for round in 0..<3 as Range<Int64> {
                let deletion = ChangeSet(store.schema)
                deletion.delete(item, rowID: 4)
                try transaction.apply(deletion)
                try run.expect(try transaction.row(item, 4), equals: nil)
                let insertion = ChangeSet(store.schema)
                var row = ItemCatalog.row(3)
                row[2] = .integer(500 + round)
                try insertion.insert(item, rowID: 4, row)
                try transaction.apply(insertion)
            }
        }
        try run.expect(try store.ids(try store.request("Item", "price", .greaterOrEqual, .integer(500))), equals: [4])
        try run.expect(try store.ids(try store.request("Item", "price", .equal, .integer(502))), equals: [4])
        try run.expect(try store.ids(try store.request("Item", "sku", .equal, .text("sku3"))), equals: [4])
        try agree(run, store, "at the end")
    },
    ConformanceCase("index.failure.leaves-no-entries", "A failed change set and a rollback leave every index unchanged.") {
        run in
        let (store, item) = try ItemCatalog.open(run, items: 40)
        let before = try store.read { transaction in try ItemCatalog.requests(store).map { try transaction.ids($0) } }
        func scramble(_ changes: ChangeSet) throws {
            for id in 1...20 as ClosedRange<Int64> {
                try changes.update(item, rowID: id, ["price": .integer(id), "title": .null, "sku": .text("x\(id)")])
            }
            for id in 21...30 as ClosedRange<Int64> { changes.delete(item, rowID: id) }
            try changes.insert(item, rowID: 77, ItemCatalog.row(25))
        }
        for isFailure in [true, false] {
            let transaction = try store.backend.beginWrite()
            let changes = ChangeSet(store.schema)
            try scramble(changes)
            if isFailure { changes.delete(item, rowID: 1000) }
            if isFailure {
                try run.expectError(.notFound) { try transaction.apply(changes) }
                try run.expect(try ItemCatalog.requests(store).map { try transaction.ids($0) }, equals: before, "after a failure, inside")
                _ = try transaction.commit(.full)
            } else {
                try transaction.apply(changes)
                try run.expect(try transaction.ids(try store.request("Item", "sku", .equal, .text("x3"))), equals: [3])
                transaction.rollback()
            }
            try run.expect(
                try store.read { transaction in try ItemCatalog.requests(store).map { try transaction.ids($0) } }, equals: before,
                "failure \(isFailure)")
        }
        try agree(run, store, "at the end")
    },
    ConformanceCase("index.delete.leaves-no-entries", "After all objects are deleted, indexes are empty and all values are free.") {
        run in
        let (store, item) = try ItemCatalog.open(run, items: 40)
        try store.change { changes in for id in 1...40 as ClosedRange<Int64> { changes.delete(item, rowID: id) } }
        try store.read { transaction in
            for request in try ItemCatalog.requests(store) {
                try run.expect(try transaction.ids(request), equals: [], "\(request.predicate)")
            }
        }
        try store.change { changes in for number in 0..<40 { try changes.insert(item, rowID: Int64(100 + number), ItemCatalog.row(number)) }
        }
        try run.expect(try store.ids(try store.request("Item", "sku", .equal, .text("sku7"))), equals: [107])
        try agree(run, store, "filled again")
    },
]

/// Checks that every request has the same result with and without indexes, and that verification finds nothing.
private func agree(_ run: ConformanceRun, _ store: TestStore, _ what: String) throws {
    try store.read { transaction in
        for var request in try ItemCatalog.requests(store) where request.limit == nil && request.offset == 0 {
            let found = try transaction.ids(request)
            request.ignoresIndexes = true
            try run.expect(found, equals: try transaction.ids(request), "\(what): \(request.predicate)")
        }
    }
    if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: [], what) }
}
