import EngineTestSupport
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue

/// People in cities, with every kind of index and relationship.
enum Company {
    static func description(_ extra: [PropertyDescription] = []) -> SchemaDescription {
        func attribute(_ name: String, _ type: AttributeType, unique: Bool = false, indexed: Bool = false) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: true, isUnique: unique, isIndexed: indexed))
        }
        return SchemaDescription(
            name: "company",
            entities: [
                EntityDescription(
                    name: "Person",
                    properties: [
                        attribute("name", .string, indexed: true), attribute("email", .string, unique: true),
                        attribute("age", .int64, indexed: true), attribute("city", .string), attribute("score", .double),
                        attribute("photo", .data),
                        .relationship(RelationshipDescription(name: "team", destination: "Team", isToMany: false, inverse: "members")),
                        .relationship(RelationshipDescription(name: "friends", destination: "Person", isToMany: true, inverse: "friends")),
                        .relationship(RelationshipDescription(name: "skills", destination: "Skill", isToMany: true, inverse: "people")),
                    ] + extra, indexes: [IndexDescription(fields: ["city", "age"])]),
                EntityDescription(
                    name: "Team",
                    properties: [
                        attribute("title", .string),
                        .relationship(RelationshipDescription(name: "members", destination: "Person", isToMany: true)),
                    ]),
                EntityDescription(
                    name: "Skill",
                    properties: [
                        attribute("title", .string),
                        .relationship(RelationshipDescription(name: "people", destination: "Person", isToMany: true)),
                    ]),
            ])
    }

    static func schema() throws -> ResolvedSchema { try ResolvedSchema(description()) }

    static func person(_ id: Int64) -> [String: Value] {
        [
            "name": .text("name \(id % 50)"), "email": .text("\(id)@example.com"), "age": id % 7 == 0 ? .null : .integer(id % 90),
            "city": .text(["Oslo", "Rome", "Bonn"][Int(id % 3)]), "score": .real(Double(id) / 8), "team": .integer(id % 2 + 1),
        ]
    }

    /// Inserts people, two teams, two skills, and links.
    static func fill(_ store: Store, _ count: Int64) throws {
        try store.write { changes in
            for id in 1...count { try changes.insert("Person", id, person(id)) }
            for id in Int64(1)...2 {
                try changes.insert("Team", id, ["title": .text("team \(id)")])
                try changes.insert("Skill", id, ["title": .text("skill \(id)")])
            }
            for table in store.schema.links {
                for id in Int64(1)...2 { changes.link(table.index, id, table.isSymmetric ? 3 - id : id) }
            }
        }
    }
}
