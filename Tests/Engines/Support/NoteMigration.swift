package import PolyStoreBackend

/// A migration of a store of notes that adds a star count to each note and inserts a memo for it.
package enum NoteMigration {
    package static func target() throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "notes",
                entities: [
                    EntityDescription(
                        name: "Note",
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isOptional: true, isUnique: true)),
                            .attribute(AttributeDescription(name: "stars", type: .int64, isIndexed: true)),
                            .attribute(AttributeDescription(name: "size", type: .int64, isOptional: true, isIndexed: true)),
                            .attribute(AttributeDescription(name: "body", type: .data, isOptional: true)),
                        ]),
                    EntityDescription(
                        name: "Memo",
                        properties: [.attribute(AttributeDescription(name: "text", type: .string, isOptional: true, isUnique: true))]),
                ]))
    }

    package static func change() throws -> SchemaChange {
        try SchemaChange(
            identifier: "stars", source: Notes.schema(), target: target(),
            entities: [
                .carried(
                    entity: 0,
                    fields: [
                        .field(0, replacingNullWith: .null), .constant(.integer(3)), .field(1, replacingNullWith: .null),
                        .field(2, replacingNullWith: .null),
                    ]), .empty(rowIDsOf: nil),
            ], links: [])
    }

    /// Continues to write memos, ten in each batch.
    /// - Parameter afterSave: Called after each batch is saved.
    package static func writeMemos(_ count: Int64, _ migration: any StoreMigration, afterSave: () -> Void = {}) throws {
        let target = try target()
        var next = Int64(migration.savedPosition?.first ?? 1)
        while next <= count {
            let changes = Changes(target)
            let end = min(next + 10, count + 1)
            for id in next..<end { try changes.insert("Memo", id, ["text": .text("memo \(id)")]) }
            try migration.target.apply(changes.set)
            try migration.save([UInt8(end)])
            next = end
            afterSave()
        }
    }
}
