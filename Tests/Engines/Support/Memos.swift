package import PolyStoreBackend

/// A migration of ``Notes``: copies the notes under another name without their size, and inserts a label for each of them.
package enum Memos {
    package static func schema() throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "memos",
                entities: [
                    EntityDescription(
                        name: "Label",
                        properties: [
                            .attribute(AttributeDescription(name: "text", type: .string, isUnique: true)),
                            .attribute(AttributeDescription(name: "number", type: .int64, isIndexed: true)),
                        ]),
                    EntityDescription(
                        name: "Memo",
                        properties: [
                            .attribute(AttributeDescription(name: "heading", type: .string, isUnique: true)),
                            .attribute(AttributeDescription(name: "kind", type: .string, isIndexed: true)),
                            .attribute(AttributeDescription(name: "body", type: .data, isOptional: true)),
                        ]),
                ]))
    }

    package static func change(_ source: ResolvedSchema) throws -> SchemaChange {
        try SchemaChange(
            identifier: "notes to memos", source: source, target: try schema(),
            entities: [
                .empty(rowIDsOf: nil),
                .carried(
                    entity: 0,
                    fields: [
                        .field(0, replacingNullWith: .text("")), .constant(.text("note")), .field(2, replacingNullWith: .null),
                    ]),
            ], links: [])
    }

    /// Migrates a store in batches of 1000 labels, and resumes after the position that an interrupted attempt has saved.
    /// - Parameter didBegin: Called when the migration has begun.
    package static func migrate(_ store: Store, didBegin: () -> Void = {}) throws {
        let change = try change(store.schema)
        let migration = try store.backend.beginMigration(change)
        didBegin()
        let label = change.target.entities[0]
        let saved: Int64 = migration.savedPosition.map { $0.reduce(0) { $0 << 8 | Int64($1) } } ?? 0
        let ids = try migration.source.ids(FetchRequest(store.schema.entities[0])).filter { $0 > saved }
        for start in stride(from: 0, to: ids.count, by: 1000) {
            let batch = ids[start..<min(start + 1000, ids.count)]
            let changes = ChangeSet(change.target)
            for id in batch {
                try changes.insert(label, rowID: id) { builder in
                    try builder.set(label.fields[0], .text("label \(id * 7919 % 1_000_003)"))
                    try builder.set(label.fields[1], .integer(id % 100))
                }
            }
            try migration.target.apply(changes)
            let last = batch.last ?? 0
            try migration.save((0..<8).map { UInt8(truncatingIfNeeded: last >> (56 - 8 * $0)) })
        }
        try migration.commit()
    }

    /// Checks that a store was migrated completely.
    /// - Throws: `corrupt` for a missing or wrong record.
    package static func check(_ store: Store, count: Int64) throws {
        func fail(_ what: String) -> StoreError { StoreError(.corrupt, "\(what) is not as the migration leaves it.") }
        guard try store.ids("Memo") == Array(1...count), try store.ids("Label") == Array(1...count) else { throw fail("The list of ids") }
        try store.read { reader in
            let (label, memo) = (try store.entity("Label"), try store.entity("Memo"))
            for id in 1...count {
                let values = try reader.values(memo, id)
                guard case .blob(let body)? = values?["body"], body == Notes.body(id, size: body.count), values?["kind"] == .text("note"),
                    values?["heading"] == .text("note \(id)")
                else { throw fail("Memo \(id)") }
                guard try reader.values(label, id) == ["text": .text("label \(id * 7919 % 1_000_003)"), "number": .integer(id % 100)] else {
                    throw fail("Label \(id)")
                }
            }
            let number = try store.field("Label", "number")
            guard try reader.ids(FetchRequest(label, predicate: .compare(number, .equal, .integer(7)))).count == (count + 93) / 100 else {
                throw fail("The index of Label.number")
            }
        }
        guard try store.backend.verify() == [] else { throw fail("The store") }
    }
}
