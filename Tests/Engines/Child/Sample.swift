import EngineTestSupport
import PolyStoreBackend

/// A small store with everything that the format knows: every type in an index, null and NaN, values too long for a key or for one piece, links.
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
}
