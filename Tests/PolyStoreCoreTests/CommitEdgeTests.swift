import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// The state of a transaction after a commit in its body, during an awaited commit, and after an empty one.
@Suite struct CommitEdgeTests {
    @Test(arguments: Backend.forObjectLayer)
    func eachObjectComesOnceAfterACommitInTheBody(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(3)
        try company.stack.beginSynchronous { transaction throws in
            let new = try transaction.create(Into<Person>())
            new.email = "new"
            new.friends = [try transaction.edit(ids[0])]
            try transaction.edit(ids[1]).age = 11
            try transaction.delete(ids[2])
            let held = try transaction.edit(ids[0])
            let child = transaction.beginUnsafe()
            #expect(try child.fetchCount(From<Person>()) == 3)
            try transaction.commit()
            let all = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.email)))
            #expect(all.map(\.email) == ["new", "p0@example.com", "p1@example.com"])
            #expect(all[0] === new && all[0].friends == [held] && held.friends == [new] && all[2].age == 11)
            #expect(try transaction.fetchCount(From<Person>()) == 3)
            #expect(try transaction.fetchCount(From<Person>(), Where(\.age == 11)) == 1)
            #expect(try child.fetchAll(From<Person>().orderBy(.ascending(\.email))).map(\.email) == all.map(\.email))
        }
        #expect(try company.count() == 3)
    }

    @Test(arguments: Backend.forObjectLayer)
    func redoKeepsLaterChangesOfOtherTransactions(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        let person = try draft.edit(ids[0])
        person.nickname = "mine"
        draft.flush()
        try draft.undo()
        try company.stack.performAndWait { transaction throws in
            try transaction.edit(ids[0]).age = 99
            try transaction.edit(ids[0]).department = transaction.create(Into<Department>())
        }
        draft.refresh()
        #expect(person.age == 99)
        try draft.redo()
        #expect(person.nickname == "mine" && person.age == 99 && person.department != nil)
        try draft.commit()
        try company.stack.readAndWait { context throws in
            let person = try context.fetchExisting(ids[0])
            #expect(person?.nickname == "mine" && person?.age == 99 && person?.department != nil)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func editsOfAMissingObjectAreNotFound(_ backend: Backend) throws {
        let company = try Company(backend, expectsSilence: false)
        let ids = try company.people(2)
        try company.stack.performAndWait { try $0.delete(ids[0]) }
        let draft = company.stack.beginUnsafe()
        try draft.object(with: ids[0]).age = 5
        expectError(.notFound) { try draft.commit() }
        draft.rollback()
        let child = draft.beginUnsafe()
        try child.object(with: ids[0]).age = 5
        expectError(.notFound) { try child.commit() }
        expectError(.notFound) { try company.stack.performAndWait { try $0.object(with: ids[0]).age = 5 } }
    }

    @Test(arguments: Backend.forObjectLayer)
    func anEmptyCommitMovesForward(_ backend: Backend) async throws {
        let company = try Company(backend)
        let ids = try company.people(1)
        let draft = company.stack.beginUnsafe()
        let person = try draft.edit(ids[0])
        try await company.stack.perform { try $0.edit(ids[0]).age = 1 }
        #expect(person.age == 0)
        #expect(try commit(draft) == false)
        #expect(person.age == 1)
        try await company.stack.perform { try $0.edit(ids[0]).age = 2 }
        #expect(try await draft.commit() == false)
        #expect(person.age == 2)
    }

    /// Changes made while the commit is awaited are discarded, also if that commit is refused and retried.
    @Test(arguments: Backend.forObjectLayer)
    @MainActor
    func changesDuringAnAwaitedCommitAreLost(_ backend: Backend) async throws {
        let company = try Company(backend, expectsSilence: false)
        let ids = try company.people(3)
        let draft = company.stack.beginUnsafe()
        let people = try draft.fetchExisting(ids)
        people[0].age = 1
        try company.stack.performAndWait { try $0.edit(ids[0]).age = 50 }
        let hold = DispatchSemaphore(value: 0)
        company.stack.beginAsynchronous { _ in hold.wait() }
        // Runs while the commit below waits for the transaction before it.
        let late = Task { @MainActor in
            (people[0].age, people[0].nickname) = (7, "late")
            people[1].nickname = "late"
            people[1].friends = [people[2]]
            people[2].spouse = people[1]
            hold.signal()
        }
        await #expect(throws: StoreError.self) { try await draft.commit() }
        await late.value
        #expect(people[0].age == 1 && people[0].nickname == nil && people[1].nickname == nil)
        #expect(people[1].friends.isEmpty && people[2].spouse == nil)
        try commit(draft, .mineWins)
        try company.stack.readAndWait { context throws in
            let people = try context.fetchExisting(ids)
            #expect(people.map(\.age) == [1, 10, 20])
            #expect(people.allSatisfy { $0.nickname == nil && $0.friends.isEmpty && $0.spouse == nil })
        }
        #expect(company.logger.lines.contains { $0.contains("is lost") })
    }

    /// Selects the synchronous overload, which an asynchronous context does not.
    @discardableResult
    private func commit(_ draft: UnsafeTransaction, _ mergePolicy: MergePolicy = .error) throws -> Bool {
        try draft.commit(mergePolicy: mergePolicy)
    }

    // MARK: Stores added later

    @Test(arguments: Backend.forObjectLayer)
    @MainActor
    func contextsFindObjectsOfStoresThatAreAddedLater(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(companySchema, logger: RecordingLogger())
        let view = stack.view
        let context = stack.newContext()
        let draft = stack.beginUnsafe()
        let child = draft.beginUnsafe()
        try stack.addStore(backend.store(in: folder))
        let id = try stack.performAndWait { transaction throws in
            let person = try transaction.create(Into<Person>())
            person.email = "first"
            return person.objectID
        }
        #expect(try view.fetchExisting(id)?.email == "first")
        #expect(try context.fetchCount(From<Person>()) == 1)
        #expect(try child.fetchCount(From<Person>()) == 1)
        try child.create(Into<Person>()).email = "second"
        try child.commit()
        try draft.commit()
        #expect(try view.fetchCount(From<Person>()) == 2)
    }

    @Test(arguments: Backend.forObjectLayer)
    func deletedObjectsOfALazyListAreReported(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(10)
        let context = company.stack.newContext()
        let list = try context.fetchLazily(From<Person>().orderBy(.ascending(\.age)), batchSize: 4)
        try company.stack.performAndWait { try $0.delete(ids[5]) }
        try context.refresh()
        #expect(list.map(\.isDeleted) == ids.map { $0 == ids[5] })
    }

    // MARK: Two stacks on one file

    @Test(arguments: Backend.persistent)
    func aStackInsideTheBodyOfAnotherOnTheSameFileIsRefused(_ backend: Backend) throws {
        let company = try Company(backend)
        let other = try DataStack(companySchema, logger: company.logger)
        do {
            try other.addStore(backend.store(in: company.folder))
        } catch let error as StoreError where error.code == .busy {
            return  // the engine allows one stack per store
        }
        try company.stack.performAndWait { transaction throws in
            try transaction.create(Into<Person>()).email = "outer"
            expectError(.misuse) { try other.performAndWait { try $0.create(Into<Person>()).email = "inner" } }
            expectError(.misuse) { try other.beginUnsafe().create(Into<Person>()) }
        }
        try other.performAndWait { try $0.create(Into<Person>()).email = "after" }
        #expect(try company.count() == 2)
    }
}
