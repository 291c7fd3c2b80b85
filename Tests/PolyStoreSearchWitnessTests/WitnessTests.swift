import EngineTestSupport
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import SeededRandom
import TestSupport
import Testing

/// Compares searches with those of SQLite's FTS5, for ASCII words and for queries that both languages have.
@Suite struct WitnessTests {
    private static let fields = ["title", "body"]
    private static let weights = [3, 0.5]

    private static func schema() throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "Witness",
                entities: [
                    EntityDescription(
                        name: "Note", properties: fields.map { .attribute(AttributeDescription(name: $0, type: .string)) },
                        searchIndexes: [SearchIndexDescription(fields: fields, weights: weights)])
                ]))
    }

    @Test(arguments: Backend.forObjectLayer) func resultsAndScoresEqualThoseOfFTS5(_ backend: Backend) throws {
        var compared = 0
        for seed in 1...Ring.size(6 as UInt64, thorough: 200) {
            var random = SplitMix64(seed: seed)
            let folder = try Folder()
            defer { withExtendedLifetime(folder) {} }
            let store = try Store(backend.store(in: folder), try Self.schema())
            let table = try FullTextTable(Self.fields)
            var ids: [Int64] = []
            for round in 0..<8 {
                for _ in 0..<10 { try change(store, table, &ids, &random) }
                try store.read { reader in
                    for number in 0..<20 {
                        let isRanked = number % 2 == 0
                        let query = isRanked ? WitnessQuery.ranked(&random, Self.fields) : .any(&random, Self.fields)
                        try compare(query, isRanked, store, reader, table, "\(backend), seed \(seed), round \(round)")
                        compared += 1
                    }
                }
            }
            try store.backend.close()
        }
        print("\(backend): \(compared) queries compared with FTS5")
    }

    private func change(_ store: Store, _ table: FullTextTable, _ ids: inout [Int64], _ random: inout SplitMix64) throws {
        func text() -> String { (0..<random.below(12)).map { _ in WitnessQuery.word(&random) }.joined(separator: " ") }
        let texts = [text(), text()]
        let values = Dictionary(uniqueKeysWithValues: zip(Self.fields, texts.map { Value.text($0) }))
        if ids.isEmpty || random.below(3) > 0 {
            let id = (ids.max() ?? 0) + 1 + Int64(random.below(3))
            ids.append(id)
            try store.write { try $0.insert("Note", id, values) }
            try table.insert(id, texts)
        } else if random.once(in: 2) {
            let id = random.pick(ids)
            try store.write { try $0.update("Note", id, values) }
            try table.update(id, texts)
        } else {
            let id = ids.remove(at: random.below(ids.count))
            try store.write { try $0.delete("Note", id) }
            try table.delete(id)
        }
    }

    private func compare(
        _ query: WitnessQuery, _ isRanked: Bool, _ store: Store, _ reader: any ReadTransaction, _ table: FullTextTable, _ what: String
    ) throws {
        let note = try store.entity("Note")
        let condition = try SearchCondition(try Search(query: query.text), in: note.searchIndexes[0], of: note)
        let request = AggregateRequest(
            note, predicate: .search(condition), groupBy: [FieldReference.objectID], aggregates: [.of(.maximum, .score(condition))])
        var found: [Int64: Double] = [:]
        for row in try reader.aggregate(request) {
            if case .integer(let id) = row.group[0], case .real(let score) = row.values[0] { found[id] = score }
        }
        let expected = try table.found(query.fts5, weights: Self.weights)
        #expect(found.keys.sorted() == expected.keys.sorted(), "\(what): \(query.text)")
        guard isRanked else { return }
        for (id, score) in found {
            guard let other = expected[id] else { continue }
            #expect(
                abs(score - other) <= 1e-12 * max(abs(score), abs(other)), "\(what): \(query.text), object \(id): \(score), FTS5 \(other)")
        }
    }
}
