import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// The simulated server of the tests: its counts, its faults, and what the object layer makes of them.
@Suite struct SimulatedServerTests {
    private struct Served {
        let server: SimulatedServer
        let stack: DataStack
        let logger = RecordingLogger()

        init(_ server: SimulatedServer = SimulatedServer()) throws {
            self.server = server
            stack = try DataStack(companySchema, logger: logger)
            stack.snapshotWarningAge = .seconds(100_000)
            try stack.addStore(.simulatedServer(server))
        }

        @Sendable static func creating(_ number: Int) -> @Sendable (Transaction) throws -> Void { { _ = try $0.createPerson(number) } }

        var ages: [Int] {
            get throws { try stack.readAndWait { try $0.fetchAll(From<Person>().orderBy(.ascending(\.age))).map(\.age) } }
        }
    }

    @Test func aScanIsOneCallForEachBatchOfRows() throws {
        let served = try Served(SimulatedServer(batchSize: 100))
        try served.stack.performAndWait { transaction throws in for number in 0..<250 { _ = try transaction.createPerson(number) } }
        var count = 0
        let calls = try served.server.calls { count = try served.ages.count }
        #expect(count == 250)
        #expect(calls[.scan] == 1)
        #expect(calls[.fetch] == 2)
    }

    @Test func resultsDoNotDependOnWhatTheServerEvaluates() throws {
        for pushesDown in [true, false] {
            let served = try Served(SimulatedServer(batchSize: 3, pushesDown: pushesDown))
            try served.stack.performAndWait { transaction throws in for number in 0..<10 { _ = try transaction.createPerson(number) } }
            let found = try served.stack.readAndWait { context in
                try context.fetchAll(From<Person>().where(\.age > 3).orderBy(.descending(\.age)).limit(3)).map(\.age)
            }
            #expect(found == [9, 8, 7])
            #expect(try served.stack.readAndWait { try $0.fetchCount(From<Person>().where(\.age > 3)) } == 6)
        }
    }

    @Test func delayedCallsHaveTheSameResults() throws {
        let served = try Served()
        served.server.delay(by: .microseconds(10))
        try served.stack.performAndWait(Served.creating(1))
        #expect(try served.ages == [1])
    }

    @Test(arguments: [
        (SimulatedServer.Fault.refused, StoreError.Code.io), (.timeout, .busy), (.connectionLost(isExecuted: false), .io),
    ])
    func aCallThatFailsChangesNothing(_ fault: SimulatedServer.Fault, _ code: StoreError.Code) throws {
        for call in [SimulatedServer.Call.beginWrite, .commit] {
            let served = try Served()
            try served.stack.performAndWait(Served.creating(1))
            served.server.resetCounts()
            served.server.fail(call, at: 1, with: fault)
            expectError(code) { try served.stack.performAndWait(Served.creating(2)) }
            #expect(served.server.faultCount == 1)
            #expect(try served.ages == [1], "\(call)")
            try served.stack.performAndWait(Served.creating(3))
            #expect(try served.ages == [1, 3], "\(call)")
        }
    }

    @Test func aCommitWhoseResponseIsLostIsStored() throws {
        let served = try Served()
        served.server.fail(.commit, at: 1, with: .connectionLost(isExecuted: true))
        expectError(.io) { try served.stack.performAndWait(Served.creating(1)) }
        #expect(try served.ages == [1])
    }

    @Test func aLostConnectionRefusesEveryFurtherCall() throws {
        let server = SimulatedServer()
        let schema = try ResolvedSchema(SchemaDescription(name: "Notes", entities: [EntityDescription(name: "Note", properties: [])]))
        let store = try StoreConfiguration.simulatedServer(server).open(schema: schema, configurationName: nil, logger: RecordingLogger())
        let reader = try store.beginRead()
        server.fail(.count, at: 1, with: .connectionLost(isExecuted: false))
        for _ in 0..<2 { expectError(.io) { try reader.count(FetchRequest(schema.entities[0])) } }
        reader.end()
        expectError(.closed) { try reader.count(FetchRequest(schema.entities[0])) }
        #expect(server.counts[.end] == nil)
        let next = try store.beginRead()
        #expect(try next.count(FetchRequest(schema.entities[0])) == 0)
        next.end()
    }

    /// Every acknowledged transaction is stored, and every one that failed before its commit was executed is not.
    @Test func equalSeedsGiveEqualFaults() throws {
        func run(_ seed: UInt64) throws -> (failed: [Int], stored: [Int]) {
            let served = try Served()
            served.server.fail(
                percentage: 20, of: [.beginWrite, .apply, .commit, .reserveIDs], seed: seed,
                with: [.refused, .timeout, .connectionLost(isExecuted: false)])
            var failed: [Int] = []
            for number in 0..<40 {
                do { try served.stack.performAndWait(Served.creating(number)) } catch is StoreError { failed.append(number) }
            }
            served.server.endFaults()
            return (failed, try served.ages)
        }
        var outcomes: Set<[Int]> = []
        for seed in 1...4 as ClosedRange<UInt64> {
            let (failed, stored) = try run(seed)
            #expect(!failed.isEmpty && !stored.isEmpty, "seed \(seed)")
            #expect((failed + stored).sorted() == Array(0..<40), "seed \(seed)")
            #expect(try run(seed).failed == failed, "seed \(seed)")
            outcomes.insert(failed)
        }
        #expect(outcomes.count > 1)
    }
}

/// Members that are read ahead from a server, for the objects after the one whose members are needed.
@Suite struct MembersReadAheadTests {
    private static let schema = Schema("Ahead", Person.self, Department.self, Project.self, Playlist.self, Track.self, MusicTag.self)

    private static func stack(_ store: StoreConfiguration) throws -> DataStack {
        let stack = try DataStack(schema)
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(store)
        return stack
    }

    /// Creates ten people in a circle of friends, in two departments, and ten playlists with three tracks each.
    @Sendable private static func create(_ transaction: Transaction) throws {
        let departments = try (0..<10).map { number in
            let department = try transaction.create(Department.self)
            department.title = "d\(number)"
            return department
        }
        let people = try (0..<10).map { try transaction.createPerson($0) }
        for (number, person) in people.enumerated() {
            person.department = departments[number / 2]
            person.friends.insert(people[(number + 1) % 10])
            let playlist = try transaction.create(Playlist.self)
            playlist.title = "\(number)"
            playlist.tracks = try (0..<3).map { position in
                let track = try transaction.create(Track.self)
                track.title = "\(number)-\(position)"
                return track
            }
        }
    }

    /// Changes relationships from both sides while the members of other objects are read.
    @Sendable private static func change(_ transaction: Transaction) throws -> [String] {
        let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.age)))
        let departments = try transaction.fetchAll(From<Department>().orderBy(.ascending(\.title)))
        let playlists = try transaction.fetchAll(From<Playlist>().orderBy(.ascending(\.title)))
        var found: [String] = []
        func show() {
            found.append("\(departments.map { $0.people.map(\.age).sorted() })")
            found.append("\(people.filter { !$0.isDeleted }.map { $0.friends.map(\.age).sorted() })")
            found.append("\(playlists.map { $0.tracks.map(\.title) })")
        }
        // Pending changes before the members are read.
        people[9].department = departments[1]
        people[8].friends.insert(people[5])
        playlists[7].tracks.append(playlists[6].tracks[0])
        for (number, department) in departments.enumerated() {
            let new = try transaction.createPerson(100 + number)
            department.people.insert(new)
            // The objects after this one are read already.
            people[number].department = departments[(number + 3) % 10]
            if number == 4 { try transaction.delete(people[2]) }
        }
        for number in 0..<10 where number != 2 {
            people[number].friends.insert(people[(number + 4) % 10 == 2 ? 3 : (number + 4) % 10])
            people[number].friends.remove(people[(number + 1) % 10 == 2 ? 4 : (number + 1) % 10])
            playlists[number].tracks.insert(try transaction.create(Track.self), at: 1)
            playlists[number].tracks.append(playlists[(number + 1) % 10].tracks[0])
        }
        show()
        return found
    }

    @Test func resultsAreThoseOfAStoreInTheProcess() throws {
        var results: [[String]] = []
        for store in [StoreConfiguration.inMemory(), .simulatedServer(SimulatedServer(batchSize: 4))] {
            let stack = try Self.stack(store)
            try stack.performAndWait { try Self.create($0) }
            let first = try stack.performAndWait { try Self.change($0) }
            let stored = try stack.readAndWait { context in
                [
                    "\(try context.fetchAll(From<Department>().orderBy(.ascending(\.title))).map { $0.people.map(\.age).sorted() })",
                    "\(try context.fetchAll(From<Person>().orderBy(.ascending(\.age))).map { $0.friends.map(\.age).sorted() })",
                    "\(try context.fetchAll(From<Playlist>().orderBy(.ascending(\.title))).map { $0.tracks.map(\.title) })",
                ]
            }
            results.append(first + stored)
        }
        #expect(results[0] == results[1])
    }

    @Test func aSecondObjectReadsTheMembersOfTheOthers() throws {
        let server = SimulatedServer()
        let stack = try Self.stack(.simulatedServer(server))
        try stack.performAndWait { try Self.create($0) }
        try stack.readAndWait { context in
            let departments = try context.fetchAll(From<Department>().orderBy(.ascending(\.title)))
            let (first, second, others) = (
                server.calls { _ = departments[0].people.count }, server.calls { _ = departments[1].people.count },
                server.calls { for department in departments.dropFirst() { _ = department.people.map(\.age) } }
            )
            #expect(first == [.scan: 1])
            #expect(second == [.scan: 1])
            #expect(others == [:])
        }
    }

    /// - Parameter prefix: What the emails of the people begin with.
    private static func createDepartment(_ number: Int, people: Int, prefix: String = "", _ transaction: Transaction) throws {
        let department = try transaction.create(Department.self)
        department.title = String(format: "%03d", number)
        department.people = Set(
            try (0..<people).map { index in
                let person = try transaction.create(Person.self)
                person.email = "\(prefix)\(number) \(index)"
                return person
            })
    }

    /// An empty list says nothing about the others: a read ends after the lists that hold many members.
    @Test func longListsBehindEmptyOnesEndARead() throws {
        let server = SimulatedServer(batchSize: 100_000)
        let stack = try Self.stack(.simulatedServer(server))
        try stack.performAndWait { transaction throws in
            for number in 0..<700 { try Self.createDepartment(number, people: number > 400 && number % 10 == 0 ? 2000 : 0, transaction) }
        }
        try stack.readAndWait { context in
            let departments = try context.fetchAll(From<Department>().orderBy(.ascending(\.title)))
            let calls = server.calls { for department in departments { #expect([0, 2000].contains(department.people.count)) } }
            #expect(calls[.related] ?? 0 <= 8, "\(calls)")
        }
    }

    /// The rows of members that are read unasked take at most 8 MiB. The others are read with their lists.
    @Test func longMembersAreReadInParts() throws {
        let server = SimulatedServer(batchSize: 100_000)
        let stack = try Self.stack(.simulatedServer(server))
        let text = String(repeating: "x", count: 40_000)
        try stack.performAndWait { transaction throws in
            for number in 0..<80 { try Self.createDepartment(number, people: 4, prefix: text, transaction) }
        }
        try stack.readAndWait { context in
            let departments = try context.fetchAll(From<Department>().orderBy(.ascending(\.title)))
            let calls = server.calls {
                for (number, department) in departments.enumerated() {
                    #expect(Set(department.people.map(\.email)) == Set((0..<4).map { "\(text)\(number) \($0)" }))
                }
            }
            #expect(calls.values.reduce(0, +) < 40, "\(calls)")
        }
    }

    /// The rows of many members are not read without being asked for, and long lists make the next reads smaller.
    @Test func longListsAreReadAheadWithoutTheirRows() throws {
        let server = SimulatedServer(batchSize: 100_000)
        let stack = try Self.stack(.simulatedServer(server))
        try stack.performAndWait { transaction throws in
            for _ in 0..<4 {
                let playlist = try transaction.create(Playlist.self)
                playlist.tracks = try (0..<14_000).map { _ in try transaction.create(Track.self) }
            }
        }
        try stack.readAndWait { context in
            let playlists = try context.fetchAll(From<Playlist>())
            #expect(server.calls { for playlist in playlists { _ = playlist.tracks.count } } == [.scan: 4, .related: 1])
        }
    }
}
