import EngineTestSupport
import PolyStoreBackend

/// A small store that covers the whole file format: indexes of every type, null and NaN, values too long for a key or for one chunk, links.
enum Sample {
    static func schema() throws -> ResolvedSchema {
        let values = AttributeType.allCases.map {
            PropertyDescription.attribute(AttributeDescription(name: "\($0.rawValue)Value", type: $0, isOptional: true, isIndexed: true))
        }
        let unique = AttributeDescription(name: "label", type: .string, isOptional: true, isUnique: true)
        return try ResolvedSchema(
            SchemaDescription(
                name: "sample",
                entities: [
                    EntityDescription(
                        name: "Thing",
                        properties: values + [
                            .attribute(unique),
                            .relationship(RelationshipDescription(name: "box", destination: "Box", isToMany: false, inverse: "things")),
                            .relationship(RelationshipDescription(name: "likes", destination: "Thing", isToMany: true, inverse: "likes")),
                            .relationship(RelationshipDescription(name: "tags", destination: "Tag", isToMany: true, inverse: "things")),
                        ],
                        indexes: [
                            IndexDescription(fields: ["stringValue", "dataValue", "int16Value"]),
                            IndexDescription(fields: ["urlValue", "label"], isUnique: true),
                        ]),
                    EntityDescription(
                        name: "Box",
                        properties: [.relationship(RelationshipDescription(name: "things", destination: "Thing", isToMany: true))]),
                    EntityDescription(
                        name: "Tag",
                        properties: [.relationship(RelationshipDescription(name: "things", destination: "Thing", isToMany: true))]),
                ]))
    }

    private static func value(_ type: AttributeType, _ id: Int64) -> Value {
        let round = Int(id % 8)
        if round == 0 { return .null }
        let long = Int(id * id * 7)
        switch type.physical {
        case .integer:
            if let bounds = type.integerBounds { return .integer([bounds.lowerBound, bounds.upperBound, 0, 1][round % 4]) }
            return .integer([.min, .max, 0, -1][round % 4])
        case .real:
            let reals: [Double] = [1.5, .nan, -.infinity, .infinity, 0, -2.25, 1024, -0.0]
            return .real(reals[round])
        case .text: return .text(["", "a\0b", String(repeating: "é", count: long), "\0", "z"][round % 5])
        case .blob:
            switch type {
            case .uuid: return .blob(Notes.body(id, size: 16))
            case .decimal: return .blob(round % 2 == 0 ? [0x80] : [0x81, 0x80, 0x01, 0x10, 0x21, 0x00])
            default: return .blob(round == 3 ? Notes.body(id, size: 200_000) : [UInt8](repeating: 0, count: long))
            }
        }
    }

    static func fill(_ store: Store) throws {
        let transaction = try store.backend.beginWrite()
        _ = try transaction.reserveIDs(try store.entity("Thing"), count: 60)
        let changes = Changes(store.schema)
        for id in Int64(1)...60 {
            var values: [String: Value] = ["box": id % 3 == 0 ? .null : .integer(id % 3)]
            for type in AttributeType.allCases { values["\(type.rawValue)Value"] = value(type, id) }
            values["label"] = id % 4 == 0 ? .null : .text(String(repeating: "label ", count: Int(id) * 3) + "\(id)")
            try changes.insert("Thing", id, values)
        }
        for id in Int64(1)...3 {
            try changes.insert("Box", id)
            try changes.insert("Tag", id - 2)
        }
        for table in store.schema.links {
            for id in Int64(1)...20 {
                if table.isSymmetric {
                    changes.link(table.index, id, 21 - id)
                } else {
                    let (source, target) = store.schema.entities[table.source].name == "Tag" ? (id % 3 - 1, id) : (id, id % 3 - 1)
                    changes.link(table.index, source, target)
                }
            }
        }
        try transaction.apply(changes.set)
        let later = Changes(store.schema)
        try later.update("Thing", 11, ["dataValue": .blob([1]), "stringValue": .null])
        try later.delete("Thing", 60)
        try transaction.apply(later.set)
        _ = try transaction.commit(.full)
        try store.backend.close()
    }

    // MARK: Migrations

    /// Changes the order and the names of fields, widens types, reverses the direction of a link table and drops the tags with unusual names.
    static func firstTarget() throws -> ResolvedSchema {
        let source = try schema().description
        var things = source.entities[0]
        things.name = "Item"
        var properties: [PropertyDescription] = []
        for property in things.properties.reversed() {
            switch property {
            case .attribute(var attribute):
                if ["int8Value", "jsonValue"].contains(attribute.name) { continue }
                if attribute.name == "stringValue" { attribute.name = "text" }
                if attribute.name == "int16Value" { attribute.type = .int32 }
                if attribute.name == "floatValue" { attribute.type = .double }
                properties.append(.attribute(attribute))
            case .relationship(var relationship):
                if relationship.destination == "Thing" { relationship.destination = "Item" }
                properties.append(.relationship(relationship))
            }
        }
        properties.insert(.attribute(AttributeDescription(name: "added", type: .string, isIndexed: true)), at: 2)
        things.properties = properties
        things.indexes = [
            IndexDescription(fields: ["text", "dataValue", "int16Value"]), IndexDescription(fields: ["urlValue", "label"], isUnique: true),
        ]
        let others = source.entities.dropFirst().map { entity in
            var entity = entity
            entity.properties = entity.properties.map { property in
                guard case .relationship(var relationship) = property else { return property }
                relationship.destination = "Item"
                return .relationship(relationship)
            }
            return entity
        }
        return try ResolvedSchema(SchemaDescription(name: "sample", entities: [things] + others))
    }

    static func secondTarget() throws -> ResolvedSchema {
        var description = try firstTarget().description
        description.entities[0].properties.append(.attribute(AttributeDescription(name: "last", type: .double, isOptional: true)))
        description.entities[0].properties = description.entities[0].properties.map { property in
            guard case .attribute(var attribute) = property, attribute.name == "int16Value" else { return property }
            (attribute.type, attribute.isOptional) = (.int64, false)
            return .attribute(attribute)
        }
        return try ResolvedSchema(description)
    }

    /// Migrates a sample twice, and writes between and after the migrations.
    static func migrate(_ store: Store, _ open: (ResolvedSchema) throws -> Store) throws {
        let source = try schema()
        let first = try firstTarget()
        let second = try secondTarget()
        let thing = try store.entity("Thing")
        func fieldIndex(_ entity: Entity, _ name: String) -> Int { entity.fields.first { $0.name == name }?.index ?? 0 }
        let text = SchemaChange.FieldSource.field(fieldIndex(thing, "stringValue"), replacingNullWith: .null)
        let change = try SchemaChange.byName(
            source, first, identifier: "first", entities: ["Item": "Thing"],
            fields: ["Item": ["text": text, "added": .constant(.text("new"))]],
            links: ["Item_likes": ("Thing_likes", false), "Item_tags": ("Tag_things", true)])
        let migration = try store.backend.beginMigration(change)
        try migration.commit()
        let middle = try open(first)
        try middle.write { changes in
            for id in Int64(1)...5 {
                try changes.update("Item", id, ["text": .text("updated"), "dataValue": .blob(Notes.body(id, size: 70_000))])
            }
            try changes.delete("Item", 12)
            for (index, table) in middle.schema.links.enumerated() {
                for other in Int64(-1)...21 {
                    changes.link(index, 12, other, isAddition: false)
                    if table.isSymmetric { changes.link(index, other, 12, isAddition: false) }
                }
            }
        }
        let item = try middle.entity("Item")
        let again = try SchemaChange.byName(
            first, second, identifier: "second",
            fields: [
                "Item": [
                    "int16Value": .field(fieldIndex(item, "int16Value"), replacingNullWith: .integer(-7)),
                    "last": .constant(.real(.infinity)),
                ]
            ])
        let next = try middle.backend.beginMigration(again)
        try next.commit()
        let last = try open(second)
        try last.write { changes in for id in Int64(4)...8 { try changes.update("Item", id, ["last": .real(1.5)]) } }
        try last.backend.close()
    }
}
