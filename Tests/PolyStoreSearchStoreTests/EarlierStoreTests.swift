import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreSearch
import TestSupport
import Testing

/// Stores of earlier releases, which have no full-text indexes.
@Suite struct EarlierStoreTests {
    private static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Golden").path

    /// A store without full-text indexes has the format that earlier releases open, also after it had one.
    @Test(arguments: Backend.persistent) func indexIsAddedToAStoreOfAnEarlierReleaseAndDropped(_ backend: Backend) throws {
        let folder = try Folder()
        let path = folder.file("store")
        try FileManager.default.copyItem(atPath: "\(Self.golden)/\(backend)-1.store", toPath: path)
        let plain = try Golden.schema()
        var description = plain.description
        let person = try #require(description.entities.firstIndex { $0.name == "Person" })
        description.entities[person].searchIndexes = [SearchIndexDescription(fields: ["name"])]
        let indexed = try ResolvedSchema(description)
        for _ in 1...2 {
            var store = try Store(backend.store(at: path), plain)
            store.waitForIndexes()
            try Golden.check(store)
            try store.backend.close()
            store = try Store(backend.store(at: path), plain)
            #expect(store.backend.metadata.format == 1)
            try store.backend.close()
            store = try Store(backend.store(at: path), indexed)
            store.waitForIndexes()
            try Golden.check(store)
            let entity = try store.entity("Person")
            let condition = try SearchCondition(Search("a*"), in: entity.searchIndexes[0], of: entity)
            #expect(try store.read { try $0.differences(condition) } == [])
            try store.backend.close()
            store = try Store(backend.store(at: path), indexed)
            #expect(store.backend.metadata.format > 1)
            try store.backend.close()
        }
    }
}
