import PolyStoreBackend

/// Aggregates, independent of the field's type.
let aggregateCases: [ConformanceCase] = [
    ConformanceCase(
        "aggregate.empty.is-one-row", "Without objects, counts and sums are 0 and other aggregates null; without groups there is one row."
    ) { run in
        for (type, zero) in [(AttributeType.int64, Value.integer(0)), (.uint64, .integer(0)), (.double, .real(0)), (.float, .real(0))] {
            let store = try run.open(Fixtures.thing(type), type.rawValue)
            let nothing: [Value] = [.integer(0), .integer(0), .integer(0), zero, .null, .null, .null]
            try run.expect(try everyAggregate(store), equals: nothing, "\(type), an empty store")
            try store.insert("Thing", [[.null], [.null]])
            try run.expect(try everyAggregate(store), equals: [.integer(2)] + nothing.dropFirst(), "\(type), nulls only")
            try run.expect(try everyAggregate(store, .none), equals: nothing, "\(type), nothing selected")
        }
    },
    ConformanceCase(
        "aggregate.count.of-objects-and-of-values", "A count without a field counts objects; a count with a field counts non-null values."
    ) { run in
        let (store, person) = try team(run)
        let (nickname, email) = (try store.field("Person", "nickname"), try store.field("Person", "email"))
        let request = AggregateRequest(
            person,
            aggregates: [.count, .count(nickname), .count(email), .countDistinct(nickname), .count(.objectID), .countDistinct(.objectID)])
        try run.expect(try store.read { try $0.aggregate(request)[0].values }, equals: [30, 20, 30, 4, 30, 30].map { .integer($0) })
    },
    ConformanceCase("aggregate.id.as-a-field", "Aggregates treat the id as a number.") { run in
        let store = try run.open(Fixtures.thing(.int64))
        let thing = try store.entity("Thing")
        try store.change { changes in for id in [5, 2, 900] as [Int64] { try changes.insert(thing, rowID: id, [.null]) } }
        let id = FieldReference.objectID
        let request = AggregateRequest(thing, aggregates: [.count(id), .minimum(id), .maximum(id), .sum(id), .average(id)])
        try run.expect(
            try store.read { try $0.aggregate(request)[0].values },
            equals: [.integer(3), .integer(2), .integer(900), .integer(907), .real(907.0 / 3)])
    },
    ConformanceCase("aggregate.predicate.narrows", "Aggregates cover the objects that the predicate selects, as in a fetch or a count.") {
        run in
        let (store, person) = try team(run)
        let age = try store.field("Person", "age")
        try store.read { transaction in
            for predicate in try predicates(store) {
                let ages = try transaction.rows(FetchRequest(person, predicate: predicate)).compactMap { row in
                    if case .integer(let age) = row[1] { age } else { nil }
                }
                let request = AggregateRequest(
                    person, predicate: predicate, aggregates: [.count, .sum(age), .minimum(age), .maximum(age), .countDistinct(age)])
                let expected: [Value] = [
                    .integer(Int64(ages.count)), .integer(ages.reduce(0, +)), ages.min().map { .integer($0) } ?? .null,
                    ages.max().map { .integer($0) } ?? .null, .integer(Int64(Set(ages).count)),
                ]
                try run.expect(try transaction.aggregate(request)[0].values, equals: expected, "\(predicate)")
                try run.expect(try transaction.count(FetchRequest(person, predicate: predicate)), equals: ages.count, "\(predicate)")
            }
        }
    },
    ConformanceCase("aggregate.indexes.make-no-difference", "Aggregates have the same results with and without indexes.") { run in
        let (store, person) = try team(run)
        let (age, score) = (try store.field("Person", "age"), try store.field("Person", "score"))
        try store.read { transaction in
            for predicate in try predicates(store) {
                for groups in [[], [age], [try store.field("Person", "nickname")]] {
                    var request = AggregateRequest(
                        person, predicate: predicate, groupBy: groups,
                        aggregates: [.count, .sum(age), .average(score), .minimum(age), .maximum(age), .countDistinct(age)])
                    let indexed = try transaction.aggregate(request)
                    request.ignoresIndexes = true
                    try run.expect(try transaction.aggregate(request), equals: indexed, "\(predicate) by \(groups.map(\.name))")
                }
            }
        }
    },
    ConformanceCase("aggregate.several.in-the-order-asked", "Values are in the order of the aggregates, including repeated aggregates.") {
        run in
        let (store, person) = try team(run)
        let age = try store.field("Person", "age")
        let aggregates: [Aggregate] = [.maximum(age), .count, .maximum(age), .minimum(age), .count]
        try run.expect(
            try store.read { try $0.aggregate(AggregateRequest(person, aggregates: aggregates))[0].values },
            equals: [9, 30, 9, 0, 30].map { .integer($0) })
        try run.expect(
            try store.read { try $0.aggregate(AggregateRequest(person, aggregates: [])) }, equals: [AggregateRow(group: [], values: [])],
            "none")
    },
    ConformanceCase(
        "aggregate.write.sees-what-was-applied", "Only the write transaction itself includes its pending changes in aggregates."
    ) { run in
        let (store, person) = try team(run)
        let age = try store.field("Person", "age")
        let request = AggregateRequest(person, aggregates: [.count, .sum(age), .maximum(age)])
        let before = try store.read { try $0.aggregate(request) }
        let transaction = try store.backend.beginWrite()
        let changes = ChangeSet(store.schema)
        try changes.insert(person, rowID: 100, Fixtures.person("new", 1000))
        try changes.update(person, rowID: 1, ["age": .integer(500)])
        changes.delete(person, rowID: 2)
        try transaction.apply(changes)
        // The ages of 1 and 2 were 0 and 1.
        try run.expect(try transaction.aggregate(request)[0].values, equals: [30, 135 - 1 + 1000 + 500, 1000].map { .integer($0) })
        if run.target.capabilities.contains(.concurrentReaders) {
            try run.expect(try store.read { try $0.aggregate(request) }, equals: before, "a reader")
        }
        transaction.rollback()
        try run.expect(try store.read { try $0.aggregate(request) }, equals: before, "after the rollback")
    },
    ConformanceCase("aggregate.snapshot.is-stable", "A reader's aggregates do not change.") { run in
        let (store, person) = try team(run)
        let age = try store.field("Person", "age")
        let request = AggregateRequest(person, groupBy: [age], aggregates: [.count, .sum(age)])
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        let before = try reader.aggregate(request)
        try store.change { changes in
            for id in 1...10 as ClosedRange<Int64> { changes.delete(person, rowID: id) }
            for id in 11...20 as ClosedRange<Int64> { try changes.update(person, rowID: id, ["age": .integer(77)]) }
        }
        try run.expect(try reader.aggregate(request), equals: before)
        try run.expect(try store.read { try $0.aggregate(request).last?.group }, equals: [.integer(77)], "a new reader")
    },
    ConformanceCase("aggregate.refused.strangers", "Unknown fields, other schemas and ended transactions are rejected.") {
        run in
        let (store, person) = try team(run)
        let stranger = FieldReference(index: 77, name: "far", type: .int64)
        let wrong = FieldReference(index: 1, name: "age", type: .double)
        for field in [stranger, wrong] {
            let requests = [
                AggregateRequest(person, aggregates: [.count(field)]), AggregateRequest(person, aggregates: [.sum(field)]),
                AggregateRequest(person, groupBy: [field], aggregates: [.count]),
                AggregateRequest(person, predicate: .compare(field, .equal, .null), aggregates: [.count]),
            ]
            for request in requests { try run.expectError(.invalidPredicate, field.name) { try store.read { try $0.aggregate(request) } } }
        }
        let foreign = try ResolvedSchema(Fixtures.thing(.int64))
        guard let thing = foreign.entity(named: "Thing") else { throw run.fail("the fixture has changed") }
        try run.expectError(.misuse, "a foreign entity") {
            try store.read { try $0.aggregate(AggregateRequest(thing, aggregates: [.count])) }
        }
        let reader = try store.backend.beginRead()
        reader.end()
        try run.expectError(.closed, "an ended reader") { try reader.aggregate(AggregateRequest(person, aggregates: [.count])) }
    },
]

/// Returns the count, count of values, distinct count, sum, average, minimum and maximum of the single field of "Thing".
func everyAggregate(_ store: TestStore, _ predicate: QueryPredicate = .all) throws -> [Value] {
    let field = try store.field("Thing", "value")
    let request = AggregateRequest(
        try store.entity("Thing"), predicate: predicate,
        aggregates: [.count, .count(field), .countDistinct(field), .sum(field), .average(field), .minimum(field), .maximum(field)])
    let rows = try store.read { try $0.aggregate(request) }
    try store.run.expect(rows.count, equals: 1, "rows")
    try store.run.expect(rows[0].group, equals: [], "the group")
    return rows[0].values
}

/// Thirty people of ages 0 to 9; two of three have one of four nicknames.
private func team(_ run: ConformanceRun) throws -> (TestStore, Entity) {
    let store = try run.open(Fixtures.company)
    var rows: [[Value]] = []
    for index in 0..<30 {
        let nickname: String? = index % 3 == 0 ? nil : "n\(index % 4)"
        let score: Double? = index % 5 == 0 ? nil : Double(index) / 4
        rows.append(Fixtures.person("p\(index)", Int64(index % 10), nickname: nickname, score: score))
    }
    try store.insert("Person", rows)
    return (store, try store.entity("Person"))
}

private func predicates(_ store: TestStore) throws -> [QueryPredicate] {
    let (age, email) = (try store.field("Person", "age"), try store.field("Person", "email"))
    let (nickname, score) = (try store.field("Person", "nickname"), try store.field("Person", "score"))
    return [
        .all, .none, .compare(age, .equal, .integer(3)), .compare(age, .less, .integer(4)), .compare(email, .equal, .text("p7")),
        .oneOf(age, [.integer(2), .integer(8), .integer(99)]), .text(email, .beginsWith, "p2"), .isNull(nickname), .not(.isNull(score)),
        .or([.compare(age, .equal, .integer(1)), .compare(score, .greater, .real(6))]), .compare(.objectID, .greater, .integer(25)),
        // A list so long that a backend may leave it as a residual predicate.
        .oneOf(email, (0..<700).map { .text("p\($0 * 2)") }), .compare(email, .equal, .null),
    ]
}
