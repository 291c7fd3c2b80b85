import Foundation
import PolyStoreBackend
import SeededRandom
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// Values that another program has written.
@Suite struct DamageTests {
    static let values: [(column: String, value: String)] = [
        ("bool", "2"), ("int8", "128"), ("uint8", "-1"), ("int16", "40000"), ("uint32", "-5"), ("int32", "3000000000"), ("int64", "'text'"),
        ("uint64", "1e300"), ("double", "'nan'"), ("date", "x'00'"), ("string", "x'4142'"), ("json", "x''"), ("data", "'text'"),
        ("decimal", "5"), ("uuid", "x'0011'"), ("uuid", "x''"),
    ]

    @Test(arguments: values)
    func invalidValuesAreReportedWithTheirRow(column: String, value: String) throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { changes in for id in 1...3 { try changes.insert("Values", Int64(id)) } }
        try PlainSQL(folder.file("test.sqlite")).rows("UPDATE \"Values\" SET \"\(column)\" = \(value) WHERE objectID = 2")
        let entity = try store.entity("Values")
        try store.read { transaction in
            let error = try requireFailure { _ = try transaction.record(entity, rowID: 2) }
            #expect(error.code == .corrupt)
            #expect((error.entity, error.attribute, error.rowID) == ("Values", column, 2))
            #expect(try transaction.record(entity, rowID: 1) != nil)
            // A scan fails at that row and continues after it.
            let cursor = try transaction.fetch(FetchRequest(entity))
            #expect(try cursor.next())
            #expect(try requireFailure { _ = try cursor.next() }.rowID == 2)
            #expect(try cursor.next())
            #expect(cursor.rowID == 3)
            #expect(try transaction.ids(FetchRequest(entity, onlyIDs: true)) == [1, 2, 3])
        }
        try store.write { try $0.update("Values", 2, [column: .null]) }
        #expect(try store.values("Values", 2) == [:])
    }

    /// SQLite treats the missing end of the last page as zeros.
    @Test(arguments: [1, 100, 2048, 4095])
    func truncatedLastPageIsRefused(missing: Int) throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { changes in for id in 1...200 { try changes.insert("Person", Int64(id), ["name": .text("person \(id)")]) } }
        try store.backend.close()
        let bytes = try #require(FileManager.default.contents(atPath: folder.file("test.sqlite")))
        try bytes.dropLast(missing).write(to: URL(fileURLWithPath: folder.file("test.sqlite")))
        let error = try requireFailure { _ = try Store(folder.file("test.sqlite"), try Models.company()) }
        #expect(error.code == .corrupt)
        #expect(FileManager.default.contents(atPath: folder.file("test.sqlite"))?.count == bytes.count - missing)
        try bytes.write(to: URL(fileURLWithPath: folder.file("test.sqlite")))
        #expect(try Store(folder.file("test.sqlite"), try Models.company()).backend.verify() == [])
    }

    @Test func aMissingRequiredValueIsReported() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { try $0.insert("Person", 1, ["name": .text("a")]) }
        try PlainSQL(folder.file("test.sqlite")).rows("UPDATE Person SET name = NULL")
        let error = try requireFailure { _ = try store.values("Person", 1) }
        #expect((error.code, error.attribute, error.rowID) == (.corrupt, "name", 1))
    }

    @Test(arguments: [
        ("DROP TABLE Person", "The table Person is missing."), ("DROP INDEX Person_age", "The index Person_age is missing."),
        ("INSERT INTO polystore_state VALUES (3, NULL)", "polystore_state has not exactly one row."),
        ("UPDATE polystore_metadata SET value = 'x' WHERE key = 'schemaHash'", "The schema in polystore_metadata does not have its hash."),
    ])
    func verifyReportsManualChanges(sql: String, finding: String) throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        #expect(try store.backend.verify() == [])
        try PlainSQL(folder.file("test.sqlite")).rows(sql)
        #expect(try store.backend.verify().contains(finding))
    }

    @Test func missingTablesAreErrorsNotTraps() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        let plain = try PlainSQL(folder.file("test.sqlite"))
        try plain.rows("DROP TABLE Person")
        try plain.rows("ALTER TABLE Team RENAME COLUMN title TO other")
        try plain.rows("DELETE FROM polystore_state")
        #expect(try requireFailure { _ = try store.backend.beginRead() }.code == .corrupt)
        #expect(try requireFailure { _ = try store.backend.beginWrite() }.code == .corrupt)
        try plain.rows("INSERT INTO polystore_state VALUES (1, 'nonsense\"')")
        #expect(try requireFailure { _ = try store.values("Person", 1) }.code == .corrupt)
        #expect(try requireFailure { _ = try store.ids(FetchRequest(try store.entity("Team"))) }.code == .corrupt)
        #expect(try requireFailure { try store.write { try $0.insert("Team", 1) } }.code == .corrupt)
        try store.write { try $0.insert("Skill", 1) }
        #expect(try store.ids(FetchRequest(try store.entity("Skill"))) == [1])
    }

    @Test func flippedBytesGiveErrorsOrRightValues() throws {
        let folder = try Folder()
        let file = folder.file("test.sqlite")
        let schema = try Models.company()
        var store = try Store(file, schema)
        try store.write { changes in
            for id in 1...500 {
                try changes.insert(
                    "Person", Int64(id), ["name": .text(String(repeating: "n", count: id % 90)), "age": .integer(Int64(id))])
            }
        }
        try store.backend.close()
        let sound = try Data(contentsOf: URL(fileURLWithPath: file))
        var random = SplitMix64(seed: 5)
        for _ in 0..<60 {
            var bytes = sound
            for _ in 0..<8 { bytes[random.below(bytes.count)] ^= UInt8(1 + random.below(255)) }
            if random.once(in: 4) { bytes = bytes.prefix(random.below(bytes.count)) }
            try bytes.write(to: URL(fileURLWithPath: file))
            do {
                store = try Store(file, schema)
                defer { try? store.backend.close() }
                _ = try store.backend.verify()
                _ = try store.ids(FetchRequest(try store.entity("Person"), sortKeys: [SortKey(try store.field("Person", "age"))]))
                try store.write { try $0.insert("Person", 1000, ["name": .text("x")]) }
            } catch is StoreError {
                // An error with any code is acceptable.
            }
            for name in folder.names where name != "test.sqlite" { try FileManager.default.removeItem(atPath: folder.file(name)) }
        }
    }
}
