import EngineTestSupport
import PolyStoreBackend
import PolyStoreSearch
import PolyStoreSearchIndex
import SeededRandom
import TestSupport
import Testing

@testable import PolyStoreKeyValue

/// The pages of full-text indexes in the keys of an engine that overwrites its bytes as soon as they become invalid.
@Suite struct SearchIndexTests {
    private static let count: Int64 = 450
    private static let searches = ["lazy", "\"quick brown\" OR ru*"]

    private static func fill(_ opened: Opened, _ ids: ClosedRange<Int64> = 1...count) throws {
        var random = SplitMix64(seed: 3)
        try opened.store.write { changes in for id in ids { try changes.insert("Note", id, Texts.values(&random, id)) } }
    }

    /// Long pages are stored in pieces, which are removed with their pages.
    @Test(arguments: [true, false]) func longPagesAreStoredInPieces(_ checksums: Bool) throws {
        let schema = try Texts.schema([Texts.both])
        let opened = try Opened(TestEngine(maximumPieceSize: 200, checksumsRecords: checksums), schema)
        try Self.fill(opened, 1...300)
        #expect(opened.engine.keys([Keyspace.searchChunk.rawValue]).count > 10)
        #expect(try opened.store.searchDifferences(Self.searches) == [])
        for id in Int64(1)...30 { try opened.store.write { try $0.update("Note", id * 9, ["body": .text("lazy fox \(id)")]) } }
        #expect(try opened.store.searchDifferences(Self.searches) == [])
        #expect(try opened.backend.verify() == [])
        try opened.store.write { changes in for id in Int64(1)...300 { try changes.delete("Note", id) } }
        #expect(try opened.store.searchDifferences(Self.searches) == [])
        try opened.backend.close()
        let without = try Opened(opened.engine, Texts.schema([]))
        without.backend.waitForBackgroundWork()
        #expect(opened.engine.keys([Keyspace.search.rawValue]) == [])
        #expect(opened.engine.keys([Keyspace.searchChunk.rawValue]) == [])
        #expect(try without.backend.verify() == [])
    }

    /// Each commit of the schema change, of the build and of the removal fails in turn.
    @Test func buildingAndRemovingAreContinuedByTheNextOpening() throws {
        let old = SearchIndexDescription(fields: ["title"])
        let whole = try Opened(TestEngine(), Texts.schema([old]))
        try Self.fill(whole)
        try whole.backend.close()
        var partial = 0
        for commits in 0..<7 {
            let engine = whole.engine.copy()
            engine.fail(after: commits)
            let first = Result { try Opened(engine, try Texts.schema([Texts.both])) }
            if case .success(let opened) = first {
                opened.backend.waitForBackgroundWork()
                let condition = try opened.store.condition("lazy")
                try opened.store.read { transaction in
                    if try transaction.search(SearchRequest(condition)) == nil { partial += 1 }
                    let ids = try transaction.ids(FetchRequest(condition.entity, predicate: .search(condition)))
                    #expect(try ids == transaction.scanned(condition).ids)
                }
                #expect(try opened.backend.verify() == [])
                try opened.backend.close()
            } else {
                #expect(commits == 0)
            }
            engine.fail(after: nil)
            let opened = try Opened(engine, Texts.schema([Texts.both]))
            opened.backend.waitForBackgroundWork()
            #expect(try opened.store.searchDifferences(Self.searches) == [])
            #expect(try opened.backend.verify() == [])
        }
        #expect(partial > 2)
    }

    /// A change set that the engine refuses for its size leaves nothing, and the transaction can continue.
    @Test func refusedChangeSetLeavesNothingInTheIndex() throws {
        let opened = try Opened(TestEngine(maximumTransactionSize: 60_000), Texts.schema([Texts.both]))
        let transaction = try opened.backend.beginWrite()
        let small = Changes(opened.store.schema)
        try small.insert("Note", 1, ["title": .text("lazy"), "code": .integer(1)])
        try transaction.apply(small.set)
        let large = Changes(opened.store.schema)
        try large.insert("Note", 2, ["title": .text("lazy"), "body": .text(String(repeating: "dog ", count: 20_000))])
        #expect(failure { try transaction.apply(large.set) }?.code == .full)
        #expect(try transaction.differences(opened.store.entity("Note"), Self.searches) == [])
        _ = try transaction.commit(.relaxed)
        #expect(try opened.store.searchDifferences(Self.searches) == [])
        #expect(try opened.store.ids("Note") == [1])
    }

    @Test func groupOfChangeSetsIsWrittenOnce() throws {
        let opened = try Opened(TestEngine(), Texts.schema([Texts.both]))
        let transaction = try opened.backend.beginWrite()
        for id in Int64(1)...30 {
            let changes = Changes(opened.store.schema)
            try changes.insert("Note", id, ["title": .text("lazy dog \(id)"), "code": .integer(id)])
            try transaction.apply(changes.set)
        }
        _ = try transaction.commit(.relaxed)
        // The structure of the index, the lengths of the documents and one page of terms.
        #expect(opened.engine.keys([Keyspace.search.rawValue]).count == 3)
        #expect(try opened.store.searchDifferences(Self.searches) == [])
    }

    /// Each commit of a rebuild fails in turn. Nothing is damaged, and the next opening completes the index.
    @Test func interruptedRebuildIsContinuedByTheNextOpening() throws {
        let whole = try Opened(TestEngine(), Texts.schema([Texts.both]))
        try Self.fill(whole)
        try whole.backend.close()
        for commits in 0..<5 {
            let engine = whole.engine.copy()
            let opened = try Opened(engine, Texts.schema([Texts.both]))
            engine.fail(after: commits)
            _ = Result { try opened.backend.rebuildIndexes(["Note_title_body_text"]) }
            opened.backend.waitForBackgroundWork()
            #expect(try opened.backend.verify() == [], "\(commits)")
            try opened.backend.close()
            engine.fail(after: nil)
            let again = try Opened(engine, Texts.schema([Texts.both]))
            #expect(try again.backend.verify() == [], "\(commits)")
            again.backend.waitForBackgroundWork()
            #expect(try again.store.searchDifferences(Self.searches) == [], "\(commits)")
            #expect(try again.backend.verify() == [], "\(commits)")
        }
    }

    @Test func compactionMergesAllSegments() throws {
        let opened = try Opened(TestEngine(), Texts.schema([Texts.both, Texts.titles]))
        for id in Int64(1)...40 { try Self.fill(opened, id...id) }
        func summaries() throws -> [SearchIndexSummary] {
            let snapshot = opened.engine.snapshot()
            defer { snapshot.end() }
            return try opened.backend.layout.searchIndexes.map { index in
                try SearchIndexReader(KeyValueSearchPages(index.number, opened.backend.layout, snapshot), fields: index.fields.count)
                    .summary()
            }
        }
        #expect(try summaries().allSatisfy { $0.segments > 1 })
        try SearchIndexBuilder(opened.backend.handle, opened.backend.layout).compact(SilentLogger())
        #expect(try summaries().map { [$0.segments, $0.merges] } == [[1, 0], [1, 0]])
        #expect(try opened.store.searchDifferences(Self.searches) == [])
        #expect(try opened.backend.verify() == [])
    }

    @Test func changesOfOtherFieldsWriteNoPages() throws {
        let opened = try Opened(TestEngine(), Texts.schema([Texts.both]))
        try Self.fill(opened, 1...20)
        let pages = opened.engine.keys([Keyspace.search.rawValue]).map { opened.engine[$0] }
        try opened.store.write { changes in for id in Int64(1)...20 { try changes.update("Note", id, ["number": .integer(-id)]) } }
        try opened.store.write { try $0.insert("Note", 21, ["number": .integer(3), "code": .integer(21)]) }
        try opened.store.write { try $0.delete("Note", 21) }
        #expect(opened.engine.keys([Keyspace.search.rawValue]).map { opened.engine[$0] } == pages)
        #expect(try opened.backend.verify() == [])
    }

    /// A page with another bit is an error or is found by the verification, and rebuilding repairs it.
    @Test func damagedPagesAreFound() throws {
        let opened = try Opened(TestEngine(), Texts.schema([Texts.both]))
        try Self.fill(opened, 1...120)
        let keys = opened.engine.keys([Keyspace.search.rawValue])
        #expect(keys.count > 3)
        for key in keys {
            let bytes = try #require(opened.engine[key])
            var damaged = bytes
            damaged[bytes.count / 2] ^= 4
            opened.engine[key] = damaged
            #expect(try opened.backend.verify() != [])
            opened.engine[key] = bytes
        }
        for key in keys { opened.engine[key] = [1, 2, 3, 4, 5] }
        let condition = try opened.store.condition("lazy")
        #expect(failure { try opened.store.read { _ = try $0.search(SearchRequest(condition)) } }?.code == .corrupt)
        try opened.backend.rebuildIndexes(["Note_title_body_text"])
        #expect(try opened.store.searchDifferences(Self.searches) == [])
        #expect(try opened.backend.verify() == [])
    }

    @Test func storesWithoutFullTextIndexesKeepTheirBytes() throws {
        let opened = try Opened(TestEngine(), Texts.schema([]))
        try Self.fill(opened, 1...10)
        #expect(opened.engine[Keyspace.Metadata.format.key()] == BigEndianInteger.bytes(UInt32(1)))
        let before = opened.engine.keys()
        try opened.backend.close()
        let indexed = try Opened(opened.engine, Texts.schema([Texts.both]))
        indexed.backend.waitForBackgroundWork()
        #expect(opened.engine[Keyspace.Metadata.format.key()] == BigEndianInteger.bytes(UInt32(3)))
        try indexed.backend.close()
        let again = try Opened(opened.engine, Texts.schema([]))
        again.backend.waitForBackgroundWork()
        #expect(opened.engine[Keyspace.Metadata.format.key()] == BigEndianInteger.bytes(UInt32(1)))
        #expect(opened.engine.keys() == before)
    }

    @Test func resetLeavesNothingOfAnIndex() throws {
        let opened = try Opened(TestEngine(), Texts.schema([Texts.both]))
        try Self.fill(opened, 1...20)
        try opened.backend.close()
        let reset = try Opened(opened.engine, resets: true)
        #expect(opened.engine.keys([Keyspace.search.rawValue]) == [])
        #expect(try reset.backend.verify() == [])
        #expect(reset.backend.metadata.format == 1)
    }
}
