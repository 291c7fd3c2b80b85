import Foundation
import HistoryTestSupport
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// History entries of commits in the same process.
@Suite struct HistoryTests {
    @Test(arguments: Backend.forObjectLayer)
    func eachTransactionIsOneEntry(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        let before = Date()
        let jane = try await stack.perform(sourceIdentifier: "sync") { transaction in
            let jane = try transaction.create(Into<Person>())
            jane.name = "Jane"
            return jane.objectID
        }
        try await stack.perform { transaction in
            let person = try transaction.edit(jane)
            person.age = 33
            person.note = "changed"
        }
        try await stack.perform(sourceIdentifier: 7) { transaction in
            let team = try transaction.create(Into<Team>())
            try transaction.edit(jane).team = team
        }
        try await stack.perform { _ in }
        try await stack.perform { try $0.delete(jane) }
        let history = try await stack.history()
        #expect(history.summary == ["+Person 1", "~Person 1 age note", "+Team 1; ~Person 1 team", "-Person 1; ~Team 1 staff"])
        #expect(history.map(\.author) == ["sync", nil, "7", nil])
        #expect(!history.hasMore && history.allSatisfy { !$0.followsUnrecordedCommits })
        #expect(history.map(\.version) == history.map(\.version).sorted())
        #expect(history.allSatisfy { $0.date > before.addingTimeInterval(-1) && $0.date < Date().addingTimeInterval(1) })
        #expect(history[0].insertedObjectIDs(Person.self) == [jane] && history[3].deletedObjectIDs(Person.self) == [jane])
        #expect(history[1].changedKeys(of: jane) == ["age", "note"] && history[1].updatedObjectIDs(Person.self) == [jane])
        #expect(history[0].changes[0].previousValues.isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func aTokenContinuesWhereTheLastReadingEnded(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        let empty = try await stack.history()
        #expect(empty.isEmpty)
        for age in 1...5 {
            try await stack.perform { transaction in try transaction.create(Into<Person>()).age = age }
        }
        let coded = try JSONDecoder().decode(HistoryToken.self, from: try JSONEncoder().encode(empty.token))
        #expect(coded == empty.token)
        let first = try await stack.history(since: coded, limit: 2)
        #expect(first.summary == ["+Person 1", "+Person 2"] && first.hasMore)
        let second = try await stack.history(since: first.token)
        #expect(second.summary == ["+Person 3", "+Person 4", "+Person 5"] && !second.hasMore)
        #expect(try await stack.history(since: second[1].token).summary == ["+Person 5"])
        #expect(try await stack.history(since: second.token).isEmpty)
        #expect(try stack.historyTokenAndWait() == second.token)
        #expect(try stack.historyAndWait(since: first[0].token, limit: 1).summary == ["+Person 2"])
    }

    @Test(arguments: Backend.persistent)
    func historyAndTokensSurviveReopening(_ engine: Backend) async throws {
        let folder = try Folder()
        let token = try await {
            let stack = try engine.stack(folder)
            try await stack.perform { transaction in try transaction.create(Into<Person>()).age = 1 }
            let token = try stack.historyTokenAndWait()
            try await stack.perform { transaction in try transaction.create(Into<Person>()).age = 2 }
            return token
        }()
        let stack = try engine.stack(folder)
        #expect(try await stack.history(since: token).summary.count == 1)
        try await stack.perform { transaction in try transaction.create(Into<Team>()).title = "A" }
        let history = try await stack.history(since: token)
        #expect(history.count == 2 && history[1].insertedObjectIDs(Team.self).count == 1)
        #expect(!history[1].followsUnrecordedCommits)
        #expect(try stack.stores[0].verifyAndWait() == [])
    }

    @Test(arguments: Backend.allCases)
    func withoutHistoryNothingIsWritten(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder, history: nil)
        try await stack.perform { transaction in try transaction.create(Into<Person>()).age = 1 }
        #expect(try await stack.history().isEmpty)
        #expect(try stack.historyTokenAndWait().position(in: stack.stores[0].storeID) == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func previousValuesAreRecordedOnRequest(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder, history: HistoryOptions(recordsPreviousValues: true))
        let (jane, team) = try await stack.perform { transaction in
            let jane = try transaction.create(Into<Person>())
            (jane.name, jane.age) = ("Jane", 33)
            let team = try transaction.create(Into<Team>())
            jane.team = team
            return (jane.objectID, team.objectID)
        }
        try await stack.perform { transaction in
            let person = try transaction.edit(jane)
            (person.age, person.note, person.team) = (34, "moved", nil)
        }
        try await stack.perform { try $0.delete(jane) }
        let history = try await stack.history()
        let update = try #require(history[1].change(of: jane))
        #expect(Set(update.changedKeys) == ["age", "note", "team"])
        #expect(update.previousValues["age"] == 33 && update.previousValues["note"] == nil)
        #expect(update.previousValues["team"]?.objectID(of: Team.self) == team)
        let deletion = try #require(history[2].change(of: jane))
        #expect(deletion.previousValues["name"] == "Jane" && deletion.previousValues["age"] == 34)
        #expect(deletion.previousValues["note"] == "moved" && deletion.changedKeys.isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func classesOfHierarchiesAreNamed(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        let (car, boat) = try await stack.perform { transaction in
            (try transaction.create(Into<Car>()).objectID, try transaction.create(Into<Boat>()).objectID)
        }
        try await stack.perform { transaction in
            try transaction.edit(car).doors = 2
            try transaction.edit(boat).maker = "X"
        }
        try await stack.perform { transaction in
            try transaction.delete(car)
            try transaction.delete(boat)
        }
        let history = try await stack.history()
        #expect(history.summary == ["+Boat 2; +Car 1", "~Boat 2 maker; ~Car 1 doors", "-Boat 2; -Car 1"])
        #expect(history[2].deletedObjectIDs(Car.self) == [car] && history[2].deletedObjectIDs(Vehicle.self).count == 2)
        #expect(try await stack.history(matching: .all.changes(of: Boat.self)).summary == ["+Boat 2", "~Boat 2 maker", "-Boat 2"])
        #expect(try await stack.history(matching: .all.changes(of: Vehicle.self)).count == 3)
    }

    @Test(arguments: Backend.forObjectLayer)
    func failedAndRolledBackTransactionsHaveNoEntry(_ engine: Backend) async throws {
        struct Stop: Error {}
        let folder = try Folder()
        let stack = try engine.stack(folder)
        await #expect(throws: Stop.self) {
            try await stack.perform { transaction in
                try transaction.create(Into<Person>()).age = 1
                throw Stop()
            }
        }
        #expect(try await stack.history().isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func everyKindOfTransactionIsRecorded(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        try stack.performAndWait(sourceIdentifier: "waiting") { transaction in try transaction.create(Into<Person>()).age = 1 }
        try stack.beginSynchronous(sourceIdentifier: "synchronous") { transaction in
            try transaction.create(Into<Person>()).age = 2
            try transaction.commit()
        }
        let unsafe = stack.beginUnsafe()
        unsafe.sourceIdentifier = "unsafe"
        try unsafe.create(Into<Person>()).age = 3
        try await unsafe.commit()
        try unsafe.create(Into<Person>()).age = 4
        try await unsafe.commit()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...50 {
                group.addTask {
                    _ = try await stack.perform(sourceIdentifier: "group \(number)") { try $0.create(Into<Person>()).age = number }
                }
            }
            try await group.waitForAll()
        }
        let history = try await stack.history()
        #expect(history.prefix(4).map(\.author) == ["waiting", "synchronous", "unsafe", "unsafe"])
        #expect(Set(history.dropFirst(4).compactMap(\.author)) == Set((1...50).map { "group \($0)" }))
        #expect(history.count == 54 && history.allSatisfy { $0.changes.count == 1 && !$0.followsUnrecordedCommits })
    }

    @Test(arguments: Backend.allCases)
    func severalStoresHaveOneToken(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try DataStack(HistoryModels.schema())
        let people = try stack.addStore(try engine.configuration(folder.file("people")), configuration: "people", history: HistoryOptions())
        let vehicles = try stack.addStore(
            try engine.configuration(folder.file("vehicles")), configuration: "vehicles", history: HistoryOptions())
        try await stack.perform { transaction in
            try transaction.create(Into<Person>()).age = 1
            try transaction.create(Into<Car>()).doors = 2
        }
        let token = try stack.historyTokenAndWait()
        try await stack.perform { transaction in try transaction.create(Into<Car>()).doors = 3 }
        try await stack.perform { transaction in try transaction.create(Into<Person>()).age = 4 }
        let all = try await stack.history()
        #expect(all.count == 4 && Set(all.prefix(2).map(\.storeID)) == [people.storeID, vehicles.storeID])
        #expect(try await stack.history(since: token).map(\.storeID) == [vehicles.storeID, people.storeID])
        var found: [String] = []
        var next = HistoryToken?.none
        while true {
            let history = try await stack.history(since: next, limit: 1)
            if history.isEmpty { break }
            found += history.summary
            next = history.token
        }
        #expect(found.sorted() == all.summary.sorted())
    }
}
