package import PolyStoreBackend

/// The model of most engine tests: an entity with an index, a unique attribute and a data attribute of any size.
package enum Notes {
    package static func schema(_ name: String = "Note") throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "notes",
                entities: [
                    EntityDescription(
                        name: name,
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isOptional: true, isUnique: true)),
                            .attribute(AttributeDescription(name: "size", type: .int64, isOptional: true, isIndexed: true)),
                            .attribute(AttributeDescription(name: "body", type: .data, isOptional: true)),
                        ])
                ]))
    }

    /// Returns the values of a note. Every byte follows from its id.
    package static func values(_ id: Int64, size: Int) -> [String: Value] {
        ["title": .text("note \(id)"), "size": .integer(Int64(size)), "body": .blob(body(id, size: size))]
    }

    package static func body(_ id: Int64, size: Int) -> [UInt8] {
        var state = UInt64(bitPattern: id) &* 0x9e37_79b9_7f4a_7c15 | 1
        let block: [UInt8] = (0..<251).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        var body: [UInt8] = []
        body.reserveCapacity(size + block.count)
        while body.count < size { body += block }
        body.removeLast(body.count - size)
        return body
    }
}
