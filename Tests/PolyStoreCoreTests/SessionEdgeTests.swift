import Dispatch
import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import PolyStoreQuery
import TestModels
import TestSupport
import Testing

/// Sessions of snapshots that are given back and begin again at awkward moments: beside a commit, over several stores, with one session for all, after failures.
@MainActor
@Suite struct SessionEdgeTests {
    private nonisolated static let byAge = From<Person>().orderBy(.ascending(\.age))

    /// A stack of two servers, each with two people of the ages 0 and 1. The name of a configuration is that of its server.
    @MainActor
    private final class Divided {
        let servers: [SimulatedServer]
        let stack: DataStack
        private let time = Protected<UInt64>(1)

        init(mostSessions: [Int?] = [nil, nil], waitsForSessions: Bool = false, addsSecond: Bool = true) throws {
            let models: [any Model.Type] = [Person.self, Department.self, Project.self]
            servers = mostSessions.map {
                SimulatedServer(hasShortSnapshots: true, mostSessions: $0, waitsForSessions: waitsForSessions)
            }
            stack = try DataStack(Schema("Split", models, configurations: ["A": models, "B": models]), logger: RecordingLogger())
            stack.core.sessions.clock.exchange { [time] in time.withLock { $0 } }
            stack.snapshotIdleTime = .seconds(1000)
            try add("A")
            if addsSecond { try add("B") }
        }

        func add(_ name: String) throws {
            try stack.addStore(.simulatedServer(servers[name == "A" ? 0 : 1]), configuration: name)
            try stack.performAndWait(isolation: nil) { transaction in
                for age in 0...1 {
                    let person = try transaction.create(Into<Person>(name))
                    (person.email, person.age) = ("\(name)\(age)", age)
                }
            }
        }

        func pass(_ seconds: UInt64) {
            time.withLock { $0 += seconds * 1_000_000_000 }
            stack.core.sessions.giveBackIdle()
        }

        /// Adds years to the age of every person of both stores in one transaction.
        func age(_ years: Int) throws {
            try stack.performAndWait(isolation: nil) { transaction in
                for person in try transaction.fetchAll(From<Person>()) { person.age += years }
            }
        }

        static func ages(_ context: Context) throws -> [Int] { try context.fetchAll(byAge).map(\.age) }
    }

    /// Calls a closure after the next snapshot of a backend has begun, and keeps what the snapshots had to show.
    private final class Interposed: StorageBackend {
        final class Hooks: Sendable {
            let afterBegin = Protected<(@Sendable () -> Void)?>(nil)
            let freshness = Protected<[ReadFreshness]>([])
        }

        let inner: any StorageBackend
        let hooks: Hooks
        init(_ inner: any StorageBackend, _ hooks: Hooks) { (self.inner, self.hooks) = (inner, hooks) }

        var capabilities: Capabilities {
            var capabilities = inner.capabilities
            capabilities.features.insert(.shortSnapshots)
            return capabilities
        }
        var metadata: StoreMetadata { inner.metadata }
        func beginRead() throws -> any ReadTransaction { try beginRead(ReadFreshness()) }
        func beginRead(_ freshness: ReadFreshness) throws -> any ReadTransaction {
            hooks.freshness.withLock { $0.append(freshness) }
            let reader = try inner.beginRead()
            hooks.afterBegin.exchange(nil)?()
            return reader
        }
        func beginWrite() throws -> any WriteTransaction { try inner.beginWrite() }
        func close() throws { try inner.close() }
    }

    private static func interposed(_ hooks: Interposed.Hooks) -> StoreConfiguration {
        let inner = StoreConfiguration.inMemory()
        return StoreConfiguration(engine: "interposed", location: inner.location, isShared: false) { request in
            Interposed(
                try inner.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger), hooks)
        }
    }

    // MARK: Commits beside the begin of a session

    /// - Parameter isLarge: Whether the commit is too large for the list of changes, so that the context learns only that there was one.
    @Test(arguments: [false, true], [false, true]) func aCommitBesideTheBeginOfASessionIsShown(isView: Bool, isLarge: Bool) throws {
        let hooks = Interposed.Hooks()
        let stack = try DataStack(companySchema, logger: RecordingLogger())
        stack.snapshotIdleTime = .seconds(100_000)
        try stack.addStore(Self.interposed(hooks))
        let ids = try stack.performAndWait(isolation: nil) { transaction throws in
            try (0...1).map { try transaction.createPerson($0).objectID }
        }
        let context: RefreshableContext = isView ? stack.newView(.manual) : stack.newContext()
        let list = try context.monitorList(Self.byAge)
        #expect(list.map(\.age) == [0, 1])
        try stack.performAndWait(isolation: nil) { try $0.edit(ids[0]).age = 10 }
        // All sessions are given back, and the next one begins before another commit is published.
        stack.snapshotIdleTime = .zero
        stack.snapshotIdleTime = .seconds(100_000)
        hooks.afterBegin.exchange {
            try? stack.performAndWait(isolation: nil) { transaction in
                let person = try transaction.edit(ids[1])
                person.age = 20
                if isLarge { person.nickname = String(repeating: "x", count: 17 << 20) }
            }
        }
        #expect(try context.fetchAll(Self.byAge).map(\.age) == [10, 20])
        #expect(list.map(\.age) == [10, 20])
        try stack.performAndWait(isolation: nil) { try $0.edit(ids[0]).age = 11 }
        try context.refresh()
        #expect(list.map(\.age) == [11, 20])
    }

    // MARK: Several stores

    /// The session of one store is given back, the one of the other is not.
    @Test(arguments: [false, true]) func storesBeginAgainTogether(isObserved: Bool) throws {
        let divided = try Divided(mostSessions: [1, nil])
        let context = divided.stack.newContext()
        #expect(try Divided.ages(context) == [0, 0, 1, 1])
        let list = isObserved ? try context.monitorList(Self.byAge) : nil
        let other = divided.stack.newContext()
        #expect(try Divided.ages(other) == [0, 0, 1, 1])
        #expect(divided.servers.map(\.sessionCount) == [1, 2])
        try divided.age(10)
        // The other context keeps its snapshots, and this one moves as a whole.
        #expect(try Divided.ages(other) == [0, 0, 1, 1])
        #expect(try Divided.ages(context) == [10, 10, 11, 11])
        if let list { #expect(list.map(\.age) == [10, 10, 11, 11]) }
        #expect(try Divided.ages(other) == [10, 10, 11, 11])
        #expect(divided.servers[0].greatestSessionCount == 1)
    }

    @Test func aStoreThatIsAddedDoesNotReleaseSessionsOfOthers() throws {
        let divided = try Divided(addsSecond: false)
        let context = divided.stack.newContext()
        #expect(try Divided.ages(context) == [0, 1])
        divided.pass(3600)
        #expect(divided.servers[0].sessionCount == 0)
        try divided.add("B")
        try context.refresh()
        divided.servers[0].resetCounts()
        divided.servers[0].killSessions()
        divided.servers[0].fail(.beginRead, at: 1, with: .refused)
        // The connection is lost, and then the session cannot begin.
        for _ in 1...2 { expectError(.io) { try Divided.ages(context) } }
        // What keeps a session still keeps it.
        var batches = 0
        try context.fetchInBatches(Self.byAge, size: 1) { (_: [Person]) throws in
            batches += 1
            divided.pass(3600)
            #expect(divided.servers.map(\.sessionCount) == [1, 1])
            #expect(try context.fetchCount(From<Person>()) == 4)
        }
        #expect(batches == 4)
        divided.pass(3600)
        #expect(divided.servers.map(\.sessionCount) == [0, 0])
    }

    @Test(arguments: [0, 1]) func aSessionThatCannotBeginKeepsNoOther(_ failing: Int) throws {
        let divided = try Divided()
        let context = divided.stack.newContext()
        let list = try context.monitorList(Self.byAge)
        divided.pass(3600)
        try divided.age(10)
        divided.servers[failing].resetCounts()
        divided.servers[failing].fail(.beginRead, at: 1, with: .refused)
        expectError(.io) { try Divided.ages(context) }
        divided.pass(3600)
        #expect(divided.servers.map(\.sessionCount) == [0, 0])
        #expect(try Divided.ages(context) == [10, 10, 11, 11])
        #expect(list.map(\.age) == [10, 10, 11, 11])
    }

    @Test func aStoreThatWasRemovedLeavesTheOthersReadable() async throws {
        let divided = try Divided()
        let context = divided.stack.newContext()
        let people = try context.fetchAll(From<Person>("B").orderBy(.ascending(\.age)))
        divided.pass(3600)
        try await divided.stack.removeStore(divided.stack.stores[0])
        #expect(people.map(\.age) == [0, 1])
        #expect(try context.fetchAll(From<Person>("B")).count == 2)
        try context.refresh()
        #expect(try Divided.ages(context) == [0, 1])
    }

    @Test func aContextWithASnapshotOfALocalStoreIsListed() throws {
        let divided = try Divided(addsSecond: false)
        let context = divided.stack.newContext()
        #expect(try Divided.ages(context) == [0, 1])
        divided.pass(3600)
        #expect(divided.stack.openSnapshots.isEmpty)
        try divided.stack.addStore(.inMemory(), configuration: "B")
        try context.refresh()
        #expect(try Divided.ages(context) == [0, 1])
        divided.pass(3600)
        #expect(divided.servers[0].sessionCount == 0)
        #expect(divided.stack.openSnapshots.count == 1)
    }

    /// Contexts of two threads over the same two stores, whose sessions begin again one by one.
    @Test func contextsOfTwoThreadsDoNotWaitForEachOther() throws {
        let divided = try Divided(mostSessions: [1, 1], waitsForSessions: true)
        divided.stack.groupLimits.backOff.first = .zero
        let stack = divided.stack
        let problems = Protected<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 3) { thread in
            if thread == 2 {
                for round in 0..<100 {
                    let name = ["A", "B"][round % 2]
                    try? stack.performAndWait(isolation: nil) { transaction in
                        for person in try transaction.fetchAll(From<Person>(name)) { person.nickname = "\(round)" }
                    }
                }
                return
            }
            let context = stack.newContext()
            for round in 0..<100 {
                do {
                    if try context.fetchCount(From<Person>()) != 4 { problems.withLock { $0.append("\(round): not 4") } }
                    if round % 7 == 0 { try context.refresh() }
                } catch { problems.withLock { $0.append("\(round): \(error)") } }
            }
        }
        #expect(problems.withLock { $0 } == [])
    }

    // MARK: Reads that fail

    /// A read throws the error of its sessions. It does not move the context when it has looked at objects.
    @Test func aReadThatHasBegunDoesNotMoveTheContext() throws {
        let served = try ServedCompany()
        let context = served.stack.newContext()
        let first = try #require(try context.fetchExisting(served.ids[0]))
        #expect(first.age == 0)
        try served.age(0, 10)
        served.pass(3600)
        served.server.resetCounts()
        served.server.fail(.beginRead, at: 1, with: .refused)
        expectError(.io) { try context.fetchExisting(served.ids) }
        #expect(try context.fetchExisting(served.ids).map(\.age) == [10, 1, 2])
    }

    @Test func aPropertyIsReadAgainAfterItsSessionWasLost() throws {
        let served = try ServedCompany()
        let context = served.stack.newContext()
        let people = try context.fetchAll(Self.byAge)
        try served.age(1, 20)
        try context.refresh()
        served.server.killSessions()
        // The value of before is all that is known.
        #expect(people[1].age == 1)
        #expect(people[1].age == 20)
    }

    // MARK: One session for all

    @Test func aSessionThatAnotherOneWaitsForIsGivenBackAtOnce() throws {
        let served = try ServedCompany(mostSessions: 1, waitsForSessions: true)
        let context = served.stack.newContext()
        let found = Protected<Int?>(nil)
        try context.fetchInBatches(Self.byAge, size: 10) { [stack = served.stack, server = served.server] _ in
            DispatchQueue.global().async {
                let count = try? stack.readAndWait { try $0.fetchCount(From<Person>()) }
                found.signal { $0 = count ?? -1 }
            }
            while server.waitingSessionCount == 0 { Deadline.pause(milliseconds: 1) }
        }
        #expect(found.wait(until: { $0 != nil }, { $0 }) == 3)
        #expect(served.server.greatestSessionCount == 1)
    }

    @Test func oneSessionIsEnoughForARefreshWithinAnIteration() throws {
        let served = try ServedCompany(mostSessions: 1, waitsForSessions: true)
        let context = served.stack.newContext()
        var ages: [Int] = []
        try context.fetchInBatches(Self.byAge, size: 1) { people in
            ages += people.map(\.age)
            if ages.count == 1 { try served.age(2, 20) }
            try context.refresh()
        }
        #expect(ages == [0, 1, 20])
        #expect(served.server.greatestSessionCount == 1)
    }

    @Test func oneSessionIsEnoughForAMonitorWithinAnIteration() throws {
        let served = try ServedCompany(mostSessions: 1, waitsForSessions: true)
        let context = served.stack.newContext()
        var lists: [ListMonitor<Person>] = []
        try context.fetchInBatches(Self.byAge, size: 1) { people in
            try served.age(0, 0)
            lists.append(try context.monitorList(Self.byAge))
        }
        try served.age(0, 10)
        try context.refresh()
        for list in lists { #expect(list.map(\.age) == [1, 2, 10]) }
    }

    /// The commit is published while the reader that waits for it keeps the only session.
    @Test(arguments: [false, true]) func oneSessionIsEnoughForACommitWithinAnIteration(isManual: Bool) async throws {
        let served = try ServedCompany(mostSessions: 1, waitsForSessions: true)
        let view = served.stack.newView(isManual ? .manual : .automatic)
        let list = try view.monitorList(Self.byAge)
        let id = served.ids[0]
        var count = 0
        try view.fetchInBatches(Self.byAge, size: 1) { [stack = served.stack] _ in
            count += 1
            try stack.performAndWait { [count] in try $0.edit(id).age = 10 * count }
        }
        #expect(count == 3)
        try view.refresh()
        #expect(list.map(\.age) == [1, 2, 30])
    }

    @Test func oneSessionIsEnoughForObserversOfAContext() throws {
        let served = try ServedCompany(mostSessions: 1, waitsForSessions: true)
        let contexts = (0..<3).map { _ in served.stack.newContext() }
        let lists = try contexts.map { try $0.monitorList(Self.byAge) }
        for round in 1...3 {
            try served.age(0, 10 * round)
            for (context, list) in zip(contexts, lists) {
                try context.refresh()
                #expect(list.map(\.age) == [1, 2, 10 * round])
            }
        }
        #expect(served.server.greatestSessionCount == 1)
    }

    // MARK: Accesses that keep no session

    @Test func aLazyListKeepsNoSession() throws {
        let served = try ServedCompany()
        let context = served.stack.newContext()
        let people = try context.fetchLazily(Self.byAge, batchSize: 1)
        served.pass(3600)
        #expect(served.server.sessionCount == 0)
        #expect(people[1].age == 1)
        served.pass(3600)
        #expect(served.server.sessionCount == 0)
    }

    // MARK: Versions

    /// Another process commits between two reads. A replica must not show less afterwards.
    @Test func theVersionOfAReadBoundsLaterSnapshots() throws {
        let hooks = Interposed.Hooks()
        let schema = try ResolvedSchema(companySchema.description(of: [Person.self, Department.self, Project.self]))
        let backend = try Self.interposed(hooks).open(schema: schema, configurationName: nil, logger: SilentLogger())
        let sessions = SnapshotSessions()
        let served = backend.readingAhead(sessions: sessions)
        let entity = try #require(schema.entity(named: "Person"))
        for number in 1...3 {
            let writer = try backend.beginWrite()
            let changes = ChangeSet(schema)
            try changes.setValue([UInt8(number)], named: "number")
            try writer.apply(changes)
            let version = try writer.commit(.full)
            let reader = try served.beginRead()
            #expect(try reader.count(FetchRequest(entity)) == 0)
            reader.end()
            try served.beginRead().end()
            #expect(hooks.freshness.withLock { $0.last?.notBefore } == version, "\(number)")
        }
        #expect(sessions.openCount == 0)
    }
}
