package import PolyStoreBackend
internal import PolyStoreSearch

/// The contents of the stores in `Tests/Golden` that have full-text indexes: words of several scripts, null and empty texts, punctuation, words in more objects than
/// a block of postings holds, changed and deleted texts, unusual row ids.
///
/// Do not change these contents: the stores were written by an earlier release.
package enum GoldenSearch {
    /// - Parameter isSearched: Whether the entities have their full-text indexes.
    package static func schema(isSearched: Bool = true) throws -> ResolvedSchema {
        func text(_ name: String) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: .string, isOptional: true))
        }
        return try ResolvedSchema(
            SchemaDescription(
                name: "golden search",
                entities: [
                    EntityDescription(
                        name: "Article",
                        properties: [text("title"), text("body"), .attribute(AttributeDescription(name: "year", type: .int64))],
                        searchIndexes: isSearched
                            ? [
                                SearchIndexDescription(fields: ["title", "body"], weights: [2, 1]),
                                SearchIndexDescription(name: "stems", fields: ["body"], options: SearchOptions(stemming: .english)),
                            ] : []),
                    EntityDescription(
                        name: "Person", properties: [text("name")],
                        searchIndexes: isSearched ? [SearchIndexDescription(fields: ["name"])] : []),
                ]))
    }

    private static let far: Int64 = 1 << 40
    private static let many: ClosedRange<Int64> = 1000...1149

    /// The texts of each article: title and body.
    private static let articles: [Int64: (String?, String?)] = {
        var articles: [Int64: (String?, String?)] = [
            -3: ("negative quick", "brown fox"), 1: ("The quick brown fox", "It jumps over the lazy dog. Dogs are running."),
            2: ("E-mail for user@example.com", nil), 3: ("Straße & ﬁnd", "Café été C++ 3.14 don't"),
            4: ("東京都", "日本語の文章を検索する"), 5: (nil, nil), 6: ("", ""),
            7: ("NUL\0and 'quotes' \"double\" 😀", "a\0b"),
            8: ("lazy lazy lazy", String(repeating: "word ", count: 300) + "last"), far: ("far quick", nil),
        ]
        for id in many { articles[id] = ("common \(id)", id % 3 == 0 ? "also" : nil) }
        return articles
    }()

    private static func values(_ id: Int64) -> [String: Value] {
        func value(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
        let article = articles[id]
        return ["title": value(article?.0), "body": value(article?.1), "year": .integer(id & 0xff)]
    }

    /// Searches of articles, the index of each, and what they find.
    private static let searches: [(text: String, index: String, ids: [Int64])] = [
        ("quick", "", [-3, 1, far]), ("\"quick brown\"", "", [1]), ("body:fox", "", [-3]), ("lazy", "", [1, 8]),
        ("quick -brown", "", [far]),
        ("dog*", "", [1]), ("mail", "", [2]), ("e-mail", "", [2]), ("user@example.com", "", [2]), ("strasse", "", [3]), ("find", "", [3]),
        ("cafe C++", "", [3]), ("3.14 don't", "", [3]), ("東京", "", [4]), ("京", "", [4]), ("検索", "", [4]), ("nul", "", [7]),
        ("quotes 😀", "", [7]), ("b", "", [7]), ("word last", "", [8]), ("common", "", Array(many)), ("common 1149", "", [1149]),
        ("also common", "", many.filter { $0 % 3 == 0 }), ("NEAR(jumps dog, 3)", "", [1]), ("turtle", "", []), ("deleted", "", []),
        ("changed", "", []), ("run", "stems", [1]), ("dogs", "stems", [1]), ("quick", "stems", []),
    ]

    /// Writes the contents in several commits, so that each index has several parts.
    package static func write(_ store: Store) throws {
        try store.write(.full) { changes in
            for id in many { try changes.insert("Article", id, values(id)) }
            for id in [5, 6, 7] as [Int64] { try changes.insert("Article", id, values(id)) }
            try changes.insert("Person", 1, ["name": .text("Ann Lee")])
        }
        try store.write(.full) { try $0.insert("Article", 1, ["title": .text("The slow green turtle"), "year": .integer(0)]) }
        try store.write(.full) { try $0.insert("Article", 9, ["title": .text("deleted quick fox"), "year": .integer(0)]) }
        try store.write(.full) { try $0.insert("Article", 8, ["title": .null, "body": .text("changed word"), "year": .integer(0)]) }
        for id in [-3, 2, 3, 4, far] { try store.write(.full) { try $0.insert("Article", id, values(id)) } }
        for id in [1, 8] as [Int64] { try store.write(.full) { try $0.update("Article", id, values(id)) } }
        try store.write(.full) { try $0.delete("Article", 9) }
        try store.write(.full) { changes in
            try changes.insert("Person", 2, ["name": .text("Bob")])
            try changes.update("Person", 1, ["name": .text("Ann Kim")])
        }
    }

    /// Compares the contents of a store, and what its indexes find, with the expected ones.
    /// - Throws: `corrupt` for any difference.
    package static func check(_ store: Store) throws {
        func expect<T: Equatable>(_ found: T, _ expected: T, _ what: String) throws {
            guard found == expected else { throw StoreError(.corrupt, "\(what): expected \(expected), found \(found)") }
        }
        try store.read { reader in
            let entity = try store.entity("Article")
            let ids = try reader.ids(FetchRequest(entity))
            try expect(ids, articles.keys.sorted(), "the ids")
            for id in ids {
                try expect(try reader.values(entity, id), values(id).filter { $0.value != .null }, "article \(id)")
            }
            for (text, name, ids) in searches {
                guard let index = entity.searchIndex(named: name) else { continue }
                let condition = try SearchCondition(Search(text), in: index, of: entity)
                try expect(try reader.ids(FetchRequest(entity, predicate: .search(condition))), ids, "\(text) \(name)")
                try expect(try reader.differences(condition), [], "\(text) \(name)")
            }
            let person = try store.entity("Person")
            for (text, ids) in [("kim", [1]), ("lee", []), ("ann OR bob", [1, 2])] as [(String, [Int64])] {
                guard let index = person.searchIndexes.first else { continue }
                let condition = try SearchCondition(Search(text), in: index, of: person)
                try expect(try reader.ids(FetchRequest(person, predicate: .search(condition))), ids, text)
                try expect(try reader.differences(condition), [], text)
            }
        }
        try expect(try store.backend.verify(), [], "the verification")
    }
}
