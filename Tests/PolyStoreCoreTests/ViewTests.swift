import Dispatch
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

@MainActor
@Suite struct ViewTests {
    @Test(arguments: Backend.forObjectLayer)
    func theViewFollowsEachAwaitedPerform(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        #expect(try stack.view.fetchCount(From<Person>()) == 0)
        let id = try await stack.perform { transaction in
            let person = try transaction.create(Into<Person>())
            person.email = "a"
            person.age = 1
            return person.objectID
        }
        let person = try #require(try stack.view.fetchExisting(id))
        #expect(person.age == 1)
        try await stack.perform(editing: id) { _, person in person.age = 2 }
        #expect(person.age == 2)
        try stack.performAndWait { try $0.edit(id).age = 3 }
        #expect(person.age == 3)
        try await stack.perform { try $0.delete(id) }
        #expect(person.isDeleted)
        #expect(try stack.view.fetchCount(From<Person>()) == 0)
    }

    @Test(arguments: Backend.allCases)
    func theViewKeepsItsVersionUntilItMoves(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        let ids = try company.people(2)
        #expect(try stack.view.fetchAll(From<Person>()).map(\.age) == [0, 10])
        // Another thread commits while the main actor is blocked.
        let done = Flag()
        Task.detached {
            try stack.performAndWait { try $0.edit(ids[0]).age = 99 }
            done.raise()
        }
        done.wait()
        #expect(try stack.view.fetchAll(From<Person>()).map(\.age) == [0, 10])
        for _ in 0..<1000 where try stack.view.fetchAll(From<Person>()).map(\.age) != [99, 10] { await Task.yield() }
        #expect(try stack.view.fetchAll(From<Person>()).map(\.age) == [99, 10])
    }

    @Test(arguments: Backend.forObjectLayer)
    func relationshipsInTheViewFollow(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        let people = try company.people(2)
        let id = try await stack.perform { transaction in
            let department = try transaction.create(Into<Department>())
            try transaction.edit(people[0]).department = department
            return department.objectID
        }
        let department = try #require(try stack.view.fetchExisting(id))
        #expect(department.people.count == 1)
        try await stack.perform { try $0.edit(people[1]).department = try $0.edit(id) }
        #expect(department.people.count == 2)
        try await stack.perform { try $0.delete(people[0]) }
        #expect(department.people.map(\.objectID) == [people[1]])
    }
}

/// A flag that is set once and waited for.
final class Flag: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func raise() { semaphore.signal() }
    func wait() { semaphore.wait() }
}
