import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreSQLite
import TestSupport
import Testing

/// Stores with full-text indexes that earlier releases have written; see `Tests/Golden/README.md`.
@Suite struct GoldenSearchTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Golden").path

    /// A store in `Tests/Golden`: its engine and its format.
    struct GoldenStore: Sendable, CustomTestStringConvertible {
        let engine: Backend
        let format: Int
        var name: String { "\(engine)-search-\(format).store" }
        var testDescription: String { name }
    }

    static let stores = Backend.persistent.map { GoldenStore(engine: $0, format: $0 == .sqlite ? 2 : 3) }

    private static func copy(_ golden: GoldenStore, _ folder: Folder) throws -> StoreConfiguration {
        let path = folder.file("store")
        try FileManager.default.copyItem(atPath: "\(Self.folder)/\(golden.name)", toPath: path)
        return golden.engine.store(at: path)
    }

    @Test(arguments: stores)
    func everyWordIsFound(golden: GoldenStore) throws {
        let folder = try Folder()
        let configuration = try Self.copy(golden, folder)
        for _ in 1...2 {
            let store = try Store(configuration, GoldenSearch.schema())
            #expect(store.backend.metadata.format == golden.format)
            // The stored index is used, and not one that the opening builds.
            #expect(try !store.waitForSearchIndexes())
            try GoldenSearch.check(store)
            try store.write { try $0.insert("Article", 12, ["title": .text("added quick"), "body": .text("common"), "year": .integer(0)]) }
            try store.write { try $0.update("Article", 12, ["title": .text("changed")]) }
            let entity = try store.entity("Article")
            #expect(try store.read { try $0.differences(entity, ["quick", "common", "changed OR added"]) } == [])
            try store.write { try $0.delete("Article", 12) }
            try store.backend.close()
        }
    }

    /// Commits that merge the parts of the index.
    @Test(arguments: stores)
    func indexIsMergedWithLaterCommits(golden: GoldenStore) throws {
        let folder = try Folder()
        let store = try Store(try Self.copy(golden, folder), GoldenSearch.schema())
        for id in Int64(2000)..<2070 {
            try store.write { try $0.insert("Article", id, ["title": .text("common quick \(id)"), "year": .integer(0)]) }
        }
        let entity = try store.entity("Article")
        #expect(try store.read { try $0.differences(entity, ["common", "\"quick 2069\"", "lazy OR turtle", "検索"]) } == [])
        try store.write { changes in for id in Int64(2000)..<2070 { try changes.delete("Article", id) } }
        try GoldenSearch.check(store)
        try store.backend.compact()
        try GoldenSearch.check(store)
    }

    @Test(arguments: stores)
    func indexesAreDroppedAndBuiltAgain(golden: GoldenStore) throws {
        let folder = try Folder()
        let configuration = try Self.copy(golden, folder)
        let end = ContinuousClock.now + .seconds(300)
        var format = golden.format
        // The pages are removed in the background.
        while format > 1, ContinuousClock.now < end {
            let store = try Store(configuration, GoldenSearch.schema(isSearched: false))
            format = store.backend.metadata.format
            try GoldenSearch.check(store)
            try store.backend.close()
        }
        #expect(format == 1)
        var store = try Store(configuration, GoldenSearch.schema())
        try store.waitForSearchIndexes()
        try GoldenSearch.check(store)
        try store.backend.close()
        store = try Store(configuration, GoldenSearch.schema())
        #expect(store.backend.metadata.format == golden.format)
        try store.backend.close()
    }

    @Test(arguments: stores)
    func readOnlyStoreIsSearched(golden: GoldenStore) throws {
        if golden.engine == .levelDB { return }
        let folder = try Folder()
        var configuration = try Self.copy(golden, folder)
        configuration.isReadOnly = true
        let store = try Store(configuration, GoldenSearch.schema())
        try GoldenSearch.check(store)
        try store.backend.close()
    }

    /// Writes the stores, in the folder that `POLYSTORE_GOLDEN` names.
    @Test(.enabled(if: TestEnvironment.text("POLYSTORE_GOLDEN") != nil), arguments: stores)
    func storesAreWritten(golden: GoldenStore) throws {
        let folder = try #require(TestEnvironment.text("POLYSTORE_GOLDEN"))
        // Small pages make a small file.
        var options = SQLiteOptions()
        options.pageSize = 512
        let path = "\(folder)/\(golden.name)"
        let configuration = golden.engine == .sqlite ? .sqlite(file: path, options: options) : golden.engine.store(at: path)
        let store = try Store(configuration, GoldenSearch.schema())
        try GoldenSearch.write(store)
        try GoldenSearch.check(store)
        try store.backend.close()
    }
}
