import Dispatch
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels
import TestSupport
import Testing

/// Tasks that are cancelled while a backend executes a request, and the outcome of commits at that time.
@Suite struct InterruptedRequestTests {
    private static let count = 12_000

    /// Creates a store with many tallies behind a gate.
    private static func stack(
        _ backend: Backend, _ folder: Folder, _ gate: CursorGate, storesInterruptions: Bool = true
    ) throws -> DataStack {
        let stack = try DataStack(Schema("Tallies", Tally.self), logger: RecordingLogger(.critical))
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(backend.store(in: folder).gated(gate, storesInterruptions: storesInterruptions))
        try stack.performAndWait { transaction throws in
            for number in 0..<count {
                let tally = try transaction.create(Tally.self)
                (tally.name, tally.value) = ("\(number)", number)
            }
        }
        return stack
    }

    private static let none = From<Tally>().where(\.value == -1)

    // MARK: Requests

    @Test(arguments: Backend.allCases, [true, false])
    func aCancelledTaskEndsTheRequestOfItsTransaction(_ backend: Backend, _ storesInterruptions: Bool) async throws {
        let (folder, gate) = (try Folder(), CursorGate())
        let stack = try Self.stack(backend, folder, gate, storesInterruptions: storesInterruptions)
        gate.arm()
        let task = Task {
            try await stack.perform { transaction throws in
                try transaction.create(Tally.self).name = "never"
                // All rows, so that the store is asked for the next one.
                #expect(throws: (any Error).self) { try transaction.fetchInBatches(From<Tally>()) { _ in } }
                // The error does not have to be passed on.
            }
        }
        await gate.waitUntilEntered()
        task.cancel()
        gate.open()
        await Self.expectCancelled { try await task.value }
        #expect(gate.rows < 10_000)
        #expect(try await stack.read { try $0.fetchCount(From<Tally>()) } == Self.count)
        try await stack.perform { try $0.create(Tally.self).name = "next" }
        #expect(try await stack.read { try $0.fetchCount(From<Tally>()) } == Self.count + 1)
    }

    @Test(arguments: Backend.allCases, [true, false])
    func aCancelledTaskEndsTheRequestOfItsRead(_ backend: Backend, _ storesInterruptions: Bool) async throws {
        let (folder, gate) = (try Folder(), CursorGate())
        let stack = try Self.stack(backend, folder, gate, storesInterruptions: storesInterruptions)
        for isMatching in [true, false] {
            // SQLite evaluates the condition while it looks for the first row. A store that stores no interruption looks on.
            if !isMatching, !storesInterruptions, backend == .sqlite { continue }
            gate.arm()
            let task = Task {
                try await stack.read { context throws in
                    try context.fetchAll(isMatching ? From<Tally>().where(\.value >= 0) : Self.none).count
                }
            }
            await gate.waitUntilEntered()
            let before = gate.rows
            task.cancel()
            gate.open()
            await Self.expectCancelled { _ = try await task.value }
            #expect(gate.rows - before < 10_000)
        }
        #expect(try await stack.read { try $0.fetchAll(Self.none).count } == 0)
        #expect(try await stack.read { try $0.fetchCount(From<Tally>()) } == Self.count)
    }

    @Test(arguments: Backend.forObjectLayer)
    func otherReadsContinue(_ backend: Backend) async throws {
        let (folder, gate) = (try Folder(), CursorGate())
        let stack = try Self.stack(backend, folder, gate)
        gate.arm()
        let cancelled = Task { try await stack.read { try $0.fetchAll(From<Tally>()).count } }
        await gate.waitUntilEntered()
        let other = Task { try await stack.read { try $0.fetchAll(From<Tally>()).count } }
        cancelled.cancel()
        gate.open()
        await Self.expectCancelled { _ = try await cancelled.value }
        #expect(try await other.value == Self.count)
    }

    // MARK: A server

    /// The server responds to scans after a day.
    @Test func aServerIsNotAwaitedAfterTheCancellationOrTheLimit() async throws {
        let served = try ServedTallies(count: 10)
        let stack = served.stack
        served.server.delay([.scan, .count], by: .seconds(86_400))
        for isScan in [true, false] {
            let request: @Sendable (Context) throws -> Int = {
                isScan ? try $0.fetchAll(From<Tally>()).count : try $0.fetchCount(From<Tally>().where(\.value >= 0))
            }
            for isRead in [true, false] {
                served.server.resetCounts()
                let task = Task { isRead ? try await stack.read { try request($0) } : try await stack.perform { try request($0) } }
                while served.server.counts[isScan ? .scan : .count] == nil { await Task.yield() }
                task.cancel()
                await Self.expectCancelled { _ = try await task.value }
            }
            let limit: Duration = .milliseconds(20)
            await Self.expect(.timedOut) { _ = try await stack.read(timeLimit: limit) { try request($0) } }
            await Self.expect(.timedOut) { _ = try await stack.perform(timeLimit: limit) { try request($0) } }
            expectError(.timedOut) { try stack.readAndWait { _ = try $0.fetchAll(From<Tally>().timeLimit(limit)) } }
        }
        served.server.delay([.scan, .count], by: .zero)
        #expect(try served.names == [])
    }

    /// A transaction whose request is cancelled does not affect the others of its group.
    @Test func theOthersOfAGroupAreCommitted() async throws {
        let served = try ServedTallies(count: 3)
        let stack = served.stack
        let gate = try await QueueGate(stack) { try $0.create(Tally.self).name = "a" }
        var tasks = try await QueueGate.line(
            stack,
            [
                { try $0.create(Tally.self).name = "b" },
                { transaction throws in
                    try transaction.create(Tally.self).name = "never"
                    served.server.delay([.scan], by: .seconds(86_400))
                    served.server.resetCounts()
                    _ = try transaction.fetchAll(From<Tally>())
                },
                { try $0.create(Tally.self).name = "c" },
            ])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await gate.open() }
            while served.server.counts[.scan] == nil { await Task.yield() }
            tasks[1].cancel()
            await Self.expectCancelled { try await tasks[1].value }
            served.server.delay([.scan], by: .zero)
            try await group.waitForAll()
        }
        tasks.remove(at: 1)
        for task in tasks { try await task.value }
        #expect(try served.names == ["a", "b", "c"])
    }

    // MARK: The outcome

    /// Cancels transactions at random moments. Each has either succeeded, and its object is in the store, or has thrown an error, and it is not.
    @Test(arguments: ["memory", "sqlite", "lmdb", "leveldb", "server"])
    func theAnswerOfACancelledCommitAgreesWithTheStore(_ name: String) async throws {
        let folder = try Folder()
        let stack = try DataStack(Schema("Tallies", Tally.self), logger: RecordingLogger(.critical))
        stack.snapshotWarningAge = .seconds(100_000)
        if let backend = Backend(rawValue: name) {
            try stack.addStore(backend.store(in: folder))
        } else {
            let server = SimulatedServer(knowsCommits: true)
            server.fail(percentage: 5, of: [.beginWrite, .scan, .commit], seed: 11, with: [.notSerializable])
            stack.groupLimits.backOff.first = .milliseconds(1)
            try stack.addStore(.simulatedServer(server))
        }
        try await stack.perform { transaction in for number in 0..<300 { try transaction.create(Tally.self).name = "first \(number)" } }
        var random = SplitMix64(seed: 5)
        let answers = Protected<[String: StoreError?]>([:])
        for round in 0..<12 {
            // Several concurrent transactions, so that they are queued and committed in groups.
            let tasks = (0..<20).map { number in
                let (name, limit) = ("\(round)-\(number)", random.below(4) == 0 ? Duration.microseconds(random.below(3000)) : nil)
                return Task {
                    do {
                        try await stack.perform(timeLimit: limit) { transaction throws in
                            try transaction.create(Tally.self).name = name
                            _ = try transaction.fetchAll(From<Tally>().where(\.name == name))
                        }
                        answers.withLock { $0[name] = .some(nil) }
                    } catch { answers.withLock { $0[name] = error as? StoreError ?? StoreError(.io, "\(error)") } }
                }
            }
            for task in tasks where random.below(2) == 0 {
                for _ in 0..<random.below(200) { await Task.yield() }
                task.cancel()
            }
            for task in tasks { await task.value }
        }
        let stored = Set(try await stack.read { try ServedTallies.names(in: $0) })
        let found = answers.withLock { $0 }
        #expect(found.count == 240)
        for (name, error) in found {
            #expect((error == nil) == stored.contains(name), "\(name): \(String(describing: error))")
            // The server can also refuse all six attempts of a transaction.
            if let error { #expect([.cancelled, .timedOut, .conflict].contains(error.code), "\(name): \(error)") }
        }
        #expect(stack.queuedTransactionCount == 0)
    }

    // MARK: Support

    private static func expectCancelled(_ body: () async throws -> Void) async { await expect(.cancelled, body) }

    private static func expect(_ code: StoreError.Code, _ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("it was not interrupted")
        } catch {
            let error = error as? StoreError
            #expect(error?.code == code, "\(String(describing: error))")
        }
    }
}
