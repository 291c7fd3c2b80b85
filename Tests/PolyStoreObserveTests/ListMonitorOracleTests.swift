import Foundation
import PolyStore
import SeededRandom
import TestSupport
import Testing

/// After random commits, the calls of monitors transform the previous list into the fetched one. Monitors of unchanged lists make no calls.
@MainActor
@Suite struct ListMonitorOracleTests {
    /// A tenth of the cases of other oracles, because each checks fifteen lists.
    static let cases = (TestEnvironment.number("POLYSTORE_ORACLE_CASES") ?? 600) / 10

    /// The monitors of all shapes in one context, with their mirrors.
    @MainActor
    final class Watch<C: MonitoringContext> {
        struct Watched {
            let shape: ListShape
            let monitor: ListMonitor<Animal>
            let mirror: ListMirror
            var rows: [String]
        }

        let context: C
        /// A Boolean value that indicates whether a change of only a to-many relationship is reported. Lists of unqueued transactions do not report those of
        /// other transactions.
        private let seesFriends: Bool
        /// A Boolean value that indicates whether observers can be called without a change, because the earlier snapshot was given back.
        private let mayReportMore: Bool
        private var all: [Watched] = []

        init(_ context: C, seesFriends: Bool = true, mayReportMore: Bool = false) throws {
            self.context = context
            self.mayReportMore = mayReportMore
            self.seesFriends = seesFriends
            counts = ListShape.all.map { _ in 0 }
            for shape in ListShape.all {
                let monitor =
                    if let sectionBy = shape.sectionBy {
                        try context.monitorSectionedList(shape.source, sectionBy)
                    } else {
                        try context.monitorList(shape.source)
                    }
                let mirror = ListMirror(monitor)
                monitor.addObserver(mirror)
                all.append(Watched(shape: shape, monitor: monitor, mirror: mirror, rows: try rows(shape)))
            }
        }

        /// Returns the visible properties of each object of a list, one line each.
        private func rows(_ shape: ListShape) throws -> [String] {
            try shape.fetch(context).flatMap { section in section.objects.map { "\(section.name)|\(describe($0))" } }
        }

        private func identity(_ id: ObjectID<Animal>) -> String { "\(id.configuration ?? "default") \(id)" }

        private func describe(_ animal: Animal) -> String {
            "\(identity(animal.objectID)) \(animal.name) \(animal.age) \(animal.city ?? "-") \(animal.owner.map { "\($0.objectID)" } ?? "-") "
                + "\((animal as? Dog)?.tricks ?? 0) \(seesFriends ? animal.friends.map { "\($0.objectID)" }.sorted() : [])"
        }

        /// Compares every list with a fetch.
        /// - Returns: The differences.
        func check() throws -> [String] {
            var problems: [String] = []
            for index in all.indices {
                let watched = all[index]
                func fail(_ problem: String) { problems.append("\(watched.shape.name): \(problem)") }
                let fetched = try watched.shape.fetch(context).map { ListMirror.Section(name: $0.name, ids: $0.objects.map(\.objectID)) }
                if watched.mirror.sections != fetched { fail("the calls give \(watched.mirror.sections), fetched is \(fetched)") }
                if ListMirror.contents(of: watched.monitor) != fetched {
                    fail("the monitor has \(ListMirror.contents(of: watched.monitor)), fetched is \(fetched)")
                }
                for problem in watched.mirror.problems { fail(problem) }
                let rows = try rows(watched.shape)
                if seesFriends, !mayReportMore, rows == watched.rows, watched.mirror.changeCount > counts[index] {
                    fail("observers were called, and nothing changed")
                }
                if rows != watched.rows, watched.mirror.changeCount == counts[index] { fail("observers were not called") }
                let changed = Set(rows).subtracting(watched.rows).compactMap { row in
                    fetched.lazy.flatMap(\.ids).first {
                        row.split(separator: "|", maxSplits: 1).last?.hasPrefix("\(identity($0)) ") ?? false
                    }
                }
                for id in changed where !watched.mirror.reported.contains(id) { fail("the change of \(id) was not reported") }
                watched.mirror.forgetReports()
                all[index].rows = rows
                counts[index] = watched.mirror.changeCount
            }
            return problems
        }

        /// The number of changes reported up to the last check, by shape.
        private var counts: [Int]
    }

    private func stack(_ backend: Backend, _ folder: Folder, isDivided: Bool) throws -> DataStack {
        let stack = try DataStack(isDivided ? twoStoreSchema : monitorSchema)
        stack.snapshotWarningAge = .seconds(100_000)
        if isDivided {
            try stack.addStore(backend.store(in: folder, "first"), configuration: "First")
            try stack.addStore(backend.store(in: folder, "second"), configuration: "Second")
        } else {
            try stack.addStore(backend.store(in: folder))
        }
        return stack
    }

    private func commit(_ stack: DataStack, _ seed: UInt64, _ configurations: [String?]) throws {
        try stack.performAndWait { transaction in
            var commits = RandomCommits(seed: seed, configurations: configurations)
            try commits.change(transaction)
        }
    }

    @Test(arguments: Backend.forObjectLayer, [false, true]) func theViewsListsEqualAFetch(backend: Backend, isDivided: Bool) async throws {
        let folder = try Folder()
        let stack = try stack(backend, folder, isDivided: isDivided)
        let configurations: [String?] = isDivided ? ["First", "Second"] : []
        let watch = try Watch(stack.view)
        for seed in 0..<UInt64(isDivided ? Self.cases / 4 : Self.cases) {
            try commit(stack, seed, configurations)
            let problems = try watch.check()
            // Lets other tests use the main actor.
            await Task.yield()
            #expect(problems.isEmpty, "seed \(seed)")
            if !problems.isEmpty { return }
        }
    }

    /// Combines several commits in one update, in a view that is refreshed manually.
    @Test(arguments: Backend.forObjectLayer) func stepsOverSeveralCommitsEqualAFetch(backend: Backend) async throws {
        let folder = try Folder()
        let stack = try stack(backend, folder, isDivided: false)
        let view = stack.newView(.manual)
        let watch = try Watch(view)
        var random = SplitMix64(run: 7)
        for seed in 0..<UInt64(Self.cases / 2) {
            for part in 0..<UInt64.random(in: 0...4, using: &random) { try commit(stack, seed * 16 + part, []) }
            try view.refresh()
            let problems = try watch.check()
            // Lets other tests use the main actor.
            await Task.yield()
            #expect(problems.isEmpty, "seed \(seed)")
            if !problems.isEmpty { return }
        }
    }

    /// Changes an unqueued transaction, or the store.
    private func step(_ number: Int, _ draft: UnsafeTransaction, _ commits: inout RandomCommits, _ stack: DataStack) throws {
        switch Int.random(in: 0..<10, using: &commits.random) {
        case 0:
            draft.rollback()
        case 1:
            draft.rollback()
            try commit(stack, UInt64(number), [])
            draft.refresh()
        case 2:
            try commits.change(draft)
            _ = try? draft.commit(mergePolicy: .mineWins)
        case 3:
            try commit(stack, UInt64(number), [])
            try commits.change(draft)
            do { try draft.commit(mergePolicy: .storeWins) } catch { draft.rollback() }
        default:
            try commits.change(draft)
            draft.flush()
        }
    }

    /// The pending changes of an unqueued transaction, and concurrent commits.
    @Test(arguments: Backend.forObjectLayer) func listsOfUnsafeTransactionsEqualAFetch(backend: Backend) async throws {
        let folder = try Folder()
        let stack = try stack(backend, folder, isDivided: false)
        let draft = stack.beginUnsafe()
        let watch = try Watch(draft, seesFriends: false)
        var commits = RandomCommits(seed: 11)
        for number in 0..<Self.cases / 2 {
            try step(number, draft, &commits, stack)
            let problems = try watch.check()
            // Lets other tests use the main actor.
            await Task.yield()
            #expect(problems.isEmpty, "number \(number)")
            if !problems.isEmpty { return }
        }
    }
}
