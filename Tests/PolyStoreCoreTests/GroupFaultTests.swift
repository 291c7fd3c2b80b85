import Foundation
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels
import TestSupport
import Testing

/// Faults of a server while a commit group is applied or committed: each transaction of the group has the outcome that its caller receives.
@Suite struct GroupFaultTests {
    private static func creating(_ name: String) -> @Sendable (Transaction) throws -> Void { { try $0.create(Tally.self).name = name } }

    // MARK: One store

    /// Whether the commit took effect is not its concern.
    @Test(arguments: [SimulatedServer.Fault.connectionLost(isExecuted: true), .notSerializable])
    func aRefusedTransactionGetsItsOwnErrorIfTheCommitFails(_ fault: SimulatedServer.Fault) async throws {
        let served = try ServedTallies(count: 40)
        let runs = Protected(0)
        // The first call commits nothing, because the server refuses a change set.
        served.fail(.commit, times: 1, with: .refused)
        served.server.endFaults()
        served.server.fail(.commit, at: 2, with: fault)
        let errors = try await served.group([
            Self.creating("a"),
            { transaction in
                runs.withLock { $0 += 1 }
                try transaction.create(Tally.self).name = "first 1"
            },
        ])
        #expect(errors.map { $0?.recovery } == [fault == .notSerializable ? nil : .commitOutcomeUnknown, .permanent])
        #expect(errors[1]?.code == .constraint)
        #expect(runs.withLock { $0 } == 1)
        #expect(try served.names == ["a"])
    }

    /// None of the calls of the transaction that reads has failed, and it has read nothing of the lost ones.
    @Test func aTransactionWhoseReadSendsLostChangesIsRunAgain() async throws {
        let served = try ServedTallies(count: 40)
        served.server.fail(.apply, at: 1, with: .connectionLost(isExecuted: false))
        served.server.fail(.beginWrite, at: 2, with: .timeout)
        let counts = Protected<[Int]>([])
        let errors = try await served.group([
            Self.creating("a"), Self.creating("b"),
            { transaction in
                let count = try transaction.fetchCount(From<Tally>())
                counts.withLock { $0.append(count) }
                try transaction.create(Tally.self).name = "after"
            },
        ])
        #expect(errors == [nil, nil, nil])
        #expect(counts.withLock { $0 }.count == 1)
        #expect(try served.names == ["a", "after", "b"])
    }

    /// An error that is neither the caller's nor that of an attempt which could be made again.
    @Test func theErrorOfASingleTransactionIsNotReplaced() async throws {
        let served = try ServedTallies(count: 40)
        served.server.fail(.commit, at: 1, with: .refused)
        served.server.fail(.beginWrite, at: 2, with: .timeout)
        let error = try requireFailure { try served.stack.performAndWait(Self.creating("a")) }
        #expect(error.code == .io && error.recovery == .permanent)
        #expect(served.server.counts[.beginWrite] == 1)
        #expect(try served.names == [])
    }

    /// A backend that claims that nothing was committed is not believed if the version has changed.
    @Test func aCommitThatMayHaveBeenExecutedIsNotRepeated() async throws {
        let faults = Faults()
        let served = try ServedTallies(SimulatedServer(), faults, count: 40)
        faults.failCommits(1, executed: true)
        let runs = Protected(0)
        let bodies = ["a", "b"].map { name in
            { @Sendable (transaction: Transaction) in
                runs.withLock { $0 += 1 }
                try transaction.create(Tally.self).name = name
            }
        }
        let errors = try await served.group(bodies)
        #expect(errors.map { $0?.recovery } == [.commitOutcomeUnknown, .commitOutcomeUnknown])
        #expect(runs.withLock { $0 } == 2)
        #expect(try served.names == ["a", "b"])
    }

    /// A backend that ends at the first refused change set says nothing about the others.
    @Test func missingResultsAreNotTakenForSuccess() async throws {
        let faults = Faults()
        let served = try ServedTallies(SimulatedServer(), faults, count: 40)
        faults.cutResults()
        let errors = try await served.group(["a", "first 1", "b", "c"].map { Self.creating($0) })
        #expect(errors.map { $0?.code } == [nil, .constraint, nil, nil])
        #expect(try served.names == ["a", "b", "c"])
    }

    /// A sequence of a server does not return reserved row ids after a rollback.
    @Test func sequencesCanOutliveARollback() async throws {
        let faults = Faults()
        let served = try ServedTallies(SimulatedServer(), faults, count: 40)
        faults.keepSequences()
        let observed = ObservedTallies(served.stack)
        for round in 0..<4 {
            served.server.resetCounts()
            served.server.fail(.commit, at: 1, with: .refused)
            let errors = try await served.group((0..<50).map { Self.creating("\(round)-\($0)") })
            #expect(errors.allSatisfy { $0 == nil })
        }
        #expect(try served.names.count == 200)
        let ids = try await observed.all().joined()
        #expect(ids.count == 200 && Set(ids).count == 200)
    }

    /// A transaction that is not run again is not deferred either: the store refuses it while it can still be applied after the others.
    @Test func aTransactionThatIsNotRunAgainIsAppliedAfterTheOthers() async throws {
        let faults = Faults()
        let served = try ServedTallies(SimulatedServer(), faults, count: 40)
        faults.refuse(size: 3, times: 1, dies: true)
        let gate = try await QueueGate(served.stack)
        let stack = served.stack
        let first = Task { try await stack.perform(Self.creating("a")) }
        while stack.queuedTransactionCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
        let second = Task {
            try await stack.perform(retries: 0) { transaction in
                for name in ["b", "c", "d"] { try transaction.create(Tally.self).name = name }
            }
        }
        while stack.queuedTransactionCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
        try await gate.open()
        try await first.value
        try await second.value
        #expect(try served.names == ["a", "b", "c", "d"])
    }

    // MARK: Two stores

    private struct TwoStores: Sendable {
        let servers: [SimulatedServer]
        let stack: DataStack

        init(beginsLate: Bool = false) throws {
            servers = (0..<2).map { _ in SimulatedServer(beginsLate: beginsLate) }
            stack = try DataStack(
                Schema("Two", [Tally.self], configurations: ["A": [Tally.self], "B": [Tally.self]]), logger: RecordingLogger(.critical))
            stack.snapshotWarningAge = .seconds(100_000)
            stack.groupLimits.nanoseconds = .max
            stack.groupLimits.backOff.first = .zero
            for (server, name) in zip(servers, ["A", "B"]) { try stack.addStore(.simulatedServer(server), configuration: name) }
            try stack.performAndWait { transaction in
                for store in ["A", "B"] {
                    for number in 0..<40 { try Self.create("first \(number)", store, transaction) }
                }
            }
        }

        static func create(_ name: String, _ store: String, _ transaction: Transaction) throws {
            try transaction.create(Into<Tally>(store)).name = name
        }

        func names(_ store: String) throws -> [String] {
            try stack.readAndWait { try $0.fetchAll(From<Tally>(store)).map(\.name).filter { !$0.hasPrefix("first") }.sorted() }
        }

        /// Starts operations as one line of the write queue, and returns the error of each.
        /// - Parameter inOrder: Whether each of them is queued once, before the next one starts.
        func line(
            _ operations: [@Sendable (DataStack) async throws -> Void], inOrder: Bool = true
        ) async throws -> [StoreError?] {
            let gate = try await QueueGate(stack)
            if inOrder { for server in servers { server.resetCounts() } }
            var tasks: [Task<Void, any Error>] = []
            for (index, operation) in operations.enumerated() {
                tasks.append(Task.detached { [stack] in try await operation(stack) })
                while inOrder, stack.queuedTransactionCount <= index { try await Task.sleep(for: .milliseconds(1)) }
            }
            // The others queue up in any order, also after the gate is open.
            if !inOrder { try await Task.sleep(for: .milliseconds(5)) }
            try await gate.open()
            var errors: [StoreError?] = []
            for task in tasks {
                do {
                    try await task.value
                    errors.append(nil)
                } catch { errors.append(StoreError(describing: error)) }
            }
            return errors
        }
    }

    private static func performing(
        retries: Int = 5, _ body: @escaping @Sendable (Transaction) throws -> Void
    ) -> @Sendable (DataStack) async throws -> Void {
        { try await $0.perform(retries: retries, body) }
    }

    /// Commits explicitly, and then continues with the body.
    private static func committing(
        _ body: @escaping @Sendable (Transaction) throws -> Void, then rest: @escaping @Sendable (Transaction) throws -> Void = { _ in }
    ) -> @Sendable (DataStack) async throws -> Void {
        { stack in
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                stack.beginAsynchronous { transaction in
                    do { try body(transaction) } catch {
                        continuation.resume(throwing: error)
                        throw error
                    }
                    transaction.commit { continuation.resume(with: $0.map { _ in }.mapError { $0 as any Error }) }
                    try rest(transaction)
                }
            }
        }
    }

    /// Commits an unqueued transaction. On a thread of its own, because a new object waits for the write queue.
    private static func unqueued(_ body: @escaping @Sendable (UnsafeTransaction) throws -> Void)
        -> @Sendable (DataStack) async throws -> Void
    {
        { stack in
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            let transaction = stack.beginUnsafe()
                            try body(transaction)
                            _ = try transaction.commitAndWait()
                        })
                }
            }
        }
    }

    /// A commit that was accepted is lost with the changes of another store, before the transaction has ended.
    @Test(arguments: [true, false]) func anExplicitCommitThatIsLostFails(_ throwsAfterwards: Bool) async throws {
        let two = try TwoStores()
        two.servers[1].fail(.apply, at: 1, with: .connectionLost(isExecuted: false))
        two.servers[1].fail(.beginWrite, at: 2, with: .refused)
        let errors = try await two.line([
            Self.performing { try TwoStores.create("b", "B", $0) },
            Self.committing({ try TwoStores.create("x", "A", $0) }) { transaction in
                do { _ = try transaction.fetchCount(From<Tally>("B")) } catch { if throwsAfterwards { throw error } }
            },
            Self.performing { try TwoStores.create("d", "A", $0) },
        ])
        #expect(errors.map { $0 == nil } == [false, false, true])
        #expect(try two.names("A") == ["d"])
        #expect(try two.names("B") == [])
    }

    /// The read ends the write transaction on the server, and the commit before it stands.
    @Test func aFailureAfterAnExplicitCommitFailsNobody() async throws {
        let two = try TwoStores()
        two.servers[0].fail(.count, at: 1, with: .notSerializable)
        let errors = try await two.line([
            Self.performing { try TwoStores.create("a", "A", $0) },
            Self.committing({ try TwoStores.create("x", "A", $0) }) { _ = try $0.fetchCount(From<Tally>("A")) },
        ])
        #expect(errors == [nil, nil])
        #expect(try two.names("A") == ["a", "x"])
    }

    /// Its store was not sent a commit.
    @Test func aTransactionBesideAnUnknownOutcomeIsRunAgain() async throws {
        let two = try TwoStores()
        two.servers[0].fail(.commit, at: 1, with: .connectionLost(isExecuted: true))
        let errors = try await two.line([
            Self.performing { try TwoStores.create("a", "A", $0) },
            Self.performing { try TwoStores.create("b", "B", $0) },
        ])
        #expect(errors.map { $0?.recovery } == [.commitOutcomeUnknown, nil])
        #expect(try two.names("A") == ["a"])
        #expect(try two.names("B") == ["b"])
    }

    @Test func anUnknownOutcomeNamesTheStoresThatAreNotWritten() async throws {
        let two = try TwoStores()
        for server in two.servers { server.resetCounts() }
        two.servers[0].fail(.commit, at: 1, with: .connectionLost(isExecuted: true))
        let error = try requireFailure {
            try two.stack.performAndWait { for store in ["A", "B"] { try TwoStores.create("a", store, $0) } }
        }
        #expect(error.recovery == .commitOutcomeUnknown)
        #expect(error.message.contains("Not committed: \(two.stack.stores[1].location)"))
        #expect(try two.names("B") == [])
    }

    // MARK: Random faults

    /// Transactions of all kinds over two stores, with faults of every call: an acknowledged one is stored once, a failed one is absent, one that violates a constraint is
    /// never acknowledged, and the observed commits are those in the stores.
    // One after another: each occupies threads while its queue is closed.
    @Test(.serialized, arguments: 1...Ring.size(8, thorough: 300) as ClosedRange<Int>)
    func outcomesAgreeWithTheStores(_ seed: Int) async throws {
        let two = try TwoStores(beginsLate: seed % 2 == 0)
        var random = SplitMix64(seed: UInt64(seed))
        let observed = ObservedTallies(two.stack)
        for (index, server) in two.servers.enumerated() {
            server.fail(
                percentage: 6, of: [.beginWrite, .reserveIDs, .apply, .commit, .scan, .fetch, .count, .record],
                seed: UInt64(seed * 2 + index),
                with: [.refused, .timeout, .notSerializable, .connectionLost(isExecuted: false), .connectionLost(isExecuted: true)])
        }
        /// What the stores must hold: by store and name, whether the object must be there; nil if that is unknown.
        var expected: [String: Bool?] = [:]
        for round in 0..<5 {
            var (operations, created): ([@Sendable (DataStack) async throws -> Void], [[(store: String, name: String)]]) = ([], [])
            for number in 0..<(2 + random.below(8)) {
                let stores = [["A"], ["B"], ["A", "B"], ["B", "A"]][random.below(4)]
                let isTaken = random.below(6) == 0
                let reads = random.below(3) == 0
                let ignoresErrors = random.below(2) == 0
                let name = "\(round)-\(number)"
                let body: @Sendable (Transaction) throws -> Void = { transaction in
                    func read(_ store: String) throws {
                        do { _ = try transaction.fetchCount(From<Tally>(store)) } catch { if !ignoresErrors { throw error } }
                    }
                    if reads { try read(stores[0]) }
                    for store in stores { try TwoStores.create(isTaken ? "first \(number)" : name, store, transaction) }
                    if reads { for store in ["B", "A"] { try read(store) } }
                }
                created.append(isTaken ? [] : stores.map { ($0, name) })
                switch random.below(5) {
                case 0: operations.append(Self.performing(retries: 0, body))
                case 1:
                    operations.append(
                        Self.committing(body) { if reads { _ = try? $0.fetchCount(From<Tally>(stores[stores.count - 1])) } })
                case 2:
                    operations.append(
                        Self.unqueued { transaction in
                            for store in stores { try transaction.create(Into<Tally>(store)).name = isTaken ? "first \(number)" : name }
                        })
                default: operations.append(Self.performing(body))
                }
            }
            let errors = try await two.line(operations, inOrder: false)
            for (error, objects) in zip(errors, created) {
                for object in objects {
                    let isPartial = error?.message.contains("ommitted:") ?? false
                    expected[object.store + object.name] =
                        error == nil ? true : error?.recovery == .commitOutcomeUnknown || isPartial ? .some(nil) : false
                }
                if objects.isEmpty { #expect(error != nil, "seed \(seed): a duplicate value was acknowledged") }
            }
        }
        for server in two.servers { server.endFaults() }
        var stored: [String] = []
        for store in ["A", "B"] { stored += try two.names(store).map { store + $0 } }
        #expect(Set(stored).count == stored.count, "seed \(seed): stored twice")
        for (name, isStored) in expected { if let isStored { #expect(stored.contains(name) == isStored, "seed \(seed): \(name)") } }
        #expect(Set(stored).isSubset(of: expected.keys))
        let published = try await observed.all(in: "A").joined()
        let ids = Set(published)
        #expect(ids.count == published.count, "seed \(seed): a row id was assigned or published twice")
        let inStores = try two.stack.readAndWait { context in
            Set(try context.fetchAll(From<Tally>()).filter { !$0.name.hasPrefix("first") }.map(\.objectID))
        }
        // A commit with an unknown outcome is not published.
        #expect(ids.isSubset(of: inStores), "seed \(seed): published, but not stored")
        let certain = expected.filter { $0.value == true }.count
        #expect(ids.count >= certain, "seed \(seed): stored, but not published")
    }
}
