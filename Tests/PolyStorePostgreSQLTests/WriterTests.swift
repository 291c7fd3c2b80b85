import PolyStoreBackend
import PolyStoreCore
import PostgreSQLServer
import TestModels
import Testing

@testable import PolyStorePostgreSQL

/// Transactions that begin on the server with their first request, between those of other processes.
@Suite(.withServer) struct WriterTests {
    private static let models = Schema("Company 1", Person.self, Department.self, Project.self)

    /// Opens a store of its own for a stack, as another process does.
    private func stack(_ options: PostgreSQLOptions, _ url: String? = nil, history: HistoryOptions? = nil) throws -> DataStack {
        let stack = try DataStack(Self.models)
        stack.snapshotWarningAge = .seconds(100_000)
        stack.groupLimits.nanoseconds = .max
        let configuration = try StoreConfiguration.postgreSQL(url ?? TestServer.get().url(), options: options)
        try stack.addStore(
            StoreConfiguration(engine: "postgresql", location: configuration.location, isShared: false) { request in
                try configuration.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger)
            }, history: history)
        return stack
    }

    private static func creating(_ email: String) -> @Sendable (Transaction) throws -> Void {
        { try $0.create(Into<Person>()).email = email }
    }

    /// Runs transactions as one group.
    /// - Returns: The error of each; nil for one that was committed.
    private func group(_ stack: DataStack, _ bodies: [@Sendable (Transaction) throws -> Void]) -> [StoreError?] {
        let errors = Protected<[Int: StoreError?]>([:])
        let (hasBegun, isOpen) = (Protected(false), Protected(false))
        let gate = inBackground {
            try stack.performAndWait { _ in
                hasBegun.signal { $0 = true }
                isOpen.wait(until: { $0 }, { _ in })
            }
        }
        hasBegun.wait(until: { $0 }, { _ in })
        let waits = bodies.map { body in
            let before = stack.queuedTransactionCount
            let wait = inBackground { try stack.performAndWait(body) }
            while stack.queuedTransactionCount == before {}
            return wait
        }
        isOpen.signal { $0 = true }
        _ = gate()
        for (index, wait) in waits.enumerated() {
            let result = wait()
            errors.withLock { errors in
                switch result {
                case .success: errors[index] = .some(nil)
                case .failure(let error): errors[index] = error as? StoreError ?? StoreError(.io, "\(error)")
                }
            }
        }
        return bodies.indices.map { index in errors.withLock { $0[index] ?? nil } }
    }

    private func emails(_ stack: DataStack) throws -> [String] {
        try stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.email).sorted() }
    }

    @Test func groupOfTransactionsThatOnlyWriteIsOneRoundTrip() throws {
        let proxy = try ConnectionProxy(TestServer.get())
        defer { proxy.stop() }
        _ = try proxy.awaitedResponses {
            let stack = try stack(TestServer.options(), proxy.url())
            // Row ids for further objects remain.
            try stack.performAndWait { transaction in for number in 0..<40 { try Self.creating("first \(number)")(transaction) } }
            for round in 0..<2 {
                let names = (0..<64).map { "\(round) \($0)" }
                let count = proxy.awaitedResponses { #expect(group(stack, names.map { Self.creating($0) }).allSatisfy { $0 == nil }) }
                #expect(count == 1)
                #expect(try emails(stack).count == 40 + 64 * (round + 1))
            }
        }
    }

    /// A unique value that another process has written before the group began is found by the pipeline of the commit.
    @Test func onlyTransactionsOfAGroupThatAreRefusedFail() throws {
        let options = TestServer.options()
        let (stack, other) = try (stack(options), stack(options))
        try stack.performAndWait(Self.creating("first"))
        let seen = Protected<[String]>([])
        try other.performAndWait(Self.creating("taken"))
        let errors = group(
            stack,
            [
                Self.creating("a"), Self.creating("taken"), Self.creating("b"),
                { transaction in
                    let emails = try transaction.fetchAll(From<Person>()).map(\.email).sorted()
                    seen.withLock { $0 = emails }
                    try Self.creating("c")(transaction)
                }, Self.creating("a"), Self.creating("d"),
            ])
        #expect(errors.map { $0?.code } == [nil, .constraint, nil, nil, .constraint, nil])
        #expect(errors.compactMap { $0?.attribute } == ["email", "email"])
        #expect(seen.withLock { $0 } == ["a", "b", "first", "taken"])
        #expect(try emails(other) == ["a", "b", "c", "d", "first", "taken"])
    }

    /// Each stack follows the commits of both in the order of their versions.
    @MainActor
    @Test(arguments: [false, true])
    func processesThatWriteInTurnsFollowEachOther(_ hasHistory: Bool) async throws {
        let options = TestServer.options()
        let history = hasHistory ? HistoryOptions() : nil
        let stacks = try [stack(options, history: history), stack(options, history: history)]
        try await stacks[0].perform(Self.creating("first"))
        let commits = stacks.map { _ in Protected<[(isExternal: Bool, isUnknown: Bool, count: Int)]>([]) }
        let observations = zip(stacks, commits).map { stack, commits in
            stack.observeCommits { commit in
                let seen = (commit.isExternal, commit.changesAreUnknown, commit.insertedObjectIDs(Person.self).count)
                commits.withLock { $0.append(seen) }
            }
        }
        let lists = try stacks.map { try $0.monitorList(From<Person>().orderBy(.ascending(\.email))) }
        let count = 20
        await withTaskGroup(of: Void.self) { group in
            for (number, stack) in stacks.enumerated() {
                group.addTask {
                    for index in 0..<count { try? await stack.perform(Self.creating("\(number) \(index + 10)")) }
                }
            }
        }
        let expected = try emails(stacks[0])
        #expect(expected.count == 2 * count + 1)
        for list in lists { while list.map(\.email) != expected { try await Task.sleep(for: .milliseconds(1)) } }
        for (stack, commits) in zip(stacks, commits) {
            #expect(try stack.view.fetchAll(From<Person>()).map(\.email).sorted() == expected)
            while commits.withLock({ commits in commits.filter { !$0.isExternal }.count }) < count {
                try await Task.sleep(for: .milliseconds(1))
            }
            if hasHistory {
                while commits.withLock({ $0.count }) < 2 * count { try await Task.sleep(for: .milliseconds(1)) }
                #expect(commits.withLock { commits in commits.allSatisfy { !$0.isUnknown && $0.count == 1 } && commits.count == 2 * count })
            } else {
                #expect(commits.withLock { commits in commits.allSatisfy { $0.isExternal ? $0.isUnknown : $0.count == 1 } })
            }
        }
        withExtendedLifetime(observations) {}
    }

    /// A stack that has waited for the lock of another process reads what that has committed.
    @Test func transactionThatWaitsForAnotherProcessReadsItsCommit() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try store.write(store.people([(1, "a", nil)]))
        let other = try store.reopened()
        let (first, second) = try (store.backend.beginWrite(), other.beginWrite())
        #expect(try first.knownVersion == nil && second.knownVersion == nil)
        _ = try first.record(store.entity("Person"), rowID: 1)
        #expect(try first.knownVersion == 1)
        try first.apply(store.people([(2, "b", nil)]))
        let person = try store.entity("Person")
        let ids = try inBackgroundReading(second, person)
        try TestServer.waitForLock(in: options.schema)
        #expect(try first.commit(.full) == 2)
        #expect(try ids().get() == [1, 2])
        #expect(try second.version == 2)
        #expect(try second.apply([store.people([(3, "c", nil)])], committing: .relaxed).version == 3)
    }

    private func inBackgroundReading(_ transaction: any WriteTransaction, _ person: Entity) throws -> () -> Result<[Int64], any Error> {
        // Used by the thread alone until its result has been awaited.
        nonisolated(unsafe) let transaction = transaction
        return inBackground { try transaction.ids(FetchRequest(person)) }
    }
}
