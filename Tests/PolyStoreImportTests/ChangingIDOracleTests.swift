import Foundation
import PolyStore
import PolyStoreBackend
import SeededRandom
import TestSupport
import Testing

/// Random imports that change unique ids, compared with a model that imports one source after another.
@Suite(.serialized) struct ChangingIDOracleTests {
    /// The number of runs, and of transactions, on each backend.
    static let runs = TestEnvironment.number("POLYSTORE_IMPORT_RUNS") ?? Ring.size(60, thorough: 5000)
    /// The seed of the first of them.
    static let first = UInt64(TestEnvironment.number("POLYSTORE_IMPORT_FIRST") ?? 1)
    /// The numbers of records of the batches that one source is imported in; 0 for all.
    static let sizes = [0, 1, 2, 3, 7, 100]

    @Test(arguments: Backend.allCases)
    func runsAgreeWithTheModel(_ backend: Backend) async throws {
        let articles = try Articles(backend)
        var (runs, records, stops, excluded) = (0, 0, 0, 0)
        for seed in Self.first..<Self.first + UInt64(Self.runs) {
            var random = SplitMix64(seed: seed)
            try articles.clear()
            var model = ArticleModel()
            // Articles of an earlier import.
            let earlier = (0..<random.below(5)).map { ArticleSource($0, "e\($0)") }
            _ = model.run(earlier, size: nil, limit: .max)
            try articles.importLines(earlier, ImportOptions())
            let sources = Self.sources(&random)
            let size = random.pick(Self.sizes)
            let plan = "seed \(seed) on \(backend), batches of \(size):\n" + sources.map(\.line).joined()
            // Stops, then continues until the end.
            let limit = random.pick([.max, .max, 0, 0, 1, 2])
            let commit = size == 0 ? ImportOptions.Commit.once : .batches(of: size, resume: random.once(in: 2) ? nil : "run \(seed)")
            let expected = model.run(sources, size: size == 0 ? nil : size, limit: limit)
            let policy: InvalidRecordPolicy = limit == 0 && random.once(in: 2) ? .stop : .exclude(upTo: limit)
            let seen = try await Self.outcome(articles, sources, ImportOptions(commit: commit, onInvalidRecord: policy))
            guard seen == expected else {
                Issue.record("\(plan)\(policy)\nexpected \(expected)\nseen \(seen)")
                return
            }
            (runs, records, excluded) = (runs + 1, records + sources.count, excluded + seen.excluded.count)
            guard expected.stopped != nil, case .batches(let size, .some) = commit else { continue }
            stops += 1
            let rest = try await Self.outcome(articles, sources, ImportOptions(commit: commit, onInvalidRecord: .exclude()))
            var whole = ArticleModel()
            _ = whole.run(earlier, size: nil, limit: .max)
            let complete = whole.run(sources, size: size, limit: .max)
            guard rest == complete else {
                Issue.record("\(plan)resumed\nexpected \(complete)\nseen \(rest)")
                return
            }
        }
        print("import runs \(backend): \(runs) runs of \(records) records, \(excluded) excluded, \(stops) resumed")
    }

    @Test(arguments: Backend.allCases)
    func transactionsAgreeWithTheModel(_ backend: Backend) throws {
        let articles = try Articles(backend)
        var (calls, violations) = (0, 0)
        for seed in Self.first..<Self.first + UInt64(Self.runs) {
            var random = SplitMix64(seed: seed &+ 1 << 32)
            try articles.clear()
            var committed = ArticleModel()
            for _ in 0..<3 {
                var model = committed
                let kind = random.pick(TransactionPlan.Kind.allCases)
                let plan = (0...random.below(2)).map { _ in
                    Self.sources(&random).filter { !$0.isUnreadable && !$0.failsID && !$0.fails && $0.twin.isEmpty }
                }
                let texts = plan.map { $0.map(\.line).joined() }.joined(separator: "\n")
                calls += plan.count
                let seen = Protected<[[Int]]>([])
                let ids = Protected<[[Int64]]>([])
                let body: @Sendable (Transaction) throws -> Void = { transaction in
                    seen.withLock { $0 = [] }
                    ids.withLock { $0 = [] }
                    for call in plan {
                        let imported = try transaction.importUniqueObjects(Into<Article>(), from: call.map { try record(Self.plain($0)) })
                        seen.withLock { $0.append(imported.map(\.code)) }
                        ids.withLock { $0.append(imported.map(\.objectID.rowID)) }
                    }
                }
                var violates = false
                do { try perform(kind, articles.stack, body) } catch let error as StoreError where error.code == .constraint {
                    violates = true
                }
                let expected = try zip(plan, ids.withLock { $0 }).map { call, ids in
                    let imported = try model.add(call: call.map(Self.plain), ids: ids)
                    return imported.map { model.rows[$0].code }
                }
                let isDiscarded = kind == .discarded
                #expect(violates == (model.hasDuplicates && !isDiscarded), "seed \(seed) on \(backend), \(kind)\n\(texts)")
                if !violates, !isDiscarded { committed = model } else { violations += violates ? 1 : 0 }
                let stored = try articles.contents()
                guard seen.withLock({ $0 }) == expected, stored == committed.contents else {
                    Issue.record(
                        "seed \(seed) on \(backend), \(kind):\n\(texts)\nexpected \(expected) \(committed.contents)\nseen \(seen.withLock { $0 }) \(stored)"
                    )
                    return
                }
            }
        }
        print("import transactions \(backend): \(calls) calls, \(violations) violations")
    }

    private static func plain(_ source: ArticleSource) -> ArticleSource {
        var source = source
        source.rank = 0
        return source
    }

    private static func outcome(_ articles: Articles, _ sources: [ArticleSource], _ options: ImportOptions) async throws -> ArticleOutcome {
        let run = articles.stack.startImport(
            Into<Article>(), from: .text(sources.map(\.line).joined(), format: .jsonLines, name: "articles.jsonl"), options: options)
        var outcome = ArticleOutcome()
        do { _ = try await run.value } catch let error as StoreError where error.code == .invalidValue {
            let number = error.message.split(separator: ",").first { $0.hasPrefix(" record ") }?.dropFirst(8).prefix { $0.isNumber }
            outcome.stopped = number.flatMap { Int($0) } ?? -1
        }
        guard let report = run.report else { return outcome }
        (outcome.inserted, outcome.updated, outcome.skipped) = (report.inserted, report.updated, report.skipped)
        (outcome.records, outcome.excluded) = (report.records, report.problems.map(\.record))
        outcome.contents = try articles.contents()
        return outcome
    }

    /// Returns sources over few unique ids, so that they meet.
    static func sources(_ random: inout SplitMix64) -> [ArticleSource] {
        let reach = 2 + random.below(6)
        func code() -> Int { random.below(reach) }
        return (0...random.below(12)).map { index in
            var source = ArticleSource(random.once(in: 20) ? nil : code(), "\(index).")
            switch random.below(12) {
            case 0, 1, 2: break
            case 3, 4: source.newCode = code()
            // A normalized form.
            case 5, 6: if let own = source.code { source.newCode = own % 1000 + 1000 }
            case 7: source.swapsWith = code()
            case 8: source.moves = (code(), code())
            case 9: source.twin = [ArticleSource(code(), "t\(index).", newCode: random.once(in: 2) ? nil : code())]
            case 10: source.code = source.code.map { $0 + 1000 }
            default:
                switch random.below(5) {
                case 0: source.fails = true
                case 1: source.failsID = true
                case 2: source.isUnreadable = true
                case 3: source.skips = true
                // No other source has its unique id, so that none corrects its rank.
                default: (source.code, source.rank) = (10_000 + index, 101)
                }
                if source.fails, random.once(in: 2) { source.newCode = code() }
            }
            return source
        }
    }
}
