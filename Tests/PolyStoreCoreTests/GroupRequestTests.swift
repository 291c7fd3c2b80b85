import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels
import TestSupport
import Testing

/// The change sets of a commit group, which a server receives with one call.
@Suite struct GroupRequestTests {
    private static func creating(_ name: String) -> @Sendable (Transaction) throws -> Void { { try $0.create(Tally.self).name = name } }

    /// A store with many objects, so that row ids for further ones remain.
    private static func served(beginsLate: Bool = false) throws -> ServedTallies {
        try ServedTallies(SimulatedServer(beginsLate: beginsLate), count: 40)
    }

    @Test(arguments: [false, true]) func aGroupThatOnlyWritesNeedsFewCalls(_ beginsLate: Bool) async throws {
        let served = try Self.served(beginsLate: beginsLate)
        let errors = try await served.group((0..<64).map { Self.creating("\($0)") })
        #expect(errors.allSatisfy { $0 == nil })
        #expect(served.server.counts[.apply] == nil && served.server.counts[.commit] == 1)
        #expect(served.server.counts[.beginWrite] == (beginsLate ? nil : 1))
        // Further row ids, if those at hand do not suffice.
        #expect(
            served.server.counts.filter { $0.key != .reserveIDs }.values.reduce(0, +) == (beginsLate ? 1 : 2), "\(served.server.counts)")
        #expect(try served.names == (0..<64).map { "\($0)" }.sorted())
    }

    /// Each of them gets its own error, after its body has ended.
    @Test(arguments: [false, true]) func onlyTransactionsThatViolateAConstraintFail(_ beginsLate: Bool) async throws {
        let served = try Self.served(beginsLate: beginsLate)
        let observed = ObservedTallies(served.stack)
        let names = ["a", "b", "a", "c", "first 3", "d", "b"]
        let errors = try await served.group(names.map { Self.creating($0) })
        #expect(errors.map { $0?.code } == [nil, nil, .constraint, nil, .constraint, nil, .constraint])
        #expect(errors.compactMap { $0?.attribute } == ["name", "name", "name"])
        #expect(try served.names == ["a", "b", "c", "d"])
        // The first call is not a commit, because the server refused some of them.
        #expect(served.server.counts[.commit] == 2)
        #expect(try await observed.all().map(\.count).filter { $0 > 0 } == [1, 1, 1, 1])
    }

    @Test(arguments: [false, true]) func aGroupWhoseTransactionsAllFailCommitsNothing(_ beginsLate: Bool) async throws {
        let served = try Self.served(beginsLate: beginsLate)
        let errors = try await served.group([Self.creating("first 1"), Self.creating("first 2")])
        #expect(errors.map { $0?.code } == [.constraint, .constraint])
        #expect(served.server.counts[.commit] == 1)
        #expect(try await served.group([Self.creating("a")]) == [nil])
        #expect(try served.names == ["a"])
    }

    /// A transaction that reads sees the changes of those before it that the store has accepted.
    @Test(arguments: [false, true]) func aTransactionThatReadsSeesThoseBeforeIt(_ beginsLate: Bool) async throws {
        let served = try Self.served(beginsLate: beginsLate)
        let seen = Protected<[[String]]>([])
        let reading: @Sendable (Transaction) throws -> Void = { transaction in
            let names = try ServedTallies.names(in: transaction)
            seen.withLock { $0.append(names) }
            try transaction.create(Tally.self).name = "after \(names.count)"
        }
        let errors = try await served.group([
            Self.creating("a"), Self.creating("first 1"), Self.creating("b"), reading, Self.creating("c"), Self.creating("a"),
            reading,
        ])
        #expect(errors.map { $0?.code } == [nil, .constraint, nil, nil, nil, .constraint, nil])
        #expect(seen.withLock { $0 } == [["a", "b"], ["a", "after 2", "b", "c"]])
        #expect(try served.names == ["a", "after 2", "after 4", "b", "c"])
    }

    /// Other writers that do not end in time: the transactions of the group are run again, and a single one fails.
    @Test(arguments: [SimulatedServer.Call.apply, .commit])
    func aGroupThatCannotBeginInTimeIsRunAgain(_ call: SimulatedServer.Call) async throws {
        let served = try Self.served(beginsLate: true)
        served.server.fail(call, at: 1, with: .timeout)
        var bodies = ["a", "b", "c"].map { Self.creating($0) }
        if call == .apply { bodies.append { _ = try $0.fetchCount(From<Tally>()) } }
        #expect(try await served.group(bodies).allSatisfy { $0 == nil })
        #expect(served.server.faultCount == 1)
        #expect(try served.names == ["a", "b", "c"])
        served.fail(.commit, with: .timeout)
        #expect(try await served.group([Self.creating("d")]).map { $0?.code } == [.busy])
        #expect(try await served.group([Self.creating("d")]) == [nil])
        #expect(try served.names == ["a", "b", "c", "d"])
    }

    /// The version of a commit is known only with it: the commits of others before it are published first.
    @Test(arguments: [false, true]) func commitsOfOthersBeforeAGroupArePublishedFirst(_ beginsLate: Bool) async throws {
        let served = try ServedTallies(SimulatedServer(announcesCommits: true, beginsLate: beginsLate), count: 400)
        let stack = served.stack
        let backend = try #require(stack.stores.first).backendForTests
        let seen = Protected<[Bool]>([])
        let observation = stack.observeCommits { commit in seen.withLock { $0.append(commit.isExternal) } }
        for number in 0..<20 {
            // Another process commits before the group begins: with a late begin, after its body has run.
            let other: @Sendable () throws -> Void = { _ = try backend.beginWrite().commit(.relaxed) }
            if !beginsLate { try other() }
            try await stack.perform { transaction in
                try transaction.create(Tally.self).name = "\(number)"
                if beginsLate { try other() }
            }
            // Nothing is lost if a look for commits of others has met the commit.
            served.server.announceCommit()
        }
        while seen.withLock({ seen in seen.filter { !$0 }.count }) < 20 { try await Task.sleep(for: .milliseconds(1)) }
        let order = seen.withLock { $0 }
        for index in order.indices where !order[index] { #expect(index > 0 && order[index - 1], "\(index)") }
        withExtendedLifetime(observation) {}
    }

    /// An error that is not one of a change set: they are applied one after another.
    @Test(arguments: [SimulatedServer.Call.apply, .commit], [false, true])
    func anErrorOfTheRequestFailsNoTransaction(_ call: SimulatedServer.Call, _ beginsLate: Bool) async throws {
        let served = try Self.served(beginsLate: beginsLate)
        served.server.fail(call, at: 1, with: .refused)
        var bodies = ["a", "b", "a", "c"].map { Self.creating($0) }
        // Lets the deferred changes be applied before the commit.
        if call == .apply { bodies.append { _ = try $0.fetchCount(From<Tally>()) } }
        // Set again, because the counts are reset before the group.
        let errors = try await served.group(bodies)
        let isRefused: [StoreError.Code?] = [nil, nil, .constraint, nil] + (call == .apply ? [nil] : [])
        #expect(errors.map { $0?.code } == isRefused)
        #expect(served.server.faultCount == 1)
        #expect(try served.names == ["a", "b", "c"])
    }

    /// A transaction that has read changes that are lost then must not be committed, even if its body ignores the error.
    @Test(arguments: [true, false]) func aTransactionThatHasReadLostChangesFails(_ writes: Bool) async throws {
        let servers = [SimulatedServer(), SimulatedServer()]
        let stack = try DataStack(
            Schema("Two", [Tally.self], configurations: ["A": [Tally.self], "B": [Tally.self]]), logger: RecordingLogger(.critical))
        stack.groupLimits.nanoseconds = .max
        stack.groupLimits.backOff.first = .zero
        for (server, name) in zip(servers, ["A", "B"]) { try stack.addStore(.simulatedServer(server), configuration: name) }
        @Sendable func create(_ name: String, _ store: String, _ transaction: Transaction) throws {
            try transaction.create(Into<Tally>(store)).name = name
        }
        try await stack.perform { for store in ["A", "B"] { try create("first", store, $0) } }
        let gate = try await QueueGate(stack)
        for server in servers { server.resetCounts() }
        // The first read applies the change set and loses the connection. The attempt to open another one is refused.
        servers[1].fail(.apply, at: 1, with: .connectionLost(isExecuted: false))
        servers[1].fail(.beginWrite, at: 2, with: .refused)
        let tasks = try await QueueGate.line(
            stack,
            [
                { try create("a", "A", $0) }, { try create("b", "B", $0) },
                { transaction in
                    #expect(try transaction.fetchCount(From<Tally>("A")) == 2)
                    #expect(throws: StoreError.self) { try transaction.fetchCount(From<Tally>("B")) }
                    #expect(throws: StoreError.self) { try transaction.fetchCount(From<Tally>("A")) }
                    if writes { try create("c", "A", transaction) }
                },
                { try create("d", "A", $0) },
            ])
        try await gate.open()
        var succeeded: [Bool] = []
        for task in tasks { succeeded.append(await task.result.isSuccess) }
        #expect(succeeded == [false, false, false, true])
        let names = try stack.readAndWait { try $0.fetchAll(From<Tally>("A")).map(\.name).sorted() }
        #expect(names == ["d", "first"])
    }

    /// Random groups, compared with a model that applies one transaction after another.
    @Test(arguments: 1...Ring.size(6, thorough: 200) as ClosedRange<Int>)
    func groupsAgreeWithTheModel(_ seed: Int) async throws {
        let served = try Self.served()
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
                        let names = try ServedTallies.names(in: transaction)
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

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
