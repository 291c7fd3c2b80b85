import EngineTestSupport
import PolyStoreBackend
import PolyStoreSearch
import SeededRandom
import TestSupport
import Testing

/// Full-text indexes that writers maintain.
@Suite struct IndexedSearchTests {
    /// Random insertions, updates and deletions in transactions of several change sets. Some of these are refused or rolled back.
    @Test(arguments: Backend.allCases) func indexFindsWhatTheRecordsContain(_ backend: Backend) throws {
        for seed in 0..<Ring.size(1 as UInt64, thorough: 40) {
            let folder = try Folder()
            let schema = try Texts.schema([Texts.both, Texts.titles])
            var store = try Store(backend.store(in: folder), schema)
            var random = SplitMix64(seed: seed)
            var ids: Set<Int64> = []
            for round in 0..<Ring.size(10, thorough: 30) {
                let transaction = try store.backend.beginWrite()
                var now = ids
                for _ in 0..<(1 + random.below(4)) {
                    let changes = Changes(schema)
                    let next = try change(changes, now, &random)
                    if random.once(in: 5), let id = next.first {
                        // Refused by the unique attribute.
                        try changes.insert("Note", 5000, ["title": .text("lazy refused"), "code": .integer(id)])
                        #expect(throws: StoreError.self) { try transaction.apply(changes.set) }
                    } else {
                        try transaction.apply(changes.set)
                        now = next
                    }
                    if random.once(in: 4) {
                        #expect(try transaction.differences(try store.entity("Note")) == [], "\(backend) \(seed) \(round)")
                    }
                }
                if random.once(in: 5) {
                    transaction.rollback()
                } else {
                    _ = try transaction.commit(.relaxed)
                    ids = now
                }
                if backend != .memory, random.once(in: 5) {
                    try store.backend.close()
                    store = try Store(backend.store(in: folder), schema)
                }
                #expect(try store.read { try $0.differences(try store.entity("Note")) } == [], "\(backend) \(seed) \(round)")
            }
            #expect(try store.backend.verify() == [])
            #expect(try store.ids("Note").count == ids.count)
        }
    }

    @Test(arguments: Backend.allCases) func interruptedSearchThrowsAndTheTransactionContinues(_ backend: Backend) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        try store.write { try $0.insert("Note", 1, ["title": .text("lazy dog"), "code": .integer(1)]) }
        let condition = try store.condition("lazy")
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        reader.interruption = Interruption(timeLimit: .zero)
        #expect(failure { _ = try reader.search(SearchRequest(condition)) } != nil)
        #expect(failure { _ = try reader.searchStatistics(condition) } != nil)
        reader.interruption = nil
        #expect(try reader.search(SearchRequest(condition))?.documents == [1])
        reader.end()
        #expect(failure { _ = try reader.search(SearchRequest(condition)) }?.code == .closed)
    }

    @Test(arguments: Backend.allCases) func transactionsCountByScores(_ backend: Backend) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        try store.write { changes in
            for id in Int64(1)...5 { try changes.insert("Note", id, ["title": .text(id < 3 ? "lazy" : "quick"), "code": .integer(id)]) }
        }
        let condition = try store.condition("lazy")
        let request = FetchRequest(condition.entity, predicate: .compare(.score(condition), .greater, .constant(.real(0), .double)))
        #expect(try store.read { try $0.count(request) } == 2)
        #expect(try store.read { try $0.counted(request) } == 2)
        let transaction = try store.backend.beginWrite()
        defer { transaction.rollback() }
        #expect(try transaction.count(request) == 2)
    }

    @Test(arguments: [0, -1, 1e-7, 1e7, .infinity, .nan]) func weightsOutOfRangeAreRefused(_ weight: Double) throws {
        let error = failure { _ = try Texts.schema([SearchIndexDescription(fields: ["title", "body"], weights: [1, weight])]) }
        #expect(error?.message.contains("title, body needs one weight from 0.000001 to 1000000 for each field") == true)
        _ = try Texts.schema([SearchIndexDescription(fields: ["title", "body"], weights: [1e-6, 1e6])])
    }

    /// A snapshot finds what it shows, also after later commits and merges.
    @Test(arguments: Backend.allCases) func snapshotIsSearchedAsItWas(_ backend: Backend) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        for id in Int64(1)...20 { try store.write { try $0.insert("Note", id, ["title": .text("lazy dog \(id)"), "code": .integer(id)]) } }
        let snapshot = try store.backend.beginRead()
        defer { snapshot.end() }
        let condition = try store.condition("lazy")
        for id in Int64(1)...20 { try store.write { try $0.update("Note", id, ["title": .text("fox")]) } }
        #expect(try snapshot.search(SearchRequest(condition))?.documents == Array(1...20))
        #expect(try store.read { try $0.search(SearchRequest(condition)) }?.documents == [])
    }

    @Test(arguments: Backend.persistent) func compactionAndCopiesKeepTheIndex(_ backend: Backend) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        var random = SplitMix64(seed: 9)
        for id in Int64(1)...40 { try store.write { try $0.insert("Note", id, Texts.values(&random, id)) } }
        if store.backend.capabilities.has(.compaction) { try store.backend.compact() }
        #expect(try store.searchDifferences() == [])
        #expect(try store.backend.verify() == [])
        try store.write { try $0.update("Note", 3, ["title": .text("lazy afterwards")]) }
        guard store.backend.capabilities.has(.copying) else { return }
        let path = folder.file("copy")
        try store.backend.copy(to: path)
        let copy = try Store(backend.store(at: path), store.schema)
        #expect(try copy.searchDifferences() == [])
        #expect(try copy.backend.verify() == [])
    }

    /// Adds random changes and returns the ids of the objects after them.
    private func change(_ changes: Changes, _ ids: Set<Int64>, _ random: inout SplitMix64) throws -> Set<Int64> {
        var (now, changed) = (ids, Set<Int64>())
        for _ in 0..<(1 + random.below(20)) {
            let id = Int64(random.below(60) - 20)
            guard changed.insert(id).inserted else { continue }
            if !now.contains(id) {
                try changes.insert("Note", id, Texts.values(&random, id))
                now.insert(id)
            } else if random.once(in: 3) {
                try changes.delete("Note", id)
                now.remove(id)
            } else if random.once(in: 3) {
                try changes.update("Note", id, ["number": .integer(7)])
            } else {
                try changes.update("Note", id, random.once(in: 2) ? ["title": Texts.text(&random)] : ["body": Texts.text(&random)])
            }
        }
        return now
    }
}
