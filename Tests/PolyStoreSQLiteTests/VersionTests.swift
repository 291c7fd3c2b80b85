import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// The state of the store that a writing connection knows from its last commit.
@Suite struct VersionTests {
    private static func numbers(_ folder: Folder) throws -> Store {
        let schema = try Models.single(
            "Number", [.attribute(AttributeDescription(name: "value", type: .double, isOptional: true, isIndexed: true))])
        return try Store(folder.file("test.sqlite"), schema)
    }

    /// Each character is a step of the first or the second store: `a` and `b` commit, `A` and `B` roll back.
    @Test(arguments: ["aaa", "aab", "aba", "abab", "aabbaa", "aAa", "aBa", "aAbBa", "abBAab"])
    func writersFindTheVersionOfTheLastCommit(_ steps: String) throws {
        let folder = try Folder()
        let stores = [try Self.numbers(folder), try Self.numbers(folder)]
        var commits: UInt64 = 0
        for (position, step) in steps.enumerated() {
            let store = stores[step.lowercased() == "a" ? 0 : 1]
            let writer = try store.backend.beginWrite()
            #expect(try writer.version == commits, "step \(position)")
            let changes = Changes(store.schema)
            try changes.insert("Number", Int64(position + 1))
            try writer.apply(changes.set)
            guard step.isLowercase else {
                writer.rollback()
                continue
            }
            commits += 1
            #expect(try writer.commit(.relaxed) == commits, "step \(position)")
        }
        #expect(try stores[1].read { try $0.version } == commits)
    }

    @Test func commitsOfOtherProgramsAreFound() throws {
        let folder = try Folder()
        let store = try Self.numbers(folder)
        try store.write { try $0.insert("Number", 1) }
        _ = try PlainSQL(folder.file("test.sqlite")).rows("UPDATE polystore_state SET version = 70 RETURNING version")
        #expect(try store.write { try $0.insert("Number", 2) } == 71)
    }

    /// The name of a column with NaN is stored by the transaction that first commits one, even if an earlier one was rolled back.
    @Test func rolledBackNaNIsStoredByTheNextCommit() throws {
        let folder = try Folder()
        let store = try Self.numbers(folder)
        try store.write { try $0.insert("Number", 1, ["value": .real(1)]) }
        let writer = try store.backend.beginWrite()
        let changes = Changes(store.schema)
        try changes.insert("Number", 2, ["value": .real(.nan)])
        try writer.apply(changes.set)
        writer.rollback()
        #expect(try PlainSQL(folder.file("test.sqlite")).rows("SELECT nan FROM polystore_state") == ["NULL"])
        try store.write { try $0.insert("Number", 2, ["value": .real(.nan)]) }
        #expect(try PlainSQL(folder.file("test.sqlite")).rows("SELECT nan FROM polystore_state") != ["NULL"])
    }

    /// The same within one transaction, for a change set that fails.
    @Test func aNaNOfAFailedChangeSetIsStoredByTheNextOne() throws {
        let folder = try Folder()
        let store = try Self.numbers(folder)
        let writer = try store.backend.beginWrite()
        let first = Changes(store.schema)
        try first.insert("Number", 1, ["value": .real(1)])
        try writer.apply(first.set)
        let failing = Changes(store.schema)
        try failing.insert("Number", 2, ["value": .real(.nan)])
        try failing.insert("Number", 1, ["value": .real(3)])
        #expect(failure { try writer.apply(failing.set) } != nil)
        let second = Changes(store.schema)
        try second.insert("Number", 2, ["value": .real(.nan)])
        try writer.apply(second.set)
        _ = try writer.commit(.full)
        #expect(try PlainSQL(folder.file("test.sqlite")).rows("SELECT nan FROM polystore_state") != ["NULL"])
    }

    @Test func writersKnowTheNaNOfOtherWriters() throws {
        let folder = try Folder()
        let (store, other) = (try Self.numbers(folder), try Self.numbers(folder))
        try store.write { try $0.insert("Number", 1, ["value": .real(1)]) }
        try other.write { try $0.insert("Number", 2, ["value": .real(.nan)]) }
        let value = try store.field("Number", "value")
        let request = FetchRequest(try store.entity("Number"), predicate: .compare(value, .less, .real(5)), sortKeys: [SortKey(value)])
        let expected = try store.ids(request)
        let writer = try store.backend.beginWrite()
        #expect(try writer.ids(request) == expected)
        writer.rollback()
    }
}
