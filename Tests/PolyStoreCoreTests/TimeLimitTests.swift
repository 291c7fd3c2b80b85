import Dispatch
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Limits of time on transactions, reads, fetches and queries. A limit of zero has ended before the call; other limits end while the test waits for their end.
@Suite struct TimeLimitTests {
    typealias Form = (name: String, run: @Sendable (Context, Duration?) throws -> Void)

    /// Every fetch and query, with a limit of time or without one.
    static let forms: [Form] = [
        ("fetchAll", { _ = try $0.fetchAll(people($1)) }), ("fetchOne", { _ = try $0.fetchOne(people($1)) }),
        ("fetchCount", { _ = try $0.fetchCount(people($1)) }), ("fetchObjectIDs", { _ = try $0.fetchObjectIDs(people($1)) }),
        ("fetchObjectID", { _ = try $0.fetchObjectID(people($1)) }), ("fetchLazily", { _ = try $0.fetchLazily(people($1)) }),
        ("fetchInBatches", { try $0.fetchInBatches(people($1), size: 2) { _ in } }),
        ("fetchSnapshots", { _ = try $0.fetchSnapshots(people($1)) }),
        ("faults", { _ = try $0.fetchAll(people($1).tweak { $0.includesPropertyValues = false }) }),
        ("prefetch", { _ = try $0.fetchAll(people($1).prefetch(\.department, \.friends)) }),
        ("explain", { _ = try $0.explain(people($1)) }), ("plans", { _ = try $0.plans(people($1)) }),
        ("queryValue", { _ = try $0.queryValue(people($1).select(Int.self, .maximum(\.age))) }),
        ("aggregate", { _ = try $0.queryValue(people($1), .average(\.age)) }),
        ("queryGroups", { _ = try $0.queryGroups(people($1), by: \.age, .count) }),
        ("queryAttributes", { _ = try $0.queryAttributes(people($1).select("age", .count(as: "people")).groupBy("age")) }),
        ("tweak", { context, limit in _ = try context.fetchAll(From<Person>().tweak { $0.timeLimit = limit }) }),
    ]

    private static func people(_ limit: Duration?) -> FetchChain<Person> {
        let all = From<Person>().where(\.age >= 0)
        return limit.map { all.timeLimit($0) } ?? all
    }

    // MARK: Fetches and queries

    @Test(arguments: Backend.allCases)
    func fetchesAndQueriesWithoutTimeThrowTimedOut(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        try company.stack.readAndWait { context throws in
            for form in Self.forms { Self.expectTimedOut(form, in: context) }
        }
        try company.stack.performAndWait { transaction throws in
            for form in Self.forms { Self.expectTimedOut(form, in: transaction) }
            // With pending changes.
            _ = try transaction.createPerson(7)
            for form in Self.forms { Self.expectTimedOut(form, in: transaction) }
            let child = transaction.beginUnsafe()
            for form in Self.forms { Self.expectTimedOut(form, in: child) }
        }
        let draft = company.stack.beginUnsafe()
        for form in Self.forms { Self.expectTimedOut(form, in: draft) }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 7)
    }

    @MainActor @Test func viewsHaveTimeLimitsToo() throws {
        let company = try Company.staffed(.memory) { _ in }
        for form in Self.forms { Self.expectTimedOut(form, in: company.stack.view) }
    }

    private static func expectTimedOut(_ form: Form, in context: Context) {
        let error = failure { try form.run(context, .zero) }
        #expect(
            error?.code == .timedOut && error?.recovery == .timedOut, "\(form.name) in \(type(of: context)): \(String(describing: error))")
        // Neither no limit nor a long one interrupts it.
        for limit in [nil, .seconds(100_000)] as [Duration?] {
            #expect(throws: Never.self, "\(form.name) in \(type(of: context))") { try form.run(context, limit) }
        }
    }

    @Test func aChainWithAnotherLimitIsAnotherChain() {
        let all = From<Person>().where(\.age > 3)
        #expect(all.timeLimit(.seconds(1)) == all.timeLimit(.seconds(1)))
        #expect(all.timeLimit(.seconds(1)) != all.timeLimit(.seconds(2)))
        #expect(all.options.timeLimit == nil)
    }

    // MARK: Transactions and reads

    @Test(arguments: Backend.allCases)
    func transactionsAndReadsWithoutTimeDoNotRun(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        let ids = try company.people(2)
        let never: @Sendable (Transaction) throws -> Void = { _ in _ = Issue.record("it ran") }
        let edits: @Sendable (Transaction, Person) throws -> Void = { _, _ in _ = Issue.record("it ran") }
        await Self.expectTimedOut("perform") { try await stack.perform(timeLimit: .zero, never) }
        await Self.expectTimedOut("an id") { try await stack.perform(editing: ids[0], timeLimit: .zero, edits) }
        await Self.expectTimedOut("ids") { try await stack.perform(editing: ids, timeLimit: .zero) { _, _ in _ = Issue.record("it ran") } }
        await Self.expectTimedOut("an object") {
            _ = try await stack.perform(timeLimit: .zero) { transaction throws in
                Issue.record("it ran")
                return try transaction.create(Person.self)
            }
        }
        await Self.expectTimedOut("completion") {
            try await withCheckedThrowingContinuation { continuation in
                stack.perform(asynchronous: never, timeLimit: .zero, completion: { continuation.resume(with: $0) })
            }
        }
        await Self.expectTimedOut("read") { try await stack.read(timeLimit: .zero) { _ in _ = Issue.record("it ran") } }
        expectError(.timedOut) { try stack.performAndWait(timeLimit: .zero, never) }
        expectError(.timedOut) { try stack.performAndWait(editing: ids[0], timeLimit: .zero, edits) }
        expectError(.timedOut) { try stack.performAndWait(editing: ids, timeLimit: .zero) { _, _ in _ = Issue.record("it ran") } }
        expectError(.timedOut) { try stack.readAndWait(timeLimit: .zero) { _ in _ = Issue.record("it ran") } }
        // The stack is usable, with long limits and without.
        try await stack.perform(timeLimit: .seconds(100_000)) { _ = try $0.createPerson(1) }
        try stack.performAndWait(timeLimit: .seconds(Int64.max)) { _ = try $0.createPerson(2) }
        #expect(try await stack.read(timeLimit: .seconds(100_000)) { try $0.fetchCount(From<Person>()) } == 4)
        #expect(stack.queuedTransactionCount == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aQueuedTransactionLeavesTheQueueAtTheEndOfItsLimit(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        let gate = try await QueueGate(stack)
        await Self.expectTimedOut("perform") { try await stack.perform(timeLimit: .milliseconds(5)) { _ in _ = Issue.record("it ran") } }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                expectError(.timedOut) { try stack.performAndWait(timeLimit: .milliseconds(5)) { _ in _ = Issue.record("it ran") } }
                continuation.resume()
            }
        }
        // The queue is still occupied.
        #expect(stack.queuedTransactionCount == 0)
        let next = Task { try await stack.perform { _ = try $0.createPerson(1) } }
        try await gate.open()
        try await next.value
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 1)
    }

    @Test(arguments: Backend.allCases)
    func aTransactionWhoseLimitEndsInItsBodyIsNotCommitted(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        let body: @Sendable (Transaction) throws -> Void = { transaction throws in
            _ = try transaction.createPerson(1)
            Self.waitForTheEnd(of: transaction)
            #expect(!transaction.isCancelled)
            // Each request throws, also with a longer limit of its own.
            for form in Self.forms where !["explain", "plans"].contains(form.name) {
                for limit in [nil, .seconds(1000)] as [Duration?] {
                    let error = failure { try form.run(transaction, limit) }
                    #expect(error?.code == .timedOut, "\(form.name): \(String(describing: error))")
                }
            }
            // The body swallows the errors.
        }
        await Self.expectTimedOut("perform") { try await stack.perform(timeLimit: .milliseconds(5), body) }
        expectError(.timedOut) { try stack.performAndWait(timeLimit: .milliseconds(5), body) }
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
        try await stack.perform { _ = try $0.createPerson(1) }
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 1)
    }

    @Test func aShorterLimitOfAFetchDoesNotEndTheTransaction() async throws {
        let company = try Company(.sqlite)
        try await company.stack.perform(timeLimit: .seconds(100_000)) { transaction throws in
            _ = try transaction.createPerson(1)
            expectError(.timedOut) { try transaction.fetchAll(From<Person>().timeLimit(.zero)) }
            #expect(try transaction.fetchCount(From<Person>()) == 1)
            let child = transaction.beginUnsafe()
            expectError(.timedOut) { try child.fetchAll(From<Person>().timeLimit(.zero)) }
            #expect(try child.fetchCount(From<Person>()) == 1)
            _ = try child.createPerson(2)
            try child.commit()
        }
        #expect(try await company.stack.read { try $0.fetchCount(From<Person>()) } == 2)
    }

    /// A child reads through its parent.
    @Test(arguments: Backend.forObjectLayer)
    func theLimitOfATransactionEndsTheFetchesOfItsChildren(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(3)
        expectError(.timedOut) {
            try company.stack.performAndWait(timeLimit: .milliseconds(5)) { transaction throws in
                let child = transaction.beginUnsafe()
                #expect(try child.fetchCount(From<Person>()) == 3)
                Self.waitForTheEnd(of: transaction)
                expectError(.timedOut) { try child.fetchAll(From<Person>()) }
                expectError(.timedOut) { try child.fetchAll(From<Person>().timeLimit(.seconds(1000))) }
                expectError(.timedOut) { try transaction.fetchAll(From<Person>()) }
            }
        }
        #expect(company.logger.lines.isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func explicitCommitsBelongToTheBody(_ backend: Backend) throws {
        let company = try Company(backend)
        let hadChanges = try company.stack.beginSynchronous { transaction throws in
            _ = try transaction.createPerson(1)
            expectError(.timedOut) { try transaction.fetchAll(From<Person>().timeLimit(.zero)) }
            _ = try transaction.commit()
        }
        #expect(hadChanges == true)
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 1)
    }

    @Test func aBatchCommitsInTheBodyOfALimitedIteration() throws {
        let company = try Company(.sqlite)
        try company.people(5)
        let draft = company.stack.beginUnsafe()
        try draft.fetchInBatches(From<Person>().orderBy(.ascending(\.age)).timeLimit(.seconds(100_000)), size: 2) { people in
            for person in people { person.age += 1 }
            try draft.commit()
        }
        #expect(try company.stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.age).sorted() } == [1, 11, 21, 31, 41])
    }

    // MARK: Properties

    @Test(arguments: Backend.allCases)
    func propertiesAreReadAfterTheEndOfALimit(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let check: @Sendable (Context, () -> Void) throws -> Void = { context, waitForTheEnd throws in
            let people = try context.fetchAll(From<Person>().orderBy(.ascending(\.age)).tweak { $0.includesPropertyValues = false })
            let departments = try context.fetchAll(From<Department>().orderBy(.ascending(\.title)))
            waitForTheEnd()
            #expect(people.map(\.age) == [0, 10, 20, 30, 40, 50])
            #expect(people.map { $0.friends.count } == [0, 1, 2, 1, 0, 0])
            #expect(departments.map { $0.people.count } == [3, 1])
            #expect(people.map { $0.department?.title } == ["Research", "Research", "Research", "Sales", nil, nil])
        }
        expectError(.timedOut) {
            try company.stack.performAndWait(timeLimit: .milliseconds(50)) { transaction throws in
                // On a loaded machine the limit can end in the first fetches, which then throw.
                try check(transaction) { Self.waitForTheEnd(of: transaction) }
            }
        }
        expectError(.timedOut) {
            try company.stack.performAndWait(timeLimit: .milliseconds(50)) { transaction throws in
                let child = transaction.beginUnsafe().beginUnsafe()
                try check(child) { Self.waitForTheEnd(of: transaction) }
                // The requests of its parents are still interrupted.
                expectError(.timedOut) { try transaction.fetchAll(From<Person>()) }
                expectError(.timedOut) { try child.fetchAll(From<Person>()) }
            }
        }
        // A property that could not be read would have logged an error.
        #expect(company.logger.lines.isEmpty)
    }

    // MARK: Repetitions

    @Test func noTransactionIsRunAgainAfterItsLimit() async throws {
        let served = try ServedTallies()
        served.stack.groupLimits.backOff.first = .seconds(100_000)
        let runs = Protected(0)
        for isAsync in [true, false] {
            served.fail(.commit, times: 3)
            runs.exchange(0)
            let body: @Sendable (Transaction) throws -> Void = { transaction throws in
                runs.withLock { $0 += 1 }
                try transaction.create(Tally.self).name = "never"
            }
            do {
                if isAsync {
                    try await served.stack.perform(timeLimit: .milliseconds(100), body)
                } else {
                    try served.stack.performAndWait(timeLimit: .milliseconds(100), body)
                }
                Issue.record("it was committed")
            } catch let error as StoreError {
                #expect(error.code == .timedOut && error.recovery == .timedOut)
                // On a loaded machine the limit can end before the first commit.
                #expect(runs.withLock { $0 } <= 1)
            }
            served.server.endFaults()
            #expect(try served.names == [])
        }
    }

    // MARK: Support

    private static func waitForTheEnd(of transaction: Transaction) {
        while (try? transaction.checkCancellation()) != nil { Deadline.pause(milliseconds: 1) }
    }

    private static func expectTimedOut(_ name: String, _ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("\(name) has not timed out")
        } catch {
            #expect((error as? StoreError)?.code == .timedOut, "\(name): \(error)")
        }
    }
}
