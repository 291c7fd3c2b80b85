import PolyStoreBackend

/// Slices, counts, fetches of ids, several cursors, plans.
let queryCases: [ConformanceCase] = [
    ConformanceCase("query.limit.and-offset", "Limit and offset slice the ordered result, whatever their size.") { run in
        let (store, person) = try crowd(run)
        let age = FieldReference(person.fields[1])
        let whole = try store.ids(FetchRequest(person, predicate: .compare(age, .greater, .integer(2)), sortKeys: [SortKey(age)]))
        for limit in [nil, 0, 1, 2, 7, 39, 40, 1000, .max] as [Int?] {
            for offset in [0, 1, 5, 39, 40, 1000, .max] {
                let request = FetchRequest(
                    person, predicate: .compare(age, .greater, .integer(2)), sortKeys: [SortKey(age)], limit: limit, offset: offset)
                let remaining = whole.dropFirst(offset)
                let expected = Array(limit.map { remaining.prefix($0) } ?? remaining)
                try run.expect(try store.ids(request), equals: expected, "limit \(limit.map(String.init) ?? "none") offset \(offset)")
                try run.expect(
                    try store.read { try $0.count(request) }, equals: expected.count,
                    "count, limit \(limit.map(String.init) ?? "none") offset \(offset)")
            }
        }
    },
    ConformanceCase("query.limit.negative-is-refused", "A negative limit or offset throws invalidPredicate.") { run in
        let (store, person) = try crowd(run)
        try run.expectError(.invalidPredicate) { try store.ids(FetchRequest(person, limit: -1)) }
        try run.expectError(.invalidPredicate) { try store.ids(FetchRequest(person, offset: -1)) }
    },
    ConformanceCase("query.ids-only.same-ids", "A fetch of ids returns the ids of the objects in the same order.") { run in
        let (store, person) = try crowd(run)
        for var request in requests(person) {
            let ids = try store.ids(request)
            request.onlyIDs = true
            try run.expect(try store.ids(request), equals: ids, "\(request.predicate)")
        }
    },
    ConformanceCase("query.count.agrees-with-fetch", "A count is the number of rows.") { run in
        let (store, person) = try crowd(run)
        for request in requests(person) {
            try run.expect(try store.read { try $0.count(request) }, equals: try store.ids(request).count, "\(request.predicate)")
        }
    },
    ConformanceCase("query.rows.have-their-values", "A cursor returns every row with its own values.") { run in
        let (store, person) = try crowd(run)
        for request in requests(person) {
            try store.read { transaction in
                let cursor = try transaction.fetch(request)
                defer { cursor.close() }
                while try cursor.next() {
                    let row = person.fields.map { cursor.record.value($0) }
                    try run.expect(row, equals: crowdRow(Int(cursor.rowID) - 1), "object \(cursor.rowID)")
                }
            }
        }
    },
    ConformanceCase("query.empty.entity", "Every request on an entity without objects has an empty result.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        for request in requests(person) {
            try run.expect(try store.ids(request), equals: [])
            try run.expect(try store.read { try $0.count(request) }, equals: 0)
        }
    },
    ConformanceCase("query.repeated.same-answer", "A repeated request has the same result after requests with other constants.") { run in
        let (store, person) = try crowd(run)
        let age = FieldReference(person.fields[1])
        try store.read { transaction in
            for _ in 0..<3 {
                for value in 0..<10 as Range<Int64> {
                    let expected = (0..<40 as Range<Int64>).filter { $0 % 10 == value }.map { $0 + 1 }
                    try run.expect(
                        try transaction.ids(FetchRequest(person, predicate: .compare(age, .equal, .integer(value)))), equals: expected)
                }
            }
        }
    },
    ConformanceCase("query.abandoned.cursors-do-no-harm", "Cursors that are released before their end have no effects.") { run in
        let (store, person) = try crowd(run)
        try store.read { transaction in
            for _ in 0..<50 {
                let cursor = try transaction.fetch(FetchRequest(person))
                _ = try cursor.next()
            }
            try run.expect(try transaction.ids(FetchRequest(person)).count, equals: 40)
        }
        try store.change { $0.delete(person, rowID: 1) }
        try run.expect(try store.ids(FetchRequest(person)).count, equals: 39)
    },
    ConformanceCase(
        "query.plan.accounts-for-everything", "A plan names an access path, and the condition is pushed down or a residual predicate."
    ) { run in
        let (store, person) = try crowd(run)
        try store.read { transaction in
            for request in requests(person) {
                let plan = try transaction.plan(request)
                try run.expect(plan.entity, equals: "Person")
                try run.expect(!plan.access.isEmpty, "no access path for \(request.predicate)")
                try run.expect(plan.description.contains("access:"), "no description")
                if request.predicate != .all, request.predicate != .none {
                    try run.expect(
                        !plan.pushedDown.isEmpty || !plan.residual.isEmpty, "\(request.predicate) is neither pushed down nor left")
                }
            }
        }
    },
    ConformanceCase("query.write.sees-its-changes", "The same requests in a write transaction include its pending changes.") { run in
        let (store, person) = try crowd(run)
        let age = FieldReference(person.fields[1])
        try store.write { transaction in
            let changes = ChangeSet(store.schema)
            for id in 1...20 as ClosedRange<Int64> { try changes.update(person, rowID: id, ["age": .integer(500 + id)]) }
            changes.delete(person, rowID: 40)
            try transaction.apply(changes)
            try run.expect(
                try transaction.ids(FetchRequest(person, predicate: .compare(age, .greater, .integer(500)))),
                equals: (1...20).map { Int64($0) })
            let top = FetchRequest(person, sortKeys: [SortKey(age, ascending: false)], limit: 3)
            try run.expect(try transaction.ids(top), equals: [20, 19, 18])
            try run.expect(try transaction.count(FetchRequest(person)), equals: 39)
        }
    },
]

private func crowdRow(_ index: Int) -> [Value] {
    Fixtures.person(
        "p\(index)", Int64(index % 10), nickname: index % 3 == 0 ? nil : "n\(index % 7)", score: index % 4 == 0 ? nil : Double(index) / 3)
}

private func crowd(_ run: ConformanceRun) throws -> (TestStore, Entity) {
    let store = try run.open(Fixtures.company)
    try store.insert("Person", (0..<40).map(crowdRow))
    return (store, try store.entity("Person"))
}

private func requests(_ person: Entity) -> [FetchRequest] {
    let email = FieldReference(person.fields[0])
    let age = FieldReference(person.fields[1])
    let nickname = FieldReference(person.fields[2])
    let score = FieldReference(person.fields[3])
    let predicates: [QueryPredicate] = [
        .all, .none, .compare(email, .equal, .text("p7")), .compare(age, .equal, .integer(3)), .compare(age, .less, .integer(3)),
        .compare(score, .greater, .real(5)), .isNull(nickname), .not(.isNull(nickname)), .oneOf(age, [.integer(1), .integer(9)]),
        .text(nickname, .beginsWith, "n"), .text(email, .contains, "1"), .text(email, .endsWith, "9"),
        .and([.compare(age, .greater, .integer(2)), .compare(score, .less, .real(10))]),
        .or([.compare(age, .equal, .integer(0)), .isNull(score), .text(email, .endsWith, "5")]),
        .not(.or([.compare(age, .less, .integer(5)), .compare(nickname, .equal, .text("n1"))])), .compare(.objectID, .less, .integer(10)),
    ]
    let orders: [[SortKey]] = [
        [], [SortKey(age)], [SortKey(score, ascending: false)], [SortKey(nickname, nulls: .last), SortKey(email, ascending: false)],
    ]
    return predicates.flatMap { predicate in
        orders.flatMap { order in
            [
                FetchRequest(person, predicate: predicate, sortKeys: order),
                FetchRequest(person, predicate: predicate, sortKeys: order, limit: 5, offset: 2),
            ]
        }
    }
}
