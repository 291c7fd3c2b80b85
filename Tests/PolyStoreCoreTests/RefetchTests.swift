import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Lists that are fetched again while their objects are alive. Rows of registered objects are not read, and the results must not differ.
@MainActor
@Suite struct RefetchTests {
    private let source = From<Person>().where(\.age >= 100).orderBy(.descending(\.age))

    @Test(arguments: Backend.forObjectLayer)
    func aListFetchedAgainIsCurrent(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        let ids = try company.people(300)
        var list = try stack.view.fetchAll(source)
        #expect(list.map(\.age) == (10..<300).reversed().map { $0 * 10 })
        for round in 0..<6 {
            // One object moves within the list, one leaves it, one is deleted, one is added.
            try stack.performAndWait { transaction in
                try transaction.edit(ids[100 + round]).age = 5000 + round
                try transaction.edit(ids[200 + round]).age = 1
                try transaction.delete(ids[250 + round])
                let person = try transaction.create(Into<Person>())
                person.email = "new\(round)@example.com"
                person.age = 7000 + round
            }
            list = try stack.view.fetchAll(source)
            let fresh = try stack.readAndWait { context in try context.fetchAll(source).map { "\($0.email) \($0.age)" } }
            #expect(list.map { "\($0.email) \($0.age)" } == fresh)
        }
        // First the same number of other objects, which are not alive, then all objects.
        let others = From<Person>().where(\.age < 100)
        #expect(try stack.view.fetchAll(others).count == 16)
        let all = try stack.view.fetchAll(From<Person>())
        #expect(all.count == 300)
        let again = try stack.view.fetchAll(From<Person>())
        #expect(zip(all, again).allSatisfy { $0 === $1 })
        #expect(try stack.view.fetchAll(From<Person>().where(\.age >= 100).limit(3)).count == 3)
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsNotInMemoryAreReadTogether(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(1000)
        try company.stack.readAndWait { context in
            func numbers(_ range: Range<Int>) -> FetchChain<Person> {
                From<Person>().where(\.age >= range.lowerBound * 10 && \.age < range.upperBound * 10)
            }
            let first = try context.fetchAll(numbers(0..<500))
            // Warm now: the next fetch finds all objects alive, the one after it all but a few, the last one only some.
            #expect(try context.fetchAll(numbers(0..<500)).count == first.count)
            #expect(try context.fetchAll(numbers(0..<510)).map(\.age) == (0..<510).map { $0 * 10 })
            #expect(try context.fetchAll(numbers(480..<1000)).map(\.age) == (480..<1000).map { $0 * 10 })
            #expect(first.count == 500)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aTransactionSeesItsOwnChangesInAListFetchedAgain(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(200)
        try company.stack.performAndWait { transaction in
            let list = try transaction.fetchAll(source)
            #expect(list.count == 190)
            #expect(try transaction.fetchAll(source).count == 190)
            try transaction.edit(ids[150]).age = 9000
            try transaction.edit(ids[151]).age = 3
            try transaction.delete(ids[152])
            let person = try transaction.create(Into<Person>())
            person.email = "new@example.com"
            person.age = 9001
            let again = try transaction.fetchAll(source)
            #expect(again.count == 189)
            #expect(again.prefix(3).map(\.age) == [9001, 9000, 1990])
            #expect(list.count == 190)
        }
    }
}
