import PolyStoreBackend
import PolyStoreSearch
import SeededRandom

/// Cases for searches after changes: statistics, transactions, snapshots.
let searchChangeCases: [ConformanceCase] = changedTextCases + searchTransactionCases + manyChangeCases

private let changedTextCases: [ConformanceCase] = [
    searchCase(
        "search.statistics.follow-changes",
        "The numbers of objects, of words and of objects with a word follow each insert, update and deletion."
    ) { store in
        func expect(_ documents: Int, _ tokens: Int, _ quick: Int, _ what: String) throws {
            let statistics = try store.read { try $0.statistics(of: try store.search("quick")) }
            try store.run.expect(statistics, equals: SearchStatistics(documents: documents, tokens: tokens, frequencies: [quick]), what)
            try store.checkSearches(["quick", "quick fox OR dog"], nil, what)
        }
        try expect(9, 46, 5, "at the beginning")
        try store.insert(11, Notes.row("quick quick", "words"))
        try expect(10, 49, 6, "after an insert")
        try store.update(11, ["title": .text("slow")])
        try expect(10, 48, 5, "after an update that removes the word")
        try store.update(11, ["body": .text("quick again and again quick")])
        try expect(10, 52, 6, "after an update that adds it")
        try store.update(11, ["title": .null, "body": .null])
        try expect(9, 46, 5, "after all texts became null")
        try store.update(11, ["title": .text("quick")])
        try expect(10, 47, 6, "after an update with a text")
        try store.delete(11)
        try expect(9, 46, 5, "after the deletion")
        try store.insert(11, Notes.row(nil, "quick as before"))
        try expect(10, 49, 6, "after another insert with the id")
        try store.change { changes in for id in 1...11 as ClosedRange<Int64> { changes.delete(try store.entity("Note"), rowID: id) } }
        try expect(0, 0, 0, "without objects")
        try store.insert(3, Notes.row("quick", nil))
        try expect(1, 1, 1, "with one object")
    },
    searchCase("search.update.replaces-the-text", "After an update the words of the old text are not found, and those of the new one are.")
    {
        store in
        try store.update(1, ["body": .text("a slow green turtle")])
        try store.expect("jumps", finds: [])
        try store.expect("lazy", finds: [2])
        try store.expect("quick turtle", finds: [1])
        try store.expect("\"quick brown\"", finds: [])
        try store.update(1, ["body": .text("jumps backwards")])
        try store.expect("jumps", finds: [1])
        try store.expect("turtle", finds: [])
        try store.checkSearches()
    },
    searchCase("search.update.of-one-field", "An update of one field keeps the words of the others.") { store in
        try store.update(3, ["title": .text("Wolves")])
        try store.expect("foxes", finds: [])
        try store.expect("wolves quick", finds: [3])
        try store.update(3, ["body": .null])
        try store.expect("wolves", finds: [3])
        try store.expect("wolves quick", finds: [])
        try store.checkSearches()
    },
    searchCase(
        "search.update.of-other-fields",
        "An update of fields that are not searched changes nothing, and what else is read of the object is new."
    ) { store in
        let before = try store.scores("quick")
        try store.update(1, ["stars": .integer(9), "code": .text("x"), "folder": .null])
        try store.run.expect(try store.scores("quick"), equals: before)
        try store.checkSearches()
        let stars = try store.field("Note", "stars")
        let both = QueryPredicate.and([.search(try store.search("quick")), .compare(stars, .equal, .integer(9))])
        try store.run.expect(try store.ids(FetchRequest(try store.entity("Note"), predicate: both)), equals: [1])
    },
    searchCase("search.update.order-of-words", "An update that only moves words changes which phrases are found.") { store in
        try store.update(1, ["body": .text("dog lazy the over jumps fox brown quick the")])
        try store.expect("\"lazy dog\"", finds: [2])
        try store.expect("\"fox brown quick\"", finds: [1])
        try store.expect("title:fox brown", finds: [1])
        try store.checkSearches()
    },
    searchCase("search.update.same-text", "An update to the same text changes nothing.") { store in
        let before = try store.read { try $0.statistics(of: try store.search("quick fox")) }
        for _ in 0..<5 { try store.update(1, ["title": .text("The quick fox")]) }
        try store.run.expect(try store.read { try $0.statistics(of: try store.search("quick fox")) }, equals: before)
        try store.checkSearches()
    },
    searchCase("search.update.exchanged-texts", "Two objects that exchange their texts in one change set are found by the other's words.") {
        store in
        let note = try store.entity("Note")
        try store.change { changes in
            try changes.update(note, rowID: 4, ["title": .text("Lazy dogs"), "body": .text("A dog sleeps. A lazy dog sleeps long.")])
            try changes.update(note, rowID: 2, ["title": .null, "body": .text("brown bread and butter")])
        }
        try store.expect("sleeps", finds: [4])
        try store.expect("bread", finds: [2, 10])
        try store.checkSearches()
    },
    searchCase(
        "search.delete.and-insert-again", "A deleted object is not found, also not by its old words when another object takes its id."
    ) {
        store in
        for round in 0..<6 {
            try store.delete(1)
            try store.expect("jumps", finds: [], "round \(round), deleted")
            try store.expect("quick", finds: [3, 5, 9, 10], "round \(round), deleted")
            try store.insert(1, Notes.row("round", "number \(round) quick"))
            try store.expect("jumps", finds: [], "round \(round), inserted")
            try store.expect("\"\(round) quick\"", finds: [1], "round \(round), inserted")
            try store.expect("number", finds: [1])
            for earlier in 0..<round { try store.expect("number \(earlier)", finds: [], "in round \(round)") }
            try store.checkSearches(["quick", "number", "fox"], nil, "round \(round)")
        }
    },
    searchCase("search.change-set.delete-and-insert", "An insert and a deletion of different objects with the same text in one change set.")
    {
        store in
        let note = try store.entity("Note")
        try store.change { changes in
            changes.delete(note, rowID: 1)
            try changes.insert(note, rowID: 11, Notes.rows[0])
            try changes.update(note, rowID: 3, ["body": .text("jumps")])
        }
        try store.expect("jumps", finds: [3, 11])
        try store.checkSearches()
    },
    searchCase("search.ids.extremes", "Objects with the smallest, negative and greatest ids are found, and ordered by id.") { store in
        let ids: [Int64] = [.min, .min + 1, -1_000_000, -1, 0, 255, 256, 1 << 40, .max - 1, .max]
        for id in ids.reversed() { try store.insert(id, Notes.row("edge", "of the ids")) }
        try store.expect("edge", finds: ids)
        try store.run.expect(try store.ranked("edge ids", limit: 4), equals: Array(ids.prefix(4)))
        for id in [.min, -1, .max] as [Int64] { try store.delete(id) }
        try store.update(0, ["title": .text("middle")])
        try store.expect("edge", finds: [.min + 1, -1_000_000, 255, 256, 1 << 40, .max - 1])
        try store.checkSearches(["edge", "edge OR middle", "\"of the ids\""])
    },
]

private let searchTransactionCases: [ConformanceCase] = [
    searchCase(
        "search.write.sees-its-changes", "A search in a write transaction finds what the transaction has applied, with its statistics."
    ) {
        store in
        try store.write { writer in
            let note = try store.entity("Note")
            for round in 0..<3 as Range<Int64> {
                let changes = ChangeSet(store.schema)
                try changes.insert(note, rowID: 11 + round, Notes.row("pending", "quick pending \(round)"))
                try changes.update(note, rowID: 3, ["body": .text("slow \(round)")])
                if round > 0 { changes.delete(note, rowID: 10 + round - 1) }
                try writer.apply(changes)
                try store.checkSearches(writer, Notes.queries + ["pending", "slow"], nil, "round \(round)")
            }
        }
        try store.expect("pending", finds: [12, 13])
        try store.expect("quick", finds: [1, 5, 9, 12, 13])
        try store.checkSearches(Notes.queries + ["pending", "slow"])
    },
    searchCase("search.write.rollback", "A rollback leaves nothing of a transaction in the searches, also after it has searched.") {
        store in
        let before = try store.read { try $0.statistics(of: try store.search("quick fox")) }
        let writer = try store.backend.beginWrite()
        let note = try store.entity("Note")
        let changes = ChangeSet(store.schema)
        try changes.insert(note, rowID: 11, Notes.row("quick", "fox"))
        changes.delete(note, rowID: 1)
        try changes.update(note, rowID: 2, ["title": .text("quick")])
        try writer.apply(changes)
        try store.run.expect(
            try writer.ids(FetchRequest(note, predicate: .search(try store.search("quick")))), equals: [2, 3, 5, 9, 10, 11])
        writer.rollback()
        try store.run.expect(try store.read { try $0.statistics(of: try store.search("quick fox")) }, equals: before)
        try store.checkSearches()
        try store.insert(12, Notes.row("after", "the rollback"))
        try store.expect("after", finds: [12])
        try store.checkSearches()
    },
    searchCase("search.apply.refused", "A change set that is refused leaves nothing in the searches, and the transaction continues.") {
        store in
        let note = try store.entity("Note")
        try store.update(9, ["code": .text("taken")])
        try store.write { writer in
            let first = ChangeSet(store.schema)
            try first.insert(note, rowID: 11, Notes.row("kept", "quick"))
            try writer.apply(first)
            let refused = ChangeSet(store.schema)
            try refused.insert(note, rowID: 12, Notes.row("lost", "quick"))
            try refused.update(note, rowID: 1, ["body": .text("lost")])
            refused.delete(note, rowID: 3)
            try refused.insert(note, rowID: 13, Notes.row("lost", code: "taken"))
            try store.run.expectError(.constraint) { try writer.apply(refused) }
            try store.checkSearches(writer, Notes.queries + ["lost", "kept"], nil, "after the refusal")
            let last = ChangeSet(store.schema)
            try last.update(note, rowID: 11, ["body": .text("changed")])
            try writer.apply(last)
        }
        try store.expect("lost", finds: [])
        try store.expect("kept changed", finds: [11])
        try store.expect("jumps", finds: [1])
        try store.checkSearches()
    },
    searchCase(
        "search.apply.several-sets", "Several change sets of one call: those that are applied are found, a refused one leaves nothing."
    ) {
        store in
        let note = try store.entity("Note")
        try store.update(9, ["code": .text("taken")])
        func set(_ body: (ChangeSet) throws -> Void) rethrows -> ChangeSet {
            let changes = ChangeSet(store.schema)
            try body(changes)
            return changes
        }
        let sets = try [
            set { try $0.insert(note, rowID: 11, Notes.row("first", "quick")) },
            set {
                try $0.update(note, rowID: 11, ["body": .text("refused")])
                try $0.insert(note, rowID: 12, Notes.row("refused", code: "taken"))
            },
            set { try $0.update(note, rowID: 11, ["body": .text("third")]) },
            set { $0.delete(note, rowID: 3) },
        ]
        let writer = try store.backend.beginWrite()
        let results = try writer.apply(sets, committing: .full)
        try store.run.expect(results.errors.map { $0?.code }, equals: [nil, .constraint, nil, nil])
        try store.checkSearches(writer, Notes.queries + ["first third", "refused"])
        _ = try writer.commit(.full)
        try store.expect("refused", finds: [])
        try store.expect("first third", finds: [11])
        try store.expect("quick", finds: [1, 5, 9, 10])
        let more = try [
            set { try $0.insert(note, rowID: 21, Notes.row("group")) }, set { try $0.insert(note, rowID: 22, Notes.row("group")) },
        ]
        let group = try store.backend.beginWrite()
        try store.run.expect(try group.apply(more, committing: .full).errors.map { $0?.code }, equals: [nil, nil])
        group.rollback()
        try store.expect("group", finds: [21, 22])
        try store.checkSearches()
    },
    searchCase(
        "search.snapshot.isolation", "A snapshot searches the texts and statistics of its version, whatever is committed afterwards.",
        requires: [.concurrentReaders]
    ) {
        store in
        let note = try store.entity("Note")
        let old = try store.backend.beginRead()
        let expected = try ["quick", "fox", "dog"].map { try old.ids(try store.rankedRequest($0)) }
        let statistics = try old.statistics(of: try store.search("quick fox"))
        for round in 0..<40 as Range<Int64> {
            try store.change { changes in
                try changes.insert(note, rowID: 100 + round, Notes.row("quick \(round)", "fox dog"))
                try changes.update(note, rowID: round % 10 + 1, ["body": .text("changed \(round)")])
                if round > 5 { changes.delete(note, rowID: 100 + round - 5) }
            }
        }
        try store.run.expect(try ["quick", "fox", "dog"].map { try old.ids(try store.rankedRequest($0)) }, equals: expected)
        try store.run.expect(try old.statistics(of: try store.search("quick fox")), equals: statistics)
        try store.checkSearches(old, Notes.queries, nil, "in the older snapshot")
        old.end()
        try store.checkSearches()
    },
    searchCase("search.relationships.change-nothing", "Changes of relationships alone do not change what is found.") { store in
        let before = try store.read { try $0.statistics(of: try store.search("quick fox")) }
        let similar = try store.relationship("Note", "similar")
        try store.change { changes in
            changes.link(try store.pair(similar, 1, 2))
            changes.link(try store.pair(similar, 2, 1))
            try changes.update(try store.entity("Note"), rowID: 1, ["folder": .integer(3)])
        }
        try store.run.expect(try store.read { try $0.statistics(of: try store.search("quick fox")) }, equals: before)
        try store.checkSearches()
    },
]

private let manyChangeCases: [ConformanceCase] = [
    searchCase("search.commits.many", "After hundreds of commits of single objects every word is found with its exact statistics.") {
        store in
        var random = SplitMix64(seed: 36)
        for round in 0..<300 as Range<Int64> {
            let id = 11 + Int64(random.below(80))
            let text = SearchTexts.text(&random, words: 1 + random.below(12))
            if try store.row("Note", id) == nil {
                try store.insert(id, Notes.row(SearchTexts.text(&random, words: 2), text))
            } else if random.once(in: 3) {
                try store.delete(id)
            } else {
                try store.update(id, [random.once(in: 2) ? "body" : "title": .text(text)])
            }
            if round % 150 == 149 { try store.checkSearches(SearchTexts.queries, nil, "after \(round + 1) commits") }
        }
    },
    searchCase("search.objects.many", "Hundreds of objects in few commits: every word, phrase and prefix, and the best of them.") {
        store in
        var random = SplitMix64(seed: 37)
        for part in 0..<3 as Range<Int64> {
            try store.change { changes in
                for id in (150 * part + 100)..<(150 * part + 250) {
                    try changes.insert(
                        try store.entity("Note"), rowID: id,
                        Notes.row(SearchTexts.text(&random, words: 3), SearchTexts.text(&random, words: 5 + random.below(12))))
                }
            }
        }
        try store.checkSearches(SearchTexts.queries, "")
        try store.change { changes in
            for id in stride(from: Int64(100), to: 550, by: 3) { changes.delete(try store.entity("Note"), rowID: id) }
        }
        try store.checkSearches(SearchTexts.queries, "", "after deletions")
        try store.checkSearches(["w1 w2", "w3*"], "weighted")
    },
    searchCase("search.objects.common-word", "A word of every object: all of them, and the best by length and id.") { store in
        try store.change { changes in
            for id in 100..<1500 as Range<Int64> {
                let words = String(repeating: " filler", count: Int(id % 7)) + (id % 500 == 0 ? " needle" : "")
                try changes.insert(try store.entity("Note"), rowID: id, Notes.row("common", "common" + words))
            }
        }
        try store.run.expect(try store.found("common").count, equals: 1400)
        try store.expect("common needle", finds: [500, 1000])
        try store.expect("common -filler", finds: (100..<1500).filter { $0 % 7 == 0 })
        try store.run.expect(try store.ranked("common", limit: 3), equals: [105, 112, 119])
        try store.checkSearches(["common", "common needle", "\"common filler filler\"", "common filler OR needle"], "")
    },
    searchCase("search.random.between-changes", "Random texts, changes, rollbacks and queries.") { store in
        for seed in 1...2 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            for round in 0..<9 {
                let writer = try store.backend.beginWrite()
                let changes = ChangeSet(store.schema)
                let note = try store.entity("Note")
                var used: Set<Int64> = []
                for _ in 0..<1 + random.below(8) {
                    let id = Int64(20 + random.below(30))
                    guard used.insert(id).inserted else { continue }
                    let text: Value = random.once(in: 5) ? .null : .text(SearchTexts.text(&random, words: random.below(15)))
                    if try writer.row(note, id) == nil {
                        try changes.insert(note, rowID: id, [text, text, .integer(0), .null, .null])
                    } else if random.once(in: 4) {
                        changes.delete(note, rowID: id)
                    } else {
                        try changes.update(note, rowID: id, ["title": text])
                    }
                }
                try writer.apply(changes)
                let queries = [SearchTexts.query(&random), SearchTexts.query(&random), SearchTexts.query(&random)]
                try store.checkSearches(writer, queries, nil, "seed \(seed), round \(round), in the writer")
                if random.once(in: 4) { writer.rollback() } else { _ = try writer.commit(.relaxed) }
                try store.checkSearches(queries, nil, "seed \(seed), round \(round)")
            }
        }
    },
]

extension TestStore {
    fileprivate func expect(_ query: String, finds ids: [Int64], _ when: String) throws { try expect(query, "", finds: ids, when) }
}
