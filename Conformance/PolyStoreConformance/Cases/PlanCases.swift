import PolyStoreBackend

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The contents of query plans; explaining has no side effects.
let planCases: [ConformanceCase] = [
    ConformanceCase(
        "plan.rows.returned-are-those-of-the-fetch", "Explaining returns as many rows as a fetch, for every condition, order and slice."
    ) {
        run in
        let (store, _) = try ItemCatalog.open(run, items: 120)
        try store.read { transaction in
            for request in try ItemCatalog.requests(store) {
                let plan = try transaction.explain(request)
                try run.expect(plan.rowsReturned, equals: try transaction.ids(request).count, "\(plan) for \(request.predicate)")
            }
        }
    },
    ConformanceCase(
        "plan.rows.examined-are-at-least-the-returned", "Every returned row was examined, and a full scan examines every row."
    ) { run in
        let (store, item) = try ItemCatalog.open(run, items: 120)
        let note = try store.field("Item", "note")
        try store.read { transaction in
            for request in try ItemCatalog.requests(store) {
                let plan = try transaction.explain(request)
                guard let examined = plan.rowsExamined, let returned = plan.rowsReturned else { throw run.fail("no numbers in \(plan)") }
                try run.expect(examined >= returned, "\(plan) for \(request.predicate)")
            }
            let filter = QueryPredicate.compare(note, .equal, .text("note 2"))
            let plan = try transaction.explain(FetchRequest(item, predicate: filter))
            try run.expect(plan.rowsExamined ?? 0 >= 120, "a condition without an index: \(plan)")
        }
    },
    ConformanceCase("plan.rows.only-when-carried-out", "Only an executed plan has row counts, and it has both.") {
        run in
        let (store, item) = try ItemCatalog.open(run, items: 30)
        try store.read { transaction in
            let request = FetchRequest(item, limit: 5)
            let plan = try transaction.plan(request)
            try run.expect(plan.rowsExamined == nil && plan.rowsReturned == nil, "\(plan)")
            try run.expect(!plan.description.contains("examined"), "\(plan)")
            let explained = try transaction.explain(request)
            try run.expect(explained.rowsReturned, equals: 5)
            try run.expect(explained.description.contains("examined, 5 returned"), "\(explained)")
            var same = explained
            (same.rowsExamined, same.rowsReturned) = (nil, nil)
            try run.expect(same, equals: plan, "but for the rows")
        }
    },
    ConformanceCase(
        "plan.rows.none", "A limit of 0, an empty entity and a false condition return no rows, and the first two examine none."
    ) { run in
        let (store, item) = try ItemCatalog.open(run, items: 30)
        let price = try store.field("Item", "price")
        try store.read { transaction in
            for request in [FetchRequest(item, limit: 0), FetchRequest(item, sortKeys: [SortKey(price)], limit: 0, offset: 3)] {
                let plan = try transaction.explain(request)
                try run.expect([plan.rowsExamined, plan.rowsReturned], equals: [0, 0], "limit 0")
            }
            try run.expect(try transaction.explain(FetchRequest(item, predicate: .none)).rowsReturned, equals: 0, "never true")
        }
        try store.change { changes in for id in 1...30 { changes.delete(item, rowID: Int64(id)) } }
        try store.read { transaction in
            let plan = try transaction.explain(FetchRequest(item, sortKeys: [SortKey(price)]))
            try run.expect([plan.rowsExamined, plan.rowsReturned], equals: [0, 0], "empty")
        }
    },
    ConformanceCase(
        "plan.text.is-deterministic",
        "A repeated plan is equal as a value, as text and as JSON, also in another transaction after other requests."
    ) {
        run in
        let (store, item) = try ItemCatalog.open(run, items: 60)
        let requests = try ItemCatalog.someRequests(store)
        func plans() throws -> [QueryPlan] {
            try store.read { transaction in try requests.flatMap { [try transaction.plan($0), try transaction.explain($0)] } }
        }
        let first = try plans()
        _ = try store.ids(FetchRequest(item, predicate: .compare(try store.field("Item", "price"), .equal, .integer(41))))
        let second = try plans()
        for (before, after) in zip(first, second) {
            try run.expect(after, equals: before)
            try run.expect(after.description, equals: before.description)
            try run.expect(after.json, equals: before.json)
        }
    },
    ConformanceCase("plan.json.decodes-back", "The JSON of a plan decodes to the same plan and encodes to the same bytes.") { run in
        let (store, _) = try ItemCatalog.open(run, items: 40)
        try store.read { transaction in
            for request in try ItemCatalog.someRequests(store) {
                for plan in [try transaction.plan(request), try transaction.explain(request)] {
                    let back = try JSONDecoder().decode(QueryPlan.self, from: Data(plan.json.utf8))
                    try run.expect(back, equals: plan)
                    try run.expect(back.json, equals: plan.json)
                }
            }
        }
    },
    ConformanceCase("plan.access.holds-no-constants", "The description of the access path contains no constants.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 20)
        let predicates: [QueryPredicate] = [
            .compare(try store.field("Item", "sku"), .equal, .text("s3cr3t")),
            .text(try store.field("Item", "title"), .beginsWith, "s3cr3t"),
            .compare(try store.field("Item", "note"), .equal, .text("s3cr3t")),
            .compare(try store.field("Item", "price"), .greater, .integer(77_123)),
            .oneOf(try store.field("Item", "price"), [.integer(77_123), .integer(1)]), .compare(.objectID, .equal, .integer(77_123)),
        ]
        try store.read { transaction in
            for predicate in predicates {
                let plan = try transaction.plan(FetchRequest(item, predicate: predicate))
                for access in plan.accesses {
                    let description = "\(access) \(access.condition ?? "")"
                    try run.expect(!description.contains("s3cr3t") && !description.contains("77123"), description)
                }
            }
        }
    },
    ConformanceCase("plan.explain.changes-nothing", "Explaining changes neither version nor records nor sequences.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 40)
        let version = try store.read { try $0.version }
        let before = try store.read { try $0.rows(FetchRequest(item)) }
        try store.read { transaction in for request in try ItemCatalog.someRequests(store) { _ = try transaction.explain(request) } }
        try run.expect(try store.read { try $0.version }, equals: version)
        try run.expect(try store.read { try $0.rows(FetchRequest(item)) }, equals: before)
        try store.change { $0.delete(item, rowID: 1) }
        try run.expect(try store.read { try $0.count(FetchRequest(item)) }, equals: 39, "writing continues")
    },
    ConformanceCase("plan.cursor.is-not-disturbed", "Plans and open cursors do not affect each other.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 40)
        let price = try store.field("Item", "price")
        try store.read { transaction in
            let request = FetchRequest(item, predicate: .compare(price, .less, .integer(30)), sortKeys: [SortKey(price, ascending: false)])
            let expected = try transaction.ids(request)
            let cursor = try transaction.fetch(request)
            var found: [Int64] = []
            while try cursor.next() {
                found.append(cursor.rowID)
                try run.expect(try transaction.explain(request).rowsReturned, equals: expected.count, "at row \(found.count)")
                _ = try transaction.plan(FetchRequest(item))
            }
            cursor.close()
            try run.expect(found, equals: expected)
            try run.expect(try transaction.explain(request).rowsReturned, equals: expected.count, "after all rows")
        }
    },
    ConformanceCase(
        "plan.write.sees-what-was-applied", "Explaining in a write transaction counts its pending changes and does not affect the commit."
    ) { run in
        let (store, item) = try ItemCatalog.open(run, items: 20)
        let request = FetchRequest(item, predicate: .compare(try store.field("Item", "price"), .equal, .integer(1000)))
        try store.write { transaction in
            let changes = ChangeSet(store.schema)
            for id in 1...6 as ClosedRange<Int64> { try changes.update(item, rowID: id, ["price": .integer(1000)]) }
            changes.delete(item, rowID: 20)
            try transaction.apply(changes)
            try run.expect(try transaction.explain(request).rowsReturned, equals: 6)
            try run.expect(try transaction.explain(FetchRequest(item)).rowsReturned, equals: 19)
            _ = try transaction.plan(request)
        }
        try run.expect(try store.ids(request), equals: [1, 2, 3, 4, 5, 6])
        try run.expect(try store.read { try $0.explain(request).rowsReturned }, equals: 6)
    },
    ConformanceCase("plan.parts.of-records", "Explaining a fetch of ids or of some fields returns the same number of rows.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 50)
        try store.read { transaction in
            for var request in try ItemCatalog.someRequests(store) {
                let expected = try transaction.ids(request).count
                request.onlyIDs = true
                try run.expect(try transaction.explain(request).rowsReturned, equals: expected, "ids of \(request.predicate)")
                request.onlyIDs = false
                request.fields = FieldMask(first: item.fields.count / 2)
                try run.expect(try transaction.explain(request).rowsReturned, equals: expected, "fields of \(request.predicate)")
            }
        }
    },
    ConformanceCase(
        "plan.indexes.ignored-are-not-named", "The plan of a request that ignores indexes names none, and the rows are the same."
    ) { run in
        let (store, _) = try ItemCatalog.open(run, items: 50)
        try store.read { transaction in
            for var request in try ItemCatalog.someRequests(store) {
                let expected = try transaction.explain(request).rowsReturned
                request.ignoresIndexes = true
                let plan = try transaction.explain(request)
                try run.expect(plan.rowsReturned, equals: expected, "\(request.predicate)")
                for access in plan.accesses {
                    try run.expect(
                        access.path != .search && access.path != .index && access.index == nil, "\(access) for \(request.predicate)")
                }
            }
        }
    },
    ConformanceCase("plan.refused.as-a-fetch-is", "Explaining rejects invalid requests with the same error as a fetch.") { run in
        let (store, item) = try ItemCatalog.open(run, items: 5)
        let stranger = FieldReference(index: 77, name: "far", type: .int64)
        let requests = [
            FetchRequest(item, predicate: .isNull(stranger)), FetchRequest(item, sortKeys: [SortKey(stranger)]),
            FetchRequest(item, limit: -1),
            FetchRequest(item, offset: -1), FetchRequest(item, predicate: .compare(try store.field("Item", "price"), .equal, .text("3"))),
        ]
        let foreign = try ResolvedSchema(Fixtures.thing(.int64))
        guard let thing = foreign.entity(named: "Thing") else { throw run.fail("the fixture has changed") }
        try store.read { transaction in
            for request in requests {
                try run.expectError(.invalidPredicate, "plan") { try transaction.plan(request) }
                try run.expectError(.invalidPredicate, "explain") { try transaction.explain(request) }
            }
            try run.expectError(.misuse, "plan") { try transaction.plan(FetchRequest(thing)) }
            try run.expectError(.misuse, "explain") { try transaction.explain(FetchRequest(thing)) }
        }
        let reader = try store.backend.beginRead()
        reader.end()
        try run.expectError(.closed, "plan") { try reader.plan(FetchRequest(item)) }
        try run.expectError(.closed, "explain") { try reader.explain(FetchRequest(item)) }
    },
]
