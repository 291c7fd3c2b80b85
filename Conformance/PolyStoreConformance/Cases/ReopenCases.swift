import PolyStoreBackend

/// The contents of a store after it is closed and opened again.
let reopenCases: [ConformanceCase] = [
    ConformanceCase(
        "reopen.everything.is-kept", "After reopening, every request has the same result: records, orders, indexes, aggregates.",
        requires: [.persistence]
    ) {
        run in
        var (store, item) = try ItemCatalog.open(run, items: 60)
        try store.change { changes in
            for id in stride(from: Int64(2), through: 60, by: 5) {
                try changes.update(item, rowID: id, ["price": .null, "title": .text("é\u{0}\(id)")])
            }
            for id in stride(from: Int64(3), through: 60, by: 5) { changes.delete(item, rowID: id) }
        }
        func answers() throws -> [[[Value]]] {
            let price = try store.field("Item", "price")
            return try store.read { transaction in
                try ItemCatalog.requests(store).map { try transaction.rows($0) }
                    + [transaction.aggregate(AggregateRequest(item, groupBy: [price], aggregates: [.count])).map { $0.group + $0.values }]
            }
        }
        let before = try answers()
        try store.backend.close()
        store = try run.open(ItemCatalog.schema)
        item = try store.entity("Item")
        try run.expect(try answers() == before, "another answer after reopening")
    },
    ConformanceCase(
        "reopen.links.and-their-removal", "Links and removed links are unchanged after reopening, from both ends.", requires: [.persistence]
    ) { run in
        var store = try run.open(Fixtures.company)
        try store.insert("Person", (0..<10).map { Fixtures.person("p\($0)", 1) })
        try store.insert("Club", (0..<10).map { [.text("c\($0)")] })
        try store.change { changes in
            for person in 1...10 as ClosedRange<Int64> {
                for club in 1...10 as ClosedRange<Int64> {
                    changes.link(try store.pair(try store.relationship("Person", "clubs"), person, club))
                }
            }
        }
        try store.change { changes in
            for id in 1...10 as ClosedRange<Int64> {
                changes.link(try store.pair(try store.relationship("Person", "clubs"), id, id, isAddition: false))
            }
        }
        try store.backend.close()
        store = try run.open(Fixtures.company)
        for (entity, name) in [("Person", "clubs"), ("Club", "members")] {
            let found = try store.read { try $0.related(try store.relationship(entity, name), of: Array(1...10)) }
            for id in 1...10 as ClosedRange<Int64> { try run.expect(found[id], equals: (1...10).filter { $0 != id }, "\(entity) \(id)") }
        }
    },
    ConformanceCase(
        "reopen.uniqueness.still-holds", "After reopening, taken values are taken and free ones free, in all unique indexes.",
        requires: [.persistence]
    ) { run in
        let schema = SchemaDescription(
            name: "Pairs",
            entities: [
                EntityDescription(
                    name: "Pair",
                    properties: [
                        .attribute(AttributeDescription(name: "name", type: .string, isOptional: true, isUnique: true)),
                        .attribute(AttributeDescription(name: "first", type: .string, isOptional: true)),
                        .attribute(AttributeDescription(name: "second", type: .double, isOptional: true)),
                    ], indexes: [IndexDescription(fields: ["first", "second"], isUnique: true)])
            ])
        var store = try run.open(schema)
        try store.insert(
            "Pair", [[.text("a"), .text("x"), .real(1)], [.text("b"), .text("x"), .real(.nan)], [.text("gone"), .text("x"), .real(3)]])
        try store.change { $0.delete(try store.entity("Pair"), rowID: 3) }
        try store.backend.close()
        store = try run.open(schema)
        let pair = try store.entity("Pair")
        for row in [[.text("a"), .text("y"), .real(1)], [.text("c"), .text("x"), .real(.nan)], [.null, .text("x"), .real(1)]] as [[Value]] {
            try run.expectError(.constraint, "\(row)") { try store.change { try $0.insert(pair, rowID: 9, row) } }
        }
        try store.change { try $0.insert(pair, rowID: 9, [.text("gone"), .text("x"), .real(3)]) }
    },
    ConformanceCase(
        "reopen.again-and-again", "A repeatedly opened, changed and closed store has every change, and its version never decreases.",
        requires: [.persistence]
    ) { run in
        var version: UInt64 = 0
        for round in 1...12 as ClosedRange<Int64> {
            let store = try run.open(Fixtures.company)
            let person = try store.entity("Person")
            let found = try store.read { (try $0.version, try $0.rows(FetchRequest(person))) }
            try run.expect(found.0, equals: version, "the version in round \(round)")
            try run.expect(found.1, equals: (1..<round).map { Fixtures.person("p\($0)", $0 == round - 1 ? 0 : $0) }, "round \(round)")
            try store.change { changes in
                if round > 1 { try changes.update(person, rowID: round - 1, ["age": .integer(round - 1)]) }
                try changes.insert(person, rowID: round, Fixtures.person("p\(round)", 0))
            }
            version = try store.read { try $0.version }
            try run.expect(version > found.0, "the commit counts")
            try store.backend.close()
        }
    },
    ConformanceCase(
        "reopen.failures.left-nothing", "Failed change sets, rollbacks and released transactions have no effect after reopening.",
        requires: [.persistence]
    ) { run in
        var store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.write { transaction in
            let bad = ChangeSet(store.schema)
            try bad.insert(person, rowID: 2, Fixtures.person("failed", 2))
            bad.delete(person, rowID: 99)
            try run.expectError(.notFound) { try transaction.apply(bad) }
            let good = ChangeSet(store.schema)
            try good.insert(person, rowID: 3, Fixtures.person("c", 3))
            try transaction.apply(good)
        }
        do {
            let transaction = try store.backend.beginWrite()
            let changes = ChangeSet(store.schema)
            try changes.insert(person, rowID: 4, Fixtures.person("dropped", 4))
            try transaction.apply(changes)
        }
        try store.backend.close()
        store = try run.open(Fixtures.company)
        try run.expect(
            try store.read { try $0.rows(FetchRequest(try store.entity("Person"))) },
            equals: [Fixtures.person("a", 1), Fixtures.person("c", 3)])
    },
]
