package import PolyStoreBackend

/// A store with every type of attribute, a hierarchy, every kind of relationship and names that need quotes.
package enum SampleSchema {
    package static let oddName = "Odd \"name\"; -- é"
    package static let oddAttribute = "a \"b\" 'c'"

    /// The description of the schema. Its name is that of a version.
    package static var description: SchemaDescription {
        SchemaDescription(name: "Sample 3", entities: [everything, person, team, tag, animal, empty, odd])
    }

    /// The attribute of `Everything` with a type.
    package static func attribute(_ type: AttributeType) -> String { "a_\(type.rawValue)" }

    private static var everything: EntityDescription {
        var properties = AttributeType.allCases.map { type in
            PropertyDescription.attribute(
                AttributeDescription(name: attribute(type), type: type, isOptional: true, isIndexed: type != .data && type != .json))
        }
        properties.append(.attribute(AttributeDescription(name: "code", type: .string, isOptional: true, isUnique: true)))
        return EntityDescription(
            name: "Everything", properties: properties,
            indexes: [IndexDescription(fields: [attribute(.string), attribute(.int32)])])
    }

    private static var person: EntityDescription {
        func to(_ name: String, _ destination: String, many: Bool, ordered: Bool = false, inverse: String? = nil) -> PropertyDescription {
            .relationship(
                RelationshipDescription(
                    name: name, destination: destination, isToMany: many, isOrdered: ordered, inverse: inverse,
                    deleteRule: many ? .cascade : .nullify))
        }
        return EntityDescription(
            name: "Person",
            properties: [
                .attribute(
                    AttributeDescription(
                        name: "name", type: .string, originalName: "title", defaultValue: .text("Jane"))),
                .attribute(AttributeDescription(name: "note", type: .string, isOptional: true)),
                to("team", "Team", many: false, inverse: "members"),
                to("boss", "Person", many: false, inverse: "staff"),
                to("staff", "Person", many: true, ordered: true, inverse: "boss"),
                to("partner", "Person", many: false, inverse: "partner"),
                to("friends", "Person", many: true, ordered: true, inverse: "friends"),
                to("known", "Person", many: true, inverse: "knownBy"),
                to("knownBy", "Person", many: true, inverse: "known"),
                to("tags", "Tag", many: true, ordered: true, inverse: "people"),
                to("pets", "Animal", many: true, ordered: true),
                to("watched", "Animal", many: true),
            ])
    }

    private static var team: EntityDescription {
        EntityDescription(
            name: "Team",
            properties: [
                .attribute(AttributeDescription(name: "name", type: .string)),
                .relationship(
                    RelationshipDescription(name: "members", destination: "Person", isToMany: true, isOrdered: true, inverse: "team")),
            ])
    }

    private static var tag: EntityDescription {
        EntityDescription(
            name: "Tag",
            properties: [
                .attribute(AttributeDescription(name: "name", type: .string, isUnique: true)),
                .relationship(
                    RelationshipDescription(name: "people", destination: "Person", isToMany: true, isOrdered: true, inverse: "tags")),
            ])
    }

    private static var animal: EntityDescription {
        EntityDescription(
            name: "Animal",
            properties: [
                .attribute(AttributeDescription(name: "name", type: .string)),
                .attribute(AttributeDescription(name: "legs", type: .int16, isOptional: true)),
                .attribute(AttributeDescription(name: "wings", type: .int16, isOptional: true)),
                .attribute(AttributeDescription(name: EntityHierarchy.classifier, type: .string)),
            ],
            hierarchy: EntityHierarchy(
                isAbstract: true, properties: ["name"],
                subentities: [
                    SubentityDescription(name: "Dog", parent: "Animal", isAbstract: false, properties: ["legs"], required: ["legs"]),
                    SubentityDescription(name: "Bird", parent: "Animal", isAbstract: false, properties: ["wings"], required: []),
                ]))
    }

    private static var empty: EntityDescription {
        EntityDescription(name: "Empty", properties: [.attribute(AttributeDescription(name: "name", type: .string))])
    }

    private static var odd: EntityDescription {
        EntityDescription(
            name: oddName, properties: [.attribute(AttributeDescription(name: oddAttribute, type: .string, isOptional: true))])
    }
}
