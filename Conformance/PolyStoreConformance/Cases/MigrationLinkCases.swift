import PolyStoreBackend

/// Relationships in a migration.
let migrationLinkCases: [ConformanceCase] = [
    linkCase(
        "carried", "Carried link tables keep their pairs and positions.", left: "P", right: "Q", links: "links",
        backs: "backs"),
    linkCase(
        "renamed", "Link tables of renamed entities and relationships keep their pairs and positions.", left: "O", right: "R",
        links: "list",
        backs: "others"),
    linkCase(
        "reversed", "Link tables with exchanged sides keep their pairs and positions.", left: "P", right: "A", links: "links",
        backs: "backs"),
    ConformanceCase(
        "migration.links.created", "New link tables accept the links that are added through the target.", requires: [.migration]
    ) { run in
        let store = try Linked(ordersTargets: true, ordersSources: false).open(run)
        let description = Linked(links: "chosen", ordersTargets: true, ordersSources: true).schema
        let change = try store.change(to: description)
        let (p, table) = (change.target.entities[0], try link(run, change.target, "P_chosen"))
        try store.migrate(
            change,
            insert: { migration in
                try run.expect(try migration.target.pairs(p, "chosen"), equals: "", "before links are added")
                let changes = ChangeSet(change.target)
                for (source, target) in [(1, 3), (1, 2), (3, 3)] as [(Int64, Int64)] {
                    changes.link(
                        ChangeSet.LinkChange(
                            table: table, source: source, target: target, isAddition: true, targetPosition: 10 - target,
                            sourcePosition: source))
                }
                try migration.target.apply(changes)
            },
            check: { reader, when in
                try run.expect(try reader.pairs(p, "chosen"), equals: "1: 3@7 2@8; 3: 3@7", when)
                try run.expect(try reader.pairs(change.target.entities[1], "backs"), equals: "2: 1@1; 3: 1@1 3@3", when)
                try run.expect(try reader.pairs(p, "friends"), equals: Linked.friends, when)
            })
    },
    ConformanceCase(
        "migration.links.dropped", "Links of removed relationships are deleted, even if the relationship is added again later.",
        requires: [.migration, .persistence]
    ) { run in
        let store = try Linked(ordersTargets: false, ordersSources: false).open(run)
        var without = Linked(ordersTargets: false, ordersSources: false).schema
        for index in without.entities.indices { without.entities[index].properties.removeLast() }
        guard let migrated = try store.migrate(try store.change(to: without)) else { return }
        let again = try migrated.change(to: Linked(ordersTargets: false, ordersSources: false).schema)
        try migrated.migrate(again) { reader, when in
            try run.expect(try reader.pairs(again.target.entities[0], "links"), equals: "", when)
            try run.expect(try reader.pairs(again.target.entities[0], "friends"), equals: Linked.friends, when)
            try run.expect(try reader.ids(FetchRequest(again.target.entities[0])), equals: [1, 2, 3], when)
        }
    },
    ConformanceCase(
        "migration.to-one.carried", "To-one relationships and the order of their inverses are carried, also when renamed.",
        requires: [.migration]
    ) { run in
        func schema(_ person: String, _ team: String, _ members: String) -> SchemaDescription {
            SchemaDescription([
                EntityDescription(
                    person,
                    [
                        .attribute("name", .string), .toOne(team, "Team", inverse: members), .attribute("age", .int16),
                        .toOne("boss", person, inverse: "staff"), .toMany("staff", person),
                    ]), EntityDescription("Team", [.attribute("title", .string), .toMany(members, person, isOrdered: true)]),
            ])
        }
        let store = try run.open(schema("Person", "team", "members"))
        let person = try store.entity("Person")
        try store.insert("Team", [[.text("red")], [.text("blue")], [.text("none")]])
        try store.change { changes in
            for id in 1...6 as ClosedRange<Int64> {
                let team: Value = id == 6 ? .null : .integer(1 + id % 2)
                let position: Value = id == 6 ? .null : .integer(100 - id)
                try changes.insert(
                    person, rowID: id, [.text("p\(id)"), team, .integer(id), id == 1 ? .null : .integer(id / 2), position])
            }
        }
        let members = try store.read { try $0.pairs(try store.entity("Team"), "members") }
        let staff = try store.read { try $0.pairs(person, "staff") }
        try run.expect(members, equals: "1: 4@96 2@98; 2: 5@95 3@97 1@99")
        for (name, team, list) in [("Person", "team", "members"), ("Human", "group", "people")] {
            let target = try ResolvedSchema(schema(name, team, list))
            let change = try SchemaChange.carrying(
                store.schema, to: target, renamed: [name: "Person"],
                fields: [
                    "\(name).\(team)": .field(1, replacingNullWith: .null), "\(name)._order_\(team)": .field(4, replacingNullWith: .null),
                ])
            let migration = try store.backend.beginMigration(change)
            let check: (any ReadTransaction, String) throws -> Void = { reader, when in
                try run.expect(try reader.pairs(target.entities[1], list), equals: members, "\(name) \(when)")
                try run.expect(try reader.pairs(target.entities[0], "staff"), equals: staff, "\(name) \(when)")
                let all = try reader.related(try relationship(run, target.entities[0], team), of: [1, 6])
                try run.expect([all[1], all[6]], equals: [[2], []], "\(name) \(when)")
            }
            try check(migration.target, "before the commit")
            if name == "Person" {
                migration.rollback()
            } else {
                try migration.commit()
                _ = try store.reopen(target, check: check)
            }
        }
    },
]

private func relationship(_ run: ConformanceRun, _ entity: Entity, _ name: String) throws -> Relationship {
    guard let found = entity.relationship(named: name) else { throw run.fail("the case names the unknown relationship \(name)") }
    return found
}

private func link(_ run: ConformanceRun, _ schema: ResolvedSchema, _ name: String) throws -> Int {
    guard let found = schema.links.first(where: { $0.name == name }) else { throw run.fail("the case names the unknown table \(name)") }
    return found.index
}

/// Two entities with a link table between them, optionally ordered, and a symmetric one.
private struct Linked {
    var left = "P"
    var right = "Q"
    var links = "links"
    var backs = "backs"
    let ordersTargets: Bool
    let ordersSources: Bool

    static let friends = "1: 2 3; 2: 1; 3: 1 3"

    var schema: SchemaDescription {
        SchemaDescription([
            EntityDescription(
                left,
                [
                    .attribute("name", .string), .toMany("friends", left, inverse: "friends"),
                    .toMany(links, right, inverse: backs, isOrdered: ordersTargets),
                ]), EntityDescription(right, [.attribute("title", .string), .toMany(backs, left, isOrdered: ordersSources)]),
        ])
    }

    /// Opens the store with the names P, Q, links and backs.
    func open(_ run: ConformanceRun, _ name: String = "store") throws -> TestStore {
        let store = try run.open(schema, name)
        try store.insert("P", [[.text("a")], [.text("b")], [.text("c")]])
        try store.insert("Q", [[.text("x")], [.text("y")], [.text("z")], [.text("none")]])
        let (table, friends) = (try link(run, store.schema, "P_links"), try link(run, store.schema, "P_friends"))
        try store.change { changes in
            for (index, pair) in ([(1, 3), (1, 1), (2, 1), (2, 2), (2, 3), (3, 1)] as [(Int64, Int64)]).enumerated() {
                changes.link(
                    ChangeSet.LinkChange(
                        table: table, source: pair.0, target: pair.1, isAddition: true, targetPosition: Int64(index * 7 % 6),
                        sourcePosition: Int64(index * 5 % 6 - 3)))
            }
            for (source, target) in [(1, 2), (2, 1), (1, 3), (3, 1), (3, 3)] as [(Int64, Int64)] {
                changes.link(ChangeSet.LinkChange(table: friends, source: source, target: target, isAddition: true))
            }
        }
        return store
    }
}

/// Returns a case that carries all links to the given names, for every combination of orders.
private func linkCase(
    _ id: String, _ statement: String, left: String, right: String, links: String, backs: String
) -> ConformanceCase {
    ConformanceCase("migration.links.\(id)", statement, requires: [.migration]) { run in
        for (number, orders) in [(false, false), (true, false), (false, true), (true, true)].enumerated() {
            let store = try Linked(ordersTargets: orders.0, ordersSources: orders.1).open(run, "store\(number)")
            let before = try store.read { reader in
                [try reader.pairs(try store.entity("P"), "links"), try reader.pairs(try store.entity("Q"), "backs")]
            }
            let target = try ResolvedSchema(
                Linked(left: left, right: right, links: links, backs: backs, ordersTargets: orders.0, ordersSources: orders.1).schema)
            // The end whose name sorts first owns the table.
            let isReversed = "\(right)_\(backs)" < "\(left)_\(links)"
            let parts = target.links.map { table -> SchemaChange.LinkSource in
                let old = store.schema.links.first { $0.isSymmetric == table.isSymmetric }
                return .carried(table: old?.index ?? 0, isReversed: isReversed && !table.isSymmetric)
            }
            let change = try SchemaChange(
                identifier: "test", source: store.schema, target: target,
                entities: [0, 1].map { .carried(entity: $0, fields: [.field(0, replacingNullWith: .null)]) }, links: parts)
            let migration = try store.backend.beginMigration(change)
            func check(_ reader: any ReadTransaction, _ when: String) throws {
                let found = [try reader.pairs(target.entities[0], links), try reader.pairs(target.entities[1], backs)]
                try run.expect(found, equals: before, "\(orders) \(when)")
                try run.expect(try reader.pairs(target.entities[0], "friends"), equals: Linked.friends, "\(orders) \(when)")
            }
            try check(migration.target, "before the commit")
            try migration.commit()
            try store.backend.close()
            guard run.target.capabilities.contains(.persistence) else { continue }
            let migrated = try run.open(target.description, "store\(number)")
            try migrated.read { try check($0, "after reopening") }
            // The tables accept changes.
            let table = try link(run, target, isReversed ? "\(right)_\(backs)" : "\(left)_\(links)")
            try migrated.change { changes in
                let (source, linked): (Int64, Int64) = isReversed ? (4, 3) : (3, 4)
                changes.link(
                    ChangeSet.LinkChange(
                        table: table, source: source, target: linked, isAddition: true, targetPosition: 50, sourcePosition: 50))
            }
            try run.expect(
                try migrated.read { try $0.pairs(target.entities[1], backs) }, equals: before[1] + (orders.1 ? "; 4: 3@50" : "; 4: 3"),
                "\(orders), a new link")
        }
    }
}
