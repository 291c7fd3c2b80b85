import PolyStoreBackend

/// Names that an engine may use itself, and schemas in another declaration order.
let nameCases: [ConformanceCase] = [
    ConformanceCase("names.own.are-not-taken", "Names that engines use internally are valid.") { run in
        let names = ["rowid", "_rowid_", "oid", "id", "source", "target", "version", "key", "value", "null", "main", "temp", "new", "old"]
        let store = try run.open(optionalTexts(entities: names, attributes: names))
        for (number, name) in names.enumerated() {
            let row = names.map { Value.text("\(number) \($0)") }
            try store.insert(name, [row, names.map { _ in .null }])
            try run.expect(try store.row(name, 1), equals: row, name)
            let entity = try store.entity(name)
            for field in entity.fields {
                let request = FetchRequest(
                    entity, predicate: .compare(FieldReference(field), .equal, row[field.index]),
                    sortKeys: [SortKey(FieldReference(field))])
                try run.expect(try store.ids(request), equals: [1], "\(name).\(field.name)")
            }
        }
    },
    ConformanceCase(
        "names.own.missing-object",
        "An object that is missing is named, and the transaction continues, also if an attribute is called id, and whatever it contains."
    ) { run in
        let values: [(AttributeType, [Value])] = [
            (.string, [.text("a"), .text("1"), .text("99")]), (.int64, [.integer(5), .integer(6), .integer(7)]),
            (.int64, [.integer(1), .integer(2), .integer(3)]), (.int64, [.integer(99), .null, .integer(98)]),
            (.uuid, [1, 2, 3].map { .blob([UInt8](repeating: $0, count: 16)) }),
        ]
        for (number, (type, rows)) in values.enumerated() {
            let attributes = ["id", "t", "rows", "changed"].map {
                AttributeDescription(name: $0, type: type, isOptional: true)
            }
            let store = try run.open(
                SchemaDescription(
                    name: "Missing", entities: [EntityDescription(name: "Item", properties: attributes.map { .attribute($0) })]),
                "\(number)")
            let item = try store.entity("Item")
            try store.insert("Item", rows.map { [$0, $0, $0, $0] })
            let new = rows[0]
            try store.write { transaction in
                for isDeletion in [true, false] {
                    let what = "\(number), \(isDeletion ? "delete" : "update")"
                    let missing = ChangeSet(store.schema)
                    for id in [1, 2, 99] as [Int64] {
                        if isDeletion { missing.delete(item, rowID: id) } else { try missing.update(item, rowID: id, ["id": new]) }
                    }
                    let error = try run.expectError(.notFound, what) { try transaction.apply(missing) }
                    try run.expect(error.entity, equals: "Item", what)
                    try run.expect(error.rowID, equals: 99, what)
                }
                let changes = ChangeSet(store.schema)
                try changes.update(item, rowID: 2, ["id": new])
                changes.delete(item, rowID: 3)
                try transaction.apply(changes)
            }
            try run.expect(
                try store.read { try $0.rows(FetchRequest(item)) },
                equals: [[new, new, new, new], [new] + Array(repeating: rows[1], count: 3)],
                "\(number)")
        }
    },
    ConformanceCase(
        "names.derived.do-not-collide", "An entity can have the name that a backend derives for another entity's index or link table."
    ) { run in
        let schema = SchemaDescription(
            name: "Clashes",
            entities: [
                EntityDescription(
                    name: "A",
                    properties: [
                        .attribute(AttributeDescription(name: "b", type: .string, isUnique: true)),
                        .attribute(AttributeDescription(name: "b_c", type: .int64, isIndexed: true)),
                        .attribute(AttributeDescription(name: "c", type: .int64)),
                        .relationship(RelationshipDescription(name: "others", destination: "A", isToMany: true)),
                    ], indexes: [IndexDescription(fields: ["b", "c"])]),
                EntityDescription(name: "A_b", properties: [.attribute(AttributeDescription(name: "x", type: .string, isIndexed: true))]),
                EntityDescription(name: "A_b_c", properties: [.attribute(AttributeDescription(name: "x", type: .string))]),
                EntityDescription(name: "A_others", properties: [.attribute(AttributeDescription(name: "source", type: .string))]),
                EntityDescription(name: "A_others_inverse", properties: [.attribute(AttributeDescription(name: "target", type: .string))]),
            ])
        var store = try run.open(schema)
        func check() throws {
            for name in ["A_b", "A_b_c", "A_others", "A_others_inverse"] {
                try run.expect(try store.row(name, 1), equals: [.text(name)], name)
            }
            try run.expect(try store.row("A", 1), equals: [.text("t"), .integer(1), .integer(2)])
            try run.expect(try store.read { try $0.related(try store.relationship("A", "others"), of: [1])[1] }, equals: [1])
        }
        for name in ["A_b", "A_b_c", "A_others", "A_others_inverse"] { try store.insert(name, [[.text(name)]]) }
        try store.insert("A", [[.text("t"), .integer(1), .integer(2)]])
        try store.change { $0.link(try store.pair(try store.relationship("A", "others"), 1, 1)) }
        try check()
        guard run.target.capabilities.contains(.persistence) else { return }
        try store.backend.close()
        store = try run.open(schema)
        try check()
    },
    ConformanceCase("names.length.is-free", "Names of a thousand characters are valid.") { run in
        let long = String(repeating: "long name ", count: 100)
        let store = try run.open(optionalTexts(entities: [long, long + "2"], attributes: [long + "a", long + "b"]))
        try store.insert(long, [[.text("1"), .text("2")]])
        try store.insert(long + "2", [[.text("3"), .null]])
        try run.expect(try store.row(long, 1), equals: [.text("1"), .text("2")])
        try run.expect(try store.row(long + "2", 1), equals: [.text("3"), .null])
    },
    ConformanceCase("names.spaces.count", "Names that differ only in spaces are distinct.") { run in
        let names = ["a", " a", "a ", "a  ", "\ta", "a\n"]
        let store = try run.open(optionalTexts(entities: names, attributes: names))
        for name in names { try store.insert(name, [names.map { .text("\(name)/\($0)") }]) }
        for name in names { try run.expect(try store.row(name, 1), equals: names.map { .text("\(name)/\($0)") }, name.debugDescription) }
    },
    ConformanceCase(
        "names.reserved.work-or-are-refused",
        "A name that an engine does not support throws invalidSchema with the name, before anything is created."
    ) { run in
        for name in ["sqlite_master", "sqlite_x", "polystore_metadata", "POLYSTORE_state", "pg_class"] {
            do {
                let store = try run.open(optionalTexts(entities: [name], attributes: ["x"]), name)
                try store.insert(name, [[.text(name)]])
                try run.expect(try store.row(name, 1), equals: [.text(name)], name)
            } catch let error as StoreError {
                try run.expect(error.code, equals: .invalidSchema, name)
                try run.expect(error.message.contains(name), "the error does not name \(name): \(error.message)")
            }
        }
    },
    ConformanceCase(
        "names.order-of-entities.is-free",
        "A model with its entities in another order is the same model and finds its objects.",
        requires: [.persistence]
    ) { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Department", [[.text("d")]])
        try store.insert("Club", [[.text("c")], [.text("c2")]])
        try store.insert("Person", [Fixtures.person("p", 1, score: .nan, department: 1), Fixtures.person("q", 2)])
        try store.change { changes in
            changes.link(try store.pair(try store.relationship("Person", "clubs"), 1, 2))
            changes.link(try store.pair(try store.relationship("Department", "tags"), 1, 1))
        }
        _ = try store.write { try $0.reserveIDs(try store.entity("Club"), count: 9) }
        try store.backend.close()
        var turned = Fixtures.company
        turned.entities.reverse()
        let again = try run.open(turned)
        try run.expect(try again.row("Department", 1), equals: [.text("d")])
        try run.expect(try again.row("Club", 2), equals: [.text("c2")])
        try run.expect(try again.row("Person", 1), equals: Fixtures.person("p", 1, score: .nan, department: 1))
        try run.expect(try again.ids(try again.request("Person", "score", .equal, .real(.nan))), equals: [1], "NaN")
        try run.expect(try again.read { try $0.related(try again.relationship("Person", "clubs"), of: [1])[1] }, equals: [2])
        try run.expect(try again.read { try $0.related(try again.relationship("Club", "members"), of: [2])[2] }, equals: [1])
        try run.expect(try again.read { try $0.related(try again.relationship("Department", "tags"), of: [1])[1] }, equals: [1])
        try run.expect(try again.write { try $0.reserveIDs(try again.entity("Club"), count: 1) }, equals: 10, "the sequence of Club")
        try run.expect(try again.write { try $0.reserveIDs(try again.entity("Person"), count: 1) }, equals: 1, "the sequence of Person")
    },
]

/// A schema of entities that all have the same optional, indexed text attributes.
private func optionalTexts(entities: [String], attributes: [String]) -> SchemaDescription {
    SchemaDescription(
        name: "Names",
        entities: entities.map { name in
            EntityDescription(
                name: name,
                properties: attributes.map { .attribute(AttributeDescription(name: $0, type: .string, isOptional: true, isIndexed: true)) })
        })
}
