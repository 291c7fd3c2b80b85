import EngineTestSupport
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import SeededRandom
import TestSupport
import Testing

/// Requests in the order of scores, which the index or a sort serves, with many equal scores.
@Suite struct ScoreOrderTests {
    private static func request(
        _ condition: SearchCondition, ascending: Bool = false, limit: Int? = nil, offset: Int = 0, then keys: [SortKey] = []
    ) -> FetchRequest {
        FetchRequest(
            condition.entity, predicate: .search(condition), sortKeys: [SortKey(.score(condition), ascending: ascending)] + keys,
            limit: limit,
            offset: offset)
    }

    /// Few texts for many ids, negative ones too, so that most scores occur many times.
    private static func fill(_ changes: Changes, _ ids: some Sequence<Int64>, _ random: inout SplitMix64) throws {
        let texts = [
            "lazy", "lazy dog", "lazy lazy dog", "dog lazy \(String(repeating: "fox ", count: 20))", "fox", "lazy\0dog", "Lazy dög's",
        ]
        for id in ids {
            try changes.insert("Note", id, ["title": .text(random.pick(texts)), "number": .integer(id % 3), "code": .integer(id)])
        }
    }

    /// The ids of the notes that match in the order of scores, ascending ids among equal ones, from the texts.
    private static func expected(_ transaction: any ReadTransaction, _ condition: SearchCondition, ascending: Bool = false) throws
        -> [Int64]
    {
        let found = try transaction.scanned(condition)
        return zip(found.ids, found.scores).sorted {
            $0.1 != $1.1 ? ($0.1 > $1.1) != ascending : $0.0 < $1.0
        }.map(\.0)
    }

    @Test(arguments: Backend.allCases, [true, false]) func windowsArePartsOfTheWholeOrder(_ backend: Backend, isIndexed: Bool) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        var random = SplitMix64(seed: 11)
        for start in stride(from: Int64(-200), to: 200, by: 50) {
            try store.write { try Self.fill($0, start..<start + 50, &random) }
        }
        let condition = try store.condition("lazy OR dog")
        try store.read { transaction in
            for ascending in [false, true] {
                let all = try Self.expected(transaction, condition, ascending: ascending)
                let windows: [(Int?, Int)] = [
                    (nil, 0), (nil, 30), (1, 0), (10, 0), (10, 5), (60, 200), (10, all.count - 4), (5, all.count), (3, all.count + 7),
                    (0, 2),
                    (.max, 1), (.max, 0), (4, .max),
                ]
                for (limit, offset) in windows {
                    var request = Self.request(condition, ascending: ascending, limit: limit, offset: offset)
                    request.ignoresIndexes = !isIndexed
                    let window = offset < all.count ? Array(all[offset...].prefix(limit ?? .max)) : []
                    #expect(try transaction.ids(request) == window, "\(ascending) \(limit ?? -1) \(offset)")
                    #expect(try transaction.counted(request) == window.count)
                }
            }
        }
    }

    @Test(arguments: Backend.allCases) func aSecondKeyDecidesAmongEqualScores(_ backend: Backend) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        var random = SplitMix64(seed: 12)
        try store.write { try Self.fill($0, 1...150, &random) }
        let condition = try store.condition("lazy")
        let number = try store.field("Note", "number")
        try store.read { transaction in
            let found = try transaction.scanned(condition)
            let all = zip(found.ids, found.scores).sorted {
                $0.1 != $1.1 ? $0.1 > $1.1 : $0.0 % 3 != $1.0 % 3 ? $0.0 % 3 > $1.0 % 3 : $0.0 < $1.0
            }.map(\.0)
            let keys = [SortKey(number, ascending: false)]
            #expect(try transaction.ids(Self.request(condition, then: keys)) == all)
            #expect(try transaction.ids(Self.request(condition, limit: 20, offset: 15, then: keys)) == Array(all[15..<35]))
        }
    }

    @Test(arguments: Backend.allCases) func uncommittedChangesHaveTheirPlaceInTheOrder(_ backend: Backend) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        var random = SplitMix64(seed: 13)
        try store.write { try Self.fill($0, 1...60, &random) }
        let condition = try store.condition("lazy")
        let transaction = try store.backend.beginWrite()
        defer { transaction.rollback() }
        let changes = Changes(store.schema)
        try Self.fill(changes, 100...130, &random)
        for id in Int64(1)...10 { try changes.delete("Note", id) }
        try changes.update("Note", 11, ["title": .text("lazy lazy lazy")])
        try transaction.apply(changes.set)
        let all = try Self.expected(transaction, condition)
        #expect(try transaction.ids(Self.request(condition)) == all)
        for offset in stride(from: 0, to: all.count + 7, by: 7) {
            #expect(try transaction.ids(Self.request(condition, limit: 7, offset: offset)) == Array(all.dropFirst(offset).prefix(7)))
        }
    }
}
