import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Objects that are read together from a server: the targets of to-one relationships, faults, and the objects of fetched ids.
@Suite struct RowsReadAheadTests {
    private static let byAge = From<Person>().orderBy(.ascending(\.age))

    /// Creates departments, and four people in each of them.
    private static func stack(_ server: SimulatedServer, departments count: Int = 10, title: String = "d") throws -> DataStack {
        let stack = try DataStack(companySchema, logger: RecordingLogger())
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(.simulatedServer(server))
        try stack.performAndWait { transaction throws in
            for number in 0..<count {
                let department = try transaction.create(Department.self)
                department.title = "\(title)\(number)"
                for person in 0..<4 { try transaction.createPerson(4 * number + person).department = department }
            }
        }
        return stack
    }

    @Test func theFirstTargetIsReadWithTheOthers() throws {
        let server = SimulatedServer()
        try Self.stack(server).readAndWait { context in
            let people = try context.fetchAll(Self.byAge)
            let (first, others) = (
                server.calls { #expect(people[0].department?.title == "d0") },
                server.calls { for (number, person) in people.enumerated() { #expect(person.department?.title == "d\(number / 4)") } }
            )
            #expect(first == [.scan: 1])
            #expect(others == [:])
        }
    }

    /// A program that reads the target of one of many objects can end there.
    @Test func theFirstReadOfTargetsIsLimited() throws {
        let server = SimulatedServer()
        try Self.stack(server, departments: 300).readAndWait { context in
            let people = try context.fetchAll(Self.byAge)
            let (first, others) = (
                server.calls { #expect(people[0].department?.title == "d0") },
                server.calls { for (number, person) in people.enumerated() { #expect(person.department?.title == "d\(number / 4)") } }
            )
            #expect(first == [.scan: 1])
            #expect(others == [.scan: 1])
        }
    }

    @Test func theTargetOfTheOnlyObjectIsReadAlone() throws {
        let server = SimulatedServer()
        try Self.stack(server).readAndWait { context in
            let person = try #require(try context.fetchOne(Self.byAge))
            let calls = server.calls { #expect(person.department?.title == "d0") }
            #expect(calls == [.record: 1])
        }
    }

    @Test(arguments: [SimulatedServer.Fault.refused, .timeout])
    func aReadForOtherObjectsThatFailsIsNotSeen(_ fault: SimulatedServer.Fault) throws {
        let server = SimulatedServer()
        try Self.stack(server).readAndWait { context in
            let people = try context.fetchAll(Self.byAge)
            server.resetCounts()
            server.fail(.scan, at: 1, with: fault)
            let calls = server.calls { #expect(people[4].department?.title == "d1") }
            #expect(calls == [.scan: 1, .record: 1])
            for (number, person) in people.enumerated() { #expect(person.department?.title == "d\(number / 4)") }
            #expect(server.faultCount == 1)
        }
    }

    @Test func aReadThatFailsConcernsTheObjectThatNeedsIt() throws {
        let server = SimulatedServer()
        try Self.stack(server).readAndWait { context in
            let people = try context.fetchAll(Self.byAge)
            server.resetCounts()
            server.fail(.scan, at: 1, with: .refused)
            server.fail(.record, at: 1, with: .refused)
            #expect(people[0].department?.title == "")
            #expect(people[8].department?.title == "d2")
            #expect(people[4].department?.title == "d1")
        }
    }

    @Test func faultsAndObjectsOfFetchedIDsAreReadTogether() throws {
        let server = SimulatedServer()
        let stack = try Self.stack(server)
        try stack.readAndWait { context in
            let people = try context.fetchAll(From<Person>(), Tweak { $0.includesPropertyValues = false })
            let calls = server.calls { #expect(people.map(\.age).sorted() == Array(0..<40)) }
            #expect(calls == [.scan: 1])
        }
        try stack.readAndWait { context in
            let ids = try context.fetchObjectIDs(From<Person>())
            var ages: [Int] = []
            let calls = try server.calls { for id in ids { ages.append(try context.fetchExisting(id)?.age ?? -1) } }
            #expect(ages.sorted() == Array(0..<40))
            #expect(calls == [.record: 1, .scan: 1])
        }
    }

    @Test func objectsAreReleasedAsBefore() throws {
        let server = SimulatedServer()
        try Self.stack(server).readAndWait { context in
            let people = try context.fetchAll(Self.byAge)
            #expect(people[0].department?.title == "d0")
            weak var second = people[4].department
            #expect(second == nil)
            #expect(people[4].department?.title == "d1")
            second = people[8].department
            #expect(second == nil)
        }
    }

    /// The records of a snapshot take at most 4 MiB, so large ones are read in several parts.
    @Test func largeRecordsAreReadInParts() throws {
        let server = SimulatedServer(batchSize: 100_000)
        let title = String(repeating: "x", count: 20_000)
        try Self.stack(server, departments: 400, title: title).readAndWait { context in
            let people = try context.fetchAll(Self.byAge)
            for _ in 0..<2 {
                let calls = server.calls {
                    for (number, person) in people.enumerated() { #expect(person.department?.title == "\(title)\(number / 4)") }
                }
                #expect(calls.values.reduce(0, +) < 20, "\(calls)")
            }
        }
    }

    /// The second transaction of a commit group reads what the first one has applied.
    @Test func recordsAreNotKeptBeyondAChange() async throws {
        let server = SimulatedServer()
        let stack = try Self.stack(server)
        let (isInside, isOpen) = (Protected(false), Flag())
        let first = Task.detached {
            try await stack.perform { transaction in
                isInside.exchange(true)
                isOpen.wait()
                let people = try transaction.fetchAll(Self.byAge)
                #expect(people.map { $0.department?.title ?? "" } == (0..<40).map { "d\($0 / 4)" })
                for department in try transaction.fetchAll(From<Department>()) { department.title += "!" }
            }
        }
        while !isInside.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        let second = Task.detached {
            try await stack.perform { transaction in
                try transaction.fetchAll(Self.byAge).map { $0.department?.title ?? "" }
            }
        }
        do {
            defer { isOpen.raise() }
            while stack.queuedTransactionCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
        }
        try await first.value
        #expect(try await second.value == (0..<40).map { "d\($0 / 4)!" })
    }

    /// Each store is read by its own row ids.
    @Test func objectsOfSeveralStoresAreReadFromTheirStore() throws {
        let models: [any Model.Type] = [Person.self, Department.self, Project.self]
        let stack = try DataStack(Schema("Split", models, configurations: ["A": models, "B": models]))
        stack.snapshotWarningAge = .seconds(100_000)
        let servers = ["A": SimulatedServer(), "B": SimulatedServer(pushesDown: false)]
        for (name, server) in servers { try stack.addStore(.simulatedServer(server), configuration: name) }
        try stack.performAndWait { transaction throws in
            for name in ["A", "B"] {
                for number in 0..<20 {
                    let department = try transaction.create(Into<Department>(name))
                    department.title = "\(name) \(number)"
                    let person = try transaction.create(Into<Person>(name))
                    (person.email, person.department) = ("\(name) \(number)", department)
                    person.age = number
                }
            }
        }
        try stack.readAndWait { context in
            for server in servers.values { server.resetCounts() }
            for person in try context.fetchAll(Self.byAge) { #expect(person.department?.title == person.email) }
            for server in servers.values { #expect((server.counts[.record] ?? 0) <= 1) }
            let ordered = try context.fetchAll(From<Person>().orderBy(.ascending("department.title"))).map(\.email)
            #expect(ordered == ["A", "B"].flatMap { name in (0..<20).map { "\(name) \($0)" } }.sorted())
            let titles = try context.queryValues(From<Person>(), Select<String>("department.title")).sorted()
            #expect(titles == ordered)
        }
    }

    /// A target that was deleted without its relationships is missing in every store.
    @Test func missingTargetsAreReadAsWithoutAServer() throws {
        var results: [[String]] = []
        for store in [StoreConfiguration.inMemory(), .simulatedServer(SimulatedServer())] {
            let stack = try DataStack(companySchema, logger: RecordingLogger())
            stack.snapshotWarningAge = .seconds(100_000)
            try stack.addStore(store)
            let shown = try stack.performAndWait { transaction throws in
                let department = try transaction.create(Department.self)
                let projects = try (0..<20).map { number in
                    let project = try transaction.create(Project.self)
                    (project.name, project.owner) = ("p\(number)", department)
                    return project
                }
                for number in 0..<10 { projects[number].parent = projects[number + 10] }
                return projects.map(\.objectID)
            }
            try stack.performAndWait { transaction throws in for index in [12, 15, 19] { try transaction.delete(shown[index]) } }
            results.append(
                try stack.readAndWait { context in
                    try context.fetchAll(From<Project>().orderBy(.ascending(\.name))).map { project in
                        "\(project.name) \(project.parent.map { "\($0.name) \($0.isDeleted)" } ?? "-")"
                    }
                })
        }
        #expect(results[0] == results[1])
    }
}
