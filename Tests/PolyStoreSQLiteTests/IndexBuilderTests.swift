import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// Plain indexes that are created in the background after a store was opened with other ones.
@Suite struct IndexBuilderTests {
    private static func schema(_ indexed: String..., unique: Bool = false) throws -> ResolvedSchema {
        try Models.single(
            "Note",
            ["a", "b", "c"].map {
                .attribute(
                    AttributeDescription(
                        name: $0, type: .string, isOptional: true, isUnique: unique && $0 == "a", isIndexed: indexed.contains($0)))
            })
    }

    private static func indexes(_ folder: Folder) throws -> [String] {
        try PlainSQL(folder.file("test.sqlite")).rows(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND name NOT LIKE 'sqlite%' ORDER BY name")
    }

    private static func fill(_ store: Store, _ ids: ClosedRange<Int64>) throws {
        try store.write { changes in
            for id in ids {
                try changes.insert("Note", id, ["a": .text("a \(id * 7919 % 1_000_003)"), "b": .text("b \(id % 100)"), "c": .text("c")])
            }
        }
    }

    private static func open(_ folder: Folder, _ schema: ResolvedSchema, logger: any StoreLogger = SilentLogger()) throws -> Store {
        try Store(folder.file("test.sqlite"), schema, logger: logger)
    }

    @Test func missingIndexesAreCreatedAndOthersAreDropped() throws {
        let folder = try Folder()
        let first = try Self.open(folder, try Self.schema("a", "b"))
        try Self.fill(first, 1...2000)
        #expect(first.backend.pool.indexBuilder == nil)
        try first.backend.close()
        let log = RecordingLogger(.notice)
        let second = try Self.open(folder, try Self.schema("b", "c"), logger: log)
        #expect(try !Self.indexes(folder).contains("Note_a"), "an index that the schema lacks is dropped immediately")
        let builder = try #require(second.backend.pool.indexBuilder)
        builder.wait()
        #expect(try Self.indexes(folder) == ["Note_b", "Note_c"])
        #expect(log.messages.count == 1)
        #expect(log.messages.first?.contains("Created the index Note_c of Note") == true, "\(log.messages)")
        #expect(try second.backend.verify() == [])
        let c = try second.field("Note", "c")
        let plan = try second.read { try $0.plan(FetchRequest(try second.entity("Note"), predicate: .compare(c, .equal, .text("c")))) }
        #expect(!plan.isScan, "\(plan)")
        try MigrationTests.expectTablesOfANewStore(folder, second.schema)
        try second.backend.close()
        #expect(try Self.open(folder, try Self.schema("b", "c")).backend.pool.indexBuilder == nil)
    }

    @Test func closingInterruptsTheCreationAndTheNextOpeningResumesIt() throws {
        let folder = try Folder()
        let first = try Self.open(folder, try Self.schema())
        try Self.fill(first, 1...100_000)
        try first.backend.close()
        let schema = try Self.schema("a", "b", "c")
        var interrupted = 0
        var round = 0
        while round < 20 || interrupted == 0 && round < 500 {
            round += 1
            let store = try Self.open(folder, schema)
            guard store.backend.pool.indexBuilder != nil else {
                // All indexes were completed before the closing, so they are dropped again.
                try store.backend.close()
                try Self.open(folder, try Self.schema()).backend.close()
                continue
            }
            Thread.sleep(forTimeInterval: Double(round % 20) * 0.002)
            if store.backend.pool.indexBuilder?.isRunning == true { interrupted += 1 }
            try store.backend.close()
        }
        #expect(interrupted > 0)
        let store = try Self.open(folder, schema)
        store.backend.pool.indexBuilder?.wait()
        #expect(try Self.indexes(folder) == ["Note_a", "Note_b", "Note_c"])
        #expect(try store.backend.verify() == [])
        #expect(try store.read { try $0.count(FetchRequest(try store.entity("Note"))) } == 100_000)
        try store.backend.close()
        #expect(folder.names == ["test.sqlite"])
    }

    /// Writers wait for at most one index, even with a short busy timeout.
    @Test func writersOfTheProcessWaitForAnIndex() throws {
        let folder = try Folder()
        let first = try Self.open(folder, try Self.schema())
        try Self.fill(first, 1...50_000)
        try first.backend.close()
        var options = SQLiteOptions()
        options.busyTimeout = .milliseconds(1)
        let store = try Store(folder.file("test.sqlite"), try Self.schema("a", "b", "c"), options: options)
        for id in 100_001...100_050 as ClosedRange<Int64> { try Self.fill(store, id...id) }
        store.backend.pool.indexBuilder?.wait()
        #expect(try Self.indexes(folder) == ["Note_a", "Note_b", "Note_c"])
        #expect(try store.read { try $0.count(FetchRequest(try store.entity("Note"))) } == 50_050)
        #expect(try store.backend.verify() == [])
    }

    /// A backend that was opened with other indexes keeps working, even with change sets large enough to recreate its own indexes.
    @Test func earlierBackendContinuesWithoutItsIndexes() throws {
        let folder = try Folder()
        let first = try Self.open(folder, try Self.schema("a", "b"))
        try Self.fill(first, 1...100)
        let second = try Self.open(folder, try Self.schema("c"))
        second.backend.pool.indexBuilder?.wait()
        try Self.fill(first, 101...20_000)
        try Self.fill(second, 20_001...40_000)
        #expect(try Self.indexes(folder) == ["Note_c"])
        let b = try first.field("Note", "b")
        for store in [first, second] {
            #expect(try store.ids(FetchRequest(try store.entity("Note"), predicate: .compare(b, .equal, .text("b 7")))).count == 400)
        }
        #expect(try second.backend.verify() == [])
    }

    /// Names of indexes depend on the other indexes if entity and field names contain underscores.
    @Test func indexesThatExchangeTheirNamesAreReplaced() throws {
        func schema(_ first: Bool, _ second: Bool, unique: Bool) throws -> ResolvedSchema {
            try ResolvedSchema(
                SchemaDescription(
                    name: "names",
                    entities: [
                        EntityDescription(
                            name: "A", properties: [.attribute(AttributeDescription(name: "b_c", type: .string, isIndexed: first))]),
                        EntityDescription(
                            name: "A_b",
                            properties: [.attribute(AttributeDescription(name: "c", type: .string, isUnique: unique, isIndexed: second))]),
                    ]))
        }
        for unique in [false, true] {
            let folder = try Folder()
            for (first, second) in [(true, true), (false, true), (true, false), (true, true), (false, false), (false, true)] {
                let store = try Self.open(folder, try schema(first, second, unique: unique))
                store.backend.pool.indexBuilder?.wait()
                try MigrationTests.expectTablesOfANewStore(folder, store.schema)
                #expect(try store.backend.verify() == [])
                try store.backend.close()
            }
        }
    }

    @Test func aStoreThatIsOnlyReadKeepsItsIndexes() throws {
        let folder = try Folder()
        let first = try Self.open(folder, try Self.schema("a"))
        try Self.fill(first, 1...100)
        try first.backend.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("test.sqlite")))
        let reading = try Store(folder.file("test.sqlite"), try Self.schema("b")) { $0.readOnly() }
        #expect(try reading.backend.verify() == [])
        #expect(reading.backend.metadata.schemaHash == reading.schema.versionHash)
        try reading.backend.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("test.sqlite"))) == before)
        #expect(try requireFailure { _ = try Self.open(folder, try Self.schema("a", unique: true)) }.code == .migrationRequired)
    }
}
