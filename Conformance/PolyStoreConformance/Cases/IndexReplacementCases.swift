import PolyStoreBackend

/// Opening a store with a schema that differs only in plain indexes.
let indexReplacementCases: [ConformanceCase] = [
    indexCase("added-and-dropped", "A store can be opened with other plain indexes, and all queries stay correct.") { run in
        try fill(try run.open(people(indexed: ["name"])), run, 300)
        for indexed in [["age"], [], ["name", "age", "score"], ["score"], ["name"]] {
            let store = try run.open(people(indexed: indexed, compound: indexed.count == 1))
            for round in 1...3 { try checkQueries(store, run, "indexes on \(indexed), round \(round)") }
            try store.change { changes in
                try changes.update(try store.entity("Person"), rowID: 1, ["name": .text("changed"), "age": .integer(-1)])
            }
            try checkQueries(store, run, "indexes on \(indexed), after an update")
            try store.change { changes in
                try changes.update(try store.entity("Person"), rowID: 1, ["name": .text("name 1"), "age": .integer(1)])
            }
            try store.backend.close()
        }
    },
    indexCase("large.while-writing", "Indexes of many records are created while the store is read and written.") { run in
        try fill(try run.open(people(indexed: [])), run, 20_000)
        let store = try run.open(people(indexed: ["name", "age", "score"], compound: true))
        let person = try store.entity("Person")
        let age = try store.field("Person", "age")
        for id in 20_001...20_020 as ClosedRange<Int64> {
            try store.change { try $0.insert(person, rowID: id, [.text("name \(id)"), .integer(7), .null]) }
            let found = try store.ids(FetchRequest(person, predicate: .compare(age, .equal, .integer(7))))
            try run.expect(found.count, equals: 200 + Int(id - 20_000), "the record \(id)")
        }
        try store.backend.close()
        let again = try run.open(people(indexed: ["name", "age", "score"], compound: true))
        try run.expect(try again.ids(FetchRequest(person, predicate: .compare(age, .equal, .integer(7)))).count, equals: 220)
        if run.target.capabilities.contains(.verification) {
            try again.backend.close()
            try run.expect(
                try verification(run, people(indexed: ["name", "age", "score"], compound: true)), equals: [], "the verification")
        }
    },
    indexCase("closed.at-once", "A store that is closed and reopened while indexes are created loses no data.") { run in
        try fill(try run.open(people(indexed: [])), run, 5000)
        for _ in 1...10 { try run.open(people(indexed: ["name", "age", "score"], compound: true)).backend.close() }
        for _ in 1...5 {
            try run.open(people(indexed: ["age"])).backend.close()
            try run.open(people(indexed: ["name"])).backend.close()
        }
        let store = try run.open(people(indexed: ["name", "age"]))
        try run.expect(try store.ids(FetchRequest(try store.entity("Person"))).count, equals: 5000)
        let age = try store.field("Person", "age")
        try run.expect(
            try store.ids(FetchRequest(try store.entity("Person"), predicate: .compare(age, .equal, .integer(7)))).count, equals: 50)
    },
    indexCase("schema.is-replaced", "The store contains the schema that it was last opened with.") { run in
        try fill(try run.open(people(indexed: ["name"])), run, 10)
        let store = try run.open(people(indexed: ["age"]))
        let id = store.backend.metadata.storeID
        try run.expect(store.backend.metadata.schemaHash, equals: people(indexed: ["age"]).versionHash)
        try store.backend.close()
        let other = SchemaDescription([EntityDescription("Person", [.attribute("name", .string)])])
        let error = try run.expectError(.migrationRequired) { try run.open(other) }
        try run.expect(error.storedSchema, equals: people(indexed: ["age"]))
        try run.expect(try run.open(people(indexed: [])).backend.metadata.storeID, equals: id)
    },
    indexCase("unique.is-data", "A schema that differs in a unique index requires a migration.") { run in
        try fill(try run.open(people(indexed: ["name"])), run, 10)
        var unique = people(indexed: [])
        unique.entities[0].indexes = [IndexDescription(fields: ["name"], isUnique: true)]
        try run.expectError(.migrationRequired) { try run.open(unique) }
        try checkQueries(try run.open(people(indexed: ["name"])), run, "with the first schema")
    },
    indexCase(
        "read-only.reads", "A store with any plain indexes can be opened read-only, and queries are correct.",
        requires: [.readOnlyOpen]
    ) {
        run in
        try fill(try run.open(people(indexed: ["name"])), run, 300)
        let store = try run.open(people(indexed: ["age", "score"], compound: true)) { $0.readOnly() }
        try checkQueries(store, run, "read-only")
        try store.backend.close()
        try checkQueries(try run.open(people(indexed: ["name"])), run, "with the first schema")
    },
    indexCase(
        "handles.go-on", "An open store continues to work when it is opened elsewhere with other plain indexes.",
        requires: [.multiProcess]
    ) { run in
        let first = try run.open(people(indexed: ["name"]))
        let person = try first.entity("Person")
        try insert(first, run, 300)
        let second: TestStore
        do { second = try run.open(people(indexed: ["age"])) } catch let error as StoreError where error.code == .busy { return }
        for (number, store) in [first, second, first, second].enumerated() {
            try checkQueries(store, run, "handle \(number)")
            try store.change { try $0.insert(person, rowID: Int64(1000 + number), [.text("new"), .integer(-5), .real(-5)]) }
            try run.expect(try first.row("Person", Int64(1000 + number)) != nil, "the first handle misses the record \(number)")
            try run.expect(try second.row("Person", Int64(1000 + number)) != nil, "the second handle misses the record \(number)")
            try store.change { $0.delete(person, rowID: Int64(1000 + number)) }
        }
    },
]

private func indexCase(
    _ id: String, _ statement: String, requires: Set<Capabilities.Feature> = [], _ body: @escaping @Sendable (ConformanceRun) throws -> Void
) -> ConformanceCase {
    ConformanceCase("migration.indexes.\(id)", statement, requires: requires.union([.migration, .persistence]), body)
}

private func people(indexed: [String], compound: Bool = false) -> SchemaDescription {
    SchemaDescription([
        EntityDescription(
            "Person",
            [
                .attribute("name", .string, isIndexed: indexed.contains("name")),
                .attribute("age", .int64, isIndexed: indexed.contains("age")),
                .attribute("score", .double, isOptional: true, isIndexed: indexed.contains("score")),
            ], indexes: compound ? [IndexDescription(fields: ["age", "name"])] : [])
    ])
}

private func insert(_ store: TestStore, _ run: ConformanceRun, _ count: Int) throws {
    let rows = (1...count).map { id -> [Value] in
        let score: Value = id % 3 == 0 ? .null : .real(Double(id % 50) / 4)
        return [.text("name \(id)"), .integer(Int64(id % 100)), score]
    }
    try store.insert("Person", rows)
}

private func fill(_ store: TestStore, _ run: ConformanceRun, _ count: Int) throws {
    try insert(store, run, count)
    try store.backend.close()
}

/// Compares the results of conditions with those of full scans.
private func checkQueries(_ store: TestStore, _ run: ConformanceRun, _ when: String) throws {
    let person = try store.entity("Person")
    try store.read { reader in
        let rows = try reader.all(person)
        for (name, value) in [
            ("name", .text("name 17")), ("name", .text("changed")), ("age", .integer(17)), ("age", .integer(-1)), ("score", .real(1.25)),
        ] as [(String, Value)] {
            let field = try store.field("Person", name)
            for (comparison, sign) in [(.equal, 0), (.less, -1), (.greater, 1)] as [(ComparisonOperator, Int)] {
                let expected = rows.filter {
                    !$0.value[field.index].isNull && $0.value[field.index].order(to: value, unsigned: false).signum() == sign
                }
                let found = try reader.ids(FetchRequest(person, predicate: .compare(field, comparison, value)))
                try run.expect(found.sorted(), equals: expected.keys.sorted(), "\(when): \(name) \(comparison.rawValue) \(value)")
            }
        }
        let (age, name) = (try store.field("Person", "age"), try store.field("Person", "name"))
        let sorted = try reader.rows(FetchRequest(person, sortKeys: [SortKey(age), SortKey(name)]))
        try run.expect(sorted.count, equals: rows.count, when)
        let isAscending = zip(sorted, sorted.dropFirst()).allSatisfy { left, right in
            let order = left[1].order(to: right[1], unsigned: false)
            return order < 0 || order == 0 && left[0].order(to: right[0], unsigned: false) <= 0
        }
        try run.expect(isAscending, "\(when): the order by age and name")
    }
}

/// Returns the findings of a verification after all indexes have been created.
private func verification(_ run: ConformanceRun, _ schema: SchemaDescription) throws -> [String] {
    let store = try run.open(schema)
    var findings: [String] = []
    // An index may still be under construction in the background.
    for _ in 1...200 {
        findings = try store.backend.verify()
        if findings.isEmpty { break }
        Deadline.pause(milliseconds: 10)
    }
    return findings
}
