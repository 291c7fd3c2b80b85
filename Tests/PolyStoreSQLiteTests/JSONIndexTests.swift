import CSQLite
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// Indexes on fields of JSON attributes in the file.
@Suite struct JSONIndexTests {
    private static func schema(_ parts: [IndexDescription.Part]...) throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "S",
                entities: [
                    EntityDescription(
                        name: "Person",
                        properties: [
                            .attribute(AttributeDescription(name: "name", type: .string)),
                            .attribute(AttributeDescription(name: "address", type: .json, isOptional: true)),
                        ], indexes: parts.map { IndexDescription(parts: $0) })
                ]))
    }

    private static let city = IndexDescription.Part.json("address", ["city"], as: .string)

    private static func filled(_ folder: Folder, _ schema: ResolvedSchema, _ count: Int64 = 100) throws -> Store {
        let store = try Store(folder.file("test.sqlite"), schema)
        try store.write { changes in
            for id in 1...count {
                try changes.insert(
                    "Person", id, ["name": .text("n\(id % 3)"), "address": .text("{\"city\":\"c\(id)\",\"at\":{\"lat\":\(id)}}")])
            }
        }
        return store
    }

    /// The statements are part of the file: SQLite uses an index only for a call that is written equally.
    @Test func theStatementsAreStable() throws {
        let folder = try Folder()
        let store = try Self.filled(
            folder,
            Self.schema(
                [Self.city], ["name", .json("address", ["at", "lat"], as: .double)], [.json("address", [], as: .uuid)],
                [.json("address", ["large"], as: .uint64)]))
        let found = try PlainSQL(folder.file("test.sqlite")).rows(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL ORDER BY name")
        #expect(
            found == [
                "Person_address|CREATE INDEX \"Person_address\" ON \"Person\" (polystore_indexed_json(\"address\", 17, x''))",
                "Person_address.city|CREATE INDEX \"Person_address.city\" ON \"Person\" (polystore_indexed_json(\"address\", 13, x'63697479ff'))",
                "Person_name_address.at.lat|CREATE INDEX \"Person_name_address.at.lat\" ON \"Person\" (\"name\", "
                    + "polystore_indexed_json(\"address\", 10, x'6174ff6c6174ff'))",
            ])
        #expect(JSONFieldFunction.types == AttributeType.allCases, "a new type gets a new number at the end")
        #expect(JSONFieldFunction.types.firstIndex(of: .int64) == 4)
        #expect(try store.backend.verify() == [])
    }

    /// A program without the function reads the tables. It cannot change them, and cannot leave an index that does not match.
    @Test func otherProgramsReadAndCannotWrite() throws {
        let folder = try Folder()
        try Self.filled(folder, Self.schema([Self.city])).backend.close()
        let plain = try PlainSQL(folder.file("test.sqlite"))
        #expect(try plain.rows("SELECT count(*), max(address ->> 'city') FROM Person WHERE objectID < 10") == ["9|c9"])
        var handle: OpaquePointer?
        #expect(sqlite3_open(folder.file("test.sqlite"), &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        for sql in [
            "UPDATE Person SET address = NULL WHERE objectID = 1", "DELETE FROM Person WHERE objectID = 1",
            "INSERT INTO Person (objectID, name) VALUES (1000, 'x')",
        ] {
            #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_ERROR, "\(sql)")
            #expect(String(cString: sqlite3_errmsg(handle)).contains("polystore_indexed_json"))
        }
        // An index can be dropped, as an earlier release does.
        #expect(sqlite3_exec(handle, "DROP INDEX \"Person_address.city\"", nil, nil, nil) == SQLITE_OK)
    }

    /// Every connection that creates or checks the index has the function: that of the builder, of the compaction, of the verification and of the copy.
    @Test func everyConnectionMaintainsTheIndex() throws {
        let folder = try Folder()
        try Self.filled(folder, Self.schema(), 3000).backend.close()
        let schema = try Self.schema([Self.city], ["name", Self.city])
        let store = try Store(folder.file("test.sqlite"), schema)
        try #require(store.backend.pool.indexBuilder).wait()
        #expect(try store.backend.verify() == [])
        try store.backend.compact()
        // As many changes as drop and create the index again.
        try store.write { changes in
            for id in 1...3000 as ClosedRange<Int64> { try changes.update("Person", id, ["address": .text("{\"city\":\"d\(id)\"}")]) }
        }
        #expect(try store.backend.verify() == [])
        let copy = folder.file("copy.sqlite")
        try store.backend.copy(to: copy)
        let copied = try Store(copy, schema)
        #expect(copied.backend.pool.indexBuilder == nil)
        #expect(try copied.backend.verify() == [])
        let city = try #require(
            QueryExpression.json(JSONField(["city"], .value(.string)), of: .field(try copied.field("Person", "address"))))
        let request = FetchRequest(try copied.entity("Person"), predicate: .compare(city, .equal, .constant(.text("d7"), .string)))
        #expect(try copied.read { try $0.ids(request) } == [7])
        let plan = try copied.read { try $0.explain(request) }
        #expect(plan.accesses.map(\.index) == ["Person_address.city"], "\(plan)")
        #expect(plan.rowsExamined == 1, "\(plan)")
    }

    /// A release that does not know such indexes replaces the stored schema and leaves them in the file.
    @Test func indexesThatAnEarlierReleaseHasLeftAreReplaced() throws {
        let folder = try Folder()
        try Self.filled(folder, Self.schema()).backend.close()
        do {
            let store = try Store(folder.file("test.sqlite"), Self.schema([Self.city]))
            store.backend.pool.indexBuilder?.wait()
            // Stores the schema without the index, as an earlier release does.
            let connection = try store.backend.pool.borrowWriter()
            try MetadataTable(connection: connection).write(Self.schema())
            store.backend.pool.giveBackWriter()
            try store.backend.close()
        }
        let other = try Self.schema([.json("address", ["city"], as: .url)])
        let store = try Store(folder.file("test.sqlite"), other)
        store.backend.pool.indexBuilder?.wait()
        let found = try PlainSQL(folder.file("test.sqlite")).rows("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")
        #expect(found == ["CREATE INDEX \"Person_address.city\" ON \"Person\" (polystore_indexed_json(\"address\", 14, x'63697479ff'))"])
        #expect(try store.backend.verify() == [])
    }

    @Test func verificationFindsAWrongEntry() throws {
        let folder = try Folder()
        try Self.filled(folder, Self.schema([Self.city])).backend.close()
        // The definition of the index is replaced by that of another key, so that no entry matches.
        let plain = try PlainSQL(folder.file("test.sqlite"))
        try plain.rows("PRAGMA writable_schema = ON")
        try plain.rows("UPDATE sqlite_master SET sql = replace(sql, '63697479', '63697470') WHERE name = 'Person_address.city'")
        let store = try Store(folder.file("test.sqlite"), Self.schema([Self.city]))
        let findings = try store.backend.verify()
        #expect(findings.contains { $0.contains("Person_address.city") }, "\(findings)")
    }

    /// A damaged file, or one of a later release with more types.
    @Test func anUnknownTypeOfAnIndexIsAnError() throws {
        let folder = try Folder()
        try Self.filled(folder, Self.schema([Self.city])).backend.close()
        let plain = try PlainSQL(folder.file("test.sqlite"))
        try plain.rows("PRAGMA writable_schema = ON")
        try plain.rows("UPDATE sqlite_master SET sql = replace(sql, ', 13, ', ', 99, ') WHERE name = 'Person_address.city'")
        let store = try Store(folder.file("test.sqlite"), Self.schema([Self.city]))
        store.backend.pool.indexBuilder?.wait()
        let error = failure { try store.write { try $0.insert("Person", 1000, ["name": .text("n"), "address": .text("{}")]) } }
        #expect(error?.message.contains("the tables differ") == true, "\(error?.message ?? "no error")")
    }
}
