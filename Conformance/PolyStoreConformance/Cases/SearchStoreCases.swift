import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch

/// Full-text indexes and what happens to a store: opening, other indexes, migration, copies, checks.
let searchStoreCases: [ConformanceCase] = searchOpeningCases + searchMaintenanceCases + searchReadingCases

private let searchOpeningCases: [ConformanceCase] = [
    searchCase(
        "search.reopen.keeps-everything", "After reopening, searches find the same with the same scores, and follow further changes.",
        requires: [.persistence]
    ) {
        first in
        var store = first
        for round in 0..<4 as Range<Int64> {
            try store.insert(100 + round, Notes.row("reopened \(round)", "quick quick \(round)"))
            try store.update(1, ["title": .text("round \(round)")])
            if round > 1 { try store.delete(98 + round) }
            let before = try store.read { try $0.statistics(of: try store.search("quick fox")) }
            try store.backend.close()
            store = try store.run.open(Notes.schema)
            try store.run.expect(try store.read { try $0.statistics(of: try store.search("quick fox")) }, equals: before, "round \(round)")
            try store.checkSearches(Notes.queries + ["reopened", "round"], nil, "round \(round)")
        }
        try store.expect("reopened", finds: [102, 103])
    },
    searchCase("search.reopen.read-only", "A store that is opened for reading only is searched.", requires: [.persistence, .readOnlyOpen]) {
        store in
        try store.backend.close()
        let reading = try store.run.open(Notes.schema) { $0.readOnly() }
        try reading.expect("quick fox", finds: [1, 3])
        try reading.checkSearches()
    },
    ConformanceCase(
        "search.reopen.read-only-without-index", "A store without a full-text index that is opened for reading only with one is searched.",
        requires: [.persistence, .readOnlyOpen, .migration]
    ) { run in
        let store = try Notes.open(run, searched: [])
        let before = try store.read { try $0.all(try store.entity("Note")) }
        try store.backend.close()
        do {
            let reading = try run.open(Notes.schema) { $0.readOnly() }
            try reading.expect("quick fox", finds: [1, 3])
            try reading.checkSearches()
            try reading.backend.close()
        } catch let error as StoreError {
            // A backend may refuse, as it does for other indexes.
            try run.expect([.migrationRequired, .readOnly].contains(error.code), "\(error)")
        }
        let same = try run.open(Notes.schema([]))
        try run.expect(try same.read { try $0.all(try same.entity("Note")) }, equals: before)
    },
    indexChange(
        "search.index.added", "An index that is added when a store is opened finds the existing objects, and reflects later changes."
    ) {
        run in
        let store = try Notes.open(run, searched: [])
        try store.backend.close()
        let opened = try run.open(Notes.schema)
        try opened.checkSearches()
        for id in 11...30 as ClosedRange<Int64> {
            try opened.insert(id, Notes.row("added \(id)", "quick"))
            if id % 3 == 0, try opened.row("Note", id - 10) != nil { try opened.update(id - 10, ["body": .text("quick added")]) }
            if id % 4 == 0 { try opened.delete(id - 1) }
        }
        try opened.checkSearches(Notes.queries + ["added"])
        try opened.backend.close()
        let again = try run.open(Notes.schema)
        try again.checkSearches(Notes.queries + ["added"], nil, "after reopening")
        try run.verify(again)
    },
    indexChange(
        "search.index.added-to-many",
        "An index of many objects is built while the store is read and written, and continues after reopening."
    ) {
        run in
        let store = try run.open(Notes.schema([]))
        try store.change { changes in
            for id in 1...3000 as ClosedRange<Int64> {
                try changes.insert(try store.entity("Note"), rowID: id, Notes.row("note \(id % 100)", "text \(id % 7) of many"))
            }
        }
        try store.backend.close()
        for round in 0..<3 as Range<Int64> {
            let opened = try run.open(Notes.schema)
            for id in [1, 1500, 2900] as [Int64] { try opened.update(id + round, ["title": .text("changed \(round)")]) }
            try opened.insert(5000 + round, Notes.row("inserted", "text"))
            try opened.delete(2000 + round)
            try opened.expect("changed", finds: ([1, 1500, 2900] as [Int64]).flatMap { Array($0...$0 + round) })
            try opened.backend.close()
        }
        let last = try run.open(Notes.schema)
        try last.checkSearches(["inserted OR changed", "\"note 7\" -many"], "")
        try run.verify(last)
    },
    indexChange(
        "search.index.dropped", "An index that is dropped when a store is opened, and added again later, knows what was changed between."
    ) {
        run in
        let store = try Notes.open(run)
        try store.backend.close()
        let without = try run.open(Notes.schema([]))
        try without.update(1, ["body": .text("changed without the index")])
        try without.delete(3)
        try without.insert(11, Notes.row("inserted", "without the index"))
        try run.verify(without)
        try without.backend.close()
        let again = try run.open(Notes.schema)
        try again.expect("without index", finds: [1, 11])
        try again.expect("fox", finds: [1, 8])
        try again.checkSearches(Notes.queries + ["without"])
        try run.verify(again)
    },
    indexChange(
        "search.index.replaced", "Indexes with other fields, options, weights, names or in another order are those of the last opening."
    ) {
        run in
        try Notes.open(run).backend.close()
        let (both, body) = (["title", "body"], ["body"])
        let stems = SearchOptions(stemming: .english)
        let versions: [[SearchIndexDescription]] = [
            [SearchIndexDescription(fields: body)], [SearchIndexDescription(fields: both, weights: [3, 1])],
            [SearchIndexDescription(fields: both.reversed())], [SearchIndexDescription(name: "x", fields: both, options: stems)],
            [SearchIndexDescription(name: "x", fields: both, weights: [1, 9], options: stems), SearchIndexDescription(fields: ["title"])],
            [SearchIndexDescription(fields: ["title"]), SearchIndexDescription(name: "y", fields: both, weights: [1, 9], options: stems)],
            Notes.indexes,
        ]
        for (number, version) in versions.enumerated() {
            let store = try run.open(Notes.schema(version))
            try store.checkSearches(Notes.queries, nil, "version \(number)")
            try store.update(Int64(number) + 1, ["title": .text("quick fox of version \(number)")])
            try store.checkSearches(Notes.queries + ["version"], nil, "version \(number), after an update")
            try run.verify(store)
            try store.backend.close()
        }
    },
    indexChange(
        "search.index.schema-is-replaced",
        "The store contains the full-text indexes that it was last opened with, and no migration is needed."
    ) { run in
        let store = try Notes.open(run, searched: [])
        try run.expect(store.backend.metadata.schemaHash, equals: Notes.schema([]).versionHash)
        try store.backend.close()
        let opened = try run.open(Notes.schema)
        try run.expect(opened.backend.metadata.storeID, equals: store.backend.metadata.storeID)
        try opened.checkSearches(["quick"])
        try opened.backend.close()
        let last = try run.open(Notes.schema([]))
        try run.expect(last.backend.metadata.storeID, equals: store.backend.metadata.storeID)
    },
]

private let searchMaintenanceCases: [ConformanceCase] = [
    searchCase(
        "search.verify.is-clean", "A check finds nothing in a store whose texts were changed in every way.", requires: [.verification]
    ) {
        store in
        try store.run.verify(store)
        for round in 0..<30 as Range<Int64> {
            try store.insert(20 + round, Notes.row("verified \(round)", "quick \(round % 3)"))
            let other = 20 + round / 2
            if try store.row("Note", other) != nil { try store.update(other, ["body": round % 5 == 0 ? .null : .text("changed \(round)")]) }
            if round % 3 == 2 { try store.delete(20 + round - 2) }
        }
        try store.run.verify(store)
        try store.change { changes in
            for id in try store.ids(FetchRequest(try store.entity("Note"))) { changes.delete(try store.entity("Note"), rowID: id) }
        }
        try store.run.verify(store)
        try store.insert(1, Notes.row("one", nil))
        try store.run.verify(store)
    },
    searchCase("search.copy.is-searched", "A copy of a store finds the same, and is independent.", requires: [.copying]) { store in
        let run = store.run
        try store.update(2, ["title": .text("copied")])
        try store.backend.copy(to: run.copyLocation("copy"))
        let copy = try run.open(Notes.schema, "copy")
        try copy.checkSearches(Notes.queries + ["copied"])
        try copy.update(2, ["title": .text("changed")])
        try store.insert(11, Notes.row("original", nil))
        for (opened, query, ids) in [
            (copy, "copied", []), (copy, "changed", [2]), (copy, "original", []), (store, "copied", [2]), (store, "original", [11]),
        ] as [(TestStore, String, [Int64])] { try opened.expect(query, finds: ids) }
        try run.verify(copy)
        try run.verify(store)
    },
    searchCase(
        "search.compaction.keeps-everything", "Compaction changes nothing that a search finds, and no score.", requires: [.compaction]
    ) {
        store in
        for id in 11...60 as ClosedRange<Int64> { try store.insert(id, Notes.row("compacted \(id % 4)", "quick fox")) }
        for id in stride(from: Int64(11), through: 60, by: 2) { try store.delete(id) }
        let reader = try store.backend.beginRead()
        let expected = try reader.ids(try store.rankedRequest("compacted OR fox"))
        try store.backend.compact()
        try store.run.expect(try reader.ids(try store.rankedRequest("compacted OR fox")), equals: expected, "in an older snapshot")
        reader.end()
        try store.backend.compact()
        try store.checkSearches(Notes.queries + ["compacted", "\"compacted 2\""])
        try store.insert(61, Notes.row("compacted afterwards", nil))
        try store.checkSearches(Notes.queries + ["compacted", "afterwards"])
        try store.run.verify(store)
    },
    searchCase(
        "search.migration.renamed-text", "A migration that renames searched attributes keeps their texts searchable.",
        requires: [.migration]
    ) { store in
        let run = store.run
        let schema = migrated(["headline", "content"])
        let change = try store.change(
            to: schema,
            fields: [
                "Note.headline": .field(0, replacingNullWith: .null), "Note.content": .field(1, replacingNullWith: .null),
            ])
        let opened = try store.migrate(change) { reader, when in
            let note = change.target.entities[0]
            let condition = try SearchCondition(try Search(query: "headline:quick content:fox"), in: note.searchIndexes[0], of: note)
            try run.expect(try reader.ids(FetchRequest(note, predicate: .search(condition))), equals: [1], when)
        }
        guard let opened else { return }
        try opened.checkSearches(["quick", "headline:fox", "\"lazy dog\" OR content:bread"])
        try opened.change { try $0.update(try opened.entity("Note"), rowID: 1, ["headline": .text("after")]) }
        try opened.checkSearches(["after", "quick"])
        try run.verify(opened)
    },
    searchCase(
        "search.migration.changed-text", "After a migration that replaces texts, searches find the new ones.", requires: [.migration]
    ) {
        store in
        let run = store.run
        let schema = migrated(["title", "content"])
        let change = try store.change(to: schema, fields: ["Note.content": .constant(.text("constant words"))])
        let opened = try store.migrate(change) { reader, when in
            let note = change.target.entities[0]
            for (query, ids) in [("constant", Array(1...10)), ("lazy", [2]), ("title:quick words", [1, 5])] as [(String, [Int64])] {
                let condition = try SearchCondition(try Search(query: query), in: note.searchIndexes[0], of: note)
                try run.expect(try reader.ids(FetchRequest(note, predicate: .search(condition))), equals: ids, "\(query), \(when)")
            }
        }
        guard let opened else { return }
        try opened.checkSearches(["constant", "lazy", "quick words"])
        try run.verify(opened)
    },
    searchCase(
        "search.reset.removes-the-index", "A store that is reset for another model and back has an empty index.", requires: [.persistence]
    ) { store in
        let run = store.run
        try store.backend.close()
        let other = SchemaDescription([EntityDescription("Other", [.attribute("name", .string)])])
        try run.open(other) { $0.resettingOnModelMismatch() }.backend.close()
        let again = try run.open(Notes.schema) { $0.resettingOnModelMismatch() }
        try again.expect("quick", finds: [])
        try run.expect(try again.read { try $0.statistics(of: try again.search("quick")) }.documents, equals: 0)
        try again.insert(1, Notes.row("quick", "start"))
        try again.checkSearches(["quick", "start"])
        try run.verify(again)
    },
    searchCase(
        "search.values.and-log-beside", "Named values and log entries of the same change sets do not affect searches.",
        requires: [.namedValues, .changeLog]
    ) { store in
        try store.setValues([("quick", [1]), ("s", [2])])
        try store.append([[1, 2], [3]])
        try store.insert(11, Notes.row("quick", "beside"))
        try store.run.expect(try store.value("quick"), equals: [1])
        try store.expect("beside", finds: [11])
        try store.checkSearches()
    },
]

private let searchReadingCases: [ConformanceCase] = [
    searchCase(
        "search.hierarchy.subentities", "A search in a hierarchy finds the objects of all its entities; its statistics count them all."
    ) {
        notes in
        let store = try notes.run.open(items, "items")
        try store.insert(
            "Item",
            [
                [.text("Item"), .text("quick item"), .null], [.text("Article"), .text("article"), .text("quick brown")],
                [.text("Article"), .null, .text("slow")], [.text("Item"), .text("slow quick"), .null], [.text("Article"), .null, .null],
            ])
        let item = try store.entity("Item")
        let condition = try store.search("quick", of: "Item")
        let kind = try store.field("Item", EntityHierarchy.classifier)
        for (kinds, ids) in [(nil, [1, 2, 4]), ("Article", [2]), ("Item", [1, 4])] as [(String?, [Int64])] {
            let part = kinds.map { QueryPredicate.compare(kind, .equal, .text($0)) } ?? .all
            let request = FetchRequest(item, predicate: .and([.search(condition), part]))
            try store.run.expect(try store.ids(request), equals: ids, kinds ?? "all")
        }
        let statistics = try store.read { try $0.statistics(of: condition) }
        try store.run.expect(statistics, equals: SearchStatistics(documents: 4, tokens: 8, frequencies: [3]))
    },
    searchCase("search.fields.sixty-four", "An index of 64 fields finds words and phrases in each of them, alone and together.") { notes in
        let names = (0..<64).map { "f\($0)" }
        let schema = SchemaDescription(
            name: "Wide",
            entities: [
                EntityDescription(
                    name: "Note", properties: names.map { .attribute($0, .string, isOptional: true) },
                    searchIndexes: [SearchIndexDescription(fields: names, weights: names.indices.map { Double($0 + 1) })])
            ])
        let store = try notes.run.open(schema, "wide")
        try store.insert(
            "Note", (0..<64).map { row in (0..<64).map { $0 == row ? .text("word\($0) common") : $0 == 0 ? .text("first") : .null } })
        try store.expect("word63", finds: [64])
        try store.expect("f63:common", finds: [64])
        try store.expect("f0:common", finds: [1])
        try store.expect("f7:\"word7 common\"", finds: [8])
        try store.expect("f7:first", finds: [])
        try store.checkSearches(["common", "f62:common OR word1", "first common", "\"word9 common\""])
    },
    searchCase("search.interruption.of-a-search", "An interrupted search throws, and the transaction can be used afterwards.") { store in
        try store.change { changes in
            for id in 100..<2100 as Range<Int64> {
                try changes.insert(try store.entity("Note"), rowID: id, Notes.row("common", "word \(id % 9)"))
            }
        }
        let requests = try ["common", "common OR word", "\"common\" 5", "w*"].map { try store.rankedRequest($0) }
        try store.read { reader in
            let expected = try requests.map { try reader.ids($0) }
            for (interruption, code) in [
                (Interruption(timeLimit: .zero), .timedOut), (Interruption(timeLimit: .seconds(-1)), .timedOut),
            ] as [(Interruption, StoreError.Code)] {
                let interrupted = reader.interruptible(by: interruption)
                for request in requests { try store.run.expectError(code, "\(request.predicate)") { try interrupted.ids(request) } }
            }
            reader.interruption = nil
            try store.run.expect(try requests.map { try reader.ids($0) }, equals: expected, "after the interruptions")
        }
        try store.checkSearches(["common 5"], "")
    },
    searchCase("search.explain.names-the-index", "The plan of a search names its index and what was read.", requires: [.searchIndexes]) {
        store in
        let index = try store.search("quick").index
        for request in [
            try store.rankedRequest("quick fox"), try store.rankedRequest("quick OR dog", limit: 2),
            FetchRequest(try store.entity("Note"), predicate: .search(try store.search("\"quick fox\""))),
        ] {
            let plan = try store.read { try $0.explained(request) }
            try store.run.expect(plan.rowsReturned, equals: try store.ids(request).count, "\(request.predicate)")
            try store.run.expect(
                plan.accesses.contains { $0.path == .text && $0.index == index.plainName },
                "\(request.predicate) is not executed by the index: \(plan)")
            guard let costs = plan.search else { throw store.run.fail("the plan of \(request.predicate) has no costs: \(plan)") }
            try store.run.expect(costs.terms >= 2 && costs.postings >= 2, "\(request.predicate): \(costs)")
            try store.run.expect(plan.description.contains("SEARCH"), "\(plan)")
        }
        var scan = try store.rankedRequest("quick")
        scan.ignoresIndexes = true
        let plan = try store.read { try $0.explained(scan) }
        try store.run.expect(!plan.accesses.contains { $0.path == .text }, "without indexes: \(plan)")
    },
    searchCase("search.plan.without-execution", "A plan of a search is made without executing it.") { store in
        let plan = try store.read { try $0.plan(try store.rankedRequest("quick fox")) }
        try store.run.expect(plan.rowsReturned, equals: nil)
        try store.run.expect(!plan.access.isEmpty, "no access path")
    },
]

/// Notes with two text attributes of other names.
private func migrated(_ names: [String]) -> SchemaDescription {
    SchemaDescription(
        name: "Notes",
        entities: [
            EntityDescription(
                name: "Note",
                properties: names.map { .attribute($0, .string, isOptional: true) } + [.attribute("stars", .int64, isIndexed: true)],
                searchIndexes: [SearchIndexDescription(fields: names)])
        ])
}

/// Item(title) and its subentity Article(text), in one entity.
private let items = SchemaDescription(
    name: "Items",
    entities: [
        EntityDescription(
            name: "Item",
            properties: [
                .attribute(EntityHierarchy.classifier, .string), .attribute("title", .string, isOptional: true),
                .attribute("text", .string, isOptional: true),
            ], searchIndexes: [SearchIndexDescription(fields: ["title", "text"])],
            hierarchy: EntityHierarchy(
                isAbstract: false, properties: ["title"],
                subentities: [SubentityDescription(name: "Article", parent: "Item", isAbstract: false, properties: ["text"], required: [])])
        )
    ])

/// Creates a case in which a store is opened with other full-text indexes.
private func indexChange(
    _ id: String, _ statement: String, _ body: @escaping @Sendable (ConformanceRun) throws -> Void
) -> ConformanceCase {
    ConformanceCase(id, statement, requires: [.migration, .persistence], body)
}

extension ConformanceRun {
    /// Checks a store for damage, if the backend can.
    func verify(_ store: TestStore) throws {
        if target.capabilities.contains(.verification) { try expect(try store.backend.verify(), equals: [], "the verification") }
    }
}
