import PolyStoreBackend
import PolyStoreSearch

/// Notes in folders, with full-text indexes over their texts.
enum Notes {
    /// Over the title and the body; the title counts more; the body with the stems of English words.
    static let indexes = [
        SearchIndexDescription(fields: ["title", "body"]),
        SearchIndexDescription(name: "weighted", fields: ["title", "body"], weights: [8, 0.25]),
        SearchIndexDescription(name: "stems", fields: ["body"], options: SearchOptions(stemming: .english)),
    ]

    static let schema = schema(indexes)

    /// Note(title, body, stars indexed, code unique, folder, similar) ⇄ Folder(name, notes).
    static func schema(_ indexes: [SearchIndexDescription]) -> SchemaDescription {
        SchemaDescription(
            name: "Notes",
            entities: [
                EntityDescription(
                    name: "Note",
                    properties: [
                        .attribute("title", .string, isOptional: true), .attribute("body", .string, isOptional: true),
                        .attribute("stars", .int64, isIndexed: true), .attribute("code", .string, isOptional: true, isUnique: true),
                        .toOne("folder", "Folder", inverse: "notes"), .toMany("similar", "Note", inverse: "similar"),
                    ], searchIndexes: indexes),
                EntityDescription(
                    name: "Folder",
                    properties: [.attribute("name", .string, isOptional: true), .toMany("notes", "Note")],
                    searchIndexes: [SearchIndexDescription(fields: ["name"])]),
            ])
    }

    /// Returns the values of a note.
    static func row(
        _ title: String?, _ body: String? = nil, stars: Int64 = 0, code: String? = nil, folder: Int64? = nil
    ) -> [Value] {
        [
            title.map { .text($0) } ?? .null, body.map { .text($0) } ?? .null, .integer(stars), code.map { .text($0) } ?? .null,
            folder.map { .integer($0) } ?? .null,
        ]
    }

    /// Notes with the ids 1, 2, … The sixth has no text, the seventh no words.
    static let rows: [[Value]] = [
        row("The quick fox", "The quick brown fox jumps over the lazy dog", stars: 5, folder: 1),
        row("Lazy dogs", "A dog sleeps. A lazy dog sleeps long.", stars: 3, folder: 1),
        row("Foxes", "quick quick quick fox fox", stars: 1, folder: 2),
        row(nil, "brown bread and butter", stars: 4, folder: 2),
        row("Quick", nil, stars: 5),
        row(nil, nil, stars: 2, folder: 3),
        row("", "", stars: 0, folder: 3),
        row("Brown", "dog fox dog fox dog", stars: 3, folder: 3),
        row("dog", "quick", stars: 4, folder: 1),
        row("Bread", "butter brown quick dog", stars: 1),
    ]

    /// Folders with the ids 1 to 4. The last has no notes.
    static let folders: [[Value]] = [[.text("Animals of the quick kind")], [.text("Kitchen and animals")], [.null], [.text("quick quick")]]

    /// Queries of every form.
    static let queries = [
        "quick", "dog", "the", "quick fox", "fox OR bread", "quick -fox", "\"quick fox\"", "\"fox dog\" OR lazy", "qui*", "\"brown b\"*",
        "NEAR(quick dog, 2)", "NEAR(fox dog)", "NEAR(dog fox, 0)", "title:quick", "body:quick title:dog", "title:(fox OR dog) -body:lazy",
        "(quick OR brown) (dog OR bread)", "quick quick", "nothing", "", "-quick", "a -(quick OR dog)", "\"dog sleeps\" long",
    ]

    static func open(_ run: ConformanceRun, _ name: String = "store", searched indexes: [SearchIndexDescription] = indexes) throws
        -> TestStore
    {
        let store = try run.open(schema(indexes), name)
        try store.insert("Folder", folders)
        try store.insert("Note", rows)
        return store
    }
}

extension TestStore {
    /// Returns a full-text search in the strict reading.
    func search(_ query: String, _ index: String = "", of entity: String = "Note") throws -> SearchCondition {
        let entity = try self.entity(entity)
        guard let index = entity.searchIndex(named: index) else { throw run.fail("the case names the unknown full-text index \(index)") }
        let search: Search
        do { search = try Search(query: query) } catch { throw run.fail("the case has a mistake in its query: \(error)") }
        return try SearchCondition(search, in: index, of: entity)
    }

    /// Returns the ids of the notes that a search finds, in ascending order.
    func found(_ query: String, _ index: String = "") throws -> [Int64] {
        try ids(FetchRequest(try entity("Note"), predicate: .search(try search(query, index))))
    }

    /// Returns the ids of the notes that a search finds, the best first.
    func ranked(_ query: String, _ index: String = "", limit: Int? = nil, offset: Int = 0) throws -> [Int64] {
        try ids(try rankedRequest(query, index, limit: limit, offset: offset))
    }

    func rankedRequest(_ query: String, _ index: String = "", limit: Int? = nil, offset: Int = 0) throws -> FetchRequest {
        let condition = try search(query, index)
        return FetchRequest(
            try entity("Note"), predicate: .search(condition), sortKeys: [SortKey(.score(condition), ascending: false)], limit: limit,
            offset: offset)
    }

    /// Expects the notes that a search finds, in ascending order of their ids.
    func expect(_ query: String, _ index: String = "", finds ids: [Int64], _ when: String = "") throws {
        try run.expect(try found(query, index), equals: ids, "\(query)\(when.isEmpty ? "" : ", \(when)")")
    }

    /// Compares searches with the texts of all notes: what they find, the scores and the order.
    func checkSearches(_ queries: [String] = Notes.queries, _ index: String? = nil, _ when: String = "") throws {
        try read { try checkSearches($0, queries, index, when) }
    }

    func checkSearches(
        _ reader: any ReadTransaction, _ queries: [String] = Notes.queries, _ index: String? = nil, _ when: String = ""
    ) throws {
        let note = try entity("Note")
        let rows = try reader.all(note)
        for searched in note.searchIndexes where index == nil || searched.name == index {
            var model = SearchModel(searched)
            model.texts = rows.mapValues { row in searched.fields.map { if case .text(let text) = row[$0] { text } else { nil } } }
            for query in queries {
                let condition: SearchCondition
                // Not every index has each field.
                do { condition = try search(query, searched.name) } catch let error as StoreError where error.code == .invalidPredicate {
                    continue
                }
                try check(
                    condition, model, reader,
                    "\(query)\(searched.name.isEmpty ? "" : " in \(searched.name)")\(when.isEmpty ? "" : ", \(when)")")
            }
        }
    }

    private func check(_ condition: SearchCondition, _ model: SearchModel, _ reader: any ReadTransaction, _ what: String) throws {
        let found = model.found(condition.text)
        if let mismatch = try model.mismatch(condition, reader) {
            throw ConformanceFailure(
                caseID: run.caseID, message: "\(what): \(mismatch.what)", expected: mismatch.expected, found: mismatch.found)
        }
        for ignoresIndexes in [false, true] {
            let what = ignoresIndexes ? what + ", without indexes" : what
            var request = FetchRequest(condition.entity, predicate: .search(condition))
            request.ignoresIndexes = ignoresIndexes
            try run.expect(try reader.ids(request), equals: found.keys.sorted(), what)
            try run.expect(try reader.count(request), equals: found.count, "\(what): the count")
            request.sortKeys = [SortKey(.score(condition), ascending: false)]
            try run.expect(try reader.ids(request), equals: model.ranked(condition.text), "\(what): the order")
            request.limit = 3
            try run.expect(try reader.ids(request), equals: Array(model.ranked(condition.text).prefix(3)), "\(what): the best")
            var groups = AggregateRequest(
                condition.entity, predicate: .search(condition), groupBy: [.field(.objectID)],
                aggregates: [.of(.maximum, .score(condition))])
            groups.ignoresIndexes = ignoresIndexes
            for row in try reader.aggregate(groups) {
                guard case .integer(let id) = row.group[0], case .real(let score) = row.values[0] else {
                    throw run.fail("\(what): the score is \(row)")
                }
                try run.expect(score.bitPattern, equals: (found[id] ?? 0).bitPattern, "\(what): the bits of the score of \(id), \(score)")
            }
        }
    }
}
