import Foundation
import PolyStore
import TestSupport
import Testing

/// Tests the examples of CoreStore 1.6, README, "Fetching": the clauses From, Where, OrderBy and Tweak, and the five fetch methods.
@MainActor @Suite struct CoreStoreFetchingTests {
    @Test(arguments: Backend.forObjectLayer)
    func fromNamesTheEntityAndTheStores(_ backend: Backend) throws {
        let people = try People(backend)
        let view = people.stack.view
        // CoreStore.fetchAll(From(MyPersonEntity))
        #expect(try view.fetchAll(From(MyPerson.self)).count == 6)
        #expect(try view.fetchAll(From<MyPerson>()).count == 6)
        // From<MyPersonEntity>(nil): the default configuration
        #expect(try view.fetchOne(From<MyPerson>(nil)) != nil)
        // From<MyPersonEntity>("Config1"), which no store of this stack has
        #expect(throws: StoreError.self) { try view.fetchAll(From<MyPerson>("Config1")) }
    }

    @Test(arguments: Backend.forObjectLayer)
    func theFiveMethodsTakeTheSameClauses(_ backend: Backend) throws {
        let people = try People(backend)
        let view = people.stack.view
        let clauses = (From<MyPerson>(), Where<MyPerson>("age > %d", 25), OrderBy<MyPerson>(.ascending("age")))
        #expect(try view.fetchAll(clauses.0, clauses.1, clauses.2).map(\.age) == [30, 35, 42])
        #expect(try view.fetchOne(clauses.0, clauses.1, clauses.2)?.age == 30)
        #expect(try view.fetchCount(clauses.0, clauses.1, clauses.2) == 3)
        let ids = try view.fetchObjectIDs(clauses.0, clauses.1, clauses.2)
        #expect(try view.fetchExisting(ids).map(\.age) == [30, 35, 42])
        #expect(try view.fetchObjectID(clauses.0, clauses.1, clauses.2) == ids.first)
    }

    @Test(arguments: Backend.forObjectLayer)
    func whereTakesFormatsTruthAndFoundationsPredicates(_ backend: Backend) throws {
        let people = try People(backend)
        let view = people.stack.view
        // Where("%K > %d", "age", 30)
        #expect(try view.fetchCount(From<MyPerson>(), Where("%K > %d", "age", 30)) == 2)
        // Where(true)
        #expect(try view.fetchCount(From<MyPerson>(), Where(true)) == 6)
        // Where(predicate)
        #expect(try view.fetchCount(From<MyPerson>(), Where(#Predicate { $0.age > 30 })) == 2)
        // Where("age > %d", 30) && Where("gender == %@", "M"), || and !
        #expect(try view.fetchCount(From<MyPerson>(), Where("age > %d", 20) && Where("gender == %@", "M")) == 3)
        #expect(try view.fetchCount(From<MyPerson>(), Where("age > %d", 40) || Where("gender == %@", "F")) == 3)
        #expect(try view.fetchCount(From<MyPerson>(), !Where("gender == %@", "F")) == 4)
        // Without Where: all objects
        #expect(try view.fetchCount(From<MyPerson>()) == 6)
    }

    @Test(arguments: Backend.forObjectLayer, [false, true])
    func ordersAreAppended(_ backend: Backend, sortFromYoungest: Bool) throws {
        let people = try People(backend)
        let view = people.stack.view
        // OrderBy(.Descending("rating"), .Ascending("surname"))
        let mostValuable = try view.fetchAll(From<MyPerson>(), OrderBy(.descending("rating"), .ascending("surname")))
        #expect(mostValuable.map(\.surname) == ["Zed", "Doe", "Smith", "Adrian", "Theo", "Ada"])
        // var orderBy = OrderBy(.Descending("rating")); if sortFromYoungest { orderBy += OrderBy(.Ascending("age")) }
        var orderBy = OrderBy<MyPerson>(.descending("rating"))
        if sortFromYoungest { orderBy += OrderBy(.ascending("age")) }
        let ordered = try view.fetchAll(From<MyPerson>(), orderBy)
        #expect(ordered.map(\.rating) == [5, 4.5, 4.5, 3, 2, 1])
        if sortFromYoungest { #expect(ordered.map(\.age)[1...2] == [22, 30]) }
    }

    @Test(arguments: Backend.forObjectLayer)
    func tweaksComeLast(_ backend: Backend) throws {
        let people = try People(backend)
        try people.stack.performAndWait { transaction throws in
            try transaction.create(Into<MyPerson>()).age = 60
            // Tweak { $0.includesPendingChanges = false; $0.returnsObjectsAsFaults = false }
            let stored = try transaction.fetchAll(
                From<MyPerson>(), Where("age > %d", 30), OrderBy(.ascending("surname")),
                Tweak {
                    $0.includesPendingChanges = false
                    $0.includesPropertyValues = true
                })
            #expect(stored.map(\.surname) == ["Adrian", "Zed"])
            #expect(!stored.contains { $0.isFault })
            #expect(try transaction.fetchCount(From<MyPerson>(), Where("age > %d", 30)) == 3)
        }
    }
}
