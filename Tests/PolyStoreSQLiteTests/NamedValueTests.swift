import CSQLite
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// The table of named values: created with the first value, readable by other programs.
@Suite struct NamedValueTests {
    private static func schema() throws -> ResolvedSchema {
        try Models.single("Note", [.attribute(AttributeDescription(name: "title", type: .string, isOptional: true))])
    }

    private static let tableCount = "SELECT count(*) FROM sqlite_master WHERE name = 'polystore_values'"

    @Test func firstValueCreatesTheTable() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Self.schema())
        try store.write { try $0.insert("Note", 1) }
        try store.write { try $0.set.setValue(nil, named: "never") }
        let plain = try PlainSQL(folder.file("test.sqlite"))
        #expect(try plain.rows(Self.tableCount) == ["0"])
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        #expect(try reader.value(named: "a") == nil)
        try store.write { try $0.set.setValue(Array("kept".utf8), named: "a") }
        #expect(try plain.rows("SELECT name || ' ' || CAST(value AS TEXT) FROM polystore_values") == ["a kept"])
        #expect(try reader.value(named: "a") == nil, "a reader from before the table")
        #expect(try reader.valueNames(prefix: "") == [], "a reader from before the table")
        #expect(try store.read { try $0.value(named: "a") } == Array("kept".utf8))
        #expect(try store.backend.verify() == [])
    }

    @Test func rollbackRemovesTheTableAndTheNextValueCreatesIt() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Self.schema())
        for isSecond in [false, true] {
            let transaction = try store.backend.beginWrite()
            if isSecond { try transaction.apply(try Self.note(store, 1)) }
            let changes = Changes(store.schema)
            try changes.set.setValue([1], named: "a")
            if isSecond { try changes.delete("Note", 99) }
            if isSecond {
                #expect(try requireFailure { try transaction.apply(changes.set) }.code == .notFound)
            } else {
                try transaction.apply(changes.set)
            }
            #expect(try transaction.value(named: "a") == (isSecond ? nil : [1]))
            transaction.rollback()
            #expect(try store.read { try $0.value(named: "a") } == nil)
        }
        #expect(try PlainSQL(folder.file("test.sqlite")).rows(Self.tableCount) == ["0"])
        try store.write { try $0.set.setValue([2], named: "a") }
        #expect(try store.read { try $0.value(named: "a") } == [2])
    }

    private static func note(_ store: Store, _ id: Int64) throws -> ChangeSet {
        let changes = Changes(store.schema)
        try changes.insert("Note", id)
        return changes.set
    }

    @Test func valuesModifiedByOtherProgramsAreReported() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Self.schema())
        try store.write { try $0.set.setValue([1], named: "a") }
        let plain = try PlainSQL(folder.file("test.sqlite"))
        _ = try plain.rows("INSERT INTO polystore_values VALUES ('b', 'text'), ('', x'01'), ('c', zeroblob(65537))")
        #expect(try requireFailure { _ = try store.read { try $0.value(named: "b") } }.code == .corrupt)
        #expect(try store.read { try $0.value(named: "a") } == [1])
        let findings = try store.backend.verify()
        for name in ["'b'", "''", "'c'"] {
            #expect(findings.contains("The value \(name) in polystore_values cannot be read."), "\(findings)")
        }
        _ = try plain.rows("DELETE FROM polystore_values WHERE name <> 'a'")
        _ = try plain.rows("INSERT INTO polystore_values VALUES (CAST(x'ff' AS TEXT), x'01')")
        #expect(try requireFailure { _ = try store.read { try $0.valueNames(prefix: "") } }.code == .corrupt)
        #expect(try store.backend.verify().count == 1)
    }
}
