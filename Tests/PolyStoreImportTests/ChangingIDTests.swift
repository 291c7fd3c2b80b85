import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreTransfer

/// Imports whose `update` changes unique ids.
@Suite(.serialized) struct ChangingIDTests {
    static let commits: [ImportOptions.Commit] = [.once, .batches(of: 1), .batches(of: 2), .batches(of: 100)]

    @Test(arguments: Backend.allCases)
    func objectThatChangedItsIDIsNotUpdatedByItsOldOne(_ backend: Backend) throws {
        for commit in Self.commits {
            let articles = try Articles(backend)
            let report = try articles.importLines(
                [ArticleSource(1, "first", newCode: 1001), ArticleSource(2, "two"), ArticleSource(1, "again")],
                ImportOptions(commit: commit))
            #expect(try articles.contents() == ["1 again 1", "2 two 1", "1001 first 1"], "\(commit)")
            #expect((report.inserted, report.updated) == (3, 0), "\(commit)")
        }
    }

    @Test(arguments: Backend.allCases)
    func objectIsUpdatedByTheIDThatItWasGiven(_ backend: Backend) throws {
        for commit in Self.commits {
            let articles = try Articles(backend)
            let report = try articles.importLines(
                [ArticleSource(1, "first", newCode: 1001), ArticleSource(1001, "again")],
                ImportOptions(commit: commit, onInvalidRecord: .exclude()))
            #expect(try articles.contents() == ["1001 firstagain 2"], "\(commit)")
            #expect((report.inserted, report.updated, report.excluded) == (1, 1, 0), "\(commit)")
        }
    }

    @Test(arguments: Backend.allCases)
    func idOfAnotherObjectIsInvalid(_ backend: Backend) throws {
        for commit in Self.commits {
            let articles = try Articles(backend)
            let report = try articles.importLines(
                [
                    ArticleSource(1, "one"), ArticleSource(2, "two"), ArticleSource(1, "taken", newCode: 2),
                    ArticleSource(2, "free", newCode: 3),
                ],
                ImportOptions(commit: commit, onInvalidRecord: .exclude()))
            #expect(try articles.contents() == ["1 one 1", "3 twofree 2"], "\(commit)")
            #expect(report.problems.map(\.record) == [3], "\(commit)")
            #expect(report.problems.first?.field == "code", "\(commit)")
        }
    }

    /// The caller knows no ids of objects that the import has created.
    @Test(arguments: Backend.forObjectLayer)
    func messageAboutATakenIDNamesNoIDOfANewObject(_ backend: Backend) throws {
        let articles = try Articles(backend)
        let taken = [ArticleSource(1, "one"), ArticleSource(2, "two"), ArticleSource(1, "taken", newCode: 2)]
        let options = ImportOptions(commit: .once, onInvalidRecord: .exclude())
        let first = try articles.importLines(taken, options).problems.first.map { "\($0)" } ?? ""
        #expect(first.contains("of a new object must be unique, and another new object has the same value"), "\(first)")
        // The objects are in the store now.
        let second = try articles.importLines(taken, options).problems.first.map { "\($0)" } ?? ""
        let names = second.contains("of object 1 must be unique, and object 2 has the same value")
        #expect(names || second.contains("of object 2 must be unique, and object 1 has the same value"), "\(second)")
    }

    @Test(arguments: Backend.allCases)
    func updateExchangesTheIDsOfTwoObjects(_ backend: Backend) throws {
        for commit in Self.commits {
            let articles = try Articles(backend)
            var swap = ArticleSource(1, "swap")
            swap.swapsWith = 2
            var move = ArticleSource(5, "five")
            move.moves = (2, 7)
            let report = try articles.importLines(
                [
                    ArticleSource(1, "a"), ArticleSource(2, "b"), swap, ArticleSource(1, "c"), move, ArticleSource(7, "d"),
                    ArticleSource(2, "e"),
                ],
                ImportOptions(commit: commit, onInvalidRecord: .exclude()))
            #expect(try articles.contents() == ["1 bc 2", "2 e 1", "5 five 1", "7 aswapd 3"], "\(commit)")
            #expect(report.excluded == 0, "\(commit)")
        }
    }

    @Test(arguments: Backend.allCases, TransactionPlan.Kind.allCases)
    func transactionsFollowTheIDsToo(_ backend: Backend, _ kind: TransactionPlan.Kind) throws {
        let articles = try Articles(backend)
        let sources = try [
            ArticleSource(1, "first", newCode: 1001), ArticleSource(2, "two"), ArticleSource(1001, "again"),
            ArticleSource(3, "three", newCode: 1),
        ].map(record)
        try perform(kind, articles.stack) { transaction in
            let imported = try transaction.importUniqueObjects(Into<Article>(), from: sources)
            #expect(imported.map(\.code) == [1001, 2, 1001, 1])
            // One after another.
            for source in [ArticleSource(2, "x", newCode: 3), ArticleSource(3, "y"), ArticleSource(2, "z")] {
                try transaction.importUniqueObject(Into<Article>(), from: record(source))
            }
        }
        #expect(
            try articles.contents()
                == (kind == .discarded ? [] : ["1 three 1", "2 z 1", "3 twoxy 3", "1001 firstagain 2"]), "\(kind)")
    }

    @Test(arguments: Backend.allCases)
    func twoObjectsExchangeTheirIDsInOneCall(_ backend: Backend) throws {
        let articles = try Articles(backend)
        try articles.importLines([ArticleSource(1, "a"), ArticleSource(2, "b")], ImportOptions())
        try articles.stack.performAndWait { transaction in
            _ = try transaction.importUniqueObjects(
                Into<Article>(), from: [ArticleSource(1, "x", newCode: 2), ArticleSource(2, "y", newCode: 1)].map(record))
        }
        #expect(try articles.contents() == ["1 by 2", "2 ax 2"])
    }

    // MARK: The first invalid record

    @Test(arguments: Backend.allCases)
    func runStopsAtTheFirstInvalidRecord(_ backend: Backend) throws {
        func source(_ number: Int, _ change: (inout ArticleSource) -> Void) -> ArticleSource {
            var source = ArticleSource(number, "\(number)")
            change(&source)
            return source
        }
        let causes: [(inout ArticleSource) -> Void] = [
            { $0.isUnreadable = true }, { $0.failsID = true }, { $0.fails = true }, { $0.rank = 101 }, { $0.newCode = 1 },
        ]
        for (first, early) in causes.enumerated() {
            for (second, late) in causes.enumerated() {
                for commit in Self.commits {
                    for policy in [InvalidRecordPolicy.stop, .exclude(upTo: 0)] {
                        let articles = try Articles(backend)
                        let sources = (1...6).map { number in
                            source(number) { if number == 3 { early(&$0) } else if number == 5 { late(&$0) } }
                        }
                        let error = #expect(throws: StoreError.self) {
                            try articles.importLines(sources, ImportOptions(commit: commit, onInvalidRecord: policy))
                        }
                        #expect(
                            error?.message.hasPrefix("articles.jsonl, record 3, line 3") == true,
                            "\(first), \(second), \(commit), \(policy): \(error?.message ?? "")")
                        let kept = if case .batches(let size, _) = commit { 2 / size * size } else { 0 }
                        #expect(try articles.contents().count == kept)
                    }
                    // With one exclusion allowed, the second invalid record ends the run.
                    let articles = try Articles(backend)
                    let sources = (1...6).map { number in source(number) { if number == 3 { early(&$0) } else if number == 5 { late(&$0) } }
                    }
                    let error = #expect(throws: StoreError.self) {
                        try articles.importLines(sources, ImportOptions(commit: commit, onInvalidRecord: .exclude(upTo: 1)))
                    }
                    #expect(error?.message.hasPrefix("articles.jsonl, record 5, line 5") == true, "\(error?.message ?? "")")
                }
            }
        }
    }

    // MARK: Reports

    @Test(arguments: Backend.allCases)
    func reportOfAResumedRunHasTheEarlierProblems(_ backend: Backend) throws {
        let articles = try Articles(backend)
        var sources = (1...300).map { number in
            var source = ArticleSource(number, "x")
            source.fails = number % 2 == 0
            return source
        }
        var options = ImportOptions(commit: .batches(of: 7, resume: "articles"), onInvalidRecord: .exclude())
        options.exampleLimit = 140
        let whole = try Articles(backend).importLines(sources, options)
        #expect(whole.problems.count == 140)
        for stop in [20, 150, 201] {
            let source = sources[stop]
            sources[stop].isUnreadable = true
            options.onInvalidRecord = .ask { $0.record == stop + 1 ? .stop : .exclude }
            #expect(throws: StoreError.self) { try articles.importLines(sources, options) }
            sources[stop] = source
        }
        options.onInvalidRecord = .exclude()
        let report = try articles.importLines(sources, options)
        #expect(report.resumedFrom == 196)
        #expect((report.excluded, report.problems) == (whole.excluded, whole.problems))
        options.skipsCompleted = true
        #expect(try articles.importLines(sources, options).problems == whole.problems)
        // A restart begins without problems.
        options.startsOver = true
        #expect(try articles.importLines([ArticleSource(1000)], options).problems.isEmpty)
        options.startsOver = false
        #expect(try articles.importLines([ArticleSource(1000)], options).problems.isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func positionOfAnEarlierReleaseIsContinued(_ backend: Backend) throws {
        let articles = try Articles(backend)
        let options = ImportOptions(commit: .batches(of: 2, resume: "articles"), onInvalidRecord: .exclude(upTo: 1))
        var sources = (1...9).map { ArticleSource($0, "x") }
        (sources[1].fails, sources[6].fails) = (true, true)
        #expect(throws: StoreError.self) { try articles.importLines(sources, options) }
        let store = articles.stack.stores[0]
        let name = "polystore.import.articles"
        let reader = try store.backend.beginRead()
        let bytes = try #require(try reader.value(named: name))
        reader.end()
        var position = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        // The number of values with problems is all that an earlier release does not write.
        #expect(position.removeValue(forKey: "problemValues") as? Int == 1)
        #expect(
            Set(position.keys)
                == ["fingerprint", "mark", "inserted", "updated", "skipped", "refused", "batches", "isComplete"])
        let old = try [UInt8](JSONSerialization.data(withJSONObject: position))
        try articles.stack.performAndWait { try $0.setStoreValue(old, named: name, in: store) }
        let report = try articles.importLines(
            sources, ImportOptions(commit: .batches(of: 2, resume: "articles"), onInvalidRecord: .exclude()))
        #expect((report.resumedFrom, report.records, report.inserted, report.excluded) == (6, 9, 7, 2))
        #expect(report.problems.map(\.record) == [7])
    }

    @Test(arguments: Backend.allCases)
    func longProblemsAreStored(_ backend: Backend) throws {
        let articles = try Articles(backend)
        let name = String(repeating: "n", count: 183)
        var options = ImportOptions(commit: .batches(of: 50, resume: name), onInvalidRecord: .exclude())
        options.exampleLimit = 1000
        let long = String(repeating: "é", count: 20_000)
        let sources = (1...120).map { ArticleSource($0, "x") }
        func lines(_ last: String) -> RecordSource {
            let records = sources.enumerated().map { $0 % 2 == 0 ? $1.line : "{\"code\": \"\(long)\"}\n" }
            return .text(records.joined() + last, format: .jsonLines, name: "articles.jsonl")
        }
        options.onInvalidRecord = .ask { $0.record == 121 ? .stop : .exclude }
        #expect(throws: StoreError.self) {
            try articles.stack.importRecordsAndWait(Into<Strict>(), from: lines("bad\n"), options: options)
        }
        options.onInvalidRecord = .exclude()
        let report = try articles.stack.importRecordsAndWait(Into<Strict>(), from: lines(ArticleSource(500).line), options: options)
        #expect((report.resumedFrom, report.excluded, report.problems.count) == (100, 60, 60))
        #expect(report.problems.map(\.record) == (1...60).map { $0 * 2 })
        #expect(try articles.stack.stores[0].verifyAndWait() == [])
    }

    @Test(arguments: Backend.allCases)
    func changedSourceIsNamedAndNotContradicted(_ backend: Backend) throws {
        let articles = try Articles(backend)
        let options = ImportOptions(commit: .batches(of: 2, resume: "news"))
        var sources = (1...5).map { ArticleSource($0, "x") }
        sources[4].fails = true
        #expect(throws: StoreError.self) { try articles.importLines(sources, options) }
        var changed = sources
        changed[3].text = "other"
        let errors = [
            #expect(throws: StoreError.self) { try articles.importLines(changed, options) },
            #expect(throws: StoreError.self) { try articles.importLines(Array(sources.prefix(2)), options) },
            #expect(throws: StoreError.self) { try articles.importLines(sources, options, name: "other.jsonl") },
        ].map { $0?.message ?? "" }
        for message in errors {
            #expect(
                message.contains("articles.jsonl") && message.contains("record 4") && message.contains("startsOver: true"), "\(message)")
            #expect(!message.contains("Nothing was committed") && !message.contains("continues after them"), "\(message)")
        }
        #expect(errors[2].contains("other.jsonl"))
        #expect(
            errors[0]
                == "The import \"news\" of articles.jsonl cannot continue after record 4: record 4 (line 4) is not the one that the earlier run imported, "
                + "so articles.jsonl has changed since. Import the source of the earlier run, or pass startsOver: true to import from the first record."
        )
    }

    @Test func recordsAreNumberedFromOne() throws {
        let articles = try Articles(.memory)
        let sources: [RecordSource] = [
            .text("code,code\n1,2\n", format: .csv, name: "a"), .text("{\"x\": 1}", format: .json, name: "a"),
            .text("[1 2]", format: .json, name: "a"), .text("{\"rows\": 1}", format: .json(at: "rows"), name: "a"),
            .text("\"code\n", format: .csv, name: "a"), .text("", format: .json, name: "a"), .text("[", format: .json, name: "a"),
            .bytes([0xff, 0xfe, 0, 0], format: .csv, name: "a"), .text("nothing\n", format: .jsonLines, name: "a"),
        ]
        for (index, source) in sources.enumerated() {
            let error = #expect(throws: StoreError.self, "source \(index)") {
                try articles.stack.importRecordsAndWait(Into<Article>(), from: source)
            }
            let message = error?.message ?? ""
            #expect(message.hasPrefix("a, record 1, line 1"), "source \(index): \(message)")
            #expect(!message.contains("record 0") && error?.underlying?.contains("record 0") != true, "\(message)")
            let reader = try source.makeReader()
            let failure = #expect(throws: RecordError.self) { while try reader.next() != nil {} }
            #expect(failure?.position?.record == 1, "source \(index): \(failure.map { "\($0)" } ?? "")")
        }
    }
}

/// Executes a body in one kind of transaction.
func perform(_ kind: TransactionPlan.Kind, _ stack: DataStack, _ body: @escaping @Sendable (Transaction) throws -> Void) throws {
    switch kind {
    case .queued: try stack.performAndWait(body)
    case .discarded:
        do {
            try stack.performAndWait { transaction throws in
                try body(transaction)
                throw CancellationError()
            }
        } catch is CancellationError {}
    case .explicit:
        _ = try stack.beginSynchronous { transaction throws in
            try body(transaction)
            try transaction.commit()
        }
    case .draft, .child:
        let draft = stack.beginUnsafe()
        if kind == .child {
            let child = draft.beginUnsafe()
            try body(child)
            try child.commit()
        } else {
            try body(draft)
        }
        try draft.commit()
    }
}
