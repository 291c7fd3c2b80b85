import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Contexts other than the view, and the snapshots that they hold.
@Suite struct ContextTests {
    @Test(arguments: Backend.forObjectLayer)
    @MainActor func onlyObjectsOfContextsThatMoveCanBeObserved(_ backend: Backend) throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        let stack = company.stack
        let contexts: [Context] = [stack.view, stack.newContext(), stack.beginUnsafe(), stack.beginUnsafe().beginUnsafe()]
        for context in contexts {
            let person = try #require(try context.fetchExisting(id))
            _ = try person.observe(\.age) { _, _ in }
        }
        try stack.performAndWait { transaction throws in
            let person = try transaction.edit(id)
            expectError(.misuse) { try person.observe(\.age) { _, _ in } }
        }
        try stack.readAndWait { snapshot throws in
            let person = try #require(try snapshot.fetchExisting(id))
            expectError(.misuse) { try person.observe(\.age) { _, _ in } }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor
    func viewsFollowOrWait(_ backend: Backend) async throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let stack = company.stack
        let views = [stack.view, stack.newView(), stack.newView(.manual)]
        let people = try views.compactMap { try $0.fetchExisting(ids[0]) }
        #expect(people.count == 3 && Set(people.map { ObjectIdentifier($0) }).count == 3)
        try await stack.perform(editing: ids[0]) { _, person in person.age = 7 }
        #expect(people.map(\.age) == [7, 7, 0])
        try stack.performAndWait { try $0.delete(ids[1]) }
        #expect(try views.map { try $0.fetchCount(From<Person>()) } == [1, 1, 2])
        try views[2].refresh()
        #expect(people[2].age == 7)
        #expect(try views[2].fetchCount(From<Person>()) == 1)
        try await stack.perform(editing: ids[0]) { _, person in person.age = 8 }
        #expect(people.map(\.age) == [8, 8, 7])
        // Released contexts are not updated, and hold no snapshots.
        #expect(stack.openSnapshots.count == 3)
    }

    @Test(arguments: Backend.allCases)
    @MainActor
    func aReleasedViewHoldsNothing(_ backend: Backend) async throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        do {
            let view = company.stack.newView()
            #expect(try view.fetchCount(From<Person>()) == 1)
            #expect(company.stack.openSnapshots.map(\.kind) == ["view"])
        }
        #expect(company.stack.openSnapshots.isEmpty)
        try await company.stack.perform(editing: id) { _, person in person.age = 1 }
        #expect(company.stack.openSnapshots.isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func contextsOfAnyThreadMoveOnRequest(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let context = company.stack.newContext()
        let people = try context.fetchExisting(ids)
        try company.stack.performAndWait { transaction throws in
            try transaction.edit(ids[0]).age = 5
            try transaction.delete(ids[1])
        }
        #expect(people.map(\.age) == [0, 10])
        #expect(try context.fetchCount(From<Person>()) == 2)
        try context.refresh()
        #expect(people[0].age == 5)
        #expect(try context.fetchCount(From<Person>()) == 1)
        #expect(try context.fetchExisting(ids[1]) == nil)
    }

    @Test(arguments: Backend.allCases)
    func snapshotsAreCounted(_ backend: Backend) async throws {
        let company = try Company(backend)
        try company.people(1)
        let stack = company.stack
        #expect(stack.openSnapshots.isEmpty)
        let context = stack.newContext(file: "Here", line: 7)
        #expect(stack.openSnapshots.isEmpty)
        #expect(try context.fetchCount(From<Person>()) == 1)
        let draft = stack.beginUnsafe()
        _ = try draft.fetchCount(From<Person>())
        try await stack.read { context in
            _ = try context.fetchCount(From<Person>())
            #expect(stack.openSnapshots.map(\.kind) == ["context", "unsafe transaction", "read"])
        }
        let open = stack.openSnapshots
        #expect(open.map(\.kind) == ["context", "unsafe transaction"])
        #expect(open[0].origin == "Here:7" && open[0].age > .zero && open[0].outdatedFor == nil)
        try company.people(1, prefix: "other")
        #expect(stack.openSnapshots.allSatisfy { $0.outdatedFor != nil })
        try context.refresh()
        #expect(stack.openSnapshots.map { $0.outdatedFor == nil } == [true, false])
        draft.rollback()
        #expect(stack.openSnapshots.count == 1)
    }

    @Test(arguments: Backend.allCases)
    func aSnapshotThatIsOutdatedForTooLongIsLoggedOnce(_ backend: Backend) throws {
        let company = try Company(backend, expectsSilence: false)
        try company.people(1)
        let stack = company.stack
        #expect(try DataStack(companySchema).snapshotWarningAge == .seconds(30))
        stack.snapshotWarningAge = .zero
        let context = stack.newContext(file: "Somewhere", line: 12)
        _ = try context.fetchCount(From<Person>())
        for number in 0..<5 { try company.people(1, prefix: "\(number)") }
        #expect(company.logger.lines.count == 1)
        #expect(company.logger.lines.first?.contains("Somewhere:12") == true)
        #expect(company.logger.lines.first?.hasPrefix("warning") == true)
        withExtendedLifetime(context) {}
    }

    @Test(arguments: Backend.forObjectLayer)
    func observersReceiveEveryCommitInOrder(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        let commits = stack.commits
        let ids = try company.people(2)
        try await stack.perform(sourceIdentifier: "editor") { transaction in
            transaction.userInfo["reason"] = "a birthday"
            let person = try transaction.edit(ids[0])
            person.age += 1
            person.friends = [try transaction.edit(ids[1])]
        }
        let draft = stack.beginUnsafe()
        draft.sourceIdentifier = 42
        draft.userInfo["from"] = "a draft"
        try draft.delete(ids[1])
        try await draft.commit()
        var seen: [Commit] = []
        for await commit in commits {
            seen.append(commit)
            if seen.count == 3 { break }
        }
        #expect(seen[0].insertedObjectIDs(Person.self) == Set(ids))
        #expect(seen[0].sourceIdentifier == nil && seen[0].userInfo.isEmpty)
        #expect(seen[0].changedKeys(of: ids[0]).isSuperset(of: ["email", "age", "friends"]))
        #expect(seen[1].updatedObjectIDs(Person.self) == [ids[0]])
        #expect(seen[1].changedKeys(of: ids[0]) == ["age", "friends"])
        #expect(seen[1].changedKeys(of: ids[1]) == ["friends"])
        #expect(seen[1].sourceIdentifier as? String == "editor")
        #expect(seen[1].userInfo["reason"] as? String == "a birthday")
        #expect(seen[1].insertedObjectIDs(Person.self).isEmpty && seen[1].updatedObjectIDs(Department.self).isEmpty)
        #expect(seen[2].deletedObjectIDs(Person.self) == [ids[1]])
        #expect(seen[2].sourceIdentifier as? Int == 42)
        #expect(seen[2].userInfo["from"] as? String == "a draft")
    }

    @Test func anObservationEndsWithItsOwner() async throws {
        let company = try Company(.memory)
        let count = Counter()
        do {
            let observation = company.stack.observeCommits { _ in count.add() }
            try company.people(1)
            while count.value == 0 { await Task.yield() }
            withExtendedLifetime(observation) {}
        }
        try company.people(1, prefix: "other")
        try await company.stack.perform { _ in }
        #expect(count.value == 1)
    }

    @Test func theStreamOfCommitsEndsWithTheStack() async throws {
        var company: Company? = try Company(.memory)
        let commits = try #require(company).stack.commits
        try company?.people(2)
        company = nil
        var count = 0
        for await commit in commits { count += commit.insertedObjectIDs(Person.self).count }
        #expect(count == 2)
    }

    private final class Counter: @unchecked Sendable {  // the number is accessed under the lock only
        private let lock = NSLock()
        private var number = 0
        func add() { lock.withLock { number += 1 } }
        var value: Int { lock.withLock { number } }
    }
}

extension Company {
    /// Creates people with email addresses that ``people(_:)`` does not use.
    @discardableResult
    func people(_ count: Int, prefix: String) throws -> [ObjectID<Person>] {
        try stack.performAndWait { transaction throws in
            try (0..<count).map { number in
                let person = try transaction.create(Into<Person>())
                person.email = "\(prefix) \(number)"
                return person.objectID
            }
        }
    }
}
