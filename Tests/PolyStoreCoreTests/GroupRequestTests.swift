import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels
import TestSupport
import Testing

/// The change sets of a commit group, which a server receives with one call.
@Suite struct GroupRequestTests {
    private struct Served: Sendable {
        let server: SimulatedServer
        let stack: DataStack

        init(_ server: SimulatedServer = SimulatedServer()) throws {
            self.server = server
            stack = try DataStack(Schema("Tallies", Tally.self), logger: RecordingLogger(.critical))
            stack.snapshotWarningAge = .seconds(100_000)
            // Independent of the speed of the machine.
            stack.groupLimits.nanoseconds = .max
            stack.groupLimits.backOff.first = .zero
            try stack.addStore(.simulatedServer(server))
            // The first commit also writes the list of versions. Row ids for the following transactions remain.
            try stack.performAndWait { transaction in
                for number in 0..<40 { try transaction.create(Tally.self).name = "first \(number)" }
            }
            server.resetCounts()
        }

        var names: [String] {
            get throws {
                try stack.readAndWait { try $0.fetchAll(From<Tally>()).map(\.name) }.filter { !$0.hasPrefix("first") }.sorted()
            }
        }

        /// Runs transactions as one group, which are queued while another transaction runs that changes nothing.
        /// - Returns: The error of each transaction; nil for one that was committed.
        func group(_ bodies: [@Sendable (Transaction) throws -> Void]) async throws -> [StoreError?] {
            let (isInside, isOpen) = (Protected(false), Flag())
            let first = Task.detached { [stack] in
                try await stack.perform { _ in
                    isInside.exchange(true)
                    isOpen.wait()
                }
            }
            while !isInside.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
            server.resetCounts()
            let tasks = try await queue(bodies, isOpen)
            try await first.value
            var errors: [StoreError?] = []
            for task in tasks { errors.append(await task.value) }
            return errors
        }

        private func queue(_ bodies: [@Sendable (Transaction) throws -> Void], _ isOpen: Flag) async throws -> [Task<StoreError?, Never>] {
            // Raised also if a sleep throws: the first transaction waits for it.
            defer { isOpen.raise() }
            var tasks: [Task<StoreError?, Never>] = []
            for body in bodies {
                tasks.append(
                    Task.detached { [stack] in
                        do { try await stack.perform { try body($0) } } catch { return error as? StoreError ?? StoreError(.io, "\(error)") }
                        return nil
                    })
                // In the order of the bodies.
                while stack.queuedTransactionCount < tasks.count { try await Task.sleep(for: .milliseconds(1)) }
            }
            return tasks
        }

        static func creating(_ name: String) -> @Sendable (Transaction) throws -> Void { { try $0.create(Tally.self).name = name } }
    }

    @Test func aGroupThatOnlyWritesNeedsTwoCalls() async throws {
        let served = try Served()
        let errors = try await served.group((0..<64).map { Served.creating("\($0)") })
        #expect(errors.allSatisfy { $0 == nil })
        #expect(served.server.counts[.apply] == nil && served.server.counts[.commit] == 1 && served.server.counts[.beginWrite] == 1)
        // Further row ids, if those at hand do not suffice.
        #expect(served.server.counts.filter { $0.key != .reserveIDs }.values.reduce(0, +) == 2, "\(served.server.counts)")
        #expect(try served.names == (0..<64).map { "\($0)" }.sorted())
    }

    /// Each of them gets its own error, after its body has ended.
    @Test func onlyTransactionsThatViolateAConstraintFail() async throws {
        let served = try Served()
        let commits = Protected<[Int]>([])
        let observation = served.stack.observeCommits { commit in commits.withLock { $0.append(commit.insertedObjectIDs(Tally.self).count) }
        }
        let names = ["a", "b", "a", "c", "first 3", "d", "b"]
        let errors = try await served.group(names.map { Served.creating($0) })
        #expect(errors.map { $0?.code } == [nil, nil, .constraint, nil, .constraint, nil, .constraint])
        #expect(errors.compactMap { $0?.attribute } == ["name", "name", "name"])
        #expect(try served.names == ["a", "b", "c", "d"])
        #expect(commits.withLock { $0 }.filter { $0 > 0 } == [1, 1, 1, 1])
        // The first call is not a commit, because the server refused some of them.
        #expect(served.server.counts[.commit] == 2)
        withExtendedLifetime(observation) {}
    }

    @Test func aGroupWhoseTransactionsAllFailCommitsNothing() async throws {
        let served = try Served()
        let errors = try await served.group([Served.creating("first 1"), Served.creating("first 2")])
        #expect(errors.map { $0?.code } == [.constraint, .constraint])
        #expect(served.server.counts[.commit] == 1)
        #expect(try await served.group([Served.creating("a")]) == [nil])
        #expect(try served.names == ["a"])
    }

    /// A transaction that reads sees the changes of those before it that the store has accepted.
    @Test func aTransactionThatReadsSeesThoseBeforeIt() async throws {
        let served = try Served()
        let seen = Protected<[[String]]>([])
        let reading: @Sendable (Transaction) throws -> Void = { transaction in
            let names = try transaction.fetchAll(From<Tally>()).map(\.name).filter { !$0.hasPrefix("first") }.sorted()
            seen.withLock { $0.append(names) }
            try transaction.create(Tally.self).name = "after \(names.count)"
        }
        let errors = try await served.group([
            Served.creating("a"), Served.creating("first 1"), Served.creating("b"), reading, Served.creating("c"), Served.creating("a"),
            reading,
        ])
        #expect(errors.map { $0?.code } == [nil, .constraint, nil, nil, nil, .constraint, nil])
        #expect(seen.withLock { $0 } == [["a", "b"], ["a", "after 2", "b", "c"]])
        #expect(try served.names == ["a", "after 2", "after 4", "b", "c"])
    }

    /// An error that is not one of a change set: they are applied one after another.
    @Test(arguments: [SimulatedServer.Call.apply, .commit])
    func anErrorOfTheRequestFailsNoTransaction(_ call: SimulatedServer.Call) async throws {
        let served = try Served()
        served.server.fail(call, at: 1, with: .refused)
        var bodies = ["a", "b", "a", "c"].map { Served.creating($0) }
        // Lets the deferred changes be applied before the commit.
        if call == .apply { bodies.append { _ = try $0.fetchCount(From<Tally>()) } }
        // Set again, because the counts are reset before the group.
        let errors = try await served.group(bodies)
        let isRefused: [StoreError.Code?] = [nil, nil, .constraint, nil] + (call == .apply ? [nil] : [])
        #expect(errors.map { $0?.code } == isRefused)
        #expect(served.server.faultCount == 1)
        #expect(try served.names == ["a", "b", "c"])
    }

    /// Random groups, compared with a model that applies one transaction after another.
    @Test(arguments: 1...Ring.size(6, thorough: 200) as ClosedRange<Int>)
    func groupsAgreeWithTheModel(_ seed: Int) async throws {
        let served = try Served()
        var random = SplitMix64(seed: UInt64(seed))
        var model: Set<String> = []
        for _ in 0..<4 {
            var (bodies, expected, reads): ([@Sendable (Transaction) throws -> Void], [StoreError.Code?], [[String]]) = ([], [], [])
            let seen = Protected<[[String]]>([])
            for _ in 0..<(1 + random.below(12)) {
                let names = (0...random.below(3)).map { _ in "\(random.below(20))" }
                switch random.below(5) {
                case 0:
                    bodies.append { transaction in
                        let names = try transaction.fetchAll(From<Tally>()).map(\.name).filter { !$0.hasPrefix("first") }.sorted()
                        seen.withLock { $0.append(names) }
                    }
                    reads.append(model.sorted())
                    expected.append(nil)
                case 1:
                    bodies.append { transaction in
                        try transaction.create(Tally.self).name = names[0]
                        throw StoreError(.misuse, "The body gives up.")
                    }
                    expected.append(.misuse)
                case 2:
                    let name = names[0]
                    bodies.append { try $0.deleteAll(From<Tally>().where(\.name == name)) }
                    model.remove(name)
                    expected.append(nil)
                default:
                    bodies.append { transaction in for name in names { try transaction.create(Tally.self).name = name } }
                    let isRefused = Set(names).count < names.count || !model.isDisjoint(with: names)
                    if !isRefused { model.formUnion(names) }
                    expected.append(isRefused ? .constraint : nil)
                }
            }
            let errors = try await served.group(bodies)
            #expect(errors.map { $0?.code } == expected, "seed \(seed)")
            #expect(seen.withLock { $0 } == reads, "seed \(seed)")
            #expect(try served.names == model.sorted(), "seed \(seed)")
        }
    }
}
