import PolyStore
import PolyStoreCore
import SeededRandom
import TestSupport
import Testing

/// Contexts whose sessions are given back at random moments, or after each read, show the same as a fetch, and their monitors report every change.
@MainActor
@Suite struct SessionOracleTests {
    /// A small part of the cases of other oracles: each checks fifteen lists, and each object is read in a snapshot of its own.
    private static let cases = (TestEnvironment.number("POLYSTORE_ORACLE_CASES") ?? 600) / 75

    private struct Served {
        let servers: [SimulatedServer]
        let stack: DataStack

        init(isDivided: Bool) throws {
            servers = (0..<(isDivided ? 2 : 1)).map { _ in SimulatedServer(batchSize: 7, hasShortSnapshots: true, mostSessions: 3) }
            stack = try DataStack(isDivided ? twoStoreSchema : monitorSchema, logger: RecordingLogger())
            stack.snapshotWarningAge = .seconds(100_000)
            for (server, name) in zip(servers, isDivided ? ["First", "Second"] : [nil] as [String?]) {
                try stack.addStore(.simulatedServer(server), configuration: name)
            }
        }

        var configurations: [String?] { servers.count > 1 ? ["First", "Second"] : [] }

        func commit(_ seed: UInt64) throws {
            try stack.performAndWait { [configurations] transaction in
                var commits = RandomCommits(seed: seed, configurations: configurations)
                try commits.change(transaction)
            }
        }
    }

    /// When sessions are given back.
    enum Moment: String, CaseIterable {
        /// After each read.
        case always
        /// At random, between the commits and the reads.
        case sometimes
    }

    private func check<C: MonitoringContext>(
        _ served: Served, _ moment: Moment, refreshes: Bool, _ context: C, _ refresh: () throws -> Void
    ) async throws {
        let watch = try ListMonitorOracleTests.Watch(context, mayReportMore: true)
        var random = SplitMix64(run: 11)
        // Longer than the test takes.
        let never = Duration.seconds(100_000)
        served.stack.snapshotIdleTime = moment == .always ? .zero : never
        for seed in 0..<UInt64(Self.cases) {
            for part in 0..<UInt64.random(in: 0...3, using: &random) {
                try served.commit(seed * 16 + part)
                if moment == .sometimes, Bool.random(using: &random) {
                    served.stack.snapshotIdleTime = .zero
                    served.stack.snapshotIdleTime = never
                }
            }
            if refreshes {
                try refresh()
            } else if moment == .sometimes {
                served.stack.snapshotIdleTime = .zero
                served.stack.snapshotIdleTime = never
            }
            let problems = try watch.check()
            // Lets other tests use the main actor.
            await Task.yield()
            #expect(problems.isEmpty, "seed \(seed)")
            if !problems.isEmpty { return }
        }
        for server in served.servers { #expect(server.greatestSessionCount <= 3) }
    }

    @Test(arguments: Moment.allCases, [false, true]) func viewsEqualAFetch(_ moment: Moment, isDivided: Bool) async throws {
        let served = try Served(isDivided: isDivided)
        let view = served.stack.view
        try await check(served, moment, refreshes: false, view) {}
    }

    @Test(arguments: Moment.allCases, [false, true]) func manualViewsEqualAFetch(_ moment: Moment, isDivided: Bool) async throws {
        let served = try Served(isDivided: isDivided)
        let view = served.stack.newView(.manual)
        try await check(served, moment, refreshes: true, view) { try view.refresh() }
    }

    /// The context moves at an access, and is never refreshed.
    @Test(arguments: Moment.allCases, [false, true]) func contextsEqualAFetch(_ moment: Moment, isDivided: Bool) async throws {
        let served = try Served(isDivided: isDivided)
        let context = served.stack.newContext()
        try await check(served, moment, refreshes: false, context) {}
    }

    /// A random half of the reads lose their connection. A refresh makes the context usable again.
    @Test(arguments: [1, 2, 3] as [UInt64]) func refreshReplacesLostSessions(_ seed: UInt64) async throws {
        let served = try Served(isDivided: false)
        for part in 0..<20 { try served.commit(seed * 100 + UInt64(part)) }
        let server = served.servers[0]
        let context = served.stack.newContext()
        let watch = try ListMonitorOracleTests.Watch(context, mayReportMore: true)
        for round in 0..<UInt64(Self.cases) {
            try served.commit(seed * 1000 + round)
            server.fail(
                percentage: 30, of: [.beginRead, .record, .scan, .fetch, .related, .count, .version, .end], seed: seed &+ round,
                with: [.connectionLost(isExecuted: false), .connectionLost(isExecuted: true)])
            if round % 3 == 0 { server.killSessions() }
            for _ in 0..<3 {
                _ = try? context.refresh()
                _ = try? context.fetchAll(From<Animal>().orderBy(.ascending(\.name)))
                _ = try? context.fetchAll(From<Owner>()).map(\.animals.count)
            }
            server.endFaults()
            try context.refresh()
            let problems = try watch.check()
            await Task.yield()
            #expect(problems.isEmpty, "round \(round)")
            if !problems.isEmpty { return }
        }
        #expect(server.greatestSessionCount <= 3)
    }
}
