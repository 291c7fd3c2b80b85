import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// Change sets that change so much of an index that it is dropped first and recreated afterwards.
@Suite struct LateIndexTests {
    private static let rows = 8000

    private static func store(_ folder: Folder) throws -> Store {
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { changes in
            for id in 1...rows { try changes.insert("Person", Int64(id), person(id)) }
        }
        return store
    }

    private static func person(_ id: Int) -> [String: Value] {
        ["name": .text("p\(id)"), "age": .integer(Int64(id % 100)), "email": .text("\(id)@")]
    }

    private static func indexes(_ folder: Folder) throws -> [String] {
        try PlainSQL(folder.file("test.sqlite")).rows("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name")
    }

    private static func count(_ store: Store, age: Int64) throws -> Int {
        let request = FetchRequest(try store.entity("Person"), predicate: .compare(try store.field("Person", "age"), .equal, .integer(age)))
        return try store.read { try $0.count(request) }
    }

    @Test func updatesOfMostRowsKeepEveryIndexComplete() throws {
        let folder = try Folder()
        let store = try Self.store(folder)
        let before = try Self.indexes(folder)
        try store.write { changes in
            for id in 1...6000 { try changes.update("Person", Int64(id), ["age": .integer(1000)]) }
            for id in 6001...6100 { try changes.delete("Person", Int64(id)) }
            for id in Self.rows + 1...Self.rows + 100 { try changes.insert("Person", Int64(id), Self.person(id)) }
        }
        #expect(try Self.indexes(folder) == before)
        #expect(try store.backend.verify() == [])
        #expect(try Self.count(store, age: 1000) == 6000)
        #expect(try Self.count(store, age: 1) == 20)
    }

    @Test func uniqueValuesOfMostRowsCanBeExchanged() throws {
        let folder = try Folder()
        let store = try Self.store(folder)
        try store.write { changes in
            for id in 1...6000 { try changes.update("Person", Int64(id), ["email": .text("\(id % 6000 + 1)@")]) }
        }
        #expect(try store.backend.verify() == [])
        #expect(try store.values("Person", 6000)?["email"] == .text("1@"))
    }

    @Test func duplicateValueIsReportedWithoutChanges() throws {
        let folder = try Folder()
        let store = try Self.store(folder)
        let before = try Self.indexes(folder)
        let error = try requireFailure {
            try store.write { changes in
                for id in 1...6000 { try changes.update("Person", Int64(id), ["email": .text("\(id == 5000 ? 7000 : -id)@")]) }
            }
        }
        #expect(error.code == .constraint)
        #expect(error.rowID == 5000)
        #expect(error.message.contains("object 7000 has the same value"), "\(error)")
        #expect(try Self.indexes(folder) == before)
        #expect(try store.backend.verify() == [])
        #expect(try store.values("Person", 1)?["email"] == .text("1@"))
    }

    @Test func openCursorDoesNotPreventLateIndexes() throws {
        let folder = try Folder()
        let store = try Self.store(folder)
        let transaction = try store.backend.beginWrite()
        let cursor = try transaction.fetch(FetchRequest(try store.entity("Person")))
        #expect(try cursor.next())
        let changes = Changes(store.schema)
        for id in 1...6000 { try changes.update("Person", Int64(id), ["age": .integer(1000)]) }
        try transaction.apply(changes.set)
        cursor.close()
        _ = try transaction.commit(.relaxed)
        #expect(try Self.count(store, age: 1000) == 6000)
        #expect(try store.backend.verify() == [])
    }

    @Test(arguments: [1, 7000, rows - 2])
    func duplicateValueAmongNewRowsIsReported(first: Int) throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        let before = try Self.indexes(folder)
        let error = try requireFailure {
            try store.write { changes in
                for id in 1...Self.rows {
                    var values = Self.person(id)
                    if id == Self.rows - 1 { values["email"] = .text("\(first)@") }
                    try changes.insert("Person", Int64(id), values)
                }
            }
        }
        #expect(error.code == .constraint)
        #expect(error.rowID == Int64(Self.rows - 1))
        #expect(error.message.contains("a new object has the same value \"\(first)@\""), "\(error)")
        #expect(try Self.indexes(folder) == before)
        #expect(try store.read { try $0.count(FetchRequest(try store.entity("Person"))) } == 0)
        #expect(try store.backend.verify() == [])
    }

    /// A full page is split by its first new entry.
    @Test func rowAfterALargeLoadWritesFewPages() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        /// Returns distinct values that are adjacent in no index.
        func scattered(_ id: Int) -> [String: Value] { Self.person(id * 7919 % 100_003) }
        try store.write { changes in for id in 1...Self.rows { try changes.insert("Person", Int64(id), scattered(id)) } }
        let log = StorePath(path: folder.file("test.sqlite"))
        let before = log.walSize()
        let commits = 50
        for id in Self.rows + 1...Self.rows + commits { try store.write { try $0.insert("Person", Int64(id), scattered(id)) } }
        let pages = (log.walSize() - before) / (4096 + 24)
        // The row, four indexes and the version, plus occasional page splits.
        #expect(pages < 7 * commits, "\(pages) pages")
    }
}
