import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

@Suite struct EditingTests {
    @Test(arguments: Backend.forObjectLayer)
    @MainActor func anObjectOfTheViewIsEditedInATransaction(_ backend: Backend) async throws {
        let company = try Company(backend)
        try company.people(2)
        let person = try #require(try company.stack.view.fetchOne(From<Person>(), Where(\.age == 10)))
        let age = try await company.stack.perform(editing: person) { transaction, own in
            own.age += 1
            return own.age
        }
        #expect((age, person.age) == (11, 11))
        try company.stack.performAndWait(editing: person) { _, own in own.age += 1 }
        #expect(person.age == 12)
        try company.stack.performAndWait(editing: person.objectID) { _, own in own.age += 1 }
        #expect(person.age == 13)
        try company.stack.performAndWait { [id = person.objectID] in try $0.delete(id) }
        #expect(person.isDeleted)
        expectError(.notFound) { try company.stack.performAndWait(editing: person) { _, own in own.age += 1 } }
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsOfOtherContextsAreFoundAgain(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(5)
        let stack = company.stack
        try stack.readAndWait { snapshot throws in
            // Each is used by one thread at a time.
            nonisolated(unsafe) let people = try snapshot.fetchExisting(ids)
            nonisolated(unsafe) let snapshot = snapshot
            try stack.performAndWait { try $0.delete(ids[3]) }
            try stack.performAndWait { transaction throws in
                let own = try transaction.edit(people[1])
                #expect(own !== people[1] && own.objectID == ids[1])
                #expect(try transaction.edit(own) === own)
                #expect(try transaction.fetchExisting(people[1]) === own)
                #expect(try transaction.fetchExisting(people[3]) == nil)
                expectError(.notFound) { try transaction.edit(people[3]) }
                try transaction.delete(ids[0])
                let found = try transaction.fetchExisting([people[4], people[3], people[1], people[0], people[4]])
                #expect(found.map(\.objectID) == [ids[4], ids[1], ids[4]])
                #expect(try transaction.fetchExisting(found).map(\.objectID) == [ids[4], ids[1], ids[4]])
                #expect(try transaction.fetchExisting([] as [Person]).isEmpty)
                try transaction.delete(own)
                expectError(.notFound) { try transaction.edit(own) }
                #expect(try transaction.fetchExisting(own) == nil)
                // And in the other direction.
                #expect(try snapshot.fetchExisting(found[0]) === people[4])
            }
        }
        #expect(try company.stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.age) } == [20, 40])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func objectsOfOtherContextsAreDeleted(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(4)
        let people = try company.stack.view.fetchAll(From<Person>())
        let draft = company.stack.beginUnsafe()
        try draft.delete(people[0])
        let mine = try draft.edit(people[1])
        try draft.delete([mine, people[1], people[2]])
        #expect(people.allSatisfy { !$0.isDeleted } && mine.isDeleted)
        try draft.commit()
        #expect(people.map(\.isDeleted) == [true, true, true, false])
        // Deleted objects are skipped.
        try draft.delete(people[0])
        #expect(!draft.hasChanges)
        #expect(try company.ages() == [30])
        let other = try Company(backend)
        expectError(.storeNotFound) { try other.stack.beginUnsafe().delete(people[3]) }
    }

    @Test(arguments: Backend.forObjectLayer)
    func idsAreFoundInTheirOrder(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(5)
        try company.stack.performAndWait { transaction throws in
            try transaction.delete(ids[2])
            let order = [ids[4], ids[2], ids[0], ids[4], ids[1]]
            #expect(try transaction.fetchExisting(order).map(\.objectID) == [ids[4], ids[0], ids[4], ids[1]])
            #expect(try transaction.fetchExisting(Set(ids)).count == 4)
            #expect(try transaction.fetchExisting(order.lazy.filter { $0 != ids[4] }).map(\.objectID) == [ids[0], ids[1]])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func everyFormOfDeletionDeletes(_ backend: Backend) throws {
        let company = try Company(backend)
        // Each form returns the number of objects it deletes.
        let forms: [@Sendable (Transaction, [ObjectID<Person>]) throws -> Int] = [
            { transaction, ids in
                try transaction.delete(ids[0])
                return 1
            },
            { transaction, ids in
                try transaction.delete(transaction.edit(ids[0]))
                return 1
            },
            { transaction, ids in
                try transaction.delete(ids[0], ids[1], ids[2])
                return 3
            },
            { transaction, ids in
                try transaction.delete(transaction.edit(ids[0]), transaction.edit(ids[1]))
                return 2
            },
            { transaction, ids in
                try transaction.delete([ids[0], ids[1], ids[0]])
                return 2
            },
            { transaction, ids in
                try transaction.delete(transaction.fetchExisting([ids[0], ids[1]]))
                return 2
            },
            { transaction, _ in try transaction.deleteAll(From<Person>()) },
            { transaction, _ in try transaction.deleteAll(From<Person>().where(\.age >= 40)) },
            { transaction, _ in try transaction.deleteAll(From<Person>(), Where(\.age < 40)) },
            { transaction, _ in try transaction.deleteAll(From<Person>(), Where(\.age < 40), Tweak { $0.limit = 2 }) },
            { transaction, _ in
                try transaction.deleteAll(From<Person>(), Where(\.age < 40), OrderBy(.descending(\.age)), Tweak { $0.limit = 2 })
            },
        ]
        let expected = [1, 1, 3, 2, 2, 2, 10, 6, 4, 2, 2]
        for (number, form) in forms.enumerated() {
            let ids = try company.people(10)
            let count = try company.stack.performAndWait { transaction throws in
                let count = try form(transaction, ids)
                #expect(try transaction.fetchCount(From<Person>()) == 10 - count, "form \(number)")
                return count
            }
            #expect(count == expected[number], "form \(number)")
            #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 10 - count, "form \(number)")
            try company.stack.performAndWait { try $0.deleteAll(From<Person>()) }
        }
    }
}
