import CSQLite
import EngineTestSupport
import PolyStoreBackend
import PolyStoreSearch
import SeededRandom
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// The tables of full-text indexes, and several connections to one file, each as of another process.
@Suite struct SQLiteSearchTests {
    private static func fill(_ store: Store, _ ids: ClosedRange<Int64>) throws {
        var random = SplitMix64(seed: 5)
        try store.write { changes in for id in ids { try changes.insert("Note", id, Texts.values(&random, id)) } }
    }

    /// Executes statements as another program does.
    private static func execute(_ folder: Folder, _ sql: String) throws {
        var handle: OpaquePointer?
        try #require(sqlite3_open(folder.file(), &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    private static func open(_ folder: Folder, _ indexes: [SearchIndexDescription]) throws -> Store {
        try Store(.sqlite(file: folder.file()), Texts.schema(indexes))
    }

    @Test func writerWhoseModelLacksTheIndexMaintainsIt() throws {
        let folder = try Folder()
        let without = try Self.open(folder, [])
        try Self.fill(without, 1...300)
        let with = try Self.open(folder, [Texts.both])
        with.waitForIndexes()
        try without.write { changes in
            try changes.update("Note", 7, ["body": .text("lazy zebra")])
            try changes.delete("Note", 8)
            try changes.insert("Note", 1000, ["title": .text("lazy dog"), "code": .integer(1000)])
        }
        #expect(try with.searchDifferences() == [])
        #expect(try with.backend.verify() == [])
        // The opening with a model that lacks the index drops it, and the other store does without it.
        let again = try Self.open(folder, [])
        try with.write { try $0.update("Note", 9, ["title": .text("lazy afterwards")]) }
        let condition = try with.condition("lazy afterwards")
        #expect(try with.read { try $0.search(SearchRequest(condition)) } == nil)
        #expect(try with.ids(FetchRequest(condition.entity, predicate: .search(condition))) == [9])
        #expect(try again.backend.verify() == [])
    }

    @Test func indexIsBuiltAgainAfterItsStateWasCleared() throws {
        let folder = try Folder()
        let store = try Self.open(folder, [Texts.both])
        try Self.fill(store, 1...50)
        try store.backend.close()
        try Self.execute(folder, "UPDATE Note SET title = 'lazy by another program' WHERE objectID % 3 = 0")
        let changed = try Self.open(folder, [Texts.both])
        #expect(try changed.backend.verify() != [])
        try changed.backend.close()
        try Self.execute(folder, "UPDATE polystore_search SET isComplete = 0, built = NULL")
        let built = try Self.open(folder, [Texts.both])
        built.waitForIndexes()
        #expect(try built.searchDifferences() == [])
        #expect(try built.backend.verify() == [])
    }

    @Test(arguments: ["UPDATE polystore_search_1 SET v = X'0102'", "DELETE FROM polystore_search_1 WHERE k >= X'4D'"])
    func damagedPagesAreFound(_ sql: String) throws {
        let folder = try Folder()
        let store = try Self.open(folder, [Texts.both])
        try Self.fill(store, 1...50)
        try Self.execute(folder, sql)
        #expect(try store.backend.verify().allSatisfy { $0.contains("Note_title_body_text") })
        #expect(try store.backend.verify() != [])
    }

    @Test func damagedPageIsAnError() throws {
        let folder = try Folder()
        let store = try Self.open(folder, [Texts.both])
        try Self.fill(store, 1...50)
        try Self.execute(folder, "UPDATE polystore_search_1 SET v = X'0102'")
        let condition = try store.condition("lazy")
        #expect(failure { try store.read { _ = try $0.search(SearchRequest(condition)) } }?.code == .corrupt)
        #expect(failure { try store.write { try $0.update("Note", 3, ["title": .text("more")]) } }?.code == .corrupt)
        #expect(try store.values("Note", 3)?["title"] != .text("more"))
    }

    @Test func damagedIndexIsNamedWithItsRepairAndTheRestIsCompacted() throws {
        let folder = try Folder()
        let store = try Self.open(folder, [Texts.both, Texts.titles])
        // Several segments, so that compaction merges them.
        for id in Int64(1)...40 { try Self.fill(store, id...id) }
        try Self.execute(folder, "UPDATE polystore_search_1 SET v = X'0102'")
        let errors = [
            failure { try store.read { _ = try $0.search(SearchRequest(try store.condition("lazy", 0))) } },
            failure { try store.read { _ = try $0.search(SearchRequest(try store.condition("lazy", 1))) } },
            failure { try store.write { try $0.update("Note", 3, ["title": .text("more")]) } },
        ].compactMap { $0 }
        #expect(errors.count == 2)
        for error in errors {
            #expect(error.code == .corrupt)
            #expect(error.message.contains("The full-text index Note_title_") && error.entity == "Note", "\(error)")
            #expect(error.message.contains("call rebuildIndexes"), "\(error)")
        }
        try store.backend.compact()
        #expect(try store.ids("Note").count == 40)
        try store.backend.close()
        try Self.open(folder, []).backend.close()
        let built = try Self.open(folder, [Texts.both, Texts.titles])
        built.waitForIndexes()
        #expect(try built.searchDifferences() == [])
        #expect(try built.backend.verify() == [])
    }

    /// A change set that is written again with another strategy leaves the same index.
    @Test func exchangedUniqueValuesKeepTheIndex() throws {
        let folder = try Folder()
        let store = try Self.open(folder, [Texts.both])
        try Self.fill(store, 1...20)
        try store.write { changes in
            try changes.update("Note", 1, ["code": .integer(2), "title": .text("lazy one")])
            try changes.update("Note", 2, ["code": .integer(1), "title": .text("lazy two")])
        }
        #expect(try store.searchDifferences() == [])
        #expect(try store.backend.verify() == [])
    }
}
