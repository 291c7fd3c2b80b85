import PolyStoreBackend

/// Foreign keys and links.
let relationshipCases: [ConformanceCase] = [
    ConformanceCase(
        "relationship.inverse.finds-the-sources", "The inverse of a to-one leads to the referring objects, in ascending id order."
    ) { run in
        let store = try staffed(run)
        let people = try store.relationship("Department", "people")
        try store.read { transaction in
            let found = try transaction.related(people, of: [1, 2, 3])
            try run.expect(found[1], equals: [1, 3, 5])
            try run.expect(found[2], equals: [2, 4])
            try run.expect(found[3], equals: [])
            try run.expect(found[99], equals: [])
        }
    },
    ConformanceCase("relationship.inverse.follows-updates", "Moving, clearing and deleting are visible from the other end.") { run in
        let store = try staffed(run)
        let person = try store.entity("Person")
        let people = try store.relationship("Department", "people")
        try store.change { changes in
            try changes.update(person, rowID: 1, ["department": .integer(2)])
            try changes.update(person, rowID: 3, ["department": .null])
            changes.delete(person, rowID: 4)
        }
        let found = try store.read { try $0.related(people, of: [1, 2]) }
        try run.expect(found[1], equals: [5])
        try run.expect(found[2], equals: [1, 2])
    },
    ConformanceCase("relationship.to-one.is-a-field", "A to-one relationship is read and queried as a field.") { run in
        let store = try staffed(run)
        try run.expect(try store.row("Person", 2)?[4], equals: .integer(2))
        try run.expect(try store.ids(try store.request("Person", "department", .equal, .integer(2))), equals: [2, 4])
        let field = FieldReference(try store.entity("Person").fields[4])
        try run.expect(try store.ids(FetchRequest(try store.entity("Person"), predicate: .isNull(field))), equals: [6])
        try run.expect(
            try store.ids(FetchRequest(try store.entity("Person"), predicate: .oneOf(field, [.integer(1), .integer(9)]))),
            equals: [1, 3, 5])
    },
    ConformanceCase("relationship.to-one.related", "A to-one relationship can be followed for many sources in one call.") { run in
        let store = try staffed(run)
        let found = try store.read { try $0.related(try store.relationship("Person", "department"), of: [1, 2, 6]) }
        try run.expect(found[1], equals: [1])
        try run.expect(found[2], equals: [2])
        try run.expect(found[6], equals: [])
    },
    ConformanceCase("relationship.link.both-directions", "A many-to-many link is found from either end.") { run in
        let store = try staffed(run)
        try store.insert("Club", [[.text("chess")], [.text("golf")]])
        let clubs = try store.relationship("Person", "clubs")
        let members = try store.relationship("Club", "members")
        try store.change { changes in
            changes.link(try store.pair(clubs, 1, 1))
            changes.link(try store.pair(clubs, 1, 2))
            changes.link(try store.pair(members, 2, 5))
        }
        try store.read { transaction in
            try run.expect(try transaction.related(clubs, of: [1])[1], equals: [1, 2])
            try run.expect(try transaction.related(clubs, of: [5])[5], equals: [2])
            try run.expect(try transaction.related(members, of: [2])[2], equals: [1, 5])
        }
    },
    ConformanceCase("relationship.link.add-twice", "Adding an existing link has no effect.") { run in
        let store = try staffed(run)
        let friends = try store.relationship("Person", "friends")
        for _ in 0..<2 { try store.change { $0.link(try store.pair(friends, 1, 2)) } }
        try store.change { changes in for _ in 0..<3 { changes.link(try store.pair(friends, 1, 2)) } }
        try run.expect(try store.read { try $0.related(friends, of: [1])[1] }, equals: [2])
        try store.change { $0.link(try store.pair(friends, 1, 2, isAddition: false)) }
        try run.expect(try store.read { try $0.related(friends, of: [1])[1] }, equals: [])
    },
    ConformanceCase("relationship.link.remove-missing", "Removing a missing link has no effect.") { run in
        let store = try staffed(run)
        let friends = try store.relationship("Person", "friends")
        try store.change { $0.link(try store.pair(friends, 1, 2)) }
        try store.change { changes in
            changes.link(try store.pair(friends, 1, 3, isAddition: false))
            changes.link(try store.pair(friends, 2, 1, isAddition: false))
        }
        try run.expect(try store.read { try $0.related(friends, of: [1])[1] }, equals: [2])
    },
    ConformanceCase("relationship.link.tables-are-separate", "Two link tables with the same ids are independent.") { run in
        let store = try staffed(run)
        try store.insert("Club", [[.text("chess")]])
        try store.change { $0.link(try store.pair(try store.relationship("Department", "tags"), 1, 1)) }
        try store.read { transaction in
            try run.expect(try transaction.related(try store.relationship("Department", "tags"), of: [1])[1], equals: [1])
            try run.expect(try transaction.related(try store.relationship("Person", "clubs"), of: [1])[1], equals: [])
            try run.expect(try transaction.related(try store.relationship("Person", "friends"), of: [1])[1], equals: [])
        }
    },
    ConformanceCase("relationship.link.way-back-without-inverse", "A one-way link can be followed in reverse with `reversed`.") { run in
        let store = try staffed(run)
        try store.insert("Club", [[.text("chess")], [.text("golf")]])
        let tags = try store.relationship("Department", "tags")
        try store.change { changes in
            changes.link(try store.pair(tags, 1, 2))
            changes.link(try store.pair(tags, 2, 2))
        }
        guard let reversed = tags.reversed else { throw run.fail("no way back") }
        let found = try store.read { try $0.related(reversed, of: [1, 2]) }
        try run.expect(found[1], equals: [])
        try run.expect(found[2], equals: [1, 2])
    },
    ConformanceCase("relationship.batch.of-a-thousand", "A thousand sources can be followed in one call.") { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Department", (0..<1000).map { [.text("d\($0)")] })
        try store.insert("Person", (0..<3000).map { Fixtures.person("p\($0)", 1, department: Int64($0 % 1000 + 1)) })
        let sources = (1...1000).map { Int64($0) }.reversed().map { $0 }
        let found = try store.read { try $0.related(try store.relationship("Department", "people"), of: sources) }
        for id in sources { try run.expect(found[id], equals: [id, id + 1000, id + 2000], "department \(id)") }
    },
    ConformanceCase("relationship.self.is-allowed", "An object can be linked with itself.") { run in
        let store = try staffed(run)
        let friends = try store.relationship("Person", "friends")
        try store.change { $0.link(try store.pair(friends, 1, 1)) }
        try run.expect(try store.read { try $0.related(friends, of: [1])[1] }, equals: [1])
    },
]

/// Three departments; six people, the first five in departments 1, 2, 1, 2, 1.
private func staffed(_ run: ConformanceRun) throws -> TestStore {
    let store = try run.open(Fixtures.company)
    try store.insert("Department", [[.text("x")], [.text("y")], [.text("z")]])
    let people = (0..<6).map { (number: Int64) in Fixtures.person("p\(number)", number, department: number < 5 ? number % 2 + 1 : nil) }
    try store.insert("Person", people)
    return store
}
