import EngineTestSupport
import Foundation
import HistoryTestSupport
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Commits of other processes, and of other stacks in this one.
@Suite
struct ExternalCommitTests {
    /// Waits until a condition is true. The suite's time limit ends an endless wait.
    @MainActor
    private func wait(until isTrue: @MainActor () throws -> Bool) async throws {
        while try !isTrue() { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// The expected authors and changes of the child's commits.
    private func expected(_ count: Int) -> [String] {
        (1...count).map { number in
            let person = (number + 3) / 4
            return number % 4 == 1 ? "\(number): +Person \(person)" : "\(number): ~Person \(person) age"
        }
    }

    @Test(arguments: Backend.shared)
    func tenThousandCommitsOfAnotherProcessAreSeenWholeAndInOrder(_ engine: Backend) async throws {
        let count = Ring.size(2_000, thorough: 10_000)
        let folder = try Folder()
        let stack = try engine.stack(folder)
        let start = try stack.historyTokenAndWait()
        let commits = stack.commits
        let child = try Child(program: "history-child", "write", engine.rawValue, folder.file(), "\(count)")
        #expect(child.line() == "ready")
        try child.goOn()
        var authors: [String] = []
        for await commit in commits {
            #expect(commit.isExternal && !commit.changesAreUnknown)
            authors.append(commit.sourceIdentifier as? String ?? "")
            if authors.count == count { break }
        }
        #expect(authors == (1...count).map { "\($0)" })
        #expect(child.line() == "done")
        var found: [String] = []
        var token = start
        while true {
            let history = try await stack.history(since: token, limit: 777)
            if history.isEmpty { break }
            found += history.map { "\($0.author ?? ""): \(summary($0))" }
            token = history.token
        }
        // Ids are reserved in blocks, so only their order is expected.
        #expect(found.count == count && found.map { $0.prefix { $0 != "P" } } == expected(count).map { $0.prefix { $0 != "P" } })
    }

    @Test(arguments: Backend.shared, [true, false])
    @MainActor
    func theViewFollowsAnotherProcess(_ engine: Backend, hasHistory: Bool) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        try await stack.perform { transaction in
            let person = try transaction.create(Into<Person>())
            (person.name, person.age) = ("Jane", 0)
        }
        let jane = try #require(try stack.view.fetchOne(From<Person>()))
        #expect(jane.age == 0)
        let child = try Child(program: "history-child", "write", engine.rawValue, folder.file(), "12", hasHistory ? "" : "no-history")
        #expect(child.line() == "ready")
        try child.goOn()
        #expect(child.line() == "done")
        // Commits 1, 5 and 9 insert people; the last three commits update the last of them.
        try await wait { try stack.view.fetchCount(From<Person>()) == 4 && stack.view.fetchAll(From<Person>()).contains { $0.age == 12 } }
        #expect(jane.name == "Jane" && !jane.isDeleted)
        #expect(try stack.view.fetchAll(From<Person>(), OrderBy<Person>(.ascending(\.age))).map(\.age) == [0, 4, 8, 12])
    }

    @Test(arguments: Backend.shared, [true, false])
    @MainActor
    func theViewFollowsAnotherStackOfTheSameProcess(_ engine: Backend, hasHistory: Bool) async throws {
        let folder = try Folder()
        let history = hasHistory ? HistoryOptions() : nil
        let (first, second) = (try engine.stack(folder, history: history), try engine.stack(folder, history: history))
        let (jane, team, car) = try await first.perform { transaction in
            let jane = try transaction.create(Into<Person>())
            let team = try transaction.create(Into<Team>())
            jane.team = team
            return (jane.objectID.uri, team.objectID.uri, try transaction.create(Into<Car>()).objectID.uri)
        }
        let ids = try (
            #require(second.objectID(jane, for: Person.self)), #require(second.objectID(team, for: Team.self)),
            #require(second.objectID(car, for: Car.self))
        )
        let person = try #require(try second.view.fetchExisting(ids.0))
        let staff = try #require(try second.view.fetchExisting(ids.1))
        let vehicle = try #require(try second.view.fetchExisting(ids.2))
        #expect(staff.staff == [person] && vehicle.doors == 4)
        let (firstJane, firstCar) = try (
            #require(first.objectID(jane, for: Person.self)), #require(first.objectID(car, for: Car.self))
        )
        try await first.perform { transaction in
            try transaction.edit(firstJane).name = "Jane"
            try transaction.edit(firstCar).doors = 2
        }
        try await wait { person.name == "Jane" && vehicle.doors == 2 }
        try await first.perform { try $0.edit(firstJane).team = nil }
        try await wait { staff.staff.isEmpty && person.team == nil }
        try await first.perform { transaction in
            try transaction.delete(firstJane)
            try transaction.delete(firstCar)
        }
        // A refetched object reports its deletion when a value is read.
        try await wait {
            _ = (person.age, vehicle.maker)
            return person.isDeleted && vehicle.isDeleted
        }
        if hasHistory { #expect(person.name == "Jane") }
    }

    @Test(arguments: Backend.shared, [true, false])
    func listsFollowAnotherProcess(_ engine: Backend, hasHistory: Bool) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        let child = try Child(program: "history-child", "write", engine.rawValue, folder.file(), "16", hasHistory ? "" : "no-history")
        #expect(child.line() == "ready")
        var last: [Int] = []
        for try await people in stack.snapshots(of: From<Person>(), OrderBy<Person>(.ascending(\.age))) {
            if last.isEmpty, people.isEmpty { try child.goOn() }
            last = people.map { $0.age }
            if last == [4, 8, 12, 16] { break }
        }
        #expect(last == [4, 8, 12, 16])
    }

    @Test(arguments: Backend.shared)
    func ownAndExternalCommitsAreSeenInOneOrder(_ engine: Backend) async throws {
        let folder = try Folder()
        let stacks = [try engine.stack(folder), try engine.stack(folder)]
        let streams = stacks.map(\.commits)
        let count = 150
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, stack) in stacks.enumerated() {
                group.addTask {
                    for number in 0..<count {
                        try await stack.perform(sourceIdentifier: "\(index) \(number)") { try $0.create(Into<Person>()).age = number }
                    }
                }
            }
            try await group.waitForAll()
        }
        var orders: [[String]] = []
        for (index, stream) in streams.enumerated() {
            var order: [String] = []
            for await commit in stream {
                let author = commit.sourceIdentifier as? String ?? "unknown"
                #expect(commit.isExternal == !author.hasPrefix("\(index) "), "\(author) in stack \(index)")
                order.append(author)
                if order.count == 2 * count { break }
            }
            orders.append(order)
        }
        #expect(orders[0] == orders[1])
        #expect(orders[0] == (try await stacks[0].history().compactMap(\.author)))
    }

    @Test(arguments: Backend.shared)
    func commitsWithoutHistoryAreReportedAsUnknown(_ engine: Backend) async throws {
        let folder = try Folder()
        let (recording, other) = (try engine.stack(folder), try engine.stack(folder, history: nil))
        let commits = recording.commits
        try await other.perform { try $0.create(Into<Person>()).age = 1 }
        for await commit in commits {
            #expect(commit.isExternal && commit.changesAreUnknown && commit.insertedObjectIDs(Person.self).isEmpty)
            break
        }
        try await recording.perform(sourceIdentifier: "mine") { try $0.create(Into<Person>()).age = 2 }
        let history = try await recording.history()
        #expect(history.map(\.author) == ["mine"])
        try await other.perform { try $0.create(Into<Person>()).age = 3 }
        try await recording.perform(sourceIdentifier: "mine") { try $0.create(Into<Person>()).age = 4 }
        #expect(try await recording.history().map(\.followsUnrecordedCommits) == [false, true])
    }
}
