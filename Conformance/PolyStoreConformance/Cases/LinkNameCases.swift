import PolyStoreBackend

/// Relationships whose entity and name have the same concatenation.
let linkNameCases: [ConformanceCase] = [
    ConformanceCase(
        "relationship.names.have-tables-of-their-own", "Two relationships such as A.b_c and A_b.c have separate links."
    ) { run in
        for order in [Alike.entities, Alike.entities.reversed()] {
            let store = try run.open(SchemaDescription(name: "alike", entities: order), order[0].name)
            try run.expect(Set(store.schema.links.map(\.name)).count, equals: store.schema.links.count, "names of link tables")
            for name in ["A", "A_b", "X"] { try store.insert(name, [[.text("1")], [.text("2")]]) }
            let all = [("A", "b_c"), ("A", "b_c_1"), ("A_b", "c"), ("A_b", "c_3")]
            for (number, (entity, name)) in all.enumerated() {
                try store.change { $0.link(try store.pair(try store.relationship(entity, name), 1, 2)) }
                for (other, (entity, name)) in all.enumerated() {
                    let found = try store.read { try $0.related(try store.relationship(entity, name), of: [1, 2]) }
                    try run.expect(found[1], equals: other <= number ? [2] : [], "\(entity).\(name) of 1 after \(number + 1) links")
                    try run.expect(found[2], equals: [], "\(entity).\(name) of 2")
                }
            }
            if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
            try store.backend.close()
        }
    },
    ConformanceCase(
        "relationship.names.of-both-ends", "A relationship and its inverse with the same concatenated name, A.b_c and A_b.c, are distinct."
    ) { run in
        func many(_ name: String, _ destination: String, _ inverse: String) -> PropertyDescription {
            .relationship(RelationshipDescription(name: name, destination: destination, isToMany: true, inverse: inverse))
        }
        let entities = [
            EntityDescription(name: "A", properties: [Alike.name, many("b_c", "A_b", "c")]),
            EntityDescription(name: "A_b", properties: [Alike.name, many("c", "A", "b_c")]),
        ]
        for order in [entities, entities.reversed()] {
            let store = try run.open(SchemaDescription(name: "ends", entities: order), order[0].name)
            for name in ["A", "A_b"] { try store.insert(name, [[.text("1")], [.text("2")], [.text("3")]]) }
            try store.change { $0.link(try store.pair(try store.relationship("A", "b_c"), 1, 2)) }
            try store.read { transaction in
                let forth = try transaction.related(try store.relationship("A", "b_c"), of: [1, 2, 3])
                let back = try transaction.related(try store.relationship("A_b", "c"), of: [1, 2, 3])
                try run.expect([forth[1], forth[2], forth[3]], equals: [[2], [], []], "A.b_c")
                try run.expect([back[1], back[2], back[3]], equals: [[], [1], []], "A_b.c")
            }
            try store.backend.close()
        }
    },
]

private enum Alike {
    static let name = PropertyDescription.attribute(AttributeDescription(name: "name", type: .string))

    static let entities: [EntityDescription] = {
        func many(_ name: String) -> PropertyDescription {
            .relationship(RelationshipDescription(name: name, destination: "X", isToMany: true))
        }
        return [
            EntityDescription(name: "A", properties: [name, many("b_c"), many("b_c_1")]),
            EntityDescription(name: "A_b", properties: [name, many("c"), many("c_3")]),
            EntityDescription(name: "X", properties: [name]),
        ]
    }()
}
