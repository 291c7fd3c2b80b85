import PolyStoreBackend
import PolyStoreCore
import PolyStoreQuery
import TestModels
import TestSupport
import Testing

/// Views and contexts on a server whose snapshots must not be kept open for long.
@MainActor
@Suite struct SessionTests {
    private nonisolated static let byAge = From<Person>().orderBy(.ascending(\.age))

    private final class Calls: ListObserver, ObjectObserver {
        var changes = 0
        var updates = 0
        var deletions = 0
        var body: (ListMonitor<Person>) -> Void = { _ in }
        func listMonitorDidChange(_ monitor: ListMonitor<Person>) {
            changes += 1
            body(monitor)
        }
        func objectMonitor(_ monitor: ObjectMonitor<Person>, didUpdateObject object: Person, changedKeys: Set<String>) { updates += 1 }
        func objectMonitor(_ monitor: ObjectMonitor<Person>, didDeleteObject object: Person) { deletions += 1 }
    }

    // MARK: Idle time

    @Test func aViewLeftIdleForAnHourPinsNothing() throws {
        let served = try ServedCompany()
        let view = served.stack.view
        #expect(try view.fetchCount(From<Person>()) == 3)
        served.pass(999)
        #expect(served.server.sessionCount == 1)
        #expect(served.stack.openSnapshots.count == 1)
        // Reading it begins the time again.
        #expect(try view.fetchCount(From<Person>()) == 3)
        served.pass(999)
        #expect(served.server.sessionCount == 1)
        served.pass(3600)
        #expect(served.server.sessionCount == 0)
        #expect(served.stack.openSnapshots.isEmpty)
        #expect(try view.fetchCount(From<Person>()) == 3)
        #expect(served.server.sessionCount == 1)
        #expect(served.stack.openSnapshots.count == 1)
    }

    @Test func theIdleTimeIsAnOption() throws {
        let served = try ServedCompany()
        #expect(try DataStack(companySchema).snapshotIdleTime == .seconds(10))
        served.stack.snapshotIdleTime = .seconds(2000)
        #expect(served.stack.snapshotIdleTime == .seconds(2000))
        let context = served.stack.newContext()
        #expect(try context.fetchCount(From<Person>()) == 3)
        served.pass(1999)
        #expect(served.server.sessionCount == 1)
        served.pass(1)
        #expect(served.server.sessionCount == 0)
    }

    @Test func otherStoresKeepTheirSnapshots() throws {
        let served = try ServedCompany(isShort: false)
        served.stack.snapshotIdleTime = .zero
        let view = served.stack.view
        #expect(try view.fetchCount(From<Person>()) == 3)
        served.pass(3600)
        #expect(served.stack.core.sessions.openCount == 0)
        #expect(served.server.sessionCount == 1)
        #expect(served.stack.openSnapshots.count == 1)
    }

    @Test func objectsStayAsTheyAreIfNothingWasCommitted() throws {
        let served = try ServedCompany()
        let context = served.stack.newContext()
        let people = try context.fetchAll(Self.byAge)
        let (list, monitor, calls) = (try context.monitorList(Self.byAge), try context.monitorObject(people[0]), Calls())
        list.addObserver(calls)
        monitor.addObserver(calls)
        served.pass(3600)
        #expect(served.server.sessionCount == 0)
        let version = context.version(of: try #require(served.stack.stores.first))
        #expect(try context.fetchAll(Self.byAge).map(ObjectIdentifier.init) == people.map(ObjectIdentifier.init))
        let calls2 = served.server.calls { #expect(people.map(\.age) == [0, 1, 2]) }
        #expect(calls2.isEmpty)
        #expect(context.version(of: try #require(served.stack.stores.first)) == version)
        #expect((calls.changes, calls.updates) == (0, 0))
    }

    @Test(arguments: [false, true]) func theNextAccessMovesTheContextAsAWhole(isView: Bool) throws {
        let served = try ServedCompany()
        let context: RefreshableContext = isView ? served.stack.newView(.manual) : served.stack.newContext()
        let people = try context.fetchAll(Self.byAge)
        let department = try #require(try context.fetchOne(From<Department>()))
        #expect(department.people.count == 3)
        let (list, monitor, calls) = (try context.monitorList(Self.byAge), try context.monitorObject(people[0]), Calls())
        list.addObserver(calls)
        monitor.addObserver(calls)
        try served.age(0, 10)
        try served.delete(1)
        // The snapshot is still the one of before.
        #expect(try context.fetchAll(Self.byAge).map(\.age) == [0, 1, 2])
        served.pass(3600)
        #expect(try context.fetchCount(From<Person>()) == 2)
        #expect(people.map(\.age)[0] == 10)
        #expect(people.map(\.isDeleted) == [false, true, false])
        #expect(people[1].age == 1)
        #expect(department.people == [people[0], people[2]])
        #expect(list.map(\.age) == [2, 10])
        #expect((calls.changes, calls.updates, calls.deletions) == (1, 1, 0))
    }

    /// An access cannot throw. A fault that was deleted meanwhile is as after a commit.
    @Test func aFaultThatWasDeletedIsDeleted() throws {
        let served = try ServedCompany()
        let context = served.stack.newContext()
        let people = try context.fetchAll(Self.byAge)
        try context.refresh()
        try served.delete(0)
        served.pass(3600)
        #expect(people[0].email.isEmpty || people[0].isDeleted)
        #expect(people[0].isDeleted)
        #expect(people[1].age == 1)
    }

    @Test func aToManyRelationshipIsReadAgain() throws {
        let served = try ServedCompany()
        let view = served.stack.newView(.manual)
        let department = try #require(try view.fetchOne(From<Department>()))
        #expect(department.people.count == 3)
        try served.delete(0)
        served.pass(3600)
        #expect(department.people.map(\.age).sorted() == [1, 2])
        try served.delete(1)
        #expect(department.people.count == 2)
        served.pass(3600)
        #expect(department.people.map(\.age) == [2])
    }

    @Test func anAutomaticViewFollowsCommitsWithoutASession() async throws {
        let served = try ServedCompany()
        let view = served.stack.view
        let (list, calls) = (try view.monitorList(Self.byAge), Calls())
        list.addObserver(calls)
        served.pass(3600)
        #expect(served.server.sessionCount == 0)
        let id = served.ids[0]
        try await served.stack.perform { try $0.edit(id).age = 10 }
        #expect(list.map(\.age) == [1, 2, 10])
        #expect(calls.changes == 1)
        served.pass(3600)
        #expect(served.server.sessionCount == 0)
        #expect(list.map(\.age) == [1, 2, 10])
    }

    // MARK: Reads in progress

    @Test func callbacksReadOneVersion() throws {
        let served = try ServedCompany()
        let context = served.stack.newContext()
        let (list, calls) = (try context.monitorList(Self.byAge), Calls())
        list.addObserver(calls)
        var seen: [[Int]] = []
        calls.body = { monitor in
            served.stack.snapshotIdleTime = .zero
            if seen.isEmpty { #expect(throws: Never.self) { try served.age(1, 20) } }
            seen.append((try? context.fetchAll(Self.byAge).map(\.age)) ?? [])
            #expect(monitor.map(\.age) == seen.last)
        }
        try served.age(0, 10)
        try context.refresh()
        #expect(seen == [[1, 2, 10]])
        #expect(served.server.sessionCount == 0)
        #expect(try context.fetchAll(Self.byAge).map(\.age) == [2, 10, 20])
        #expect(seen == [[1, 2, 10], [2, 10, 20]])
    }

    @Test func anIterationReadsOneVersion() throws {
        let served = try ServedCompany(5)
        let context = served.stack.newContext()
        served.stack.snapshotIdleTime = .zero
        var ages: [Int] = []
        try context.fetchInBatches(Self.byAge, size: 2) { people in
            try served.age(0, 100 + ages.count)
            ages += people.map(\.age)
            #expect(try context.fetchCount(From<Person>().where(\.age < 100)) == 5)
        }
        #expect(ages == [0, 1, 2, 3, 4])
        #expect(served.server.sessionCount == 0)
        #expect(try context.fetchCount(From<Person>().where(\.age < 100)) == 4)
    }

    @Test func aReadKeepsItsSnapshot() throws {
        let served = try ServedCompany()
        served.stack.snapshotIdleTime = .zero
        let ids = served.ids
        try served.stack.readAndWait { [stack = served.stack] context in
            #expect(try context.fetchCount(From<Person>()) == 3)
            try stack.performAndWait(isolation: nil) { try $0.delete(ids[0]) }
            stack.core.sessions.giveBackIdle()
            #expect(try context.fetchCount(From<Person>()) == 3)
        }
        #expect(served.server.sessionCount == 0)
    }

    @Test func anUnqueuedTransactionKeepsItsSnapshot() throws {
        let served = try ServedCompany()
        let transaction = served.stack.beginUnsafe()
        #expect(try transaction.fetchCount(From<Person>()) == 3)
        try served.delete(0)
        served.pass(3600)
        #expect(try transaction.fetchCount(From<Person>()) == 3)
        #expect(served.stack.openSnapshots.map(\.kind) == ["unsafe transaction"])
    }

    // MARK: The limit

    @Test func aThousandListsHoldNoMoreSessionsThanTheLimit() async throws {
        let served = try ServedCompany(8, mostSessions: 8)
        var lists: [(context: RefreshableContext, list: ListMonitor<Person>)] = []
        for number in 0..<1000 {
            let context: RefreshableContext =
                switch number % 3 {
                case 0: served.stack.newView()
                case 1: served.stack.newView(.manual)
                default: served.stack.newContext()
                }
            lists.append((context, try context.monitorList(Self.byAge.where(\.age >= number % 8))))
        }
        #expect(served.server.sessionCount <= 8)
        for round in 1...2 {
            let id = served.ids[0]
            try await served.stack.perform { try $0.edit(id).age = 10 * round }
            for (number, (context, list)) in lists.enumerated() {
                if !(context is ViewContext) || (context as? ViewContext)?.refreshing == .manual { try context.refresh() }
                #expect(list.map(\.age) == Array(max(1, number % 8)..<8) + [10 * round], "\(number)")
            }
        }
        #expect(served.server.greatestSessionCount <= 8)
        #expect(served.server.faultCount == 0)
        #expect(served.logger.lines.isEmpty)
    }

    @Test func theLeastRecentlyUsedSessionIsGivenBack() throws {
        let served = try ServedCompany(mostSessions: 2)
        let contexts = (0..<3).map { _ in served.stack.newContext() }
        for context in contexts[0...1] { _ = try context.fetchCount(From<Person>()) }
        _ = try contexts[0].fetchCount(From<Person>())
        try served.age(0, 10)
        _ = try contexts[2].fetchCount(From<Person>())
        // The first one shows its version of before, and the second one has to begin again.
        #expect(try contexts[0].fetchCount(From<Person>().where(\.age == 10)) == 0)
        #expect(try contexts[1].fetchCount(From<Person>().where(\.age == 10)) == 1)
        #expect(served.server.greatestSessionCount <= 2)
    }

    @Test func aServerWhoseSessionsAreInUseRefusesAnother() throws {
        let served = try ServedCompany(mostSessions: 1)
        let transaction = served.stack.beginUnsafe()
        #expect(try transaction.fetchCount(From<Person>()) == 3)
        expectError(.busy) { try served.stack.newContext().fetchCount(From<Person>()) }
    }

    // MARK: Lost connections

    @Test func aContextReplacesALostSessionAtTheNextAccess() throws {
        let served = try ServedCompany()
        let view = served.stack.view
        let people = try view.fetchAll(Self.byAge)
        served.server.killSessions()
        let error = #expect(throws: StoreError.self) { try view.fetchCount(From<Person>()) }
        #expect(error?.recovery == .connectionLost)
        #expect(try view.fetchCount(From<Person>()) == 3)
        #expect(try view.fetchAll(Self.byAge).map(ObjectIdentifier.init) == people.map(ObjectIdentifier.init))
        served.server.killSessions()
        try view.refresh()
        #expect(try view.fetchCount(From<Person>()) == 3)
        #expect(people.map(\.age) == [0, 1, 2])
    }

    @Test(arguments: [false, true]) func aCommitMovesAViewWhoseSessionWasLost(isShort: Bool) async throws {
        let served = try ServedCompany(isShort: isShort)
        let view = served.stack.view
        let (list, calls) = (try view.monitorList(Self.byAge), Calls())
        list.addObserver(calls)
        served.server.killSessions()
        let id = served.ids[0]
        try await served.stack.perform { try $0.edit(id).age = 10 }
        #expect(list.map(\.age) == [1, 2, 10])
        #expect(calls.changes == 1)
    }

    /// Also on a server without the feature, where only a refresh replaces the snapshot.
    @Test(arguments: [false, true]) func refreshReplacesALostSession(isShort: Bool) throws {
        let served = try ServedCompany(isShort: isShort)
        let context = served.stack.newContext()
        let people = try context.fetchAll(Self.byAge)
        let list = try context.monitorList(Self.byAge)
        served.server.killSessions()
        try served.age(0, 10)
        try context.refresh()
        #expect(list.map(\.age) == [1, 2, 10])
        #expect(people[0].age == 10)
        #expect(served.server.sessionCount == 1)
    }

    // MARK: Reads that are run again

    private final class Runs: Sendable {
        private let value = Protected(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }

    private nonisolated static func counting(_ runs: Runs) -> @Sendable (SnapshotContext) throws -> Int {
        { context in
            runs.add()
            return try context.fetchAll(From<Person>()).count
        }
    }

    @Test(arguments: [SimulatedServer.Fault.connectionLost(isExecuted: false), .connectionLost(isExecuted: true), .notSerializable])
    func aReadIsRunAgain(_ fault: SimulatedServer.Fault) async throws {
        let served = try ServedCompany()
        let runs = Runs()
        for number in 1...2 { served.server.fail(.scan, at: number, with: fault) }
        #expect(try served.stack.readAndWait(Self.counting(runs)) == 3)
        #expect(runs.count == 3)
        served.server.resetCounts()
        served.server.fail(.scan, at: 1, with: fault)
        #expect(try await served.stack.read(Self.counting(runs)) == 3)
        #expect(runs.count == 5)
        #expect(served.server.sessionCount == 0)
    }

    @Test func aReadIsRunAgainFiveTimes() throws {
        let served = try ServedCompany()
        let runs = Runs()
        for number in 1...6 { served.server.fail(.scan, at: number, with: .connectionLost(isExecuted: false)) }
        expectError(.io) { try served.stack.readAndWait(Self.counting(runs)) }
        #expect(runs.count == 6)
    }

    @Test func aReadThatFailsOtherwiseIsNotRunAgain() throws {
        let served = try ServedCompany()
        let runs = Runs()
        served.server.fail(.scan, at: 1, with: .refused)
        expectError(.io) { try served.stack.readAndWait(Self.counting(runs)) }
        served.server.resetCounts()
        served.server.fail(.scan, at: 1, with: .connectionLost(isExecuted: false))
        let caught = try served.stack.readAndWait { context in
            runs.add()
            do { return try context.fetchAll(From<Person>()).count } catch { return -1 }
        }
        #expect(caught == -1)
        #expect(runs.count == 2)
    }

    // MARK: Versions

    @Test func theVersionComesWithTheFirstRead() throws {
        let served = try ServedCompany()
        let store = try #require(served.stack.stores.first)
        let versions = try served.stack.readAndWait { context in
            _ = try context.fetchCount(From<Person>())
            return context.version(of: store)
        }
        #expect(versions == 1)
        #expect(served.server.counts[.version] == nil)
        // A snapshot that was not read is asked.
        let reader = try store.backendForTests.beginRead()
        #expect(try reader.version == 1)
        reader.end()
        #expect(served.server.counts[.version] == 1)
    }

    @Test func readersAreNotOlderThanWhatTheStackHasSeen() throws {
        let server = SimulatedServer(hasShortSnapshots: true)
        let stack = try DataStack(companySchema, logger: RecordingLogger())
        var configuration = StoreConfiguration.simulatedServer(server)
        configuration.maximumStaleness = .seconds(5)
        let store = try stack.addStore(configuration)
        #expect(server.lastNotBefore == nil)
        for number in 1...3 {
            try stack.performAndWait { _ = try $0.createPerson(number) }
            let version = try stack.readAndWait { context in
                _ = try context.fetchCount(From<Person>())
                return context.version(of: store)
            }
            #expect(version == UInt64(number))
            #expect(server.lastNotBefore == UInt64(number))
            #expect(server.lastMaximumStaleness == .seconds(5))
        }
    }
}
