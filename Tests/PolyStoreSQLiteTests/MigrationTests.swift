import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// Migrations of one store: the schema of the file and its contents.
@Suite struct MigrationTests {
    // MARK: - Origins of fields

    /// A migration of an entity with the fields `a` (optional text), `b` (16 bits), `c` (optional real) and three records.
    struct FieldCase: CustomTestStringConvertible, Sendable {
        let name: String
        var entity = "Item"
        let properties: [PropertyDescription]
        var indexes: [IndexDescription] = []
        let fields: [SchemaChange.FieldSource]
        /// By row id 1 to 3.
        let rows: [[Value]]
        var testDescription: String { name }
    }

    private static func attribute(
        _ name: String, _ type: AttributeType, isOptional: Bool = false, isUnique: Bool = false, isIndexed: Bool = false
    ) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: isOptional, isUnique: isUnique, isIndexed: isIndexed))
    }

    private static let original: [PropertyDescription] = [
        attribute("a", .string, isOptional: true, isIndexed: true), attribute("b", .int16, isIndexed: true),
        attribute("c", .double, isOptional: true),
    ]
    private static let rows: [[Value]] = [
        [.text("x'\"\0y"), .integer(-7), .real(0.1)], [.null, .integer(0), .null], [.text(""), .integer(32767), .real(.nan)],
    ]

    private static let a = attribute("a", .string, isOptional: true, isIndexed: true)
    private static let b = attribute("b", .int16, isIndexed: true)
    private static let c = attribute("c", .double, isOptional: true)
    private static func kept(_ field: Int) -> SchemaChange.FieldSource { .field(field, replacingNullWith: .null) }
    private static func all(_ change: ([Value]) -> [Value]) -> [[Value]] { rows.map(change) }

    static let fieldCases: [FieldCase] = [
        FieldCase(name: "nothing", properties: original, fields: [kept(0), kept(1), kept(2)], rows: rows),
        FieldCase(
            name: "entity renamed", entity: "Thing", properties: original, fields: [kept(0), kept(1), kept(2)], rows: rows),
        FieldCase(
            name: "case of letters", entity: "ITEM",
            properties: [attribute("A", .string, isOptional: true, isIndexed: true), b, attribute("C", .double, isOptional: true)],
            fields: [kept(0), kept(1), kept(2)], rows: rows),
        FieldCase(
            name: "field renamed",
            properties: [
                attribute("title", .string, isOptional: true, isIndexed: true), b, attribute("na\"me", .double, isOptional: true),
            ],
            fields: [kept(0), kept(1), kept(2)], rows: rows),
        FieldCase(
            name: "fields exchange names",
            properties: [
                attribute("c", .string, isOptional: true, isIndexed: true), attribute("b", .int16),
                attribute("a", .double, isOptional: true, isIndexed: true),
            ],
            fields: [kept(0), kept(1), kept(2)], rows: rows),
        FieldCase(
            name: "field takes the name of a new one",
            properties: [attribute("a2", .string, isOptional: true), b, c, attribute("a", .int8)],
            fields: [kept(0), kept(1), kept(2), .constant(.integer(-3))], rows: all { $0 + [.integer(-3)] }),
        FieldCase(
            name: "fields in another order", properties: [c, a, b], fields: [kept(2), kept(0), kept(1)],
            rows: all { [$0[2], $0[0], $0[1]] }),
        FieldCase(name: "field removed", properties: [a, c], fields: [kept(0), kept(2)], rows: all { [$0[0], $0[2]] }),
        FieldCase(name: "every field removed", properties: [], fields: [], rows: all { _ in [] }),
        FieldCase(
            name: "field copied", properties: [a, b, c, attribute("b2", .int64)], fields: [kept(0), kept(1), kept(2), kept(1)],
            rows: all { $0 + [$0[1]] }),
        FieldCase(
            name: "field added, null", properties: [a, b, c, attribute("d", .data, isOptional: true, isIndexed: true)],
            fields: [kept(0), kept(1), kept(2), .constant(.null)], rows: all { $0 + [.null] }),
        FieldCase(
            name: "fields added, in front", properties: [attribute("d", .data), a, attribute("e", .string, isIndexed: true), b, c],
            fields: [.constant(.blob([0, 255, 39])), kept(0), .constant(.text("it's\u{301} \"é\" 😀")), kept(1), kept(2)],
            rows: all { [.blob([0, 255, 39]), $0[0], .text("it's\u{301} \"é\" 😀"), $0[1], $0[2]] }),
        FieldCase(
            name: "real fields added", properties: [a, b, c, attribute("d", .double, isIndexed: true), attribute("e", .float)],
            fields: [kept(0), kept(1), kept(2), .constant(.real(-12)), .constant(.real(1e6))],
            rows: all { $0 + [.real(-12), .real(1e6)] }),
        FieldCase(
            name: "constants without a literal",
            properties: [a, b, c, attribute("d", .double), attribute("e", .string), attribute("f", .int64), attribute("g", .double)],
            fields: [
                kept(0), kept(1), kept(2), .constant(.real(0.1)), .constant(.text("a\0b'")), .constant(.integer(.min)),
                .constant(.real(-.infinity)),
            ],
            rows: all { $0 + [.real(0.1), .text("a\0b'"), .integer(.min), .real(-.infinity)] }),
        FieldCase(
            name: "long constants", properties: [a, b, c, attribute("d", .data), attribute("e", .string)],
            fields: [
                kept(0), kept(1), kept(2), .constant(.blob(Array(repeating: 7, count: 10_000))),
                .constant(.text(String(repeating: "'", count: 10_000))),
            ],
            rows: all { $0 + [.blob(Array(repeating: 7, count: 10_000)), .text(String(repeating: "'", count: 10_000))] }),
        FieldCase(
            name: "a NaN for every record", properties: [a, b, c, attribute("d", .double)],
            fields: [kept(0), kept(1), kept(2), .constant(.real(.nan))], rows: all { $0 + [.real(.nan)] }),
        FieldCase(
            name: "null replaced", properties: [attribute("a", .string, isIndexed: true), b, attribute("c", .double)],
            fields: [.field(0, replacingNullWith: .text("'none'")), kept(1), .field(2, replacingNullWith: .real(0.3))],
            rows: all { [$0[0].isNull ? .text("'none'") : $0[0], $0[1], $0[2].isNull ? .real(0.3) : $0[2]] }),
        FieldCase(
            name: "null replaced, field removed", properties: [attribute("a", .string)],
            fields: [.field(0, replacingNullWith: .text("a\0"))],
            rows: all { [$0[0].isNull ? .text("a\0") : $0[0]] }),
        FieldCase(
            name: "null replaced with a NaN", properties: [attribute("c", .double), a, b],
            fields: [.field(2, replacingNullWith: .real(.nan)), kept(0), kept(1)],
            rows: all { [$0[2].isNull ? .real(.nan) : $0[2], $0[0], $0[1]] }),
        FieldCase(
            name: "types widened, fields made optional",
            properties: [attribute("a", .url, isOptional: true), attribute("b", .int64, isOptional: true, isIndexed: true), c],
            fields: [.constant(.null), kept(1), kept(2)], rows: all { [.null, $0[1], $0[2]] }),
        FieldCase(
            name: "other indexes",
            properties: [attribute("a", .string, isOptional: true, isUnique: true), attribute("b", .int16), c],
            indexes: [IndexDescription(fields: ["b", "a"]), IndexDescription(fields: ["c", "b"], isUnique: true)],
            fields: [kept(0), kept(1), kept(2)], rows: rows),
    ]

    private static func schema(_ entity: String, _ properties: [PropertyDescription], _ indexes: [IndexDescription] = []) throws
        -> ResolvedSchema
    {
        try ResolvedSchema(
            SchemaDescription(
                name: "test", entities: [EntityDescription(name: entity, properties: properties, indexes: indexes)]))
    }

    @Test(arguments: fieldCases)
    func carriedRecordsAreThoseOfANewStore(_ c: FieldCase) throws {
        let folder = try Folder()
        let old = try Store(folder.file("test.sqlite"), try Self.schema("Item", Self.original))
        try old.write { changes in
            for (index, row) in Self.rows.enumerated() {
                try changes.insert("Item", Int64(index + 1), ["a": row[0], "b": row[1], "c": row[2]])
            }
        }
        let ids = try old.backend.beginWrite()
        #expect(try ids.reserveIDs(try old.entity("Item"), count: 41) == 1)
        _ = try ids.commit(.full)

        let schema = try Self.schema(c.entity, c.properties, c.indexes)
        let change = try SchemaChange(
            identifier: c.name, source: old.schema, target: schema, entities: [.carried(entity: 0, fields: c.fields)], links: [])
        let migration = try old.backend.beginMigration(change)
        let expected = c.rows.map { row in "\(row.map { $0.isNull ? "null" : "\($0)" })" }
        func found(_ reader: any ReadTransaction) throws -> [String] {
            let cursor = try reader.fetch(FetchRequest(schema.entities[0]))
            defer { cursor.close() }
            var rows: [String] = []
            while try cursor.next() {
                rows.append("\(schema.entities[0].fields.map { cursor.record.value($0) }.map { $0.isNull ? "null" : "\($0)" })")
            }
            return rows
        }
        #expect(try found(migration.target) == expected, "before the commit")
        try migration.commit()
        let new = try Store(folder.file("test.sqlite"), schema)
        #expect(try new.read(found) == expected)
        #expect(try new.backend.verify() == [])
        let entity = try new.entity(c.entity)
        let writer = try new.backend.beginWrite()
        #expect(try writer.reserveIDs(entity, count: 1) == 42)
        writer.rollback()
        // Conditions on columns with NaN depend on metadata of the store.
        for field in entity.fields where field.type.physical == .real {
            let reference = FieldReference(field)
            let reals = c.rows.map { row -> Double? in if case .real(let value) = row[field.index] { value } else { nil } }
            let low = reals.enumerated().filter { $0.element.map { $0.isNaN || $0 < 0.2 } ?? false }.map { Int64($0.offset + 1) }
            #expect(
                try new.ids(FetchRequest(entity, predicate: .compare(reference, .less, .real(0.2)))) == low,
                "\(field.name) below 0.2: NaN is the lowest")
        }
        try Self.expectTablesOfANewStore(folder, schema)
    }

    /// Compares `sqlite_master` with that of a new store, column by column, except for the order of columns and their `DEFAULT` clauses.
    static func expectTablesOfANewStore(_ folder: Folder, _ schema: ResolvedSchema, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let fresh = folder.file("fresh-\(UUID().uuidString).sqlite")
        let store = try Store(fresh, schema)
        func tables(_ file: String) throws -> [String] {
            let sql = try PlainSQL(file)
            return try sql.rows(
                """
                SELECT m.type, m.name, m.tbl_name, CASE m.type WHEN 'table' THEN
                    (SELECT group_concat(c) FROM (SELECT name || ' ' || type || ' ' || "notnull" || ' ' || pk || ' ' || hidden AS c
                     FROM pragma_table_xinfo(m.name) ORDER BY name)) || ' ' || (sql LIKE '%WITHOUT ROWID') ELSE m.sql END
                FROM sqlite_master AS m WHERE m.name NOT IN ('polystore_log', 'polystore_values', 'sqlite_sequence') ORDER BY m.name
                """)
        }
        #expect(try tables(folder.file("test.sqlite")) == tables(fresh), sourceLocation: sourceLocation)
        try store.backend.close()
    }
}

// MARK: - Entities, links and connections

extension MigrationTests {
    private static func notes(_ entity: String = "Note", _ fields: [String] = ["title"], unique: Bool = false) throws -> ResolvedSchema {
        try Models.single(
            entity, fields.map { .attribute(AttributeDescription(name: $0, type: .string, isOptional: true, isUnique: unique)) })
    }

    private static func renaming(_ source: ResolvedSchema, _ target: ResolvedSchema) throws -> SchemaChange {
        try SchemaChange(
            identifier: "rename", source: source, target: target,
            entities: [.carried(entity: 0, fields: target.entities[0].fields.map { .field($0.index, replacingNullWith: .null) })],
            links: [])
    }

    /// Returns a schema with every kind of relationship.
    private static func library(_ author: String, _ book: String, _ tag: String, _ tags: String, _ books: String) throws -> ResolvedSchema {
        func many(_ name: String, _ to: String, _ inverse: String, isOrdered: Bool = false) -> PropertyDescription {
            .relationship(RelationshipDescription(name: name, destination: to, isToMany: true, isOrdered: isOrdered, inverse: inverse))
        }
        return try ResolvedSchema(
            SchemaDescription(
                name: "library",
                entities: [
                    EntityDescription(
                        name: author,
                        properties: [
                            .attribute(AttributeDescription(name: "name", type: .string, isUnique: true)),
                            many("works", book, "author", isOrdered: true), many("friends", author, "friends"),
                        ]),
                    EntityDescription(
                        name: book,
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isIndexed: true)),
                            .relationship(RelationshipDescription(name: "author", destination: author, isToMany: false)),
                            many(tags, tag, books, isOrdered: true),
                        ], indexes: [IndexDescription(fields: ["author", "title"])]),
                    EntityDescription(
                        name: tag,
                        properties: [
                            .attribute(AttributeDescription(name: "text", type: .string)), many(books, book, tags, isOrdered: true),
                        ]),
                ]))
    }

    /// The names of the target's entities and of both sides of a relationship: kept, renamed, with exchanged names, with exchanged sides.
    @Test(arguments: [
        ["Author", "Book", "Tag", "tags", "books"], ["Writer", "Book", "Tag", "tags", "books"],
        ["Author", "Work", "Label", "labels", "works"],
        ["Book", "Author", "Tag", "tags", "books"], ["Book", "Tag", "Author", "tags", "books"], ["Author", "Book", "A", "tags", "books"],
        ["tag", "book", "author", "tags", "books"], ["Author", "Work", "A_Work", "tags", "friends"],
    ])
    func tablesOfEveryRelationshipAreThoseOfANewStore(names: [String]) throws {
        let folder = try Folder()
        let old = try Store(folder.file("test.sqlite"), try Self.library("Author", "Book", "Tag", "tags", "books"))
        let link = try #require(old.schema.links.first { !$0.isSymmetric })
        try old.write { changes in
            for id in 1...3 as ClosedRange<Int64> {
                try changes.insert("Author", id, ["name": .text("author \(id)")])
                try changes.insert(
                    "Book", id, ["title": .text("book \(id)"), "author": .integer(4 - id), "_order_author": .integer(10 - id)])
                try changes.insert("Tag", id, ["text": .text("tag \(id)")])
                for target in 1...id {
                    changes.set.link(
                        ChangeSet.LinkChange(
                            table: link.index, source: id, target: target, isAddition: true, targetPosition: 20 - target,
                            sourcePosition: id * 3))
                }
            }
        }
        let target = try Self.library(names[0], names[1], names[2], names[3], names[4])
        let new = try #require(target.links.first { !$0.isSymmetric })
        let isReversed = target.entities[new.source].name != names[1]
        let change = try SchemaChange(
            identifier: "\(names)", source: old.schema, target: target,
            entities: target.entities.map { entity in
                .carried(entity: entity.index, fields: entity.fields.map { .field($0.index, replacingNullWith: .null) })
            },
            links: target.links.map { table in
                .carried(table: table.isSymmetric ? 1 - link.index : link.index, isReversed: !table.isSymmetric && isReversed)
            })
        let migration = try old.backend.beginMigration(change)
        try migration.commit()
        try Self.expectTablesOfANewStore(folder, target)
        let store = try Store(folder.file("test.sqlite"), target)
        #expect(try store.backend.verify() == [])
        try store.read { reader in
            let works = try #require(target.entities[0].relationship(named: "works"))
            #expect(try reader.related(works, of: [1, 3])[1] == [3])
            let tags = try #require(target.entities[1].relationship(named: names[3]))
            let found = try reader.related(tags, of: [3])
            #expect(found[3] == [3, 2, 1])
            #expect(found.positions(of: 3) == [17, 18, 19])
            let books = try #require(target.entities[2].relationship(named: names[4]))
            #expect(try reader.related(books, of: [1]).positions(of: 1) == [3, 6, 9])
        }
    }

    /// A connection that is in use during the migration keeps its snapshot, and its next transaction throws.
    @Test func connectionsOfTheOldSchemaAreRefused() throws {
        let folder = try Folder()
        let old = try Store(folder.file("test.sqlite"), try Self.notes())
        try old.write { try $0.insert("Note", 1, ["title": .text("one")]) }
        let others = try (1...3).map { _ in try Store(folder.file("test.sqlite"), try Self.notes()) }
        for other in others { #expect(try other.values("Note", 1) == ["title": .text("one")]) }
        let reader = try others[0].backend.beginRead()
        let cursor = try reader.fetch(FetchRequest(try others[0].entity("Note")))
        let migration = try old.backend.beginMigration(try Self.renaming(old.schema, try Self.notes("Note", ["heading"])))
        #expect(try others[1].values("Note", 1) == ["title": .text("one")], "while the migration lasts")
        try migration.commit()
        #expect(try cursor.next())
        #expect(try reader.values(try others[0].entity("Note"), 1) == ["title": .text("one")])
        cursor.close()
        reader.end()
        for other in others {
            for _ in 1...2 {
                let error = try requireFailure { _ = try other.backend.beginRead() }
                #expect(error.code == .differentStoreAtURL)
                #expect(error.message.contains("migrated"), "\(error)")
                #expect(try requireFailure { _ = try other.backend.beginWrite() }.code == .differentStoreAtURL)
            }
        }
        let new = try Store(folder.file("test.sqlite"), try Self.notes("Note", ["heading"]))
        #expect(try new.values("Note", 1) == ["heading": .text("one")])
    }

    /// A second migration waits for the lock, and then throws because the store has been migrated.
    @Test func migrationWaitsForAnotherMigration() throws {
        let folder = try Folder()
        let first = try Store(folder.file("test.sqlite"), try Self.notes())
        // Longer than any commit on a machine under load.
        var patient = SQLiteOptions()
        patient.busyTimeout = .seconds(600)
        let second = try Store(folder.file("test.sqlite"), try Self.notes(), options: patient)
        try first.write { try $0.insert("Note", 1) }
        let migration = try first.backend.beginMigration(try Self.renaming(first.schema, try Self.notes("Memo")))
        // A separate thread, because blocking a thread of Swift's pool could deadlock the test.
        let change = try Self.renaming(second.schema, try Self.notes("Memo"))
        let outcome = Protected<Result<Void, any Error>?>(nil)
        Thread {
            let result = Result { try second.backend.beginMigration(change).commit() }
            outcome.signal { $0 = result }
        }.start()
        // The error is the same whether the second migration waits or begins after the commit.
        Thread.sleep(forTimeInterval: 0.1)
        try migration.commit()
        let result = outcome.wait(until: { $0 != nil }, { $0 })
        let error = try requireFailure { try result?.get() }
        #expect(error.code == .differentStoreAtURL)

        var options = SQLiteOptions()
        options.busyTimeout = .milliseconds(50)
        let third = try Store(folder.file("test.sqlite"), try Self.notes("Memo"), options: options)
        let writer = try Store(folder.file("test.sqlite"), try Self.notes("Memo"))
        let transaction = try writer.backend.beginWrite()
        let busy = try requireFailure { _ = try third.backend.beginMigration(try Self.renaming(third.schema, try Self.notes("Note"))) }
        #expect(busy.code == .busy)
        #expect(busy.message.contains("another process is writing to it, or is migrating it"), "\(busy)")
        transaction.rollback()
        try third.backend.beginMigration(try Self.renaming(third.schema, try Self.notes("Note"))).commit()
    }

    /// No file remains next to the database once every backend is closed.
    @Test func theLogIsCopiedAfterTheCommit() throws {
        let folder = try Folder()
        let old = try Store(folder.file("test.sqlite"), try Self.notes())
        try old.write { changes in for id in 1...1000 as ClosedRange<Int64> { try changes.insert("Note", id, ["title": .text("\(id)")]) } }
        try old.backend.beginMigration(try Self.renaming(old.schema, try Self.notes("Memo"))).commit()
        #expect(folder.names == ["test.sqlite"])
        #expect(try requireFailure { _ = try old.backend.beginRead() }.code == .closed)
    }

    /// A migration that fails at any statement leaves the store unchanged, and the backend usable.
    @Test func aFailedMigrationLeavesTheStore() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Self.notes())
        try store.write { changes in for id in 1...100 as ClosedRange<Int64> { try changes.insert("Note", id, ["title": .text("same")]) } }
        let plain = try PlainSQL(folder.file("test.sqlite"))
        let before = try plain.rows("SELECT sql FROM sqlite_master ORDER BY name")
        let unique = try store.backend.beginMigration(try Self.renaming(store.schema, try Self.notes("Memo", unique: true)))
        let error = try requireFailure { try unique.commit() }
        #expect((error.code, error.entity, error.attribute, error.rowID) == (.constraint, "Memo", "title", 100))
        #expect(error.message.contains("object 1 has the same value"), "\(error)")
        #expect(try plain.rows("SELECT sql FROM sqlite_master ORDER BY name") == before)
        // A table of another program with the name of a temporary one.
        try plain.rows("CREATE TABLE polystore_old_entity_0 (x)")
        #expect(throws: StoreError.self) { try store.backend.beginMigration(try Self.renaming(store.schema, try Self.notes("Memo"))) }
        try plain.rows("DROP TABLE polystore_old_entity_0")
        #expect(try store.read { try $0.count(FetchRequest(try store.entity("Note"))) } == 100)
        try store.backend.beginMigration(try Self.renaming(store.schema, try Self.notes("Memo"))).commit()
        #expect(try Store(folder.file("test.sqlite"), try Self.notes("Memo")).backend.verify() == [])
    }

    /// The column `a` is added with a `DEFAULT` clause; later migrations and commits read and replace its values.
    @Test func addedColumnsAreColumnsLikeOthers() throws {
        let folder = try Folder()
        var store = try Store(folder.file("test.sqlite"), try Self.notes())
        try store.write { changes in for id in 1...3 as ClosedRange<Int64> { try changes.insert("Note", id, ["title": .text("\(id)")]) } }
        for number in 1...4 {
            let fields = ["title"] + (1...number).map { "added\($0)" }
            let target = try Self.notes("Note", fields)
            let parts: [SchemaChange.FieldSource] =
                (0..<number).map { .field($0, replacingNullWith: .null) } + [.constant(.text("value \(number)"))]
            let change = try SchemaChange(
                identifier: "add \(number)", source: store.schema, target: target, entities: [.carried(entity: 0, fields: parts)], links: []
            )
            try store.backend.beginMigration(change).commit()
            store = try Store(folder.file("test.sqlite"), target)
            try store.write { try $0.update("Note", 2, ["added\(number)": .null]) }
            var expected: [String: Value] = ["title": .text("1")]
            for added in 1...number { expected["added\(added)"] = .text("value \(added)") }
            #expect(try store.values("Note", 1) == expected)
            #expect(try store.values("Note", 2) == ["title": .text("2")], "null is not a default value")
        }
        #expect(try store.backend.verify() == [])
    }
}
