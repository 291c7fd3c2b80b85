import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Transactions that are run again, on a server that fails by a plan or by a seed.
@Suite struct RetryTests {
    /// The number of times that a body has run.
    private final class Runs: Sendable {
        private let value = Protected(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }

        func creating(_ name: String) -> @Sendable (Transaction) throws -> Void {
            { transaction in
                self.add()
                try transaction.create(Tally.self).name = name
            }
        }
    }

    // MARK: Which transactions are run again

    @Test(arguments: [SimulatedServer.Call.beginWrite, .commit])
    func aTransactionThatIsNotSerializableIsRunAgain(_ call: SimulatedServer.Call) async throws {
        let served = try ServedTallies()
        let runs = Runs()
        served.fail(call)
        try served.stack.performAndWait(runs.creating("a"))
        served.fail(call)
        try await served.stack.perform(runs.creating("b"))
        #expect(runs.count == 4)
        #expect(try served.names == ["a", "b"])
    }

    @Test func aReadThatIsNotSerializableRunsTheTransactionAgain() throws {
        let served = try ServedTallies()
        let runs = Runs()
        served.fail(.count, times: 2)
        let counts = try served.stack.performAndWait { transaction in
            runs.add()
            return try transaction.fetchCount(From<Tally>())
        }
        #expect(counts == 1)
        #expect(runs.count == 3)
    }

    @Test func editingAndCompletionsAreRunAgain() async throws {
        let served = try ServedTallies()
        let runs = Runs()
        let id = try served.stack.performAndWait { try $0.create(Tally.self).objectID }
        served.fail(.commit)
        try await served.stack.perform(editing: id) { _, tally in
            runs.add()
            tally.value += 1
        }
        #expect(try served.stack.readAndWait { try $0.fetchExisting(id)?.value } == 1)
        served.fail(.commit, times: 2)
        let name = await withCheckedContinuation { continuation in
            served.stack.perform(
                asynchronous: { transaction in
                    runs.add()
                    try transaction.create(Tally.self).name = "completed"
                    return "completed"
                }, completion: { continuation.resume(returning: try? $0.get()) })
        }
        #expect(name == "completed")
        #expect(runs.count == 5)
    }

    @Test func aTransactionIsRunAgainFiveTimesAtMost() async throws {
        let served = try ServedTallies()
        let runs = Runs()
        served.fail(.commit, times: 6)
        let error = try requireFailure { try served.stack.performAndWait(runs.creating("a")) }
        #expect(error.recovery == .retryable)
        #expect(runs.count == 6)
        served.fail(.commit, times: 5)
        try await served.stack.perform(runs.creating("b"))
        #expect(runs.count == 12)
        #expect(try served.names == ["b"])
    }

    @Test func aTransactionWithoutRetriesThrowsTheError() async throws {
        let served = try ServedTallies()
        let runs = Runs()
        served.fail(.commit, times: 2)
        let error = try requireFailure { try served.stack.performAndWait(retries: 0, runs.creating("a")) }
        #expect(error.recovery == .retryable)
        await #expect(throws: StoreError.self) { try await served.stack.perform(retries: 0, runs.creating("b")) }
        #expect(runs.count == 2)
        #expect(try served.names == [])
    }

    @Test(arguments: [SimulatedServer.Fault.refused, .timeout, .connectionLost(isExecuted: false)])
    func otherErrorsAreThrown(_ fault: SimulatedServer.Fault) throws {
        let served = try ServedTallies()
        let runs = Runs()
        served.fail(.beginWrite, with: fault)
        let error = try requireFailure { try served.stack.performAndWait(runs.creating("a")) }
        #expect(error.recovery == (fault == .refused ? .permanent : fault == .timeout ? .timedOut : .connectionLost))
        #expect(runs.count == 1)
        #expect(try served.names == [])
    }

    @Test func explicitCommitsAreNotRunAgain() async throws {
        let served = try ServedTallies()
        let runs = Runs()
        served.fail(.commit)
        let error = try requireFailure {
            try served.stack.beginSynchronous { transaction in
                try runs.creating("a")(transaction)
                try transaction.commit()
            }
        }
        #expect(error.recovery == .retryable)
        served.fail(.commit)
        let result: Result<Bool, StoreError> = await withCheckedContinuation { continuation in
            served.stack.beginAsynchronous { transaction in
                try runs.creating("b")(transaction)
                transaction.commit { continuation.resume(returning: $0) }
            }
        }
        #expect(throws: StoreError.self) { try result.get() }
        #expect(runs.count == 2)
        #expect(try served.names == [])
    }

    @Test func unqueuedTransactionsAndBatchesAreNotRunAgain() async throws {
        let served = try ServedTallies()
        let unsafe = served.stack.beginUnsafe()
        try unsafe.create(Tally.self).name = "a"
        served.fail(.commit)
        let error = try requireFailure { try unsafe.commitAndWait() }
        #expect(error.recovery == .retryable)
        // The changes are still pending.
        try unsafe.commitAndWait()
        #expect(try served.names == ["a"])
    }

    @Test func aCancelledTransactionIsNotRunAgain() async throws {
        let served = try ServedTallies()
        let (runs, isInside) = (Runs(), Mark())
        let stack = served.stack
        let task = Task {
            try await stack.perform { transaction in
                runs.add()
                isInside.set()
                while !transaction.isCancelled { Thread.sleep(forTimeInterval: 0.001) }
                throw StoreError(.conflict, "The test lets the transaction be run again.", recovery: .retryable)
            }
        }
        while !isInside.isSet { await Task.yield() }
        task.cancel()
        do {
            try await task.value
            Issue.record("The transaction was not cancelled.")
        } catch { #expect((error as? StoreError)?.code == .cancelled) }
        #expect(runs.count == 1)
    }

    @Test func aConflictWithMergedChangesIsPermanent() throws {
        let served = try ServedTallies()
        let id = try served.stack.performAndWait { try $0.create(Tally.self).objectID }
        let unsafe = served.stack.beginUnsafe()
        try unsafe.edit(id).value = 1
        try served.stack.performAndWait { try $0.edit(id).value = 2 }
        let error = try requireFailure { try unsafe.commitAndWait() }
        #expect(error.code == .conflict)
        #expect(error.recovery == .permanent)
    }

    // MARK: Groups

    /// One member loses the connection, or is not serializable: the others are committed, and are not run again.
    @Test(arguments: [
        SimulatedServer.Fault.notSerializable, .timeout, .refused, .connectionLost(isExecuted: false), .connectionLost(isExecuted: true),
    ])
    func aReadThatFailsDoesNotAffectTheGroup(_ fault: SimulatedServer.Fault) async throws {
        let served = try ServedTallies()
        let (runs, failing) = (Runs(), Runs())
        let gate = try await QueueGate(served.stack)
        let tasks = try await QueueGate.line(
            served.stack,
            [
                runs.creating("a"),
                { transaction in
                    try failing.creating("b")(transaction)
                    _ = try transaction.fetchCount(From<Tally>())
                }, runs.creating("c"),
            ])
        served.fail(.scan, with: fault)
        served.server.fail(.count, at: 1, with: fault)
        try await gate.open()
        try await tasks[0].value
        try await tasks[2].value
        #expect(runs.count == 2)
        #expect(served.server.faultCount == 1)
        // The read is one of two calls. The other one has not failed.
        served.server.endFaults()
        if fault == .notSerializable {
            try await tasks[1].value
            #expect(failing.count == 2)
            #expect(try served.names == ["a", "b", "c"])
        } else {
            await #expect(throws: StoreError.self) { try await tasks[1].value }
            #expect(try served.names == ["a", "c"])
        }
    }

    /// A body that ignores an error leaves a transaction that the server has ended. The members are then run again, each in its own group.
    @Test(arguments: [SimulatedServer.Fault.notSerializable, .connectionLost(isExecuted: false)])
    func anErrorThatABodyIgnoresDoesNotFailTheGroup(_ fault: SimulatedServer.Fault) async throws {
        let served = try ServedTallies()
        let gate = try await QueueGate(served.stack)
        let tasks = try await QueueGate.line(
            served.stack,
            [
                Runs().creating("a"), { _ = try? $0.fetchCount(From<Tally>()) }, Runs().creating("c"),
            ])
        served.fail(.count, with: fault)
        served.server.fail(.scan, at: 1, with: fault)
        try await gate.open()
        for task in tasks { try await task.value }
        #expect(served.server.faultCount == 1)
        served.server.endFaults()
        #expect(try served.names == ["a", "c"])
    }

    @Test(arguments: [SimulatedServer.Fault.notSerializable, .timeout])
    func aGroupThatCannotBeCommittedIsRunAgainOneByOne(_ fault: SimulatedServer.Fault) async throws {
        let served = try ServedTallies()
        let runs = Runs()
        let gate = try await QueueGate(served.stack)
        let tasks = try await QueueGate.line(served.stack, ["a", "b", "c"].map(runs.creating))
        served.fail(.commit, with: fault)
        try await gate.open()
        for task in tasks { try await task.value }
        #expect(runs.count == 6)
        #expect(served.server.counts[.commit] == 4)
        #expect(try served.names == ["a", "b", "c"])
    }

    // MARK: Unknown outcomes

    @Test func aCommitThatTheStoreConfirmsIsAcknowledged() throws {
        let served = try ServedTallies(SimulatedServer(knowsCommits: true))
        let runs = Runs()
        served.fail(.commit, with: .connectionLost(isExecuted: true))
        try served.stack.performAndWait(runs.creating("a"))
        #expect(runs.count == 1)
        #expect(try served.names == ["a"])
    }

    @Test func aCommitThatTheStoreDeniesIsRunAgain() throws {
        let served = try ServedTallies(SimulatedServer(knowsCommits: true))
        let runs = Runs()
        served.fail(.commit, with: .connectionLost(isExecuted: false))
        // The store is asked again if it does not answer.
        for number in 1...3 { served.server.fail(.commitOutcome, at: number, with: .timeout) }
        try served.stack.performAndWait(runs.creating("a"))
        #expect(runs.count == 2)
        #expect(served.server.counts[.commitOutcome] == 4)
        #expect(try served.names == ["a"])
    }

    @Test(arguments: [true, false])
    func aCommitOfWhichTheStoreSaysNothingIsNotRunAgain(_ isExecuted: Bool) throws {
        for knowsCommits in [true, false] {
            let served = try ServedTallies(SimulatedServer(knowsCommits: knowsCommits))
            let runs = Runs()
            served.fail(.commit, with: .connectionLost(isExecuted: isExecuted))
            for number in 1...5 { served.server.fail(.commitOutcome, at: number, with: .refused) }
            let error = try requireFailure { try served.stack.performAndWait(runs.creating("a")) }
            #expect(error.recovery == .commitOutcomeUnknown)
            #expect(runs.count == 1)
            #expect(served.server.counts[.commitOutcome] == (knowsCommits ? 5 : nil))
            #expect(try served.names == (isExecuted ? ["a"] : []))
        }
    }

    /// Part of the transaction is committed, so it must not be run again.
    @Test func aTransactionWithACommittedPartIsNotRunAgain() throws {
        let servers = [SimulatedServer(), SimulatedServer()]
        let stack = try DataStack(
            Schema("Two", [Tally.self], configurations: ["A": [Tally.self], "B": [Tally.self]]), logger: RecordingLogger(.critical))
        stack.groupLimits.backOff.first = .zero
        try stack.addStore(.simulatedServer(servers[0]), configuration: "A")
        try stack.addStore(.simulatedServer(servers[1]), configuration: "B")
        servers[1].fail(.commit, at: 1, with: .notSerializable)
        let runs = Runs()
        let error = try requireFailure {
            try stack.performAndWait { transaction in
                runs.add()
                for name in ["A", "B"] { try transaction.create(Into<Tally>(name)).name = name }
            }
        }
        #expect(runs.count == 1)
        #expect(error.recovery == .permanent)
        #expect(error.message.contains("Already committed"))
    }

    // MARK: Random faults

    private enum Outcome: Sendable {
        case acknowledged, failed, unknown
    }

    /// Each acknowledged transaction is in the store exactly once, each failed one is absent, and an unknown one is either. A transaction fails only by a fault of its own.
    @Test(arguments: [1, 2, 3] as [UInt64], [true, false])
    func everyTransactionHasTheOutcomeThatItsCallerReceives(_ seed: UInt64, _ knowsCommits: Bool) async throws {
        let served = try ServedTallies(SimulatedServer(batchSize: 8, knowsCommits: knowsCommits, beginsLate: seed > 1))
        let (stack, server) = (served.stack, served.server)
        server.fail(
            percentage: 4, of: [.beginWrite, .reserveIDs, .apply, .commit, .commitOutcome, .scan, .fetch, .count, .record], seed: seed,
            with: [.timeout, .notSerializable, .notSerializable, .connectionLost(isExecuted: false), .connectionLost(isExecuted: true)])
        let count = Ring.size(2000, thorough: 100_000) / 6 / 8
        let outcomes = await withTaskGroup(of: [(String, Outcome)].self) { group in
            for task in 0..<8 {
                group.addTask {
                    var outcomes: [(String, Outcome)] = []
                    for number in 0..<count {
                        let name = "\(task)-\(number)"
                        outcomes.append((name, await Self.transact(stack, name, number)))
                    }
                    return outcomes
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        let faultCount = server.faultCount
        server.endFaults()
        let stored = Dictionary(try served.names.map { ($0, 1) }, uniquingKeysWith: +)
        var failedCount = 0
        for (name, outcome) in outcomes {
            switch outcome {
            case .acknowledged: #expect(stored[name] == 1, "\(name) is lost or doubled")
            case .failed:
                #expect(stored[name] == nil, "\(name) is stored")
                failedCount += 1
            case .unknown: #expect(stored[name] ?? 0 <= 1, "\(name) is doubled")
            }
        }
        #expect(outcomes.count == count * 8)
        #expect(failedCount <= faultCount)
        #expect(faultCount > 0)
        #expect(outcomes.contains { $0.1 == .acknowledged })
        try stack.performAndWait { try $0.create(Tally.self).name = "last" }
    }

    private static func transact(_ stack: DataStack, _ name: String, _ number: Int) async -> Outcome {
        let body: @Sendable (Transaction) throws -> Void = { transaction in
            if number % 3 == 0 { _ = try transaction.fetchCount(From<Tally>().where(\.name == name)) }
            if number % 5 == 0 { _ = try? transaction.fetchOne(From<Tally>().where(\.name == "first 0")) }
            try transaction.create(Tally.self).name = name
        }
        do {
            if number % 2 == 0 { try await stack.perform(body) } else { try stack.performAndWait(body) }
            return .acknowledged
        } catch {
            return (error as? StoreError)?.recovery == .commitOutcomeUnknown ? .unknown : .failed
        }
    }
}
