import PolyStoreBackend

/// Rejected changes and requests, which have no effect.
let refusalCases: [ConformanceCase] = [
    ConformanceCase(
        "refusal.every-failure.undoes-everything",
        "Any failure at any position of a change set undoes all of it: objects, values, links, uniqueness."
    ) { run in
        let failures: [(String, StoreError.Code, (ChangeSet, Entity) throws -> Void)] = [
            ("a taken id", .constraint, { try $0.insert($1, rowID: 2, Fixtures.person("new id", 1)) }),
            ("a taken value, inserted", .constraint, { try $0.insert($1, rowID: 50, Fixtures.person("c", 1)) }),
            ("a taken value, updated", .constraint, { try $0.update($1, rowID: 2, ["email": .text("c")]) }),
            ("an update of nothing", .notFound, { try $0.update($1, rowID: 77, ["age": .integer(1)]) }),
            ("a deletion of nothing", .notFound, { $0.delete($1, rowID: 77) }),
        ]
        for (number, (what, code, fail)) in failures.enumerated() {
            for position in 0...3 {
                let store = try run.open(Fixtures.company, "store\(number)-\(position)")
                let person = try store.entity("Person")
                let friends = try store.relationship("Person", "friends")
                try store.insert("Person", ["a", "b", "c", "d"].enumerated().map { Fixtures.person($0.element, Int64($0.offset)) })
                try store.change { changes in
                    changes.link(try store.pair(friends, 1, 2))
                    changes.link(try store.pair(friends, 2, 1))
                }
                let before = try store.read { try $0.rows(FetchRequest(person)) }
                let good: [(ChangeSet) throws -> Void] = [
                    { try $0.insert(person, rowID: 9, Fixtures.person("nine", 9)) },
                    { try $0.update(person, rowID: 1, ["email": .text("moved"), "age": .integer(99)]) },
                    { $0.delete(person, rowID: 4) },
                ]
                try store.write { transaction in
                    let changes = ChangeSet(store.schema)
                    changes.link(try store.pair(friends, 1, 2, isAddition: false))
                    changes.link(try store.pair(friends, 2, 3))
                    for (index, part) in good.enumerated() {
                        if index == position { try fail(changes, person) }
                        try part(changes)
                    }
                    if position == good.count { try fail(changes, person) }
                    try run.expectError(code, "\(what) at \(position)") { try transaction.apply(changes) }
                    try run.expect(try transaction.rows(FetchRequest(person)), equals: before, "\(what) at \(position), inside")
                }
                try run.expect(try store.read { try $0.rows(FetchRequest(person)) }, equals: before, "\(what) at \(position)")
                try store.read { transaction in
                    let found = try transaction.related(friends, of: [1, 2])
                    try run.expect(found[1], equals: [2], "\(what) at \(position): links of 1")
                    try run.expect(found[2], equals: [1], "\(what) at \(position): links of 2")
                }
                // Values that the failed change set claimed are free; values that it released are taken.
                try run.expectError(.constraint, "\(what) at \(position): given up") {
                    try store.change { try $0.insert(person, rowID: 20, Fixtures.person("a", 1)) }
                }
                try store.change { changes in
                    try changes.insert(person, rowID: 20, Fixtures.person("nine", 1))
                    try changes.insert(person, rowID: 21, Fixtures.person("moved", 1))
                    try changes.insert(person, rowID: 22, Fixtures.person("new id", 1))
                }
                if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: [], what) }
            }
        }
    },
    ConformanceCase(
        "refusal.required.null", "Null in a required field throws a constraint error that names it and has no effect."
    ) { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1)])
        var row = Fixtures.person("b", 2)
        row[1] = .null
        for (what, change) in [
            ("insert", { try $0.insert(person, rowID: 2, row) }),
            ("update", { try $0.update(person, rowID: 1, ["email": .text("z"), "age": .null]) }),
        ] as [(String, (ChangeSet) throws -> Void)] {
            let error = try run.expectError(.constraint, what) { try store.change(change) }
            try run.expect(error.entity, equals: "Person", what)
            try run.expect(error.attribute, equals: "age", what)
        }
        try run.expect(try store.read { try $0.rows(FetchRequest(person)) }, equals: [Fixtures.person("a", 1)])
    },
    ConformanceCase("refusal.required.only-what-is-written", "An update can omit required fields, which keep their values.") { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.change { try $0.update(try store.entity("Person"), rowID: 1, ["score": .real(1)]) }
        try run.expect(try store.row("Person", 1), equals: Fixtures.person("a", 1, score: 1))
    },
    ConformanceCase("refusal.foreign-schema.is-misuse", "Entities, relationships and change sets of another schema are misuse.") { run in
        let store = try run.open(Fixtures.thing(.int64))
        let foreign = try ResolvedSchema(Fixtures.company)
        guard let person = foreign.entity(named: "Person"), let club = foreign.entity(named: "Club"),
            let friends = person.relationship(named: "friends"), let department = person.relationship(named: "department")
        else { throw run.fail("the fixture has changed") }
        try store.write { transaction in
            for entity in [person, club] {
                try run.expectError(.misuse, "record") { try transaction.record(entity, rowID: 1) }
                try run.expectError(.misuse, "fetch") { try transaction.ids(FetchRequest(entity)) }
                try run.expectError(.misuse, "count") { try transaction.count(FetchRequest(entity)) }
                try run.expectError(.misuse, "reserveIDs") { try transaction.reserveIDs(entity, count: 1) }
            }
            try run.expectError(.misuse, "links") { try transaction.related(friends, of: [1]) }
            try run.expectError(.misuse, "to-one") { try transaction.related(department, of: [1]) }
            let changes = ChangeSet(foreign)
            try changes.insert(club, rowID: 1, [.text("chess")])
            try run.expectError(.misuse, "apply") { try transaction.apply(changes) }
            // The transaction continues.
            let own = ChangeSet(store.schema)
            try own.insert(try store.entity("Thing"), rowID: 1, [.integer(1)])
            try transaction.apply(own)
        }
        try run.expect(try store.row("Thing", 1), equals: [.integer(1)])
    },
    ConformanceCase("refusal.equal-schema.is-the-same", "A schema resolved again from the same description works with the store.") {
        run in
        let store = try run.open(Fixtures.company)
        let twin = try ResolvedSchema(Fixtures.company)
        guard let person = twin.entity(named: "Person"), let friends = person.relationship(named: "friends") else {
            throw run.fail("the fixture has changed")
        }
        try store.write { transaction in
            let changes = ChangeSet(twin)
            try changes.insert(person, rowID: 1, Fixtures.person("a", 1))
            try transaction.apply(changes)
        }
        try store.read { transaction in
            try run.expect(try transaction.row(person, 1), equals: Fixtures.person("a", 1))
            try run.expect(try transaction.ids(FetchRequest(person)), equals: [1])
            try run.expect(try transaction.related(friends, of: [1])[1], equals: [])
        }
    },
    ConformanceCase(
        "refusal.foreign-field.is-invalid", "A condition or an order on an unknown field throws invalidPredicate."
    ) {
        run in
        let store = try run.open(Fixtures.company)
        try store.insert("Club", [[.text("chess")]])
        let club = try store.entity("Club")
        let strangers = [
            FieldReference(index: 1, name: "far", type: .string), FieldReference(index: 4000, name: "farther", type: .string),
            FieldReference(index: 0, name: "name", type: .int64),
        ]
        for field in strangers {
            let predicates: [QueryPredicate] = [
                .isNull(field), .not(.isNull(field)), .compare(field, .equal, .null), .oneOf(field, []), .compare(field, .less, field),
                .and([.compare(.objectID, .equal, .integer(1)), .or([.isNull(field), .compare(.objectID, .equal, .integer(2))])]),
            ]
            for predicate in predicates {
                try run.expectError(.invalidPredicate, "\(predicate)") { try store.ids(FetchRequest(club, predicate: predicate)) }
                try run.expectError(.invalidPredicate, "count of \(predicate)") {
                    try store.read { try $0.count(FetchRequest(club, predicate: predicate)) }
                }
            }
            try run.expectError(.invalidPredicate, "order by \(field.name)") {
                try store.ids(FetchRequest(club, sortKeys: [SortKey(field)]))
            }
        }
    },
    ConformanceCase("refusal.ids.count-below-one", "Fewer than one id cannot be reserved.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.write { transaction in
            for count in [0, -1, .min] { try run.expectError(.misuse, "\(count)") { try transaction.reserveIDs(person, count: count) } }
            try run.expect(try transaction.reserveIDs(person, count: 1), equals: 1)
        }
    },
    ConformanceCase("refusal.ids.used-up", "Reserving more ids than are left throws full, and the remaining ids can be reserved.") {
        run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.write { transaction in
            try run.expect(try transaction.reserveIDs(person, count: .max - 10), equals: 1)
            for count in [11, 1000, .max] { try run.expectError(.full, "\(count)") { try transaction.reserveIDs(person, count: count) } }
            try run.expect(try transaction.reserveIDs(person, count: 5), equals: .max - 9)
        }
    },
]
