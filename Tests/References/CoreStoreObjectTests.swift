import PolyStore
import TestSupport
import Testing

/// CoreStore 1.6, README, "Creating objects", "Updating objects", "Deleting objects" and "Passing objects safely".
@MainActor @Suite struct CoreStoreObjectTests {
    // MARK: Creating

    @Test(arguments: Backend.forObjectLayer)
    func createTakesTheOnlyStoreThatHasTheEntity(_ backend: Backend) throws {
        let people = try People(backend)
        try people.stack.performAndWait { transaction in
            // transaction.create(Into(MyPersonEntity))
            let person = try transaction.create(Into(MyPerson.self))
            #expect(person.isInserted)
            #expect(person.objectID.configuration == nil)
        }
        let two = try TwoStores(backend)
        try two.stack.performAndWait { try $0.create(Into<MyVisit>()).place = "Taipei" }
        #expect(try two.stack.view.fetchCount(From<MyVisit>()) == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func createWithoutAStoreForTheEntityIsRefusedAtOnce(_ backend: Backend) throws {
        let people = try People(backend)
        let error = #expect(throws: StoreError.self) { try people.stack.performAndWait { _ = try $0.create(Into<MyVisit>()) } }
        #expect(error?.code == .storeNotFound)
    }

    @Test(arguments: Backend.forObjectLayer)
    func createInSeveralStoresNeedsAConfiguration(_ backend: Backend) throws {
        let two = try TwoStores(backend)
        let error = #expect(throws: StoreError.self) { try two.stack.performAndWait { _ = try $0.create(Into<MyPerson>()) } }
        #expect(error?.code == .ambiguousStore)
        try two.stack.performAndWait { transaction in
            // Into<MyPersonEntity>("Config1"), Into<MyPersonEntity>(nil)
            try transaction.create(Into<MyPerson>("Config1")).name = "in Config1"
            try transaction.create(Into<MyPerson>(nil)).name = "in the default configuration"
        }
        let view = two.stack.view
        #expect(try view.fetchAll(From<MyPerson>("Config1")).map(\.name) == ["in Config1"])
        #expect(try view.fetchAll(From<MyPerson>(nil)).map(\.name) == ["in the default configuration"])
        #expect(try view.fetchCount(From<MyPerson>()) == 2)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aConfigurationIsNotReplacedByAnother(_ backend: Backend) throws {
        let people = try People(backend)
        let error = #expect(throws: StoreError.self) { try people.stack.performAndWait { _ = try $0.create(Into<MyPerson>("Config1")) } }
        #expect(error?.code == .storeNotFound)
    }

    // MARK: Updating

    @Test(arguments: Backend.forObjectLayer)
    func aFetchedObjectIsChangedAsItIs(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        stack.beginAsynchronous { transaction in
            // transaction.fetchOne(From, Where("name", isEqualTo:)), person.age = person.age + 1
            guard let person = try transaction.fetchOne(From<MyPerson>(), Where(\.name == "Jane Doe")) else { return }
            person.age = person.age + 1
            transaction.commit()
        }
        try await stack.perform { _ in }
        #expect(try people.ages == [16, 17, 23, 30, 35, 42])
    }

    @Test(arguments: Backend.forObjectLayer)
    func editGivesTheTransactionsOwnObject(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let jane = try #require(try stack.view.fetchOne(From<MyPerson>(), Where(\.name == "Jane Doe")))
        // transaction.edit(jane)!, with an object of the main context: the closure receives the transaction's own object
        try await stack.perform(editing: jane) { transaction, jane in
            #expect(jane._$state.context === transaction)
            jane.age = jane.age + 1
        }
        #expect(jane.age == 23)
        // By id, which a closure can capture.
        let id = jane.objectID
        stack.beginAsynchronous { transaction in
            try transaction.edit(id).age += 1
            transaction.commit()
        }
        try await stack.perform { _ in }
        #expect(jane.age == 24)
        // In an unqueued transaction on the same actor, with the object itself.
        let draft = stack.beginUnsafe()
        let mine = try draft.edit(jane)
        #expect(mine !== jane)
        #expect(try draft.edit(mine) === mine)
        mine.age += 1
        #expect(jane.age == 24)
        try await draft.commit()
        #expect(jane.age == 25)
    }

    @Test(arguments: Backend.forObjectLayer)
    func relationshipsLeadToTheTransactionsOwnObjects(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let ids = (warrior: try people.id("Warrior"), john: try people.id("John Smith"))
        stack.beginAsynchronous { transaction in
            // transaction.edit(jane)!, transaction.edit(john)!, jane.friends = NSSet(array: [john])
            let warrior = try transaction.edit(ids.warrior)
            let john = try transaction.edit(ids.john)
            warrior.friends = [john]
            #expect(john.friends.contains(warrior))
            transaction.commit()
        }
        try await stack.perform { _ in }
        let (warrior, john) = (try stack.view.fetchExisting(ids.warrior), try stack.view.fetchExisting(ids.john))
        #expect(warrior?.friends == Set([john].compactMap { $0 }))
        #expect(john?.friends.count == 3)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aRelationshipToAnObjectOfAnotherContextIsRefusedAtCommit(_ backend: Backend) throws {
        let people = try People(backend)
        let stack = people.stack
        let john = try #require(try stack.view.fetchOne(From<MyPerson>(), Where(\.name == "John Smith")))
        let draft = stack.beginUnsafe()
        // jane.friends = [john] with the main context's john
        try draft.edit(try people.id("Warrior")).friends = [john]
        let error = #expect(throws: StoreError.self) { try draft.commit() }
        #expect(error?.code == .misuse && error?.attribute == "friends")
        draft.rollback()
        #expect(try !draft.commit())
    }

    // MARK: Deleting

    @Test(arguments: Backend.forObjectLayer)
    func oneObjectIsDeletedWithoutBeingFetched(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let john = try #require(try stack.view.fetchOne(From<MyPerson>(), Where(\.name == "John Smith")))
        let id = john.objectID
        // transaction.delete(john)
        stack.beginAsynchronous { transaction in
            try transaction.delete(id)
            transaction.commit()
        }
        try await stack.perform { _ in }
        #expect(john.isDeleted)
        #expect(try people.ages == [16, 17, 22, 35, 42])
        // An object of the main context, in a transaction on the same actor.
        let draft = stack.beginUnsafe()
        let jane = try #require(try stack.view.fetchOne(From<MyPerson>(), Where(\.name == "Jane Doe")))
        try draft.delete(jane)
        #expect(!jane.isDeleted)
        try await draft.commit()
        #expect(jane.isDeleted)
        #expect(try people.ages == [16, 17, 35, 42])
    }

    @Test(arguments: Backend.forObjectLayer)
    func severalObjectsAreDeletedAtOnce(_ backend: Backend) throws {
        let people = try People(backend)
        let stack = people.stack
        let (john, jane, monk) = (try people.id("John Smith"), try people.id("Jane Doe"), try people.id("Monk"))
        // transaction.delete(john, jane), transaction.delete([john, jane]): ids, and objects of the transaction
        try stack.performAndWait { try $0.delete(john, jane) }
        #expect(try people.ages == [16, 17, 35, 42])
        try stack.performAndWait { transaction in
            let warriors = try transaction.fetchAll(From<MyPerson>(), Where(\.name == "Warrior"))
            try transaction.delete(warriors)
            // Deleted objects are skipped.
            try transaction.delete([john, monk])
        }
        #expect(try people.ages == [17])
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsOfTheMainContextAreDeletedAtOnce(_ backend: Backend) throws {
        let people = try People(backend)
        let stack = people.stack
        let warriors = try stack.view.fetchAll(From<MyPerson>(), Where(\.name == "Warrior"))
        let draft = stack.beginUnsafe()
        try draft.delete(warriors[0], warriors[1])
        try draft.delete(warriors)
        try draft.commit()
        #expect(warriors.map(\.isDeleted) == [true, true])
        try draft.delete(warriors)
        #expect(try !draft.commit())
        #expect(try people.ages == [17, 22, 30, 42])
    }

    @Test(arguments: Backend.forObjectLayer)
    func deleteAllTakesACondition(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        stack.beginAsynchronous { transaction in
            // transaction.deleteAll(From, Where("age > 30"))
            let count = try transaction.deleteAll(From<MyPerson>(), Where("age > 30"))
            #expect(count == 2)
            transaction.commit()
        }
        try await stack.perform { _ in }
        #expect(try people.ages == [16, 17, 22, 30])
    }

    // MARK: Passing objects

    @Test(arguments: Backend.forObjectLayer)
    func fetchExistingGoesFromTheViewToATransactionAndBack(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let id = try people.id("Jane Doe")
        let age: Int? = try await withCheckedThrowingContinuation { continuation in
            stack.beginAsynchronous { transaction in
                // transaction.fetchExisting(jane)!
                try transaction.fetchExisting(id)?.age += 1
                transaction.commit { result in
                    // CoreStore.fetchExisting(jane)!
                    continuation.resume(with: Result { try result.get() ? try stack.view.fetchExisting(id)?.age : nil })
                }
            }
        }
        #expect(age == 23)
    }

    @Test(arguments: Backend.forObjectLayer)
    func fetchExistingTakesObjectsOfAnyContext(_ backend: Backend) throws {
        let people = try People(backend)
        let (stack, view) = (people.stack, people.stack.view)
        let draft = stack.beginUnsafe()
        let jane = try #require(try view.fetchOne(From<MyPerson>(), Where(\.name == "Jane Doe")))
        let mine = try #require(try draft.fetchExisting(jane))
        #expect(mine !== jane && mine.objectID == jane.objectID)
        #expect(try view.fetchExisting(mine) === jane)
        // Several objects, in the given order.
        let all = try view.fetchAll(From<MyPerson>().orderBy(.descending(\.age)))
        #expect(try draft.fetchExisting(all).map(\.age) == [42, 35, 30, 22, 17, 16])
        // An object created here is invisible elsewhere before the commit.
        let new = try draft.create(Into<MyPerson>())
        #expect(try view.fetchExisting(new) == nil)
        try draft.commit()
        #expect(try view.fetchExisting(new) != nil)
        try draft.delete(mine)
        #expect(try draft.fetchExisting(jane) == nil)
    }

    @Test(arguments: Backend.forObjectLayer)
    func fetchExistingTakesIDsToMakeRelationships(_ backend: Backend) async throws {
        let people = try People(backend)
        let stack = people.stack
        let peopleIDs = try stack.view.fetchObjectIDs(From<MyPerson>(), Where(\.name == "Warrior"))
        stack.beginAsynchronous { transaction in
            let jane = try transaction.fetchOne(From<MyPerson>(), Where("name == %@", "Jane Doe"))
            // jane.friends = NSSet(array: transaction.fetchExisting(peopleIDs)!)
            jane?.friends = Set(try transaction.fetchExisting(peopleIDs))
            transaction.commit()
        }
        try await stack.perform { _ in }
        let jane = try stack.view.fetchOne(From<MyPerson>(), Where("name == %@", "Jane Doe"))
        #expect(Set(jane?.friends.map(\.objectID) ?? []) == Set(peopleIDs))
    }
}
