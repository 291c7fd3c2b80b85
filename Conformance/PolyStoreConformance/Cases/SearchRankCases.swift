import PolyStoreBackend
import PolyStoreSearch

/// Scores, the order by them, and searches together with other conditions.
let searchRankCases: [ConformanceCase] = scoreCases + combinedCases + relatedSearchCases

private let scoreCases: [ConformanceCase] = [
    searchCase(
        "search.score.to-the-bit",
        "Scores are BM25 with k1 = 1.2 and b = 0.75 in the documented order of operations, equal to the last bit."
    ) { store in
        try store.checkSearches()
    },
    searchCase("search.score.zero-without-match", "The score of an object that a search does not find is 0.") { store in
        let condition = try store.search("bread")
        let note = try store.entity("Note")
        let zero = QueryPredicate.compare(.score(condition), .equal, .constant(.real(0), .double))
        try store.run.expect(try store.ids(FetchRequest(note, predicate: zero)), equals: [1, 2, 3, 5, 6, 7, 8, 9])
        try store.run.expect(
            try store.ids(FetchRequest(note, predicate: .compare(.score(condition), .greater, .constant(.real(0), .double)))),
            equals: [4, 10])
    },
    searchCase("search.score.frequent-words", "A word that most objects contain has a small positive weight, and never a negative one.") {
        store in
        for id in 11...40 as ClosedRange<Int64> { try store.insert(id, Notes.row("common", "word \(id)")) }
        let condition = try store.search("common")
        let note = try store.entity("Note")
        let positive = QueryPredicate.compare(.score(condition), .greater, .constant(.real(0), .double))
        try store.run.expect(try store.ids(FetchRequest(note, predicate: positive)), equals: Array(11...40))
        try store.run.expect(
            try store.ids(FetchRequest(note, predicate: .compare(.score(condition), .less, .constant(.real(1e-5), .double)))).count,
            equals: 40)
        try store.checkSearches(["common", "common word", "common 17", "common OR quick"])
    },
    searchCase("search.score.length-counts", "Of two objects with a word, the shorter one is better.") { store in
        try store.insert(11, Notes.row("unique", "and a long text that follows it with many words"))
        try store.insert(12, Notes.row("unique", "short"))
        try store.run.expect(try store.ranked("unique"), equals: [12, 11])
        try store.run.expect(try store.ranked("unique", "weighted"), equals: [12, 11])
    },
    searchCase("search.score.alternatives-add", "Each word of an alternative that an object contains adds to its score.") { store in
        try store.checkSearches(["quick OR fox OR dog", "(quick fox) OR dog", "quick OR (dog -lazy)", "lazy OR NEAR(fox dog, 0)"])
        try store.run.expect(try store.ranked("bread OR butter OR brown").prefix(2), equals: [4, 10])
    },
    searchCase(
        "search.weights.change-the-order", "The weight of a field multiplies its occurrences, and changes the order but not what is found."
    ) { store in
        try store.insert(11, Notes.row("needle", "hay hay hay hay"))
        try store.insert(12, Notes.row("hay", "needle needle needle hay"))
        try store.run.expect(try store.ranked("needle"), equals: [12, 11])
        try store.run.expect(try store.ranked("needle", "weighted"), equals: [11, 12])
        try store.checkSearches(["needle", "needle hay", "title:needle OR hay"])
    },
    searchCase("search.order.ties-by-id", "Objects with equal scores are in ascending order of their ids, also where a limit divides them.")
    {
        store in
        for id in [40, 12, 33, 21, 17, 28] as [Int64] { try store.insert(id, Notes.row("tie", "with equal words")) }
        try store.insert(25, Notes.row("tie", "tie"))
        let order: [Int64] = [25, 12, 17, 21, 28, 33, 40]
        try store.run.expect(try store.ranked("tie"), equals: order)
        for limit in 0...8 {
            try store.run.expect(try store.ranked("tie", limit: limit), equals: Array(order.prefix(limit)), "limit \(limit)")
        }
        for offset in 0...8 {
            try store.run.expect(
                try store.ranked("tie", limit: 2, offset: offset), equals: Array(order.dropFirst(offset).prefix(2)), "offset \(offset)")
        }
    },
    searchCase("search.order.ascending", "Ascending scores are the reverse order, with ties by id.") { store in
        for query in Notes.queries {
            let condition = try store.search(query)
            let request = FetchRequest(
                try store.entity("Note"), predicate: .search(condition), sortKeys: [SortKey(.score(condition), ascending: true)])
            let scores = try store.scores(query)
            let expected = scores.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
            try store.run.expect(try store.ids(request), equals: expected, query)
        }
    },
    searchCase("search.order.with-other-keys", "A score is one sort key among others, before and after them.") { store in
        let condition = try store.search("quick OR dog")
        let note = try store.entity("Note")
        let (stars, scores) = (try store.field("Note", "stars"), try store.scores("quick OR dog"))
        let rows = try store.read { try $0.all(note) }
        func rated(_ id: Int64) -> Int64 { if case .integer(let stars)? = rows[id]?[2] { stars } else { 0 } }
        let first = scores.keys.sorted { (rated($0), -(scores[$0] ?? 0), $0) < (rated($1), -(scores[$1] ?? 0), $1) }
        let byStars = [SortKey(stars), SortKey(.score(condition), ascending: false)]
        for limit in [nil, 4] {
            let request = FetchRequest(note, predicate: .search(condition), sortKeys: byStars, limit: limit)
            try store.run.expect(try store.ids(request), equals: Array(first.prefix(limit ?? 100)), "after the stars")
        }
        let second = scores.keys.sorted { (-(scores[$0] ?? 0), -rated($0), $0) < (-(scores[$1] ?? 0), -rated($1), $1) }
        let byScore = [SortKey(.score(condition), ascending: false), SortKey(stars, ascending: false)]
        try store.run.expect(
            try store.ids(FetchRequest(note, predicate: .search(condition), sortKeys: byScore)), equals: second, "before the stars")
    },
    searchCase("search.order.of-all-objects", "A score orders all objects, those that the search does not find with 0.") { store in
        let condition = try store.search("fox")
        let request = FetchRequest(try store.entity("Note"), sortKeys: [SortKey(.score(condition), ascending: false)])
        let best = try store.ranked("fox")
        try store.run.expect(try store.ids(request), equals: best + (1...10).filter { !best.contains($0) })
    },
    searchCase("search.limit.slices", "Limit and offset slice the order by score, whatever their size.") { store in
        for query in ["quick", "dog OR fox", "the", "nothing", "NEAR(fox dog)"] {
            let whole = try store.ranked(query)
            for limit in [nil, 0, 1, 2, 5, 100, .max] as [Int?] {
                for offset in [0, 1, 3, 100, .max] {
                    let expected = whole.dropFirst(offset)
                    try store.run.expect(
                        try store.ranked(query, limit: limit, offset: offset), equals: Array(limit.map { expected.prefix($0) } ?? expected),
                        "\(query), limit \(limit.map(String.init) ?? "none"), offset \(offset)")
                }
            }
        }
    },
    searchCase("search.limit.without-order", "Without an order the first ids are returned.") { store in
        let request = FetchRequest(try store.entity("Note"), predicate: .search(try store.search("quick")), limit: 2, offset: 1)
        try store.run.expect(try store.ids(request), equals: [3, 5])
    },
    searchCase("search.statistics.of-all-objects", "Statistics count all objects of the index, whatever else a request demands.") { store in
        let condition = try store.search("quick fox")
        let statistics = try store.read { try $0.statistics(of: condition) }
        try store.run.expect(statistics, equals: SearchStatistics(documents: 9, tokens: 46, frequencies: [5, 3]))
        let stars = try store.field("Note", "stars")
        let request = AggregateRequest(
            try store.entity("Note"), predicate: .and([.search(condition), .compare(stars, .equal, .integer(5))]),
            aggregates: [.of(.maximum, .score(condition))])
        let score = try store.scores("quick fox")[1]
        try store.run.expect(try store.read { try $0.aggregate(request)[0].values }, equals: [score.map { .real($0) } ?? .null])
    },
]

private let combinedCases: [ConformanceCase] = [
    searchCase("search.combined.and", "A search together with other conditions.") { store in
        let (stars, code) = (try store.field("Note", "stars"), try store.field("Note", "code"))
        let quick = QueryPredicate.search(try store.search("quick"))
        try store.expect([quick, .compare(stars, .greaterOrEqual, .integer(4))], finds: [1, 5, 9])
        try store.expect([.compare(stars, .equal, .integer(1)), quick], finds: [3, 10])
        try store.expect([quick, .isNull(code), .oneOf(.objectID, [.integer(3), .integer(4), .integer(9)])], finds: [3, 9])
        try store.expect([quick, .text(try store.field("Note", "title"), .beginsWith, "Q")], finds: [5])
        try store.expect([quick, .none], finds: [])
        try store.expect([quick, .search(try store.search("dog")), .search(try store.search("bread OR lazy"))], finds: [1, 10])
        let best = FetchRequest(
            try store.entity("Note"), predicate: .and([quick, .compare(stars, .greaterOrEqual, .integer(4))]),
            sortKeys: [SortKey(.score(try store.search("quick")), ascending: false)], limit: 2)
        try store.run.expect(try store.ids(best), equals: try store.ranked("quick").filter { [1, 5, 9].contains($0) }.prefix(2).map { $0 })
    },
    searchCase("search.combined.or-and-not", "A search in OR and NOT. It is never unknown, also for an object without texts.") { store in
        let stars = try store.field("Note", "stars")
        let (quick, dog) = (QueryPredicate.search(try store.search("quick")), QueryPredicate.search(try store.search("dog")))
        try store.expect([.or([quick, .compare(stars, .equal, .integer(2))])], finds: [1, 3, 5, 6, 9, 10])
        try store.expect([.not(quick)], finds: [2, 4, 6, 7, 8])
        try store.expect([.not(.or([quick, dog]))], finds: [4, 6, 7])
        try store.expect([.not(.and([quick, dog]))], finds: [2, 3, 4, 5, 6, 7, 8])
        try store.expect([.or([.and([quick, .not(dog)]), .and([dog, .not(quick)])])], finds: [2, 3, 5, 8])
        try store.expect([.not(.not(quick)), .compare(stars, .less, .integer(5))], finds: [3, 9, 10])
    },
    searchCase(
        "search.combined.score-of-another-search", "The order can be the score of another search than the condition, and of several."
    ) {
        store in
        let (condition, other) = (try store.search("quick"), try store.search("dog", "weighted"))
        let scores = try store.scores("dog", "weighted")
        let request = FetchRequest(
            try store.entity("Note"), predicate: .search(condition), sortKeys: [SortKey(.score(other), ascending: false)], limit: 3)
        let expected = try store.found("quick").sorted { (-(scores[$0] ?? 0), $0) < (-(scores[$1] ?? 0), $1) }
        try store.run.expect(try store.ids(request), equals: Array(expected.prefix(3)))
        guard let sum = QueryExpression.arithmetic(.add, .score(condition), .score(other)) else { throw store.run.fail("no sum of scores") }
        let own = try store.scores("quick")
        let added = FetchRequest(try store.entity("Note"), predicate: .search(condition), sortKeys: [SortKey(sum, ascending: false)])
        func total(_ id: Int64) -> Double { (own[id] ?? 0) + (scores[id] ?? 0) }
        try store.run.expect(
            try store.ids(added), equals: own.keys.sorted { (-total($0), $0) < (-total($1), $1) }, "the sum of two scores")
    },
    searchCase("search.combined.scores-compared", "Scores can be compared with numbers and with each other.") { store in
        let (quick, dog) = (try store.search("quick"), try store.search("dog"))
        let (first, second) = (try store.scores("quick"), try store.scores("dog"))
        let better = (1...10 as ClosedRange<Int64>).filter { (first[$0] ?? 0) > (second[$0] ?? 0) }
        try store.expect([.compare(.score(quick), .greater, .score(dog))], finds: better)
        for score in Set(first.values) {
            let expected = first.filter { $0.value >= score }.keys.sorted()
            try store.expect([.compare(.score(quick), .greaterOrEqual, .constant(.real(score), .double))], finds: expected)
        }
    },
    searchCase("search.combined.aggregates", "Aggregates of the objects that a search finds, and of their scores.") { store in
        let condition = try store.search("quick")
        let (note, stars) = (try store.entity("Note"), try store.field("Note", "stars"))
        let scores = try store.scores("quick")
        let request = AggregateRequest(
            note, predicate: .search(condition),
            aggregates: [.count, .sum(stars), .of(.maximum, .score(condition)), .of(.minimum, .score(condition))])
        try store.run.expect(
            try store.read { try $0.aggregate(request)[0].values },
            equals: [.integer(5), .integer(16), .real(scores.values.max() ?? 0), .real(scores.values.min() ?? 0)])
        let (fox, dog) = (try store.search("fox"), try store.search("dog OR lazy", "weighted"))
        let several = AggregateRequest(
            note, groupBy: [.field(.objectID)],
            aggregates: [.of(.maximum, .score(fox)), .of(.minimum, .score(dog)), .of(.maximum, .score(condition))])
        let (first, second) = (try store.scores("fox"), try store.scores("dog OR lazy", "weighted"))
        try store.run.expect(
            try store.read { try $0.aggregate(several).map { $0.values } },
            equals: (1...10).map { [first[$0] ?? 0, second[$0] ?? 0, scores[$0] ?? 0].map { .real($0) } }, "scores of several searches")
        let groups = AggregateRequest(note, predicate: .not(.search(condition)), groupBy: [stars], aggregates: [.count])
        try store.run.expect(
            try store.read { try $0.aggregate(groups).map { $0.group + $0.values } },
            equals: [(0, 1), (2, 1), (3, 2), (4, 1)].map { [.integer($0), .integer($1)] })
    },
    searchCase("search.combined.counts", "Counts of searches with and without limits.") { store in
        let note = try store.entity("Note")
        for query in Notes.queries {
            let found = try store.found(query).count
            for (limit, offset) in [(nil, 0), (2, 0), (nil, 3), (1, 100)] as [(Int?, Int)] {
                let request = FetchRequest(note, predicate: .search(try store.search(query)), limit: limit, offset: offset)
                let expected = min(max(0, found - offset), limit ?? .max)
                try store.run.expect(try store.read { try $0.counted(request) }, equals: expected, "\(query): counted")
                try store.run.expect(try store.read { try $0.count(request) }, equals: expected, "\(query): count")
            }
        }
    },
    searchCase(
        "search.combined.fields-and-ids",
        "A search returns complete records, some of their fields, or ids, also of fields that it does not search."
    ) { store in
        var request = try store.rankedRequest("quick OR dog")
        let ids = try store.ids(request)
        try store.run.expect(try store.read { try $0.rows(request) }, equals: ids.map { Notes.rows[Int($0) - 1] })
        request.onlyIDs = true
        try store.run.expect(try store.ids(request), equals: ids, "ids only")
        request.onlyIDs = false
        var stars = FieldMask()
        stars.insert(2)
        request.fields = stars
        try store.read { reader in
            let cursor = try reader.fetch(request)
            defer { cursor.close() }
            for id in ids {
                try store.run.expect(try cursor.next(), "the cursor ends before \(id)")
                try store.run.expect(cursor.rowID, equals: id)
                try store.run.expect(
                    cursor.record.value(request.entity.fields[2]), equals: Notes.rows[Int(id) - 1][2], "the stars of \(id)")
            }
        }
    },
    searchCase("search.combined.cursors-in-turn", "Cursors of several searches in one transaction do not affect each other.") { store in
        try store.read { reader in
            let requests = try ["quick", "dog", "fox OR bread"].map { try store.rankedRequest($0) }
            let cursors = try requests.map { try reader.fetch($0) }
            defer { for cursor in cursors { cursor.close() } }
            var found = requests.map { _ in [Int64]() }
            for _ in 0..<10 { for (index, cursor) in cursors.enumerated() where try cursor.next() { found[index].append(cursor.rowID) } }
            try store.run.expect(found, equals: try requests.map { try reader.ids($0) })
        }
    },
    searchCase(
        "search.refusal.other-entity",
        "A search in an index of another entity, and one in an index that the entity does not have, throw invalidPredicate."
    ) { store in
        let (note, folder) = (try store.entity("Note"), try store.entity("Folder"))
        let condition = try store.search("quick")
        try store.run.expectError(.invalidPredicate) { try store.ids(FetchRequest(folder, predicate: .search(condition))) }
        try store.run.expectError(.invalidPredicate) {
            try store.ids(FetchRequest(folder, sortKeys: [SortKey(.score(condition), ascending: false)]))
        }
        try store.run.expectError(.invalidPredicate) {
            try store.read { try $0.counted(FetchRequest(folder, predicate: .not(.search(condition)))) }
        }
        let other = try ResolvedSchema(Notes.schema([SearchIndexDescription(fields: ["body", "title"])]))
        guard let foreign = other.entity(named: "Note")?.searchIndexes.first else { throw store.run.fail("no index") }
        try store.run.expectError(.invalidPredicate) {
            try store.ids(FetchRequest(note, predicate: .search(try SearchCondition(Search("quick"), in: foreign, of: note))))
        }
    },
]

private let relatedSearchCases: [ConformanceCase] = [
    searchCase("search.related.to-one", "A search in the texts of a related object.") { store in
        let folder = try store.reference("Note", "folder")
        let quick = QueryPredicate.search(try store.search("quick", of: "Folder"))
        try store.expect([.related(folder, .one, quick)], finds: [1, 2, 9])
        try store.expect([.related(folder, .one, .search(try store.search("animals", of: "Folder")))], finds: [1, 2, 3, 4, 9])
        try store.expect([.not(.related(folder, .one, quick))], finds: [3, 4, 6, 7, 8])
        try store.expect([.related(folder, .one, quick), .search(try store.search("quick"))], finds: [1, 9])
    },
    searchCase("search.related.any", "ANY: an object of a to-many relationship satisfies the search.") { store in
        let notes = try store.reference("Folder", "notes")
        try store.expect([.related(notes, .any, .search(try store.search("quick")))], of: "Folder", finds: [1, 2])
        try store.expect([.related(notes, .any, .search(try store.search("brown")))], of: "Folder", finds: [1, 2, 3])
        let stars = try store.field("Note", "stars")
        let both = QueryPredicate.and([.search(try store.search("brown")), .compare(stars, .equal, .integer(4))])
        try store.expect([.related(notes, .any, both)], of: "Folder", finds: [2])
    },
    searchCase("search.related.all-and-none", "ALL and NONE, which objects without related objects satisfy.") { store in
        let notes = try store.reference("Folder", "notes")
        let dog = QueryPredicate.search(try store.search("dog OR dogs"))
        try store.expect([.related(notes, .all, dog)], of: "Folder", finds: [1, 4])
        try store.expect([.not(.related(notes, .any, dog))], of: "Folder", finds: [2, 4])
        try store.expect([.related(notes, .all, .not(dog))], of: "Folder", finds: [2, 4])
    },
    searchCase("search.related.counts", "The number of related objects that a search finds, as a value and as an order.") { store in
        let notes = try store.reference("Folder", "notes")
        let count = QueryExpression.count(notes, where: .search(try store.search("quick")))
        for (number, ids) in [(0, [3, 4]), (1, [2]), (2, [1])] as [(Int64, [Int64])] {
            try store.expect([.compare(count, .equal, .constant(.integer(number), .int64))], of: "Folder", finds: ids)
        }
        let request = FetchRequest(try store.entity("Folder"), sortKeys: [SortKey(count, ascending: false)])
        try store.run.expect(try store.ids(request), equals: [1, 2, 3, 4])
    },
    searchCase("search.related.links", "A search over a relationship with a link table, in both directions and after its changes.") {
        store in
        let similar = try store.relationship("Note", "similar")
        let reference = try store.reference("Note", "similar")
        let fox = QueryPredicate.search(try store.search("fox"))
        try store.change { changes in
            for (source, target) in [(1, 2), (2, 1), (4, 8), (8, 4), (3, 3), (9, 5), (5, 9)] as [(Int64, Int64)] {
                changes.link(try store.pair(similar, source, target))
            }
        }
        try store.expect([.related(reference, .any, fox)], finds: [2, 3, 4])
        try store.expect([.related(reference, .any, fox), .search(try store.search("bread"))], finds: [4])
        try store.change { changes in
            for (source, target) in [(4, 8), (8, 4)] as [(Int64, Int64)] {
                changes.link(try store.pair(similar, source, target, isAddition: false))
            }
        }
        try store.expect([.related(reference, .any, fox)], finds: [2, 3])
    },
    searchCase("search.related.scores", "The score of a related object, and the greatest score among several, as values and orders.") {
        store in
        let (folder, notes) = (try store.reference("Note", "folder"), try store.reference("Folder", "notes"))
        let animals = QueryExpression.related(folder, .score(try store.search("animals", of: "Folder")))
        let request = FetchRequest(
            try store.entity("Note"), sortKeys: [SortKey(animals, ascending: false, nulls: .last), SortKey(.objectID, ascending: false)])
        // The second folder has fewer words. Notes without a folder have no value.
        try store.run.expect(try store.ids(request), equals: [4, 3, 9, 2, 1, 8, 7, 6, 10, 5])
        let best = QueryExpression.aggregate(.maximum, notes, .score(try store.search("quick")))
        let scores = try store.scores("quick")
        let groups = AggregateRequest(try store.entity("Folder"), groupBy: [.field(.objectID)], aggregates: [.of(.maximum, best)])
        let expected: [Value] = [max(scores[1] ?? 0, scores[9] ?? 0), scores[3] ?? 0, 0].map { .real($0) } + [.null]
        try store.run.expect(try store.read { try $0.aggregate(groups).map { $0.values[0] } }, equals: expected)
    },
]

extension TestStore {
    func reference(_ entity: String, _ name: String) throws -> RelationshipReference {
        RelationshipReference(try relationship(entity, name), in: schema)
    }

    /// Expects the objects that satisfy all of some conditions, with and without indexes.
    fileprivate func expect(_ conditions: [QueryPredicate], of entity: String = "Note", finds ids: [Int64]) throws {
        var request = FetchRequest(try self.entity(entity), predicate: .and(conditions))
        for ignoresIndexes in [false, true] {
            request.ignoresIndexes = ignoresIndexes
            try run.expect(try self.ids(request), equals: ids, "\(request.predicate), without indexes \(ignoresIndexes)")
            try run.expect(try read { try $0.counted(request) }, equals: ids.count, "the count of \(request.predicate)")
        }
    }

    /// Returns the expected scores of the notes that a search finds.
    func scores(_ query: String, _ index: String = "") throws -> [Int64: Double] {
        let note = try entity("Note")
        guard let index = note.searchIndex(named: index) else { throw run.fail("no index \(index)") }
        var model = SearchModel(index)
        model.texts = try read { try $0.all(note) }.mapValues { row in
            index.fields.map { if case .text(let text) = row[$0] { text } else { nil } }
        }
        return model.found(query)
    }
}
