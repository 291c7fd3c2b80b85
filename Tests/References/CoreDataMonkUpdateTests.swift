import PolyStore
import PolyStoreMemory
import TestSupport
import Testing

/// CoreDataMonk, README, "Getting started" and "Create and update object".
@MainActor @Suite struct CoreDataMonkUpdateTests {
    @Test(arguments: Backend.forObjectLayer)
    func severalStoresAreAddedByConfiguration(_ backend: Backend) throws {
        let folder = try Folder()
        // addInMemoryStore(configuration: "InMemory"), addDatabaseStore(configuration: "Database", resetOnFailure: true)
        let schema = Schema(
            "References", [MyPerson.self, MyVisit.self], configurations: ["InMemory": [MyVisit.self], "Database": [MyPerson.self]])
        let stack = try DataStack(schema)
        try stack.addStore(.inMemory(), configuration: "InMemory")
        try stack.addStore(backend.store(in: folder), configuration: "Database")
        try stack.performAndWait { transaction in
            try transaction.create(Into<MyPerson>()).name = "Monk"
            try transaction.create(Into<MyVisit>()).place = "Taipei"
        }
        #expect(try stack.view.fetchOne(From<MyPerson>())?.objectID.configuration == "Database")
        #expect(try stack.view.fetchOne(From<MyVisit>())?.objectID.configuration == "InMemory")
    }

    @Test(arguments: Backend.forObjectLayer)
    func anUpdateCreatesFetchesOrCreatesAndFetches(_ backend: Backend) throws {
        let people = try People(backend)
        let stack = people.stack
        // World.beginUpdateAndWait, update.create, update.fetchOrCreate, update.fetch, update.commit
        try stack.beginSynchronous { update in
            let farmer = try update.create(Into<MyPerson>())
            farmer.name = "Farmer"
            farmer.age = 28
            let knight = try update.fetchOrCreate(From<MyPerson>(), %"name" == "Knight" && %"age" == 18)
            knight.friend = farmer
            let monk = try #require(try update.fetchOne(From<MyPerson>(), %"name" == "Monk"))
            monk.age = 44
            monk.friend = knight
            try update.commit()
        }
        let monk = try #require(try stack.view.fetchOne(From<MyPerson>(), %"name" == "Monk"))
        #expect(monk.age == 44)
        #expect(monk.friend?.name == "Knight" && monk.friend?.age == 18)
        #expect(monk.friend?.friend?.name == "Farmer")
        // The second call fetches the knight.
        try stack.performAndWait { update in
            _ = try update.fetchOrCreate(From<MyPerson>(), %"name" == "Knight" && %"age" == 18)
            #expect(!update.hasChanges)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func anUpdateInTheBackgroundIsDiscardedWithoutACommit(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        // World.beginUpdate with and without update.commit()
        stack.beginAsynchronous { update in
            try update.create(Into<MyPerson>()).age = 50
            update.commit()
        }
        stack.beginAsynchronous { update in try update.create(Into<MyPerson>()).age = 51 }
        try await stack.perform { _ in }
        #expect(try people.ages == [16, 17, 22, 30, 35, 42, 50])
    }

    @Test(arguments: Backend.forObjectLayer)
    func anUpdateUsesAnObjectOfTheMainContext(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let warrior = try #require(try stack.view.fetchOne(From<MyPerson>(), %"name" == "Warrior" && %"location" == "Taipei"))
        // update.use(warrior)
        try await stack.perform(editing: warrior) { update, warrior in
            let monk = try update.fetchOne(From<MyPerson>(), %"name" == "Monk")
            monk?.friend = warrior
        }
        #expect(try stack.view.fetchOne(From<MyPerson>(), %"name" == "Monk")?.friend === warrior)
    }

    @Test(arguments: Backend.forObjectLayer)
    func anUpdateContinuesInTheCallbackOfAServer(_ backend: Backend) async throws {
        let people = try People(backend)
        let (stack, server) = (people.stack, Server())
        // World.beginUpdate, remote_server.findAge with a callback, update.perform and update.commit in it
        let committed = try await withCheckedThrowingContinuation { continuation in
            let update = stack.beginTransaction()
            update.perform { step in
                guard let monk = try step.fetchOne(From<MyPerson>(), %"name" == "Monk") else { return }
                let id = monk.objectID
                server.findAge(monk.name, location: monk.location) { age in
                    update.perform { step in
                        try step.edit(id).age = age
                        continuation.resume(with: Result { try step.commit() })
                    }
                }
            }
        }
        #expect(committed)
        #expect(try people.ages == [10, 16, 17, 22, 30, 35])
    }

    @Test(arguments: Backend.forObjectLayer)
    func anUpdateWithoutItsCallbackIsDiscardedAndBlocksNoTransaction(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        do {
            let update = stack.beginTransaction()
            try await update.perform { step in try step.fetchOne(From<MyPerson>(), %"name" == "Monk")?.age = 99 }
            // Another transaction commits in the meantime.
            try await stack.perform { transaction in try transaction.create(Into<MyPerson>()).age = 50 }
        }
        #expect(try people.ages == [16, 17, 22, 30, 35, 42, 50])
        #expect(stack.openSnapshots.filter { $0.kind == "transaction in steps" }.isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aTransactionTakesSeveralPerforms(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        // World.beginTransaction, transaction.perform three times, update.commit in the last one
        let transaction = stack.beginTransaction()
        let id = try await transaction.perform { update in
            let farmer = try update.create(Into<MyPerson>())
            farmer.name = "Farmer"
            return farmer.objectID
        }
        try await transaction.perform { update in try update.edit(id).age = 28 }
        #expect(try people.ages.count == 6)
        try await transaction.perform { update in
            try update.edit(id).location = "Taipei"
            try update.commit()
        }
        let farmer = try stack.view.fetchExisting(id)
        #expect(farmer?.name == "Farmer" && farmer?.age == 28 && farmer?.location == "Taipei")
    }

    @Test(arguments: Backend.forObjectLayer)
    func performsThatAreNotAwaitedRunInTheirOrder(_ backend: Backend) throws {
        let people = try People(backend)
        let transaction = people.stack.beginTransaction()
        for number in 1...20 {
            transaction.perform { update in
                let last = try update.fetchOne(From<MyPerson>().orderBy(.descending(\.age)))?.age ?? 0
                try update.create(Into<MyPerson>()).age = last + number
            }
        }
        try transaction.performAndWait { update in _ = try update.commit() }
        #expect(try people.ages.last == 42 + 210)
    }

    /// Calls back on another thread.
    private struct Server: Sendable {
        func findAge(_ name: String, location: String?, _ callback: @escaping @Sendable (Int) -> Void) {
            let age = name.count + (location?.count ?? 0)
            Task.detached { callback(age) }
        }
    }
}
