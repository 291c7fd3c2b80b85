import EngineTestSupport
import Foundation
import PolyStoreBackend

/// A migration of the store under test to another schema and back: it renames, moves and adds entities and fields, reverses the link table,
/// keeps a full-text index, drops one, adds one and inserts records.
enum Migrating {
    private static let extras: ClosedRange<Int64> = 1...200

    static func schema() throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "faults",
                entities: [
                    EntityDescription(
                        name: "Extra",
                        properties: [
                            .attribute(AttributeDescription(name: "text", type: .string, isUnique: true)),
                            .attribute(AttributeDescription(name: "number", type: .int64, isIndexed: true)),
                        ]),
                    EntityDescription(name: "Head", properties: [.attribute(AttributeDescription(name: "last", type: .int64))]),
                    EntityDescription(
                        name: "Tag",
                        properties: [.relationship(RelationshipDescription(name: "things", destination: "Thing", isToMany: true))]),
                    EntityDescription(
                        name: "Thing",
                        properties: [
                            .attribute(AttributeDescription(name: "body", type: .data)),
                            .attribute(AttributeDescription(name: "added", type: .string, isIndexed: true)),
                            .attribute(AttributeDescription(name: "name", type: .string, isUnique: true)),
                            .attribute(AttributeDescription(name: "revision", type: .int64)),
                            .attribute(AttributeDescription(name: "size", type: .int64)),
                            .attribute(AttributeDescription(name: "words", type: .string, isOptional: true)),
                            .relationship(RelationshipDescription(name: "tags", destination: "Tag", isToMany: true, inverse: "things")),
                        ],
                        searchIndexes: [
                            SearchIndexDescription(fields: ["name", "words"]), SearchIndexDescription(name: "names", fields: ["name"]),
                        ]),
                ]))
    }

    private static func kept(_ fields: Int...) -> [SchemaChange.FieldSource] { fields.map { .field($0, replacingNullWith: .null) } }

    private static func links(_ source: ResolvedSchema, _ target: ResolvedSchema) -> [SchemaChange.LinkSource] {
        let isReversed = (source.entities[source.links[0].source].name == "Tag") != (target.entities[target.links[0].source].name == "Tag")
        return [.carried(table: 0, isReversed: isReversed)]
    }

    private static func migrate(_ store: Store) throws {
        let target = try schema()
        let change = try SchemaChange(
            identifier: "there", source: store.schema, target: target,
            entities: [
                .empty(rowIDsOf: nil), .carried(entity: 0, fields: kept(0)), .carried(entity: 2, fields: []),
                .carried(entity: 1, fields: kept(3) + [.constant(.text("new"))] + kept(0, 2, 1, 4)),
            ], links: links(store.schema, target))
        let migration = try store.backend.beginMigration(change)
        let position = Int64(migration.savedPosition?.first ?? 0)
        for first in stride(from: 1 as Int64, through: extras.upperBound, by: 50) where first > position {
            let changes = Changes(target)
            for id in first..<(first + 50) { try changes.insert("Extra", id, extra(id)) }
            try migration.target.apply(changes.set)
            try migration.save([UInt8(first)])
        }
        try migration.commit()
    }

    private static func extra(_ id: Int64) -> [String: Value] { ["text": .text("extra \(id * 7919 % 211)"), "number": .integer(id % 10)] }

    private static func migrateBack(_ store: Store) throws {
        let target = try Truth.schema()
        let change = try SchemaChange(
            identifier: "back", source: store.schema, target: target,
            entities: [
                .carried(entity: 1, fields: kept(0)), .carried(entity: 3, fields: kept(2, 4, 3, 0, 5)), .carried(entity: 2, fields: []),
            ], links: links(store.schema, target))
        try store.backend.beginMigration(change).commit()
    }

    /// Migrates the store. Marks `M` before the migration and `N` after it is acknowledged.
    static func run(_ engine: String, _ path: String, _ marks: Marks) {
        marks.put("M")
        for _ in 0..<4 {
            do {
                let store = try openStore(engine, path)
                defer { try? store.backend.close() }
                guard store.backend.capabilities.has(.migration) else { return }
                try migrate(store)
                return marks.put("N")
            } catch let error as StoreError where error.code == .migrationRequired {
                // A commit that reports an error may still have been written.
                return marks.put("N")
            } catch {
                marks.put("E migration \(summary(error))")
            }
        }
    }

    /// Compares an image taken during a migration: it is the old store or the new one, never a mixture. A new one is migrated back, to be compared with the
    /// expected contents.
    static func verdict(_ engine: String, _ path: String, floor: Int, ceiling: Int, isDone: Bool) -> String {
        do {
            try openStore(engine, path).backend.close()
            return isDone ? "lost the migration" : Checker.verdict(engine, path, floor: floor, ceiling: ceiling)
        } catch let error as StoreError where error.code == .migrationRequired {
            // The store has the new schema.
        } catch {
            return "unopenable \(summary(error))"
        }
        do {
            let store = try Store(configuration(engine, path), try schema())
            defer { try? store.backend.close() }
            guard try store.ids("Extra") == Array(extras) else { return "wrong: the migrated store lacks records that were inserted" }
            for id in extras where try store.values("Extra", id) != extra(id) { return "wrong: values of Extra \(id)" }
            let added = try store.field("Thing", "added")
            guard try store.ids("Thing", .compare(added, .equal, .text("new"))) == store.ids("Thing") else {
                return "wrong: values of Thing.added"
            }
            try store.waitForSearchIndexes()
            let findings = try store.backend.verify()
            guard findings.isEmpty else { return "wrong: verify says \(findings.prefix(2))" }
            let thing = try store.entity("Thing")
            let differences = try store.read { try $0.differences(thing, ["common", "\"quick brown\"", "revision1 OR item"]) }
            guard differences.isEmpty else { return "wrong: searches of the migrated store: \(differences.prefix(2))" }
            try migrateBack(store)
        } catch {
            return "unopenable after the migration: \(summary(error))"
        }
        return Checker.verdict(engine, path, floor: floor, ceiling: ceiling)
    }
}
