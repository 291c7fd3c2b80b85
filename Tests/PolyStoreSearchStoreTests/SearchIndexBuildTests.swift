import EngineTestSupport
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import SeededRandom
import SmallStores
import TestSupport
import Testing

/// Full-text indexes that are added to stores, built in the background and dropped.
@Suite struct SearchIndexBuildTests {
    /// More than one batch.
    private static let many: Int64 = 2300

    private static func store(_ backend: Backend, _ folder: Folder) -> StoreConfiguration {
        // The map of LMDB grows during the build.
        SmallStores.configuration(backend.rawValue, folder.file("test"), mapSize: 1 << 18) ?? .inMemory()
    }

    private static func fill(_ backend: Backend, _ folder: Folder, _ indexes: [SearchIndexDescription] = [], count: Int64 = 250) throws {
        let store = try Store(store(backend, folder), Texts.schema(indexes))
        var random = SplitMix64(seed: 1)
        for start in stride(from: Int64(1), through: count, by: 500) {
            try store.write { changes in
                for id in start..<min(start + 500, count + 1) { try changes.insert("Note", id, Texts.values(&random, id)) }
            }
        }
        try store.backend.close()
    }

    @Test(arguments: Backend.persistent) func indexIsBuiltWhileOthersWriteAndSearch(_ backend: Backend) throws {
        let folder = try Folder()
        try Self.fill(backend, folder, count: Self.many)
        let log = RecordingLogger(.notice)
        let store = try Store(Self.store(backend, folder), Texts.schema([Texts.both]), logger: log)
        let condition = try store.condition("lazy")
        var random = SplitMix64(seed: 2)
        for round in 0..<6 {
            try store.write { changes in
                try changes.insert("Note", Self.many + 10 + Int64(round), Texts.values(&random, Self.many + 10 + Int64(round)))
                try changes.insert("Note", -Int64(round), Texts.values(&random, -Int64(round)))
                try changes.update("Note", Int64(round * 300 + 1), ["body": .text("lazy fox \(round)")])
                try changes.delete("Note", Int64(round * 280 + 2))
            }
            try store.read { transaction in
                let ids = try transaction.ids(FetchRequest(condition.entity, predicate: .search(condition)))
                #expect(try ids == transaction.scanned(condition).ids)
            }
        }
        store.waitForIndexes()
        #expect(try store.searchDifferences(Store.fewSearches) == [])
        #expect(try store.backend.verify() == [])
        #expect(log.entries(.notice, "Note_title_body_text").contains { $0.message.contains("is complete") })
        #expect(try store.read { try $0.version } == 11)
    }

    @Test(arguments: Backend.persistent) func indexesThatTheModelLacksAreDropped(_ backend: Backend) throws {
        let folder = try Folder()
        try Self.fill(backend, folder, [Texts.both, Texts.titles])
        func open(_ indexes: [SearchIndexDescription], _ log: RecordingLogger = RecordingLogger(.notice)) throws -> Store {
            let store = try Store(Self.store(backend, folder), Texts.schema(indexes), logger: log)
            store.waitForIndexes()
            return store
        }
        var store = try open([Texts.both, Texts.titles])
        #expect(store.backend.metadata.format > 1)
        try store.backend.close()
        store = try open([Texts.titles])
        #expect(try store.searchDifferences(Store.fewSearches) == [])
        try store.backend.close()
        try open([]).backend.close()
        store = try open([])
        #expect(store.backend.metadata.format == 1)
        #expect(try store.backend.verify() == [])
        try store.write { try $0.update("Note", 5, ["title": .text("lazy afterwards")]) }
        try store.backend.close()
        store = try open([Texts.both])
        #expect(try store.searchDifferences(Store.fewSearches) == [])
        #expect(try store.backend.verify() == [])
        try store.backend.close()
        #expect(try open([Texts.both]).backend.metadata.format > 1)
    }

    @Test(arguments: Backend.persistent) func onlyOtherFieldsAndOptionsBuildAnIndexAgain(_ backend: Backend) throws {
        let folder = try Folder()
        try Self.fill(backend, folder, [Texts.both])
        func builds(_ index: SearchIndexDescription) throws -> Bool {
            let log = RecordingLogger(.notice)
            let store = try Store(Self.store(backend, folder), Texts.schema([index]), logger: log)
            store.waitForIndexes()
            #expect(try store.searchDifferences(Store.fewSearches) == [])
            try store.backend.close()
            return !log.entries(.notice, "is built in the background").isEmpty
        }
        #expect(try !builds(Texts.both))
        #expect(try !builds(SearchIndexDescription(name: "other", fields: ["title", "body"], weights: [1, 5])))
        #expect(try builds(SearchIndexDescription(fields: ["title", "body"], options: SearchOptions(stemming: .english))))
        #expect(try builds(SearchIndexDescription(fields: ["body", "title"], options: SearchOptions(stemming: .english))))
        #expect(try builds(SearchIndexDescription(fields: ["body"])))
        #expect(try !builds(SearchIndexDescription(fields: ["body"])))
    }

    /// Programs that open a store with the schema that it keeps see the names and weights of the last model.
    @Test(arguments: Backend.persistent) func storedSchemaHasTheNamesAndWeightsOfTheLastModel(_ backend: Backend) throws {
        let folder = try Folder()
        try Self.fill(backend, folder, [Texts.both])
        let other = SearchIndexDescription(name: "other", fields: ["title", "body"], weights: [1, 5])
        for _ in 1...2 { try Store(Self.store(backend, folder), Texts.schema([other])).backend.close() }
        // A schema of other data is refused, and the error has the stored one.
        let refused = failure { _ = try Store(Self.store(backend, folder), Texts.schema([], names: ["x", "y"])) }
        let stored = try #require(refused?.storedSchema)
        #expect(stored.entities.first { $0.name == "Note" }?.searchIndexes == [other])
    }

    @Test(arguments: Backend.allCases) func twoIndexesOfTheSameTextsAreOneInTheStore(_ backend: Backend) throws {
        let folder = try Folder()
        let other = SearchIndexDescription(name: "other", fields: ["title", "body"], weights: [1, 3])
        let store = try Store(Self.store(backend, folder), Texts.schema([Texts.both, other]))
        try store.write { try $0.insert("Note", 1, ["title": .text("lazy"), "body": .text("dog")]) }
        try store.write { try $0.insert("Note", 2, ["title": .text("dog"), "body": .text("dog fox")]) }
        try store.write { try $0.delete("Note", 1) }
        #expect(try store.searchDifferences(Store.fewSearches) == [])
        #expect(try store.backend.verify() == [])
    }

    /// A read-only store uses the indexes that it has, and reads the records for others.
    @Test(arguments: Backend.persistent) func readOnlyStoreIsSearched(_ backend: Backend) throws {
        let folder = try Folder()
        try Self.fill(backend, folder, [Texts.titles])
        var configuration = Self.store(backend, folder)
        configuration.isReadOnly = true
        guard let store = try? Store(configuration, Texts.schema([Texts.titles])) else { return #expect(backend == .levelDB) }
        #expect(try store.searchDifferences(Store.fewSearches) == [])
        try store.backend.close()
        let lacking = try Store(configuration, Texts.schema([Texts.both]))
        let condition = try lacking.condition("lazy")
        try lacking.read { transaction in
            #expect(try transaction.search(SearchRequest(condition)) == nil)
            let ids = try transaction.ids(FetchRequest(condition.entity, predicate: .search(condition)))
            #expect(try ids == transaction.scanned(condition).ids && !ids.isEmpty)
        }
    }

    @Test(arguments: Backend.persistent) func migrationKeepsIndexesOfUnchangedTextsAndBuildsOthers(_ backend: Backend) throws {
        let folder = try Folder()
        try Self.fill(backend, folder, [Texts.both, Texts.titles])
        let source = try Texts.schema([Texts.both, Texts.titles])
        let target = try Texts.schema(
            [SearchIndexDescription(fields: ["headline", "body"]), SearchIndexDescription(name: "bodies", fields: ["body"])],
            names: ["headline", "body"])
        let title = try #require(source.entity(named: "Note")?.field(named: "title")).index
        let change = try SchemaChange.byName(source, target, fields: ["Note": ["headline": .field(title, replacingNullWith: .null)]])
        let store = try Store(Self.store(backend, folder), source)
        let migration = try store.backend.beginMigration(change)
        try migration.commit()
        try? store.backend.close()
        let log = RecordingLogger(.notice)
        let migrated = try Store(Self.store(backend, folder), target, logger: log)
        migrated.waitForIndexes()
        #expect(log.entries(.notice, "is built in the background").count == 1)
        #expect(log.entries(.notice, "Note_body_text").count == 2)
        try migrated.write { try $0.update("Note", 7, ["headline": .text("lazy headline"), "body": .null]) }
        let entity = try migrated.entity("Note")
        try migrated.read { transaction in
            for index in entity.searchIndexes {
                for text in ["lazy", "headline"] {
                    let condition = try SearchCondition(Search(text), in: index, of: entity)
                    #expect(try transaction.differences(condition) == [])
                }
            }
        }
        #expect(try migrated.backend.verify() == [])
    }
}
