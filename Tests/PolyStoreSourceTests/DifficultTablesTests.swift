import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreMemory
import PolyStoreTables
import TestSupport
import Testing

/// Databases with declarations and values that are easily confused with others.
@Suite struct DifficultTablesTests {
    /// Imports and exports the rows of a database, compares them, and returns the tables.
    @discardableResult
    private func check(_ statements: [String], in folder: Folder, _ store: StoreConfiguration = .inMemory(), leftOut: [String] = []) throws
        -> SQLiteTables
    {
        let before = try ForeignDatabase(folder.file("before.db"), statements)
        let tables = try SQLiteTables(path: folder.file("before.db"))
        _ = try tables.modelSource()
        let stack = try tables.stack(store)
        try tables.importRows(into: stack, batch: 2)
        try tables.exportRows(from: stack, to: folder.file("after.db"))
        let expected = try before.contents().filter { !leftOut.contains($0.key) }
        #expect(try ForeignDatabase(folder.file("after.db")).contents() == expected, "\(statements)")
        return tables
    }

    private func relationships(_ schema: SchemaDescription) -> [String: RelationshipDescription] {
        schema.entities.reduce(into: [:]) { found, entity in
            for case .relationship(let relationship) in entity.properties where !relationship.isToMany {
                found["\(entity.name).\(relationship.name)"] = relationship
            }
        }
    }

    // MARK: References

    @Test(
        arguments: [
            ["CREATE TABLE a (id INTEGER PRIMARY KEY, b REFERENCES b (id))", "CREATE TABLE b (id INTEGER PRIMARY KEY)"],
            ["CREATE TABLE a (b INTEGER REFERENCES b (id))", "CREATE TABLE b (id INTEGER PRIMARY KEY)"],
            [
                "CREATE TABLE a (b INTEGER NOT NULL REFERENCES b (id))",
                "CREATE TABLE b (id INTEGER PRIMARY KEY, b INTEGER NOT NULL REFERENCES b (id))",
            ],
        ])
    func referencesToTablesThatAreDeclaredLaterAreKept(_ tables: [String]) throws {
        let folder = try Folder()
        let isPair = tables[1].contains("b INTEGER")
        let rows = tables[0].contains("id INTEGER") ? "(1, 11), (2, NULL), (3, 10)" : isPair ? "(11), (10), (10)" : "(11), (NULL), (10)"
        let found = try check(
            tables + ["INSERT INTO b VALUES \(isPair ? "(10, 11), (11, 11)" : "(10), (11)")", "INSERT INTO a VALUES \(rows)"], in: folder)
        let names = relationships(found.schema)
        #expect(names["A.b"] != nil)
        #expect(names["A.b"]?.isRequired == isPair, "only the reference of b to itself is part of a cycle")
    }

    @Test func aRowWithoutTheReferencedKeyIsFoundByAnother() throws {
        let folder = try Folder()
        let tables = try check(
            [
                "CREATE TABLE person (id INTEGER PRIMARY KEY, email TEXT UNIQUE, boss TEXT REFERENCES person (email))",
                "INSERT INTO person VALUES (1, NULL, 'x'), (2, 'x', NULL), (3, NULL, 'x'), (4, 'y', 'y')",
            ], in: folder)
        #expect(relationships(tables.schema)["Person.boss"] != nil)
    }

    @Test func referencesOfRowsThatNoColumnIdentifiesAreKept() throws {
        let folder = try Folder()
        let tables = try check(
            [
                "CREATE TABLE person (email TEXT UNIQUE, boss TEXT REFERENCES person (email))",
                "INSERT INTO person VALUES (NULL, 'x'), ('x', NULL), (NULL, NULL)",
            ], in: folder)
        #expect(relationships(tables.schema)["Person.boss"] != nil)
    }

    // MARK: Names and texts

    @Test(arguments: ["object_id", "ObjectId", "OBJECTID", "self", "SELF", "sElf"]) func namesOfTheObjectItselfAreReplaced(_ name: String)
        throws
    {
        let folder = try Folder()
        try check(["CREATE TABLE t (id INTEGER PRIMARY KEY, \"\(name)\" TEXT)", "INSERT INTO t VALUES (1, 'a')"], in: folder)
    }

    @Test(arguments: Backend.forObjectLayer) func textsThatDifferInTheirBytesOnlyAreDifferent(_ backend: Backend) throws {
        let folder = try Folder()
        let (composed, split) = ("\u{e9}", "e\u{301}")
        try check(
            [
                "CREATE TABLE k (\"\(composed)\" TEXT PRIMARY KEY NOT NULL, \"\(split)\" INTEGER)",
                "CREATE TABLE r (id INTEGER PRIMARY KEY, k TEXT REFERENCES k (\"\(composed)\"))",
                "CREATE TABLE \"\(composed)t\" (a)", "CREATE TABLE \"\(split)t\" (b)",
                "INSERT INTO k VALUES ('\(composed)', 1), ('\(split)', 2)",
                "INSERT INTO r VALUES (1, '\(composed)'), (2, '\(split)'), (3, '\(split)'), (4, '\(composed)')",
            ], in: folder, backend.store(in: folder))
        #expect(
            try ForeignDatabase(folder.file("after.db")).rows("SELECT r.id, hex(k) FROM r ORDER BY id")
                == ["1|C3A9", "2|65CC81", "3|65CC81", "4|C3A9"])
    }

    @Test func quotesBeforeCombiningMarksAreEscaped() throws {
        let folder = try Folder()
        try check(
            [
                "CREATE TABLE t (\"a\"\"\u{301}b\" , c DEFAULT 'it''\u{301}s')",
                "INSERT INTO t VALUES ('x''\u{301}y', 1), (5, 2), ('''\u{301}', 3), ('\u{301}', 4), (X'00', 5)",
            ], in: folder)
        for text in ["'\u{301}", "a'\u{301}'b", "\u{301}", "'", ""] {
            #expect(SQLiteValue(literal: SQLiteValue.text(text).description) == .text(text))
        }
    }

    @Test func textsThatAreNoDecimalNumbersRemainKeys() throws {
        let folder = try Folder()
        try check(
            [
                "CREATE TABLE k (code INTEGER UNIQUE NOT NULL)", "CREATE TABLE r (id INTEGER PRIMARY KEY, k INTEGER REFERENCES k (code))",
                "INSERT INTO k VALUES ('0x10'), (16), ('inf'), ('nan'), ('1e'), ('.'), (' 7 ')",
                "INSERT INTO r SELECT rowid, code FROM k",
            ], in: folder)
        #expect(SQLiteValue(literal: "0x10") == .integer(16))
        #expect(SQLiteValue(literal: "0x1.8p1") == nil)
        #expect(SQLiteValue(literal: "-1.5e3") == .real(-1500))
    }

    // MARK: Types and indexes

    @Test func integersAreTimesOfOneUnitOrIntegers() throws {
        let folder = try Folder()
        let tables = try check(
            [
                "CREATE TABLE t (seconds DATETIME, milliseconds TIMESTAMP, both DATE)",
                "INSERT INTO t VALUES (1700000000, 1700000000123, 1700000000), (-5, -1700000000123, 1700000000123)",
            ], in: folder)
        let entity = try #require(tables.schema.entities.first)
        let types = entity.properties.compactMap { if case .attribute(let attribute) = $0 { attribute.type } else { nil } }
        #expect(types == [.date, .date, .int64])
        let stack = try tables.stack(.inMemory())
        try tables.importRows(into: stack)
        try stack.readAndWait { context in
            let object = try #require(try context.fetchOne(EntityQuery("T").orderBy("seconds", ascending: false)))
            #expect(try object.value("milliseconds") == .date(Date(timeIntervalSince1970: 1_700_000_000.123)))
        }
    }

    @Test func aUniqueIndexIsKeptBesideAPlainOneOfTheSameColumns() throws {
        let folder = try Folder()
        let tables = try check(
            ["CREATE TABLE t (a INTEGER, b INTEGER)", "CREATE INDEX i ON t (a, b)", "CREATE UNIQUE INDEX u ON t (a, b)"], in: folder)
        #expect(tables.schema.entities[0].indexes.map(\.isUnique) == [true])
    }

    @Test func collatingSequencesOfOtherProgramsAreNamed() throws {
        let folder = try Folder()
        func statements(_ table: String, _ index: String) -> [String] {
            [
                table, index, "INSERT INTO t VALUES (1, 'b'), (2, 'a')", "PRAGMA writable_schema = ON",
                "UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'german')",
            ].filter { !$0.isEmpty }
        }
        let tables = try check(
            statements(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)", "CREATE INDEX i ON t (name COLLATE NOCASE)"), in: folder)
        #expect(tables.limitations.contains { $0.reason.contains("the index i with the collating sequence german") })
        #expect(try !ForeignDatabase(folder.file("after.db")).declarations().contains { $0.contains("INDEX") })
        for key in ["", " UNIQUE"] {
            let path = folder.file("column\(key.count).db")
            _ = try ForeignDatabase(path, statements("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE\(key))", ""))
            let tables = try SQLiteTables(path: path)
            #expect(tables.limitations.contains { $0.column == "name" && $0.reason.contains("no export can create the table") })
            let stack = try tables.stack(.inMemory())
            #expect(try tables.importRows(into: stack).total == 2)
            let error = failure { _ = try tables.exportRows(from: stack, to: path + ".after") }
            #expect(error?.code == .unsupported, "\(String(describing: error))")
            #expect(error?.message.contains("german") == true)
        }
    }

    // MARK: Triggers

    @Test func triggersAreExportedUnlessTheyUseAVirtualTable() throws {
        let folder = try Folder()
        let tables = try check(
            [
                "CREATE TABLE Note (id INTEGER PRIMARY KEY, body TEXT)", "CREATE VIEW seen AS SELECT id, body FROM Note",
                "CREATE VIRTUAL TABLE Words USING fts5(body)",
                "CREATE TRIGGER instead INSTEAD OF INSERT ON SEEN BEGIN INSERT INTO Note VALUES (new.id, new.body); END",
                "CREATE TRIGGER other AFTER INSERT ON NOTE BEGIN SELECT 1; END",
                "CREATE TRIGGER fill AFTER INSERT ON note BEGIN INSERT INTO words (rowid, body) VALUES (new.id, new.body); END",
                "INSERT INTO Note VALUES (1, 'one')",
            ], in: folder, leftOut: ["Words", "Words_config", "Words_content", "Words_data", "Words_docsize", "Words_idx"])
        let after = try ForeignDatabase(folder.file("after.db"))
        #expect(try after.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name") == ["instead", "other"])
        try after.execute(["INSERT INTO seen VALUES (2, 'two')"])
        #expect(try after.rows("SELECT body FROM Note ORDER BY id") == ["one", "two"])
        #expect(tables.limitations.contains { $0.reason.hasPrefix("has the trigger fill, which uses the virtual table words") })
    }

    // MARK: Exports

    @Test(arguments: ["v", "g"]) func anExportExecutesNothingThatIsNoDeclaration(_ name: String) throws {
        let folder = try Folder()
        _ = try ForeignDatabase(
            folder.file("before.db"),
            [
                "CREATE TABLE t (id INTEGER PRIMARY KEY)", "CREATE VIEW v AS SELECT 1",
                "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END", "PRAGMA writable_schema = ON",
                "UPDATE sqlite_schema SET sql = sql || '; ATTACH ''\(folder.file("other.db"))'' AS o; CREATE TABLE injected (x)' WHERE name = '\(name)'",
            ])
        let tables = try SQLiteTables(path: folder.file("before.db"))
        let stack = try tables.stack(.inMemory())
        try tables.importRows(into: stack)
        let error = failure { _ = try tables.exportRows(from: stack, to: folder.file("after.db")) }
        #expect(error?.code == .corrupt, "\(String(describing: error))")
        #expect(folder.names == ["before.db"])
    }

    @Test func theSecondOfTwoExportsToAPathFails() throws {
        let folder = try Folder()
        _ = try ForeignDatabase(folder.file("before.db"), ["CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1)"])
        let tables = try SQLiteTables(path: folder.file("before.db"))
        let stack = try tables.stack(.inMemory())
        try tables.importRows(into: stack)
        let copy = try tables.stack(.inMemory())
        try tables.importRows(into: copy)
        var isFirst = true
        let error = failure {
            try tables.exportRows(from: stack, to: folder.file("after.db")) { _ in
                if isFirst {
                    isFirst = false
                    try tables.exportRows(from: copy, to: folder.file("after.db"))
                }
            }
        }
        #expect(error?.code == .io)
        #expect(try ForeignDatabase(folder.file("after.db")).rows("SELECT id FROM t") == ["1"])
        #expect(folder.names.sorted() == ["after.db", "before.db"])
    }

    @Test func versionsAndSequencesAreExported() throws {
        let folder = try Folder()
        try check(
            [
                "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a)", "CREATE TABLE \"o'\" (id INTEGER PRIMARY KEY AUTOINCREMENT)",
                "INSERT INTO t VALUES (5, 1), (9, 2)", "DELETE FROM t WHERE id = 9", "INSERT INTO \"o'\" VALUES (3)", "DELETE FROM \"o'\"",
                "PRAGMA user_version = -7", "PRAGMA application_id = 252006673",
            ], in: folder)
        let after = try ForeignDatabase(folder.file("after.db"))
        #expect(try after.rows("SELECT name, seq FROM sqlite_sequence ORDER BY name") == ["o'|3", "t|9"])
        #expect(try after.rows("PRAGMA user_version") == ["-7"])
        #expect(try after.rows("PRAGMA application_id") == ["252006673"])
    }

    @Test func aReferenceToAnObjectWithoutItsKeyIsNotExported() throws {
        let folder = try Folder()
        let tables = try check(
            [
                "CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT UNIQUE)",
                "CREATE TABLE c (id INTEGER PRIMARY KEY, p TEXT REFERENCES p (code))",
                "INSERT INTO p VALUES (1, 'x')", "INSERT INTO c VALUES (1, 'x')",
            ], in: folder)
        let stack = try tables.stack(.inMemory())
        try tables.importRows(into: stack)
        try stack.performAndWait { try #require(try $0.fetchAll(EntityQuery("P")).first).set("code", to: nil as QueryValue?) }
        let error = failure { _ = try tables.exportRows(from: stack, to: folder.file("second.db")) }
        #expect(error?.code == .invalidValue)
        #expect(error?.message.contains("c.p refers to it by code, which is nil") == true)
    }

    // MARK: Imports that fail

    private struct Ended: Error {}

    @Test func anImportThatFailsDeletesItsOwnObjectsOnly() throws {
        let folder = try Folder()
        _ = try ForeignDatabase(
            folder.file("before.db"), ["CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1), (2), (3), (4), (5)"])
        let tables = try SQLiteTables(path: folder.file("before.db"))
        let stack = try tables.stack(.inMemory())
        #expect(throws: Ended.self) {
            try tables.importRows(into: stack, batch: 2) { counts in
                try stack.performAndWait { _ = try $0.create("T", ["id": .some(.integer(Int64(100 + counts.total)))]) }
                if counts.total == 5 { throw Ended() }
            }
        }
        let left = try stack.readAndWait { try $0.fetchAll(EntityQuery("T").orderBy("id")).map { try $0.value("id") } }
        #expect(left == [.integer(102), .integer(104), .integer(105)])
    }

    @Test func whatAFailedImportCannotDeleteIsNamed() throws {
        let folder = try Folder()
        _ = try ForeignDatabase(
            folder.file("before.db"),
            [
                "CREATE TABLE a (id INTEGER PRIMARY KEY)", "CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a (id))",
                "INSERT INTO a VALUES (1)",
            ])
        let tables = try SQLiteTables(path: folder.file("before.db"))
        let stack = try tables.stack(.inMemory())
        let error = failure {
            try tables.importRows(into: stack) { _ in
                try stack.performAndWait { transaction in
                    let own = try transaction.create("B", ["id": .some(.integer(9))])
                    try own.set("a", to: try transaction.fetchAll(EntityQuery("A")).first)
                }
                throw Ended()
            }
        }
        #expect(error?.message.contains("objects that it wrote remain") == true, "\(String(describing: error))")
        #expect(try stack.readAndWait { try $0.fetchCount(EntityQuery("B")) } == 1)
    }

    // MARK: Source

    @Test func namesWithLineBreaksStayInTheirComment() throws {
        let entity = EntityDescription(
            name: "Thing", properties: [.attribute(AttributeDescription(name: "address", type: .json, isOptional: true))],
            indexes: [IndexDescription(parts: [.json("address", ["ci\nfatalError()\u{2028}ty"], as: .string)])])
        let text = try ModelSource(SchemaDescription(name: "S", entities: [entity])).text
        #expect(text.contains("ci\\u{a}fatalError()\\u{2028}ty"))
        #expect(!text.contains("\nfatalError()"))
    }
}
