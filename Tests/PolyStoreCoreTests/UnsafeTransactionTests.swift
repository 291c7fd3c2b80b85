import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Unqueued transactions: what they read and write, and their lifetime.
@Suite struct UnsafeTransactionTests {
    @Test(arguments: Backend.forObjectLayer)
    func commitsMoreThanOnce(_ backend: Backend) throws {
        let company = try Company(backend)
        let draft = company.stack.beginUnsafe()
        let jane = try draft.create(Into<Person>())
        jane.email = "jane@example.com"
        #expect(try company.count() == 0)
        #expect(try draft.commit())
        #expect(try company.count() == 1)
        #expect(!jane.isInserted && !jane.hasChanges)
        jane.age = 41
        #expect(jane.changedKeys == ["age"])
        #expect(try draft.commit())
        #expect(try draft.commit() == false)
        let id = jane.objectID
        #expect(try company.stack.readAndWait { try $0.fetchExisting(id)?.age } == 41)
    }

    @Test(arguments: Backend.allCases)
    func seesItsOwnChangesButOthersDoNot(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(4)
        let draft = company.stack.beginUnsafe()
        try draft.edit(ids[0]).age = 100
        try draft.delete(ids[1])
        try draft.create(Into<Person>()).email = "new"
        #expect(try draft.fetchAll(From<Person>().orderBy(.ascending(\.age))).map(\.age) == [0, 20, 30, 100])
        #expect(try draft.fetchCount(From<Person>().where(\.age > 25)) == 2)
        #expect(try company.ages() == [0, 10, 20, 30])
    }

    @Test(arguments: Backend.allCases)
    func readsOneVersionUntilItMoves(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let draft = company.stack.beginUnsafe()
        #expect(try draft.fetchCount(From<Person>()) == 2)
        try company.stack.performAndWait { try $0.create(Into<Person>()).email = "another" }
        #expect(try draft.fetchCount(From<Person>()) == 2)
        try draft.edit(ids[0]).nickname = "kept"
        draft.refresh()
        #expect(try draft.fetchCount(From<Person>()) == 3)
        #expect(try draft.edit(ids[0]).nickname == "kept")
        try draft.commit()
        #expect(try company.nicknames().compactMap { $0 } == ["kept"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func rollsBack(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(3)
        let draft = company.stack.beginUnsafe()
        let (first, second) = (try draft.edit(ids[0]), try draft.edit(ids[1]))
        let new = try draft.create(Into<Person>())
        first.age = 99
        try draft.delete(second)
        first.friends = [new]
        #expect(draft.hasChanges)
        draft.rollback()
        #expect(!draft.hasChanges)
        #expect(first.age == 0)
        #expect(first.friends.isEmpty)
        #expect(!second.isDeleted && second.age == 10)
        #expect(new.isDeleted)
        #expect(try draft.fetchCount(From<Person>()) == 3)
        #expect(try draft.commit() == false)
        first.age = 7
        #expect(try draft.commit())
        #expect(try company.ages() == [7, 10, 20])
    }

    @Test(arguments: Backend.forObjectLayer)
    func isDiscardedWhenItIsReleased(_ backend: Backend) throws {
        let company = try Company(backend, expectsSilence: false)
        let ids = try company.people(2)
        weak var gone: UnsafeTransaction?
        var held: Person?
        do {
            let draft = company.stack.beginUnsafe()
            gone = draft
            let person = try draft.edit(ids[0])
            person.age = 99
            try draft.edit(ids[1]).age = 98
            person.friends = [try draft.edit(ids[1]), try draft.create(Into<Person>())]
            held = person
        }
        #expect(gone == nil)
        #expect(company.stack.openSnapshots.isEmpty)
        #expect(try company.ages() == [0, 10])
        // An object that is still referenced keeps its values, and a change to it is logged.
        #expect(held?.age == 99)
        held?.age = 1
        #expect(company.logger.lines.count == 1 && company.logger.lines[0].contains("released"))
        #expect(held?.friends.isEmpty == true)
        held = nil
    }

    @Test(arguments: Backend.forObjectLayer)
    func keepsRelationshipsAndTheirInverses(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(4)
        let draft = company.stack.beginUnsafe()
        let people = try draft.fetchExisting(ids)
        let department = try draft.create(Into<Department>())
        department.title = "Research"
        people[0].department = department
        department.people = [people[0], people[1]]
        people[0].spouse = people[2]
        people[1].friends = [people[2], people[3]]
        try draft.commit()
        #expect(department.people == [people[0], people[1]])
        people[3].spouse = people[0]
        people[1].friends = [people[0]]
        try draft.delete(people[2])
        try draft.commit()
        try company.stack.readAndWait { context throws in
            let people = try context.fetchExisting(ids)
            #expect(people.count == 3)
            #expect(people[0].spouse == people[2] && people[2].spouse == people[0])
            #expect(people[1].friends == [people[0]] && people[0].friends == [people[1]])
            #expect(people[0].department?.people == [people[0], people[1]])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func losesNothingWhenACommitIsRefused(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(1)
        let draft = company.stack.beginUnsafe()
        let person = try draft.create(Into<Person>())
        person.email = "p0@example.com"
        expectError(.constraint) { try draft.commit() }
        #expect(person.isInserted && person.email == "p0@example.com")
        person.email = "other"
        try draft.commit()
        #expect(try company.count() == 2)
    }

    @Test(arguments: Backend.allCases)
    @MainActor
    func commitsWithoutHoldingUpTheMainActor(_ backend: Backend) async throws {
        let company = try Company(backend, expectsSilence: false)
        let id = try company.people(1)[0]
        let seen = try company.stack.view.fetchOne(From<Person>())
        let draft = company.stack.beginUnsafe()
        let person = try draft.edit(id)
        person.age = 50
        try await draft.commit()
        #expect(seen?.age == 50)
        #expect(try company.ages() == [50])
        person.age = 51
        try await draft.commit()
        #expect(seen?.age == 51)
        #expect(try await draft.commit() == false)
    }

    @Test(arguments: Backend.forObjectLayer)
    func isRefusedInsideAnotherTransaction(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(1)
        let stack = company.stack
        let error = expectError(.misuse) {
            try stack.performAndWait { _ in
                let draft = stack.beginUnsafe()
                try draft.fetchOne(From<Person>())?.age = 3
                try draft.commit()
            }
        }
        #expect(error?.message.contains("would wait for it") == true)
        #expect(try company.ages() == [0])
    }

    @Test(arguments: Backend.allCases)
    func idsOfConcurrentTransactionsAreDistinct(_ backend: Backend) throws {
        let company = try Company(backend)
        let drafts = (0..<4).map { _ in company.stack.beginUnsafe() }
        for round in 0..<50 {
            for (number, draft) in drafts.enumerated() { try draft.create(Into<Person>()).email = "\(number) \(round)" }
            try company.stack.performAndWait { try $0.create(Into<Person>()).email = "line \(round)" }
        }
        for draft in drafts { try draft.commit() }
        #expect(try company.count() == 250)
    }
}

extension Company {
    func count() throws -> Int { try stack.readAndWait { try $0.fetchCount(From<Person>()) } }
    func ages() throws -> [Int] { try stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.age) } }
    func nicknames() throws -> [String?] { try stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.nickname) } }
}
