import PolyStoreBackend

/// Unique attributes and indexes.
let uniquenessCases: [ConformanceCase] = [
    ConformanceCase(
        "uniqueness.violation.names-the-thing", "A taken value throws a constraint error with entity, attribute and object."
    ) { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        let error = try run.expectError(.constraint) {
            try store.change { try $0.insert(try store.entity("Person"), rowID: 2, Fixtures.person("a", 2)) }
        }
        try run.expect(error.entity, equals: "Person")
        try run.expect(error.attribute, equals: "email")
        try run.expect(error.rowID, equals: 2)
        try run.expect(try store.ids(FetchRequest(try store.entity("Person"))), equals: [1])
    },
    ConformanceCase("uniqueness.violation.within-one-change-set", "Two new objects with the same value are rejected too.") { run in
        let store = try run.open(Fixtures.company)
        try run.expectError(.constraint) { try store.insert("Person", [Fixtures.person("a", 1), Fixtures.person("a", 2)]) }
        try run.expect(try store.ids(FetchRequest(try store.entity("Person"))), equals: [])
    },
    ConformanceCase("uniqueness.violation.by-update", "An update to a taken value is rejected and has no effect.") { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1), Fixtures.person("b", 2)])
        let error = try run.expectError(.constraint) {
            try store.change { try $0.update(try store.entity("Person"), rowID: 2, ["email": .text("a"), "age": .integer(9)]) }
        }
        try run.expect(error.attribute, equals: "email")
        try run.expect(try store.row("Person", 2), equals: Fixtures.person("b", 2))
    },
    ConformanceCase("uniqueness.null.is-exempt", "Any number of objects can have no value.") { run in
        let store = try run.open(Fixtures.thing(.string, isUnique: true))
        try store.insert("Thing", [[.null], [.null], [.text("x")], [.null]])
        try run.expect(try store.ids(FetchRequest(try store.entity("Thing"))), equals: [1, 2, 3, 4])
        try store.change { try $0.update(try store.entity("Thing"), rowID: 3, ["value": .null]) }
    },
    ConformanceCase("uniqueness.empty.is-a-value", "Empty text is a value and unique like any other.") { run in
        let store = try run.open(Fixtures.thing(.string, isUnique: true))
        try run.expectError(.constraint) { try store.insert("Thing", [[.text("")], [.text("")]]) }
    },
    ConformanceCase("uniqueness.swap.passes", "Two objects can exchange their values in one change set.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1), Fixtures.person("b", 2)])
        try store.change { changes in
            try changes.update(person, rowID: 1, ["email": .text("b")])
            try changes.update(person, rowID: 2, ["email": .text("a")])
        }
        try run.expect(try store.row("Person", 1)?[0], equals: .text("b"))
        try run.expect(try store.ids(try store.request("Person", "email", .equal, .text("a"))), equals: [2])
    },
    ConformanceCase("uniqueness.rotation.passes", "Many objects can rotate their values in one change set.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", (0..<20).map { Fixtures.person("p\($0)", Int64($0)) })
        try store.change { changes in
            for id in 0..<20 { try changes.update(person, rowID: Int64(id + 1), ["email": .text("p\((id + 1) % 20)")]) }
        }
        for id in 0..<20 { try run.expect(try store.row("Person", Int64(id + 1))?[0], equals: .text("p\((id + 1) % 20)")) }
    },
    ConformanceCase("uniqueness.chain.passes", "An insert can take a value that an update releases, in either order.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.change { changes in
            try changes.insert(person, rowID: 2, Fixtures.person("a", 2))
            try changes.update(person, rowID: 1, ["email": .text("b")])
        }
        try run.expect(try store.ids(try store.request("Person", "email", .equal, .text("a"))), equals: [2])
    },
    ConformanceCase(
        "uniqueness.delete-and-insert.passes", "A value of a deleted object can be reused in the same change set, in either order."
    ) { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1), Fixtures.person("b", 2)])
        try store.change { changes in
            try changes.insert(person, rowID: 3, Fixtures.person("a", 3))
            changes.delete(person, rowID: 1)
        }
        try run.expect(try store.ids(try store.request("Person", "email", .equal, .text("a"))), equals: [3])
        try run.expectError(.constraint) { try store.change { try $0.insert(person, rowID: 4, Fixtures.person("a", 4)) } }
    },
    ConformanceCase("uniqueness.same-value.passes", "Writing an object's current value again is not a violation.") { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.change { try $0.update(try store.entity("Person"), rowID: 1, ["email": .text("a"), "age": .integer(2)]) }
        try run.expect(try store.row("Person", 1)?[1], equals: .integer(2))
    },
    ConformanceCase("uniqueness.half-swap.is-refused", "An exchange that leaves two equal values is rejected completely.") { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1), Fixtures.person("b", 2), Fixtures.person("c", 3)])
        let error = try run.expectError(.constraint) {
            try store.change { changes in
                try changes.update(person, rowID: 1, ["email": .text("b")])
                try changes.update(person, rowID: 2, ["email": .text("c")])
            }
        }
        try run.expect(error.attribute, equals: "email")
        try run.expect(try store.read { try $0.rows(FetchRequest(person)).map { $0[0] } }, equals: [.text("a"), .text("b"), .text("c")])
    },
    ConformanceCase("uniqueness.bytes.decide", "Canonically equivalent texts that differ in bytes are distinct values.") { run in
        let store = try run.open(Fixtures.thing(.string, isUnique: true))
        try store.insert(
            "Thing", [[.text("\u{e9}")], [.text("e\u{301}")], [.text("E\u{301}")], [.text("a")], [.text("A")], [.text("a\u{0}")]])
        try run.expect(try store.read { try $0.count(FetchRequest(try store.entity("Thing"))) }, equals: 6)
    },
    ConformanceCase("uniqueness.every-type", "Unique attributes of every physical type are compared by value.") { run in
        let values: [(AttributeType, Value)] = [
            (.int64, .integer(.min)), (.uint64, .integer(-1)), (.bool, .integer(1)), (.double, .real(.infinity)), (.double, .real(.nan)),
            (.date, .real(-1.5)), (.data, .blob([0, 255])), (.uuid, .blob(Array(repeating: 9, count: 16))), (.url, .text("a:b")),
        ]
        for (index, (type, value)) in values.enumerated() {
            let store = try run.open(Fixtures.thing(type, isUnique: true), "store\(index)")
            try store.insert("Thing", [[value]])
            try run.expectError(.constraint, "\(type) \(value)") {
                try store.change { try $0.insert(try store.entity("Thing"), rowID: 2, [value]) }
            }
        }
    },
    ConformanceCase("uniqueness.compound.judges-all-parts", "A compound unique index rejects only equality in all parts; null exempts.") {
        run in
        let schema = SchemaDescription(
            name: "Pairs",
            entities: [
                EntityDescription(
                    name: "Pair",
                    properties: [
                        .attribute(AttributeDescription(name: "first", type: .string, isOptional: true)),
                        .attribute(AttributeDescription(name: "second", type: .int64, isOptional: true)),
                    ], indexes: [IndexDescription(fields: ["first", "second"], isUnique: true)])
            ])
        let store = try run.open(schema)
        try store.insert(
            "Pair",
            [
                [.text("a"), .integer(1)], [.text("a"), .integer(2)], [.text("b"), .integer(1)], [.text("a"), .null], [.text("a"), .null],
            ])
        let error = try run.expectError(.constraint) {
            try store.change { try $0.insert(try store.entity("Pair"), rowID: 6, [.text("a"), .integer(2)]) }
        }
        try run.expect(
            error.attribute?.contains("first") == true && error.attribute?.contains("second") == true,
            "names \(error.attribute ?? "nothing")")
        // Swapping one part between two objects passes too.
        try store.change { changes in
            try changes.update(try store.entity("Pair"), rowID: 1, ["second": .integer(2)])
            try changes.update(try store.entity("Pair"), rowID: 2, ["second": .integer(1)])
        }
        try run.expect(try store.row("Pair", 1), equals: [.text("a"), .integer(2)])
    },
]
