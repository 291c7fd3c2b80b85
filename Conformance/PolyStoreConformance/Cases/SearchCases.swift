import PolyStoreBackend
import PolyStoreSearch

/// Cases for the results of full-text searches. Every backend passes: without indexes of its own the shared executor reads the texts.
let searchCases: [ConformanceCase] = termCases + phraseCases + operatorCases + textCasesOfSearch

private let termCases: [ConformanceCase] = [
    searchCase("search.term.in-any-field", "A word is found in every field of the index.") { store in
        try store.expect("fox", finds: [1, 3, 8])
        try store.expect("bread", finds: [4, 10])
        try store.expect("lazy", finds: [1, 2])
        try store.expect("nothing", finds: [])
    },
    searchCase("search.term.all-match", "All words of a query must occur in an object, in any of its fields.") { store in
        try store.expect("quick fox", finds: [1, 3])
        try store.expect("dog quick", finds: [1, 9, 10])
        try store.expect("bread butter brown", finds: [4, 10])
        try store.expect("quick AND fox", finds: [1, 3])
        try store.expect("quick nothing", finds: [])
    },
    searchCase("search.term.whole-words", "A word is not found within longer words.") { store in
        try store.expect("do", finds: [])
        try store.expect("dogs", finds: [2])
        try store.expect("foxe", finds: [])
        try store.expect("sleep", finds: [])
    },
    searchCase("search.term.without-case", "Capital and small letters are the same.") { store in
        try store.expect("QUICK", finds: [1, 3, 5, 9, 10])
        try store.expect("qUiCk bRoWn", finds: [1, 10])
    },
    searchCase("search.term.twice", "A word that a query names twice is searched once, and counts twice for the score.") { store in
        try store.expect("quick quick", finds: [1, 3, 5, 9, 10])
        try store.checkSearches(["quick quick", "dog dog dog"])
    },
    searchCase("search.empty.finds-nothing", "A query without words, and one that only excludes, find nothing.") { store in
        for query in ["", " ", "!", "\"\"", "-quick", "-\"quick fox\" -dog", "(-quick)", "? -quick"] {
            try store.expect(query, finds: [])
            let condition = try store.search(query)
            let note = try store.entity("Note")
            try store.run.expect(
                try store.ids(FetchRequest(note, predicate: .not(.search(condition)))), equals: Array(1...10), "not \(query)")
        }
    },
    searchCase("search.empty.part-is-ignored", "Words without letters and digits do not affect the other words of a query.") { store in
        try store.expect("quick ? fox", finds: [1, 3])
        try store.expect("(quick OR !) -(?)", finds: [1, 3, 5, 9, 10])
    },
]

private let phraseCases: [ConformanceCase] = [
    searchCase("search.phrase.in-order", "The words of a phrase follow one another in this order.") { store in
        try store.expect("\"quick brown fox\"", finds: [1])
        try store.expect("\"brown quick\"", finds: [10])
        try store.expect("\"quick brown\"", finds: [1])
        try store.expect("\"quick fox\"", finds: [1, 3])
        try store.expect("\"lazy dog\"", finds: [1, 2])
    },
    searchCase("search.phrase.within-a-field", "A phrase does not extend over two fields.") { store in
        try store.expect("\"dog quick\"", finds: [])
        try store.expect("\"fox the\"", finds: [])
        try store.expect("\"brown dog\"", finds: [])
    },
    searchCase("search.phrase.repeated-words", "A phrase of equal words needs that many of them, and its occurrences may overlap.") {
        store in
        try store.expect("\"quick quick\"", finds: [3])
        try store.expect("\"quick quick quick\"", finds: [3])
        try store.expect("\"quick quick quick quick\"", finds: [])
        try store.checkSearches(["\"quick quick\"", "\"quick quick quick\""])
    },
    searchCase("search.phrase.over-punctuation", "Punctuation between words does not separate a phrase.") { store in
        try store.expect("\"sleeps a lazy\"", finds: [2])
        try store.expect("\"dog, sleeps!\"", finds: [2])
    },
    searchCase("search.phrase.divided-word", "A written word that is divided into several is a phrase.") { store in
        try store.insert(11, Notes.row("e-mail", "an e-mail to user@example.com"))
        try store.insert(12, Notes.row("mail", "e"))
        try store.expect("e-mail", finds: [11])
        try store.expect("\"e mail\"", finds: [11])
        try store.expect("e mail", finds: [11, 12])
        try store.expect("user@example.com", finds: [11])
    },
    searchCase("search.prefix.of-words", "A prefix finds all words that begin with it, and the word itself.") { store in
        try store.expect("fo*", finds: [1, 3, 8])
        try store.expect("dog*", finds: [1, 2, 8, 9, 10])
        try store.expect("b*", finds: [1, 4, 8, 10])
        try store.expect("dogss*", finds: [])
        try store.expect("QUI*", finds: [1, 3, 5, 9, 10])
    },
    searchCase("search.prefix.ends-a-phrase", "The last word of a phrase can be a prefix.") { store in
        try store.expect("\"quick b\"*", finds: [1])
        try store.expect("\"quick f\"*", finds: [1, 3])
        try store.expect("\"lazy dog\"*", finds: [1, 2])
        try store.expect("\"b butter\"*", finds: [])
    },
    searchCase(
        "search.near.distance", "NEAR finds words with at most a number of others between them, in either order; 10 without a number."
    ) {
        store in
        try store.expect("NEAR(quick dog, 5)", finds: [10])
        try store.expect("NEAR(quick dog, 6)", finds: [1, 10])
        try store.expect("NEAR(dog quick, 6)", finds: [1, 10])
        try store.expect("NEAR(quick dog)", finds: [1, 10])
        try store.expect("NEAR(fox dog, 0)", finds: [8])
        try store.expect("NEAR(quick dog, 0)", finds: [10])
    },
    searchCase("search.near.within-a-field", "NEAR does not extend over two fields.") { store in
        try store.expect("NEAR(dog quick, 100)", finds: [1, 10])
        try store.expect("NEAR(lazy dogs sleeps, 100)", finds: [])
    },
    searchCase("search.near.of-phrases", "NEAR combines phrases and prefixes, and any number of them.") { store in
        try store.expect("NEAR(\"quick brown\" \"lazy dog\", 4)", finds: [1])
        try store.expect("NEAR(\"quick brown\" \"lazy dog\", 3)", finds: [])
        try store.expect("NEAR(br* butter, 1)", finds: [4, 10])
        try store.expect("NEAR(brown fox jumps, 2)", finds: [1])
        try store.expect("NEAR(quick)", finds: [1, 3, 5, 9, 10])
    },
    searchCase("search.near.counts-what-is-near", "Only the occurrences that are near the others count for the score of NEAR.") { store in
        try store.insert(11, Notes.row("a far far far far b", "a b far far far far far a"))
        try store.insert(12, Notes.row("b a b a", "far a far far b"))
        try store.checkSearches([
            "NEAR(a b, 0)", "NEAR(a b, 1)", "NEAR(a b, 3)", "NEAR(b a far, 2)", "NEAR(a a, 1)", "NEAR(far \"far far\", 1)",
        ])
    },
]

private let operatorCases: [ConformanceCase] = [
    searchCase("search.field.of-a-word", "The name of a field before a word searches only in that field.") { store in
        try store.expect("title:quick", finds: [1, 5])
        try store.expect("body:quick", finds: [1, 3, 9, 10])
        try store.expect("title:quick body:fox", finds: [1])
        try store.expect("title:dog quick", finds: [9])
        try store.expect("title:fo*", finds: [1, 3])
    },
    searchCase("search.field.of-a-group", "The name of a field applies to a phrase, to NEAR and to a group.") { store in
        try store.expect("title:\"quick fox\"", finds: [1])
        try store.expect("body:\"quick fox\"", finds: [3])
        try store.expect("title:(brown OR dog)", finds: [8, 9])
        try store.expect("title:(fox quick)", finds: [1])
        try store.expect("title:NEAR(fox quick, 0)", finds: [1])
        try store.expect("body:NEAR(fox quick, 0)", finds: [3])
    },
    searchCase(
        "search.field.unknown-is-refused",
        "A strict query with a field that the index does not have throws invalidPredicate; a lenient one takes it as text."
    ) {
        store in
        let note = try store.entity("Note")
        guard let index = note.searchIndex(named: "stems") else { throw store.run.fail("no index") }
        let strict = try Search(query: "title:quick")
        try store.run.expectError(.invalidPredicate) { try SearchCondition(strict, in: index, of: note) }
        let lenient = try SearchCondition(Search("title:quick"), in: index, of: note)
        try store.run.expect(try store.ids(FetchRequest(note, predicate: .search(lenient))), equals: [])
        try store.insert(11, Notes.row(nil, "a title: quick"))
        try store.run.expect(try store.ids(FetchRequest(note, predicate: .search(lenient))), equals: [11])
    },
    searchCase("search.lenient.never-fails", "What a user typed is a query: operators out of place are text.") { store in
        let note = try store.entity("Note")
        guard let index = note.searchIndex(named: "") else { throw store.run.fail("no index") }
        for (typed, ids) in [
            ("quick AND", []), ("(quick fox", [1, 3]), ("quick)", [1, 3, 5, 9, 10]), ("\"quick fox", [1, 3]), ("OR", []), ("NEAR(", []),
            ("*", []),
            ("c++ -", []), ("quick -", [1, 3, 5, 9, 10]),
        ] as [(String, [Int64])] {
            let condition = try SearchCondition(Search(typed), in: index, of: note)
            let found = try store.ids(FetchRequest(note, predicate: .search(condition)))
            try store.run.expect(found, equals: ids, typed)
        }
    },
    searchCase("search.or.binds-weaker", "OR combines what is before it with what is after it, up to the next OR or parenthesis.") {
        store in
        try store.expect("jumps OR bread", finds: [1, 4, 10])
        try store.expect("quick fox OR lazy dog", finds: [1, 2, 3])
        try store.expect("bread OR sleeps OR jumps", finds: [1, 2, 4, 10])
        try store.expect("quick (fox OR bread)", finds: [1, 3, 10])
        try store.expect("(quick OR lazy) (bread OR dogs)", finds: [2, 10])
        try store.expect("((quick OR lazy) ((bread) OR (dogs brown)))", finds: [10])
    },
    searchCase("search.excluding.words", "- excludes the objects with a word, a phrase, a prefix or a group.") { store in
        try store.expect("quick -fox", finds: [5, 9, 10])
        try store.expect("quick -\"brown fox\"", finds: [3, 5, 9, 10])
        try store.expect("quick -fo*", finds: [5, 9, 10])
        try store.expect("quick -(fox OR bread)", finds: [5, 9])
        try store.expect("quick -(fox dog)", finds: [3, 5, 9, 10])
        try store.expect("quick -title:quick", finds: [3, 9, 10])
        try store.expect("quick -NEAR(quick dog, 0)", finds: [1, 3, 5, 9])
        try store.expect("-fox quick", finds: [5, 9, 10])
        try store.expect("quick -nothing", finds: [1, 3, 5, 9, 10])
    },
    searchCase("search.excluding.within-an-alternative", "- excludes within its alternative and its parentheses only.") { store in
        try store.expect("quick -fox OR lazy", finds: [1, 2, 5, 9, 10])
        try store.expect("(quick -dog) OR (dog -quick)", finds: [2, 3, 5, 8])
        try store.expect("quick -(dog -bread)", finds: [3, 5, 10])
    },
]

private let textCasesOfSearch: [ConformanceCase] = [
    searchCase("search.text.null", "An object whose texts are all null matches no search and is not a document of the index.") { store in
        try store.insert(11, Notes.row(nil, nil))
        try store.checkSearches()
        let condition = try store.search("quick")
        let statistics = try store.read { try $0.statistics(of: condition) }
        try store.run.expect(statistics.documents, equals: 9)
    },
    searchCase("search.text.empty", "An object with an empty text is a document, which shortens the mean length.") { store in
        let condition = try store.search("quick")
        let before = try store.read { try $0.statistics(of: condition) }
        try store.insert(11, Notes.row("", nil))
        let after = try store.read { try $0.statistics(of: condition) }
        try store.run.expect(after.documents, equals: before.documents + 1)
        try store.run.expect(after.tokens, equals: before.tokens)
        try store.expect("-quick", finds: [])
        try store.checkSearches()
    },
    searchCase("search.indexes.several", "Each index of an entity has its own fields, weights, options and statistics.") { store in
        try store.expect("sleep", finds: [])
        try store.expect("sleep", "stems", finds: [2])
        try store.expect("jumping", "stems", finds: [1])
        try store.expect("dogs", "stems", finds: [1, 2, 8, 10])
        try store.run.expect(try store.read { try $0.statistics(of: try store.search("quick", "stems")) }.documents, equals: 8)
        try store.checkSearches()
        let both = QueryPredicate.and([.search(try store.search("title:lazy")), .search(try store.search("sleeping", "stems"))])
        try store.run.expect(try store.ids(FetchRequest(try store.entity("Note"), predicate: both)), equals: [2])
    },
    searchCase("search.scripts.accents", "Letters with accents and other forms are found by the plain letter, and the reverse.") { store in
        try store.insert(11, Notes.row("Crème brûlée", "STRASSE ﬁne Ångström"))
        for query in ["creme", "crème", "cre\u{300}me", "BRULEE", "straße", "fine", "angstrom", "\"creme brulee\"", "ångs*"] {
            try store.expect(query, finds: [11])
        }
    },
    searchCase("search.scripts.without-spaces", "Texts of scripts without spaces are found by any part of them, also by one character.") {
        store in
        try store.insert(11, Notes.row("日本語の全文検索", "東京都に住む"))
        try store.insert(12, Notes.row("京都の本", nil))
        for (query, ids) in [
            ("日本語", [11]), ("本語", [11]), ("全文検索", [11]), ("京都", [11, 12]), ("東京", [11]), ("本", [11, 12]), ("語", [11]), ("索", [11]),
            ("日語", []),
            ("京 本", [11, 12]), ("\"都の本\"", [12]), ("日本語 -東京", []),
        ] as [(String, [Int64])] { try store.expect(query, finds: ids) }
        try store.checkSearches(["日本語", "京都", "本", "京都 OR 語", "全文検索 東京都"])
    },
    searchCase(
        "search.text.nul-and-noncharacters",
        "NUL, noncharacters and unpaired marks in texts separate words or belong to them, and nothing is lost after them."
    ) { store in
        try store.insert(11, Notes.row("before\u{0}after", "\u{ffff}\u{fffe} tail \u{10ffff}"))
        try store.insert(12, Notes.row("\u{301}\u{301}\u{301}", "\u{200d}\u{fe0f} mark"))
        for query in ["before", "after", "\"before after\"", "tail"] { try store.expect(query, finds: [11]) }
        try store.expect("mark", finds: [12])
        try store.checkSearches(["before", "after tail", "mark", "\"before after\""])
    },
    searchCase("search.text.long-word", "A word of 1 MB is stored, and is found by its beginning; the words after it are found too.") {
        store in
        let long = String(repeating: "abcdefghij", count: 100_000)
        try store.insert(11, Notes.row("short", long + " after"))
        try store.insert(12, Notes.row(nil, String(repeating: "é", count: 100_000)))
        try store.expect("after", finds: [11])
        try store.expect("abcdefghijabc*", finds: [11])
        try store.expect("eee*", finds: [12])
        try store.checkSearches(["short abc*"])
        try store.update(11, ["body": .null])
        try store.expect("abc*", finds: [])
        try store.expect("after", finds: [])
        try store.checkSearches(["short", "abc*"])
    },
    searchCase("search.text.large", "A document of 15,000 words is found by each of them, and its phrases at the end.") { store in
        let words = (0..<15_000).map { "w\($0 % 5000)" }
        try store.insert(11, Notes.row("large", words.joined(separator: " ") + " the very end"))
        for query in ["w0", "w4999", "\"w4998 w4999 w0\"", "\"very end\"", "NEAR(w4999 the, 0)", "w49*"] {
            try store.expect(query, finds: [11])
        }
        try store.expect("\"w4999 w1\"", finds: [])
        try store.checkSearches(["\"w4998 w4999 w0\" w499*"])
    },
]

/// Creates a case on a store with notes.
func searchCase(
    _ id: String, _ statement: String, requires: Set<Capabilities.Feature> = [], _ body: @escaping @Sendable (TestStore) throws -> Void
) -> ConformanceCase {
    ConformanceCase(id, statement, requires: requires) { run in try body(try Notes.open(run)) }
}

extension TestStore {
    /// Inserts a note.
    func insert(_ id: Int64, _ row: [Value]) throws { try change { try $0.insert(try entity("Note"), rowID: id, row) } }

    /// Updates fields of a note.
    func update(_ id: Int64, _ values: KeyValuePairs<String, Value>) throws {
        try change { try $0.update(try entity("Note"), rowID: id, values) }
    }

    /// Deletes a note.
    func delete(_ id: Int64) throws { try change { $0.delete(try entity("Note"), rowID: id) } }
}
