package import PolyStoreBackend

/// The contents of the stores in `Tests/Golden`: every attribute type, every kind of relationship, a hierarchy, named values and a change log.
///
/// Do not change these contents: the stores were written by earlier releases.
package enum Golden {
    package static func schema() throws -> ResolvedSchema { try schema(values: "Value", person: "Person", name: "name", age: .int16) }

    /// The schema that the stores are migrated to: entities and fields have other names, one type is wider, and every text has a value.
    package static func migratedSchema() throws -> ResolvedSchema {
        try schema(values: "Sample", person: "Human", name: "fullName", age: .int64)
    }

    private static func schema(values: String, person: String, name: String, age: AttributeType) throws -> ResolvedSchema {
        func attribute(_ name: String, _ type: AttributeType, isOptional: Bool = false, isUnique: Bool = false, isIndexed: Bool = false)
            -> PropertyDescription
        {
            .attribute(AttributeDescription(name: name, type: type, isOptional: isOptional, isUnique: isUnique, isIndexed: isIndexed))
        }
        func many(_ name: String, _ to: String, _ inverse: String? = nil, isOrdered: Bool = false) -> PropertyDescription {
            .relationship(RelationshipDescription(name: name, destination: to, isToMany: true, isOrdered: isOrdered, inverse: inverse))
        }
        return try ResolvedSchema(
            SchemaDescription(
                name: "golden",
                entities: [
                    EntityDescription(
                        name: person,
                        properties: [
                            attribute(name, .string, isUnique: true), attribute("age", age, isOptional: true, isIndexed: true),
                            .relationship(RelationshipDescription(name: "team", destination: "Team", isToMany: false, inverse: "members")),
                            .relationship(RelationshipDescription(name: "boss", destination: person, isToMany: false)),
                            many("friends", person, "friends"), many("tags", "Tag", "people", isOrdered: true), many("likes", "Shape"),
                        ], indexes: [IndexDescription(fields: ["age", name])]),
                    EntityDescription(
                        name: "Team", properties: [attribute("title", .string), many("members", person, isOrdered: true)]),
                    EntityDescription(
                        name: "Tag", properties: [attribute("text", .string, isIndexed: true), many("people", person, isOrdered: true)]),
                    EntityDescription(
                        name: "Shape",
                        properties: [
                            attribute("color", .string), attribute("radius", .double, isOptional: true),
                            attribute("width", .int32, isOptional: true), attribute("_entity", .string, isIndexed: true),
                        ],
                        hierarchy: EntityHierarchy(
                            isAbstract: true, properties: ["color"],
                            subentities: [
                                SubentityDescription(
                                    name: "Circle", parent: "Shape", isAbstract: false, properties: ["radius"], required: ["radius"]),
                                SubentityDescription(
                                    name: "Box", parent: "Shape", isAbstract: false, properties: ["width"], required: ["width"]),
                            ])),
                    EntityDescription(
                        name: values,
                        properties: AttributeType.allCases.map { attribute("a_\($0.rawValue)", $0, isOptional: true, isIndexed: true) }),
                ]))
    }

    package static let people: [Int64: [String: Value]] = [
        1: ["name": .text("Ann"), "age": .integer(40), "team": .integer(2), "_order_team": .integer(10)],
        2: ["name": .text("Bob é\0'\""), "age": .integer(-1), "team": .integer(1), "boss": .integer(1), "_order_team": .integer(5)],
        5: ["name": .text(""), "team": .integer(2), "boss": .integer(5), "_order_team": .integer(3)],
        7: ["name": .text("Eve"), "age": .integer(32767)],
    ]
    private static let teams: [Int64: [String: Value]] = [1: ["title": .text("red")], 2: ["title": .text("blue")]]
    private static let tags: [Int64: [String: Value]] = [1: ["text": .text("new")], 2: ["text": .text("old")], 3: ["text": .text("😀")]]
    private static let shapes: [Int64: [String: Value]] = [
        1: ["color": .text("red"), "radius": .real(0.1), "_entity": .text("Circle")],
        2: ["color": .text("blue"), "width": .integer(-7), "_entity": .text("Box")],
    ]
    private static let friends: [(Int64, Int64)] = [(1, 2), (2, 1), (7, 7)]
    private static let likes: [(Int64, Int64)] = [(1, 2), (5, 1), (5, 2)]
    /// Person, tag, the position of the tag, the position of the person.
    private static let tagged: [(Int64, Int64, Int64, Int64)] = [(1, 1, 9, 1), (1, 2, 4, 2), (1, 3, 6, -3), (5, 1, 0, 0), (7, 1, 1, -9)]

    /// The values of the four records with every type: null, the minimum, the maximum, and a special value.
    private static func value(_ type: AttributeType, _ id: Int64) -> Value {
        if id == 1 { return .null }
        switch type.physical {
        case .integer:
            let bounds = type.integerBounds ?? Int64.min...Int64.max
            return .integer([bounds.lowerBound, bounds.upperBound, 1][Int(id) - 2])
        case .real:
            // Each value is also a value of `float`.
            return .real([-.infinity, .infinity, .nan][Int(id) - 2])
        case .text: return .text(["", "a\0b'\"", String(repeating: "é", count: 300)][Int(id) - 2])
        case .blob:
            switch type {
            case .uuid: return .blob([Array(repeating: 0, count: 16), Array(repeating: 255, count: 16), Array(1...16)][Int(id) - 2])
            case .decimal: return .blob([[0x7f, 0x7f, 0xfe, 0xfd, 0xff], [0x81, 0x80, 0x01, 0x10, 0x21, 0x00], [0x80]][Int(id) - 2])
            default: return .blob([[], [0, 255, 39], Array(repeating: 7, count: 700)][Int(id) - 2])
            }
        }
    }

    /// Writes the contents in several commits.
    package static func write(_ store: Store) throws {
        try store.write(.full) { changes in
            for (id, values) in teams.sorted(by: { $0.key < $1.key }) { try changes.insert("Team", id, values) }
            for (id, values) in tags.sorted(by: { $0.key < $1.key }) { try changes.insert("Tag", id, values) }
            for (id, values) in shapes.sorted(by: { $0.key < $1.key }) { try changes.insert("Shape", id, values) }
            for id in 1...4 as ClosedRange<Int64> {
                let values = AttributeType.allCases.map { ("a_\($0.rawValue)", value($0, id)) }
                try changes.insert("Value", id, Dictionary(uniqueKeysWithValues: values))
            }
        }
        try store.write(.full) { changes in
            for (id, values) in people.sorted(by: { $0.key < $1.key }) { try changes.insert("Person", id, values) }
            try changes.insert("Person", 3, ["name": .text("deleted")])
            for link in try links(store.schema, "Person") { changes.set.link(link) }
            try changes.set.setValue([1, 2, 3], named: "golden")
            try changes.set.setValue([], named: "empty")
            for entry in 1...3 as ClosedRange<UInt8> { changes.set.appendLogEntry([entry, 0]) }
        }
        let writer = try store.backend.beginWrite()
        defer { writer.rollback() }
        _ = try writer.reserveIDs(try store.entity("Person"), count: 20)
        let changes = Changes(store.schema)
        try changes.delete("Person", 3)
        changes.set.removeLogEntries(through: 1)
        try writer.apply(changes.set)
        _ = try writer.commit(.full)
    }

    private static func links(_ schema: ResolvedSchema, _ person: String) throws -> [ChangeSet.LinkChange] {
        guard let entity = schema.entity(named: person) else { throw StoreError(.misuse, "Unknown entity \(person).") }
        var links: [ChangeSet.LinkChange] = []
        for relationship in entity.relationships {
            guard case .link(let table, let isReversed) = relationship.storage else { continue }
            func add(_ person: Int64, _ other: Int64, _ positions: (Int64, Int64)? = nil) {
                links.append(
                    ChangeSet.LinkChange(
                        table: table, source: isReversed ? other : person, target: isReversed ? person : other, isAddition: true,
                        targetPosition: isReversed ? positions?.1 : positions?.0, sourcePosition: isReversed ? positions?.0 : positions?.1))
            }
            switch relationship.name {
            case "friends": for (left, right) in friends { add(left, right) }
            case "likes": for (left, right) in likes { add(left, right) }
            default: for (person, tag, tagPosition, personPosition) in tagged { add(person, tag, (tagPosition, personPosition)) }
            }
        }
        return links
    }

    /// Compares the contents of a store with the expected ones.
    /// - Parameter isMigrated: Whether the store was migrated with ``change(_:)``.
    /// - Throws: `corrupt` for any difference.
    package static func check(_ store: Store, isMigrated: Bool = false) throws {
        func expect<T: Equatable>(_ found: T, _ expected: T, _ what: String) throws {
            guard found == expected else { throw StoreError(.corrupt, "\(what): expected \(expected), found \(found)") }
        }
        let (person, name, values) = isMigrated ? ("Human", "fullName", "Sample") : ("Person", "name", "Value")
        try store.read { reader in
            func all(_ entity: String) throws -> [Int64: [String: Value]] {
                var found: [Int64: [String: Value]] = [:]
                let entity = try store.entity(entity)
                for id in try reader.ids(FetchRequest(entity)) { found[id] = try reader.values(entity, id) }
                return found
            }
            let expected = people.mapValues { row in
                var row = row
                if isMigrated {
                    row[name] = row.removeValue(forKey: "name")
                    row["age"] = row["age"] ?? .integer(0)
                }
                return row
            }
            try expect(try all(person), expected, person)
            try expect(try all("Team"), teams, "Team")
            try expect(try all("Tag"), tags, "Tag")
            try expect(try all("Shape"), shapes, "Shape")
            let samples = try all(values)
            try expect(samples.keys.sorted(), [1, 2, 3, 4], values)
            for (id, row) in samples {
                for type in AttributeType.allCases {
                    try expect(row["a_\(type.rawValue)"] ?? .null, value(type, id), "\(type) of \(id)")
                    let field = try store.field(values, "a_\(type.rawValue)")
                    let predicate: QueryPredicate = id == 1 ? .isNull(field) : .compare(field, .equal, value(type, id))
                    let equal = (1...4 as ClosedRange<Int64>).filter { value(type, $0) == value(type, id) }
                    try expect(
                        try reader.ids(FetchRequest(try store.entity(values), predicate: predicate)), equal, "the index of \(type), \(id)")
                }
            }
            func pairs(_ entity: String, _ relationship: String) throws -> String {
                let sources: [Int64] = [1, 2, 3, 5, 7]
                let found = try reader.related(try store.relationship(entity, relationship), of: sources)
                return sources.map { "\(found[$0])\(found.positions(of: $0))" }.joined(separator: " ")
            }
            try expect(try pairs(person, "friends"), "[2][] [1][] [][] [][] [7][]", "friends")
            try expect(try pairs(person, "likes"), "[2][] [][] [][] [1, 2][] [][]", "likes")
            try expect(try pairs(person, "tags"), "[2, 3, 1][4, 6, 9] [][] [][] [1][0] [1][1]", "tags")
            try expect(try pairs("Tag", "people"), "[7, 5, 1][-9, 0, 1] [1][2] [1][-3] [][] [][]", "people")
            try expect(try pairs("Team", "members"), "[2][5] [5, 1][3, 10] [][] [][] [][]", "members")
            try expect(try reader.valueNames(prefix: ""), ["empty", "golden"], "the names of values")
            try expect(try reader.value(named: "golden"), [1, 2, 3], "the named value")
            try expect(try reader.logEntries(after: 0, limit: 10).map(\.bytes), [[2, 0], [3, 0]], "the change log")
            try expect(try reader.logBounds().removedThrough, 1, "the removed entries")
        }
        let writer = try store.backend.beginWrite()
        defer { writer.rollback() }
        try expect(try writer.reserveIDs(try store.entity(person), count: 1), 21, "the next row id")
        try expect(try store.backend.verify(), [], "the verification")
    }

    package static func change(_ source: ResolvedSchema) throws -> SchemaChange {
        let target = try migratedSchema()
        let entities = target.entities.map { entity -> SchemaChange.EntitySource in
            .carried(
                entity: entity.index,
                fields: entity.fields.map {
                    .field($0.index, replacingNullWith: entity.name == "Human" && $0.name == "age" ? .integer(0) : .null)
                })
        }
        func end(_ schema: ResolvedSchema, _ entity: Int) -> String {
            let name = schema.entities[entity].name
            return name == "Human" ? "Person" : name
        }
        let links = try target.links.map { table -> SchemaChange.LinkSource in
            let ends = [end(target, table.source), end(target, table.target)]
            for old in source.links {
                let before = [end(source, old.source), end(source, old.target)]
                if before == ends { return .carried(table: old.index, isReversed: false) }
                if before == ends.reversed() { return .carried(table: old.index, isReversed: true) }
            }
            throw StoreError(.misuse, "The link table \(table.name) has no origin.")
        }
        return try SchemaChange(identifier: "golden", source: source, target: target, entities: entities, links: links)
    }
}
