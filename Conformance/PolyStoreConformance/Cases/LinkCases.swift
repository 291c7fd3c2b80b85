import PolyStoreBackend
import SeededRandom

/// Relationships after many changes, to the same object, in large numbers, and without targets.
let linkCases: [ConformanceCase] = [
    ConformanceCase(
        "relationship.inverse.after-many-updates",
        "The inverse of a to-one is correct after each of many moves, removals and deletions."
    ) { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        let people = try store.relationship("Department", "people")
        try store.insert("Department", (0..<8).map { [.text("d\($0)")] })
        try store.insert("Person", (0..<40).map { Fixtures.person("p\($0)", 1, department: Int64($0 % 8 + 1)) })
        var departments: [Int64: Int64?] = [:]
        for number in 0..<40 as Range<Int64> { departments[number + 1] = number % 8 + 1 }
        var random = SplitMix64(seed: 11)
        for round in 0..<25 {
            try store.change { changes in
                for id in departments.keys.sorted() {
                    switch random.below(12) {
                    case 0:
                        changes.delete(person, rowID: id)
                        departments[id] = nil
                    case 1:
                        try changes.update(person, rowID: id, ["department": .null])
                        departments[id] = .some(nil)
                    case 2...5:
                        let department = Int64(random.below(8) + 1)
                        try changes.update(person, rowID: id, ["department": .integer(department)])
                        departments[id] = department
                    default: continue
                    }
                }
                let new = Int64(1000 + round)
                try changes.insert(person, rowID: new, Fixtures.person("new\(round)", 1, department: Int64(round % 8 + 1)))
                departments[new] = Int64(round % 8 + 1)
            }
            let found = try store.read { try $0.related(people, of: Array(1...8)) }
            for department in 1...8 as ClosedRange<Int64> {
                let expected = departments.filter { $0.value == department }.keys.sorted()
                try run.expect(found[department], equals: expected, "department \(department) in round \(round)")
            }
        }
    },
    ConformanceCase(
        "relationship.link.both-ways-after-removals", "Links removed with or without their objects are not found from either end."
    ) { run in
        let store = try clubs(run, people: 6, clubs: 4)
        let (mine, members) = (try store.relationship("Person", "clubs"), try store.relationship("Club", "members"))
        try store.change { changes in
            for person in 1...6 as ClosedRange<Int64> {
                for club in 1...4 as ClosedRange<Int64> { changes.link(try store.pair(mine, person, club)) }
            }
        }
        // Deletes person 2 and club 3 with all links, and one link from its other end.
        try store.change { changes in
            for club in 1...4 as ClosedRange<Int64> { changes.link(try store.pair(mine, 2, club, isAddition: false)) }
            changes.delete(try store.entity("Person"), rowID: 2)
            for person in [1, 3, 4, 5, 6] as [Int64] { changes.link(try store.pair(members, 3, person, isAddition: false)) }
            changes.delete(try store.entity("Club"), rowID: 3)
            changes.link(try store.pair(members, 1, 6, isAddition: false))
        }
        try store.read { transaction in
            let forward = try transaction.related(mine, of: Array(1...6))
            try run.expect((1...6).map { forward[$0] }, equals: [[1, 2, 4], [], [1, 2, 4], [1, 2, 4], [1, 2, 4], [2, 4]])
            let backward = try transaction.related(members, of: Array(1...4))
            try run.expect((1...4).map { backward[$0] }, equals: [[1, 3, 4, 5], [1, 3, 4, 5, 6], [], [1, 3, 4, 5, 6]])
        }
        if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
        // A new object with a reused id has no links.
        try store.change { try $0.insert(try store.entity("Person"), rowID: 2, Fixtures.person("again", 1)) }
        try run.expect(try store.read { try $0.related(mine, of: [2])[2] }, equals: [])
    },
    ConformanceCase(
        "relationship.dangling.verify-finds-each",
        "verify reports every reference to a missing object, of to-one relationships and of links.",
        requires: [.verification]
    ) { run in
        let store = try clubs(run, people: 3, clubs: 2)
        let mine = try store.relationship("Person", "clubs")
        let person = try store.entity("Person")
        try store.change { changes in
            changes.link(try store.pair(mine, 1, 1))
            changes.link(try store.pair(mine, 1, 77))
            changes.link(try store.pair(mine, 88, 2))
            try changes.insert(person, rowID: 50, Fixtures.person("dangling", 1, department: 99))
        }
        let findings = try store.backend.verify()
        for id in ["77", "88", "99"] {
            try run.expect(findings.filter { $0.contains(" \(id)") }.isEmpty, equals: false, "the reference to \(id): \(findings)")
        }
        try store.change { changes in
            changes.link(try store.pair(mine, 1, 77, isAddition: false))
            changes.link(try store.pair(mine, 88, 2, isAddition: false))
            changes.delete(person, rowID: 50)
        }
        try run.expect(try store.backend.verify(), equals: [])
    },
    ConformanceCase(
        "relationship.contradiction.verify-finds-each",
        "verify reports every to-one relationship whose to-one inverse does not lead back, and every pair of a symmetric relationship in one direction.",
        requires: [.verification]
    ) { run in
        let schema = SchemaDescription(
            name: "Ends",
            entities: [
                EntityDescription(
                    name: "Desk",
                    properties: [
                        .attribute(AttributeDescription(name: "name", type: .string)),
                        .relationship(RelationshipDescription(name: "lamp", destination: "Lamp", isToMany: false, inverse: "desk")),
                        .relationship(RelationshipDescription(name: "next", destination: "Desk", isToMany: true, inverse: "next")),
                        .relationship(RelationshipDescription(name: "mate", destination: "Desk", isToMany: false, inverse: "mate")),
                    ]),
                EntityDescription(
                    name: "Lamp",
                    properties: [
                        .attribute(AttributeDescription(name: "name", type: .string)),
                        .relationship(RelationshipDescription(name: "desk", destination: "Desk", isToMany: false)),
                    ]),
            ])
        let store = try run.open(schema)
        let (desk, lamp) = (try store.entity("Desk"), try store.entity("Lamp"))
        let next = try store.relationship("Desk", "next")
        try store.change { changes in
            // Consistent: desk 1 with lamp 1, desks 2 and 3 as mates, desks 1 and 2 next to each other, desk 4 next to itself.
            try changes.insert(desk, rowID: 1, [.text("1"), .integer(1), .null])
            try changes.insert(desk, rowID: 2, [.text("2"), .null, .integer(3)])
            try changes.insert(desk, rowID: 3, [.text("3"), .null, .integer(2)])
            try changes.insert(desk, rowID: 4, [.text("4"), .null, .null])
            try changes.insert(lamp, rowID: 1, [.text("1"), .integer(1)])
            changes.link(try store.pair(next, 1, 2))
            changes.link(try store.pair(next, 2, 1))
            changes.link(try store.pair(next, 4, 4))
        }
        try run.expect(try store.backend.verify(), equals: [], "consistent ends")
        try store.change { changes in
            // Desk 51 leads to a lamp that leads nowhere, lamp 62 to desk 1, which leads to lamp 1; desk 53 has a mate that has another.
            try changes.insert(desk, rowID: 51, [.text("51"), .integer(61), .null])
            try changes.insert(lamp, rowID: 61, [.text("61"), .null])
            try changes.insert(lamp, rowID: 62, [.text("62"), .integer(1)])
            try changes.insert(desk, rowID: 53, [.text("53"), .null, .integer(2)])
            try changes.insert(desk, rowID: 54, [.text("54"), .null, .null])
            changes.link(try store.pair(next, 54, 4))
        }
        let findings = try store.backend.verify()
        for id in ["51", "62", "53", "54"] {
            try run.expect(findings.filter { $0.contains(" \(id)") }.count, equals: 1, "the contradiction of \(id): \(findings)")
        }
        try run.expect(findings.count, equals: 4, "\(findings)")
    },
    ConformanceCase(
        "relationship.self.to-one-and-back", "An object can be its own parent and child; a tree over one entity works in both directions."
    ) { run in
        let schema = SchemaDescription(
            name: "Tree",
            entities: [
                EntityDescription(
                    name: "Node",
                    properties: [
                        .attribute(AttributeDescription(name: "name", type: .string)),
                        .relationship(RelationshipDescription(name: "parent", destination: "Node", isToMany: false, inverse: "children")),
                        .relationship(RelationshipDescription(name: "children", destination: "Node", isToMany: true)),
                    ])
            ])
        let store = try run.open(schema)
        let node = try store.entity("Node")
        let parents: [Value] = [.integer(1), .integer(1), .integer(2), .integer(2), .null, .integer(6)]
        try store.insert("Node", parents.enumerated().map { [.text("n\($0)"), $1] })
        let (parent, children) = (try store.relationship("Node", "parent"), try store.relationship("Node", "children"))
        try store.read { transaction in
            let down = try transaction.related(children, of: Array(1...6))
            try run.expect((1...6).map { down[$0] }, equals: [[1, 2], [3, 4], [], [], [], [6]])
            let up = try transaction.related(parent, of: Array(1...6))
            try run.expect((1...6).map { up[$0] }, equals: [[1], [1], [2], [2], [], [6]])
        }
        try store.change { changes in
            try changes.update(node, rowID: 1, ["parent": .null])
            try changes.update(node, rowID: 5, ["parent": .integer(5)])
            changes.delete(node, rowID: 6)
        }
        let down = try store.read { try $0.related(children, of: [1, 5, 6]) }
        try run.expect([down[1], down[5], down[6]], equals: [[2], [5], []])
        let field = try store.field("Node", "parent")
        try run.expect(try store.ids(FetchRequest(node, predicate: .compare(field, .equal, .objectID))), equals: [5])
    },
    ConformanceCase(
        "relationship.self.link-both-ways", "A link of an object to itself is one pair: found once and removed by one removal."
    ) { run in
        let store = try clubs(run, people: 3, clubs: 0)
        let friends = try store.relationship("Person", "friends")
        try store.change { changes in
            changes.link(try store.pair(friends, 2, 2))
            changes.link(try store.pair(friends, 2, 3))
            changes.link(try store.pair(friends, 3, 2))
        }
        let found = try store.read { try $0.related(friends, of: [1, 2, 3]) }
        try run.expect([found[1], found[2], found[3]], equals: [[], [2, 3], [2]])
        try store.change { $0.link(try store.pair(friends, 2, 2, isAddition: false)) }
        try run.expect(try store.read { try $0.related(friends, of: [2])[2] }, equals: [3])
    },
    ConformanceCase("relationship.link.a-thousand", "Thousands of links of an object are in id order and can be removed individually.") {
        run in
        let store = try clubs(run, people: 2, clubs: 2000)
        let (mine, members) = (try store.relationship("Person", "clubs"), try store.relationship("Club", "members"))
        try store.change { changes in
            for number in 0..<2000 as Range<Int64> { changes.link(try store.pair(mine, 1, number * 7 % 2000 + 1)) }
            for club in stride(from: Int64(1), through: 2000, by: 2) { changes.link(try store.pair(members, club, 2)) }
        }
        try run.expect(try store.read { try $0.related(mine, of: [1])[1] }, equals: (1...2000).map { Int64($0) })
        try store.change { changes in
            for club in 1...2000 as ClosedRange<Int64> where club % 3 != 0 {
                changes.link(try store.pair(mine, 1, club, isAddition: false))
            }
        }
        try store.read { transaction in
            let found = try transaction.related(mine, of: [2, 1])
            try run.expect(found[1], equals: (1...2000).filter { $0 % 3 == 0 }.map { Int64($0) })
            try run.expect(found[2], equals: (1...2000).filter { $0 % 2 == 1 }.map { Int64($0) })
            let back = try transaction.related(members, of: Array(1...2000))
            for club in 1...2000 as ClosedRange<Int64> {
                try run.expect(back[club], equals: (club % 3 == 0 ? [1] : []) + (club % 2 == 1 ? [2] : []), "club \(club)")
            }
        }
    },
    ConformanceCase(
        "relationship.sources.unknown-or-none",
        "Missing objects have no targets, and no sources yield no result, for every kind of relationship storage."
    ) {
        run in
        let store = try clubs(run, people: 3, clubs: 2)
        let all = [
            ("Person", "clubs"), ("Club", "members"), ("Person", "friends"), ("Person", "department"), ("Department", "people"),
            ("Department", "tags"),
        ]
        try store.change { changes in
            changes.link(try store.pair(try store.relationship("Person", "clubs"), 1, 1))
            try changes.insert(try store.entity("Department"), rowID: 1, [.text("x")])
            try changes.update(try store.entity("Person"), rowID: 1, ["department": .integer(1)])
        }
        try store.read { transaction in
            for (entity, name) in all {
                let relationship = try store.relationship(entity, name)
                let none = try transaction.related(relationship, of: [])
                try run.expect(none[1] + none[0], equals: [], "\(entity).\(name) of nothing")
                let found = try transaction.related(relationship, of: [99, 0, -1, .max, .min, 1])
                for id in [99, 0, -1, .max, .min, 2] as [Int64] { try run.expect(found[id], equals: [], "\(entity).\(name) of \(id)") }
                try run.expect(
                    found[1], equals: ["clubs", "members", "department", "people"].contains(name) ? [1] : [], "\(entity).\(name) of 1")
            }
        }
    },
    ConformanceCase("relationship.link.added-and-removed-at-once", "The last of several changes of a link in a change set applies.") {
        run in
        let store = try clubs(run, people: 4, clubs: 1)
        let friends = try store.relationship("Person", "friends")
        try store.change { $0.link(try store.pair(friends, 1, 2)) }
        try store.change { changes in
            for isAddition in [false, true] { changes.link(try store.pair(friends, 1, 2, isAddition: isAddition)) }
            for isAddition in [true, false] { changes.link(try store.pair(friends, 1, 3, isAddition: isAddition)) }
            for isAddition in [true, false, true] { changes.link(try store.pair(friends, 1, 4, isAddition: isAddition)) }
        }
        try run.expect(try store.read { try $0.related(friends, of: [1])[1] }, equals: [2, 4])
    },
    ConformanceCase("relationship.link.failure-and-rollback", "A failed change set and a rollback undo links at both ends.") {
        run in
        let store = try clubs(run, people: 3, clubs: 3)
        let (mine, members) = (try store.relationship("Person", "clubs"), try store.relationship("Club", "members"))
        try store.change { changes in for id in 1...3 as ClosedRange<Int64> { changes.link(try store.pair(mine, id, id)) } }
        func check(_ reader: any ReadTransaction, _ what: String) throws {
            for relationship in [mine, members] {
                let found = try reader.related(relationship, of: [1, 2, 3])
                try run.expect([found[1], found[2], found[3]], equals: [[1], [2], [3]], "\(relationship.name) \(what)")
            }
        }
        func scramble(_ changes: ChangeSet) throws {
            changes.link(try store.pair(mine, 1, 1, isAddition: false))
            changes.link(try store.pair(members, 2, 1))
            changes.link(try store.pair(mine, 3, 1))
        }
        let transaction = try store.backend.beginWrite()
        let bad = ChangeSet(store.schema)
        try scramble(bad)
        bad.delete(try store.entity("Person"), rowID: 99)
        try run.expectError(.notFound) { try transaction.apply(bad) }
        try check(transaction, "after a failure")
        let good = ChangeSet(store.schema)
        try scramble(good)
        try transaction.apply(good)
        try run.expect(try transaction.related(members, of: [1])[1], equals: [3], "inside")
        transaction.rollback()
        try store.read { try check($0, "after the rollback") }
    },
]

private func clubs(_ run: ConformanceRun, people: Int, clubs: Int) throws -> TestStore {
    let store = try run.open(Fixtures.company)
    try store.insert("Person", (0..<people).map { Fixtures.person("p\($0)", Int64($0)) })
    try store.insert("Club", (0..<clubs).map { [.text("c\($0)")] })
    return store
}
