import CSQLite
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreSQLite

/// Every type, two unique attributes, relationships of all kinds.
enum Models {
    static func company() throws -> ResolvedSchema {
        let values = AttributeType.allCases.map {
            PropertyDescription.attribute(AttributeDescription(name: $0.rawValue, type: $0, isOptional: true))
        }
        return try ResolvedSchema(
            SchemaDescription(
                name: "company",
                entities: [
                    EntityDescription(
                        name: "Person",
                        properties: [
                            .attribute(AttributeDescription(name: "name", type: .string)),
                            .attribute(AttributeDescription(name: "email", type: .string, isOptional: true, isUnique: true)),
                            .attribute(AttributeDescription(name: "age", type: .int16, isOptional: true, isIndexed: true)),
                            .attribute(AttributeDescription(name: "score", type: .double, isOptional: true)),
                            .relationship(RelationshipDescription(name: "team", destination: "Team", isToMany: false, inverse: "members")),
                            .relationship(
                                RelationshipDescription(name: "friends", destination: "Person", isToMany: true, inverse: "friends")),
                            .relationship(RelationshipDescription(name: "skills", destination: "Skill", isToMany: true, inverse: "people")),
                        ],
                        indexes: [IndexDescription(fields: ["name", "age"], isUnique: true)]),
                    EntityDescription(
                        name: "Team",
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                            .relationship(RelationshipDescription(name: "members", destination: "Person", isToMany: true)),
                        ]),
                    EntityDescription(
                        name: "Skill",
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                            .relationship(RelationshipDescription(name: "people", destination: "Person", isToMany: true)),
                        ]),
                    EntityDescription(name: "Values", properties: values),
                ]))
    }

    static func single(_ entity: String, _ properties: [PropertyDescription]) throws -> ResolvedSchema {
        try ResolvedSchema(SchemaDescription(name: "single", entities: [EntityDescription(name: entity, properties: properties)]))
    }
}
