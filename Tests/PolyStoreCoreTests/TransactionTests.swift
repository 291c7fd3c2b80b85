import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

@Suite struct TransactionTests {
    @Test(arguments: Backend.forObjectLayer)
    func commitsOnReturn(_ backend: Backend) async throws {
        let company = try Company(backend)
        let id = try await company.stack.perform { transaction in
            let jane = try transaction.create(Into<Person>())
            jane.email = "jane@example.com"
            jane.age = 41
            return jane.objectID
        }
        let age = try await company.stack.read { context in try context.fetchExisting(id)?.age }
        #expect(age == 41)
        let seen = try await company.stack.read { context in try context.fetchAll(From<Person>()).map(\.email) }
        #expect(seen == ["jane@example.com"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func discardsOnThrow(_ backend: Backend) async throws {
        let company = try Company(backend)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await company.stack.perform { transaction in
                try transaction.create(Into<Person>()).email = "x"
                throw Stop()
            }
        }
        #expect(try await company.stack.read { try $0.fetchCount(From<Person>()) } == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func cancelDiscardsAndThrowsCancelled(_ backend: Backend) throws {
        let company = try Company(backend)
        expectError(.cancelled) {
            try company.stack.performAndWait { transaction throws in
                try transaction.create(Into<Person>()).email = "x"
                try transaction.cancel()
            }
        }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func editsByID(_ backend: Backend) async throws {
        let company = try Company(backend)
        let ids = try company.people(3)
        try await company.stack.perform(editing: ids[1]) { _, person in person.age += 1 }
        #expect(try await company.stack.read { try $0.fetchAll(From<Person>()).map(\.age) } == [0, 11, 20])
    }

    @Test(arguments: Backend.forObjectLayer)
    func editingADeletedObjectNamesIt(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(1)
        try company.stack.performAndWait { try $0.delete(ids[0]) }
        let error = expectError(.notFound) { try company.stack.performAndWait { try $0.edit(ids[0]).age = 1 } }
        #expect(error?.entity == "Person")
        #expect(error?.rowID == ids[0].rowID)
    }

    @Test(arguments: Backend.allCases)
    func idsAreNeverReused(_ backend: Backend) throws {
        let company = try Company(backend)
        var seen: Set<Int64> = []
        for round in 0..<5 {
            let ids = try company.people(20)
            #expect(seen.isDisjoint(with: ids.map(\.rowID)), "round \(round)")
            seen.formUnion(ids.map(\.rowID))
            try company.stack.performAndWait { try $0.deleteAll(From<Person>()) }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func fetchesSeePendingChanges(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(6)  // ages 0 … 50
        try company.stack.performAndWait { transaction throws in
            try transaction.edit(ids[0]).age = 100  // sorts last
            try transaction.delete(ids[2])
            let new = try transaction.create(Into<Person>())
            new.email = "new@example.com"
            new.age = 15
            let chain = From<Person>().where(\.age > 5).orderBy(.descending(\.age))
            #expect(try transaction.fetchAll(chain).map(\.age) == [100, 50, 40, 30, 15, 10])
            #expect(try transaction.fetchAll(chain.limit(2).offset(3)).map(\.age) == [30, 15])
            #expect(try transaction.fetchCount(chain) == 6)
            #expect(try transaction.fetchObjectIDs(chain.limit(1)) == [ids[0]])
            #expect(try transaction.fetchAll(chain.tweak { $0.includesPendingChanges = false }).map(\.objectID).count == 5)
            #expect(try transaction.fetchOne(From<Person>(), Where(\.email == "new@example.com")) === new)
            #expect(try transaction.fetchExisting(ids[2]) == nil)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func anUnassignedRequiredAttributeRefusesTheCommit(_ backend: Backend) throws {
        let company = try Company(backend)
        let error = expectError(.constraint) { try company.stack.performAndWait { _ = try $0.create(Into<Person>()) } }
        #expect(error?.entity == "Person")
        #expect(error?.attribute == "email")
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aUniqueViolationNamesTheAttributeAndTheStoreContinues(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(2)
        let error = expectError(.constraint) {
            try company.stack.performAndWait { try $0.create(Into<Person>()).email = "p1@example.com" }
        }
        #expect(error?.entity == "Person")
        #expect(error?.attribute == "email")
        try company.stack.performAndWait { try $0.create(Into<Person>()).email = "p2@example.com" }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 3)
    }

    @Test(arguments: Backend.forObjectLayer)
    func uniqueValuesMaySwapWithinATransaction(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        try company.stack.performAndWait { transaction throws in
            try transaction.edit(ids[0]).email = "p1@example.com"
            try transaction.edit(ids[1]).email = "p0@example.com"
        }
        #expect(try company.stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.email) } == ["p1@example.com", "p0@example.com"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func aTransactionInsideAnotherIsRefused(_ backend: Backend) throws {
        let company = try Company(backend)
        let stack = company.stack
        try stack.performAndWait { _ in
            _ = expectError(.misuse) { try stack.performAndWait { _ in } }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func transactionsRunInTheOrderOfTheirCalls(_ backend: Backend) async throws {
        let company = try Company(backend)
        let ids = try company.people(1)
        let stack = company.stack
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try? await stack.perform(editing: ids[0]) { _, person in person.age += 1 } } }
        }
        for _ in 0..<10 { try stack.performAndWait { try $0.edit(ids[0]).age += 1 } }
        #expect(try await stack.read { try $0.fetchExisting(ids[0])?.age } == 110)
    }

    @Test(arguments: Backend.allCases)
    func queuedTransactionsRunInTheOrderOfTheirCalls(_ backend: Backend) async throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        let gate = DispatchSemaphore(value: 0)
        company.stack.beginAsynchronous { _ in gate.wait() }
        for number in 0..<60 {
            // With and without a commit, and with any durability.
            company.stack.beginAsynchronous(durability: number % 3 == 0 ? .relaxed : nil) { transaction in
                let person = try transaction.edit(id)
                person.nickname = (person.nickname ?? "") + "\(number) "
                if number % 5 != 4 { transaction.commit() }
            }
        }
        gate.signal()
        try await company.stack.perform { _ in }
        let expected = (0..<60).filter { $0 % 5 != 4 }.map { "\($0) " }.joined()
        #expect(try company.nicknames() == [expected])
    }

    @Test(arguments: Backend.forObjectLayer)
    func changedKeysAndFlagsDescribeTheTransaction(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        try company.stack.performAndWait { transaction throws in
            #expect(!transaction.hasChanges)
            let person = try transaction.edit(ids[0])
            #expect(!person.hasChanges)
            person.age = 3
            person.nickname = "P"
            #expect(person.changedKeys == ["age", "nickname"])
            #expect(transaction.hasChanges)
            let new = try transaction.create(Into<Person>())
            new.email = "n"
            #expect(new.isInserted)
            try transaction.delete(new)
            #expect(new.isDeleted)
        }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 2)
    }
}
