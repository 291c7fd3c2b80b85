import Foundation
import PolyStore
import PolyStoreBackend
import PolyStorePostgreSQL
import PolyStoreSQLite
import PolyStoreTables
import PostgreSQLServer
import TestSupport
import Testing

/// SQLite databases that another program wrote.
@Suite struct SQLiteTablesTests {
    /// A database in a folder of its own.
    private struct Database: Sendable {
        let folder: Folder
        var path: String { folder.file("foreign.db") }

        init(_ statements: [String]) throws {
            folder = try Folder()
            _ = try ForeignDatabase(path, statements)
        }

        func open(_ name: String = "foreign.db") throws -> ForeignDatabase { try ForeignDatabase(folder.file(name)) }
    }

    // MARK: Rows

    @Test(arguments: Backend.allCases, ["Chinook", "Northwind", "BuildDatabase"])
    func rowsAreEqualAfterImportAndExport(_ backend: Backend, _ name: String) throws {
        let database = try Database(GeneratedModels.databases[name] ?? [])
        try checkRows(of: database, backend, leftOut: [])
    }

    @Test(arguments: Backend.forObjectLayer) func rowsOfOddTablesAreEqualAfterImportAndExport(_ backend: Backend) throws {
        try checkRows(of: try Database(OddDatabase.statements), backend, leftOut: OddDatabase.leftOut)
    }

    /// The database of the build that compiled this test has thousands of rows. Some hundreds of them are imported.
    @Test func rowsOfADatabaseOfTheSystemAreEqual() throws {
        let database = try Database([])
        try FileManager.default.removeItem(atPath: database.path)
        // A concurrent build locks the file. The test then uses a database with the same tables and a few rows.
        let isCopied = (try? BuildDatabase.file.map { try ForeignDatabase($0).copy(to: database.path) }) != nil
        if !isCopied { _ = try ForeignDatabase(database.path, BuildDatabase.statements) }
        let copy = try database.open()
        for table in try copy.tables { try copy.execute(["DELETE FROM \"\(table)\" WHERE rowid > 700"]) }
        try checkRows(of: database, .sqlite, leftOut: [])
    }

    @Test(.enabled(if: (try? PostgreSQLServer.shared.get()) != nil), arguments: ["Chinook", "Northwind", "BuildDatabase", "Odd"])
    func rowsAreEqualAfterImportIntoPostgreSQL(_ name: String) throws {
        var options = PostgreSQLOptions()
        options.schema = "tables_\(name.lowercased())"
        options.busyTimeout = .seconds(3600)
        options.connectTimeout = .seconds(600)
        let store = try StoreConfiguration.postgreSQL(PostgreSQLServer.shared.get().url(), options: options)
        let database = try Database(GeneratedModels.databases[name] ?? OddDatabase.statements)
        try checkRows(of: database, store, leftOut: name == "Odd" ? OddDatabase.leftOut : [])
    }

    private func checkRows(of database: Database, _ backend: Backend, leftOut: [String]) throws {
        try checkRows(of: database, backend.store(in: database.folder), leftOut: leftOut)
    }

    private func checkRows(of database: Database, _ store: StoreConfiguration, leftOut: [String]) throws {
        let tables = try SQLiteTables(path: database.path)
        let stack = try tables.stack(store)
        var steps = 0
        let imported = try tables.importRows(into: stack, batch: 7) { _ in steps += 1 }
        let exported = try tables.exportRows(from: stack, to: database.folder.file("exported.db"))
        #expect(imported == exported)
        #expect(steps > 0)
        let (before, after) = (try database.open(), try database.open("exported.db"))
        let expected = try before.contents().filter { !leftOut.contains($0.key) }
        let found = try after.contents()
        #expect(found.keys.sorted() == expected.keys.sorted())
        for (table, rows) in expected { #expect(found[table] == rows, "\(table)") }
        #expect(imported.rows == expected.mapValues(\.count))
        #expect(
            try after.declarations()
                == before.declarations().filter { sql in !leftOut.contains { sql.contains("\($0) ") || sql.contains("'\($0)'") } })
        #expect(database.folder.names.allSatisfy { !$0.contains("unfinished") })
    }

    @Test func aStoreOfTheGeneratedClassesHasTheRows() throws {
        let database = try Database(ChinookDatabase.statements)
        let tables = try SQLiteTables(path: database.path, name: "Chinook")
        let store = Backend.sqlite.store(in: database.folder)
        let dynamic = try tables.stack(store)
        try tables.importRows(into: dynamic)
        try dynamic.removeStoreAndWait(dynamic.stores[0], evenIfInUse: true)
        let stack = try DataStack(Chinook.schema)
        try stack.addStore(store)
        try stack.readAndWait { context in
            let track = try #require(try context.fetchOne(From<Chinook.Track>().where(\.trackId == 4)))
            #expect(track.album?.artist?.name == "Artist '6' é")
            #expect(track.unitPrice == Decimal(string: "1.99"))
            #expect(track.playlists.map(\.name) == ["List 3"])
            let boss = try #require(try context.fetchOne(From<Chinook.Employee>().where(\.employeeId == 8)))
            #expect(boss.reportsTo == nil)
            #expect(Set(boss.employees.map(\.employeeId)) == [1, 2, 3, 4])
            #expect(try context.fetchCount(From<Chinook.Track>().where(\.album == nil)) == 12)
        }
    }

    // MARK: The schema

    @Test func limitationsNameWhatASchemaDoesNotExpress() throws {
        let database = try Database(OddDatabase.statements)
        let found = try SQLiteTables(path: database.path).limitations.map(\.description)
        let expected = [
            "computed has the index expression of an expression",
            "computed has the partial index partial, which is unique for some rows only",
            "computed has the rule CHECK (h > 0 AND 'a)' <> '(')", "computed has the trigger watch", "computed.area is a generated column",
            "computed.twice is a generated column", "computed.x has no declared type", "computed.x has the default random()",
            "seen is a view",
            "words is a virtual table", "words_data belongs to a virtual table", "pairs is a table WITHOUT ROWID",
            "pairs has a primary key of several columns, (a, b)",
            "children has a foreign key (a, b) to pairs that does not become a relationship: it has several columns",
            "detail.code has a foreign key (code) to base that does not become a relationship: other foreign keys refer to the column",
            "more.lost has a foreign key (lost) to base that does not become a relationship: some rows refer to rows that do not exist",
            "more.gone has a foreign key (gone) to nowhere that does not become a relationship: the table does not exist",
            "base.name has the collating sequence NOCASE", "base has the unique index sqlite_autoindex_base_2 with a collating sequence",
            "mixed.anything contains values of several storage classes", "mixed.broken contains values of several storage classes",
            "mixed.maybe contains values of several storage classes", "mixed.blank has no declared type",
            "hen.mother is NOT NULL and part of a cycle",
        ]
        for sentence in expected {
            #expect(found.contains { $0.hasPrefix(sentence) }, "\(sentence) is missing in \(found.joined(separator: "\n"))")
        }
    }

    @Test func typesAreThoseOfTheDeclarationsAndOfAllValues() throws {
        let database = try Database(OddDatabase.statements)
        let schema = try SQLiteTables(path: database.path).schema
        func types(_ entity: String) -> [String: AttributeType] {
            schema.entities.first { $0.name == entity }?.properties.reduce(into: [:]) {
                if case .attribute(let attribute) = $1 { $0[attribute.name] = attribute.type }
            } ?? [:]
        }
        #expect(
            types("Moments") == [
                "day": .date, "stamp": .date, "fine": .date, "unix": .date, "zone": .date, "odd": .string, "id": .uuid, "low": .uuid,
                "bytes": .uuid,
            ])
        #expect(
            types("Mixed") == [
                "id": .int64, "anything": .string, "broken": .string, "flag": .bool, "maybe": .string, "price": .decimal, "whole": .decimal,
                "blank": .data,
            ])
        #expect(types("QuoteDTable") == ["aB": .string, "cD": .int64, "select": .double])
        #expect(
            types("Empty") == ["id": .int64, "unknown": .data, "stamp": .date, "price": .decimal], "the conventions of the declarations")
    }

    // MARK: Other programs

    @Test func anotherProgramWritesWhileRowsAreRead() throws {
        let database = try Database([])
        let writer = try database.open()
        try writer.execute(["PRAGMA journal_mode = WAL", "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"])
        for id in 1...50 { try writer.execute(["INSERT INTO t VALUES (\(id), 'n\(id)')"]) }
        let tables = try SQLiteTables(path: database.path)
        let stack = try tables.stack(.sqlite(file: database.folder.file("store")))
        var next = 50
        let counts = try tables.importRows(into: stack, batch: 10) { _ in
            next += 1
            try writer.execute(["INSERT INTO t VALUES (\(next), 'later')", "DELETE FROM t WHERE id = \(next - 50)"])
        }
        #expect(counts.rows == ["t": 50])
        let early = try stack.readAndWait { try $0.fetchCount(EntityQuery("T").where("name BEGINSWITH 'n'")) }
        #expect(early == 50)
    }

    @Test func aValueThatWasWrittenAfterTheSchemaIsNamed() throws {
        let database = try Database(["CREATE TABLE t (id INTEGER PRIMARY KEY, flag BOOLEAN)", "INSERT INTO t VALUES (1, 1)"])
        let tables = try SQLiteTables(path: database.path)
        try database.open().execute(["INSERT INTO t VALUES (2, 'maybe')"])
        let stack = try tables.stack(.sqlite(file: database.folder.file("store")))
        let error = try #require(throws: StoreError.self) { try tables.importRows(into: stack, batch: 1) }
        #expect(error.code == .invalidValue)
        #expect(error.message.contains("t.flag cannot be imported from the row with id = 2, flag = 'maybe'"))
        #expect(try stack.readAndWait { try $0.fetchCount(EntityQuery("T")) } == 0, "the first row is not left behind")
    }

    // MARK: Errors

    @Test func anImportThatEndsEarlyLeavesNothingBehind() throws {
        struct Cancelled: Error {}
        for statements in [ChinookDatabase.statements, OddDatabase.statements] {
            let database = try Database(statements)
            let tables = try SQLiteTables(path: database.path)
            let stack = try tables.stack(.sqlite(file: database.folder.file("store")))
            // In the middle of the rows, and after all of them.
            let all = try tables.importRows(into: tables.stack(.sqlite(file: database.folder.file("whole")))).total
            for end in [all / 2, all] {
                #expect(throws: Cancelled.self) {
                    try tables.importRows(into: stack, batch: 10) { if $0.total >= end { throw Cancelled() } }
                }
                for entity in tables.schema.entities {
                    #expect(try stack.readAndWait { try $0.fetchCount(EntityQuery(entity.name)) } == 0, "\(entity.name)")
                }
            }
            #expect(try tables.importRows(into: stack).total == all)
            #expect(throws: Cancelled.self) {
                try tables.exportRows(from: stack, to: database.folder.file("exported")) { _ in throw Cancelled() }
            }
            #expect(database.folder.names.allSatisfy { !$0.hasPrefix("exported") })
        }
    }

    @Test func filesThatCannotBeReadAreNamed() throws {
        let database = try Database(["CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1)"])
        let folder = database.folder
        func code(_ path: String) -> StoreError.Code? {
            do { _ = try SQLiteTables(path: path) } catch let error as StoreError {
                return error.message.contains(path) ? error.code : nil
            } catch {}
            return nil
        }
        #expect(code(folder.file("none.db")) == .io)
        #expect(code(folder.path) == .io)
        try folder.write(Data("This is no database, but a text that is long enough.".utf8), to: "text.db")
        #expect(code(folder.file("text.db")) == .notAStore)
        let tables = try SQLiteTables(path: database.path)
        let stack = try tables.stack(.sqlite(file: folder.file("store")))
        #expect(code(folder.file("store")) == .misuse, "a store of this library")
        try tables.importRows(into: stack)
        #expect(throws: StoreError.self) { try tables.importRows(into: stack) }
        #expect(throws: StoreError.self) { try tables.exportRows(from: stack, to: database.path) }
        #expect(try database.open().rows("SELECT id FROM t") == ["1"])
    }

    /// The disk of the export is full from a write on: from one of the first, from one in the middle, and from one of the last.
    @Test(.enabled(if: FileFaults.areAvailable)) func anExportToAFullDiskLeavesNothing() throws {
        let database = try Database(ChinookDatabase.statements)
        let tables = try SQLiteTables(path: database.path)
        let stack = try tables.stack(.inMemory())
        try tables.importRows(into: stack)
        func export(_ at: Int) throws -> (calls: Int, code: StoreError.Code?, names: [String]) {
            let folder = try Folder()
            let faults = FileFaults(.space, below: folder, at: at, error: ENOSPC, lasts: true)
            defer { faults.end() }
            let error = failure { _ = try tables.exportRows(from: stack, to: folder.file("exported.db")) }
            return (faults.count, error?.code, folder.names)
        }
        let whole = try export(.max)
        #expect(whole.code == nil && whole.names == ["exported.db"])
        try #require(whole.calls > 3)
        for at in Set([1, 2, 3, whole.calls / 2, whole.calls - 1, whole.calls]).sorted() {
            let found = try export(at)
            // SQLite does not report why it cannot create a file.
            let codes: [StoreError.Code?] = at < 3 ? [.full, .io] : [.full]
            #expect(codes.contains(found.code), "call \(at): \(String(describing: found.code))")
            #expect(found.names == [], "call \(at)")
        }
    }

    @Test func anEmptyDatabaseHasAnEmptySchema() throws {
        let database = try Database([])
        let tables = try SQLiteTables(path: database.path)
        #expect(tables.schema.entities.isEmpty)
        #expect(tables.limitations.isEmpty)
    }
}
