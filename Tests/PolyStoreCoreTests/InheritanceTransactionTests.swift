import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Transactions on objects of a hierarchy, beyond creating, editing and deleting.
@Suite struct InheritanceTransactionTests {
    @Test(arguments: Backend.forObjectLayer)
    func anUnsafeTransactionKeepsTheClasses(_ backend: Backend) throws {
        let parties = try Parties(backend)
        let draft = parties.stack.beginUnsafe(supportsUndo: true)
        let worker = try draft.create(Into<Worker>())
        (worker.name, worker.badge, worker.age) = ("Ivy", "I1", 33)
        draft.flush()
        let bob = try #require(try draft.fetchOne(From<Party>(), Where(\.name == "Bob")))
        bob.name = "Bobby"
        worker.boss = bob as? Worker
        draft.flush()
        try draft.undo()
        #expect((bob.name, worker.boss == nil) == ("Bob", true))
        try draft.redo()
        #expect((bob.name, worker.boss === bob) == ("Bobby", true))
        #expect(try draft.fetchAll(From<Worker>().orderBy(.ascending(\.name))).names == ["Bobby", "Cy", "Ivy"])
        try draft.commit()
        try parties.read { context throws in
            let ivy = try #require(try context.fetchOne(From<Party>(), Where(\.name == "Ivy")) as? Worker)
            #expect((ivy.badge, ivy.age, ivy.boss?.name) == ("I1", 33, "Bobby"))
            #expect(try context.fetchCount(From<Firm>()) == 2)
        }
        // An object that was deleted by another transaction is inserted again, with its class.
        worker.name = "Ivy again"
        try parties.write { transaction throws in _ = try transaction.deleteAll(From<Worker>(), Where(\.name == "Ivy")) }
        try draft.commit(mergePolicy: .mineWins)
        #expect(try parties.read { try $0.fetchAll(From<Worker>(), Where(\.badge == "I1")).names } == ["Ivy again"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func setsOfChangesKnowTheClasses(_ backend: Backend) throws {
        let parties = try Parties(backend)
        try parties.write { transaction throws in
            let worker = try transaction.create(Into<Worker>())
            worker.badge = "new"
            let ann = try #require(try transaction.fetchOne(From<Human>(), Where(\.name == "Ann")))
            ann.age += 1
            try transaction.deleteAll(From<Firm>(), Where(\.name == "Zeta"))
            #expect(transaction.insertedObjects(Worker.self) == [worker])
            #expect(transaction.insertedObjects(Human.self) == [worker])
            #expect(transaction.insertedObjects(Firm.self).isEmpty)
            #expect(transaction.updatedObjects(Party.self).contains(ann))
            #expect(transaction.updatedObjects(Worker.self).isEmpty)
            #expect(transaction.deletedObjects(Firm.self).count == 1)
            #expect(transaction.deletedObjects(Human.self).isEmpty)
            #expect(try worker.changedValues().keys.sorted() == ["age", "badge", "name"])
            #expect(try ann.changedValues() == ["age": .value(old: 30, new: 31)])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func batchUpdateSetsTheAttributesOfTheClass(_ backend: Backend) throws {
        let parties = try Parties(backend)
        try parties.write { transaction throws in
            #expect(try transaction.batchUpdate(From<Human>()) { $0.increment(\.age, by: 1) } == 3)
            #expect(try transaction.batchUpdate(From<Worker>(), Where(\.age > 45)) { $0.set("badge", to: "old") } == 1)
            #expect(try transaction.batchUpdate(From<Party>()) { $0.set(\.code, to: nil) } == 5)
        }
        try parties.read { context throws in
            #expect(try context.fetchAll(From<Human>().orderBy(.ascending(\.age))).map { $0.age } == [31, 41, 51])
            #expect(try context.fetchAll(From<Worker>(), Where(\.badge == "old")).names == ["Cy"])
        }
        for name in ["age", "_entity"] {
            expectError(.invalidPredicate) { try parties.write { _ = try $0.batchUpdate(From<Party>()) { $0.set(name, to: nil) } } }
        }
        let ann = try parties.id(Human.self, "Ann")
        let error = expectError(.misuse) { try parties.write { _ = try $0.batchUpdate(From<Worker>()) { $0.set("boss", to: ann) } } }
        #expect(error?.message.contains("leads to objects of Worker") == true, "\(String(describing: error))")
    }

    @Test(arguments: Backend.forObjectLayer)
    func fetchOrCreateMakesTheClassThatIsAsked(_ backend: Backend) throws {
        let parties = try Parties(backend)
        try parties.write { transaction throws in
            let bob = try transaction.fetchOrCreate(From<Human>(), Where(\.name == "Bob"))
            #expect(bob is Worker)
            let dan = try transaction.fetchOrCreate(From<Worker>(), Where(\.name == "Dan" && \.badge == "D1"))
            #expect((dan.name, dan.badge, dan.isInserted) == ("Dan", "D1", true))
            expectError(.misuse) { try transaction.fetchOrCreate(From<Party>(), Where(\.name == "Nobody")) }
            expectError(.invalidPredicate) { try transaction.fetchOrCreate(From<Firm>(), Where("age == 3")) }
        }
        #expect(try parties.read { try $0.fetchAll(From<Worker>(), Where(\.badge == "D1")).names } == ["Dan"])
    }

    @MainActor @Test(arguments: Backend.forObjectLayer)
    func aRefreshedViewReadsEveryClassAgain(_ backend: Backend) throws {
        let parties = try Parties(backend)
        let view = parties.stack.newView(.manual)
        let everybody = try view.fetchAll(From<Party>().orderBy(.ascending(\.name)))
        try parties.write { transaction throws in
            _ = try transaction.batchUpdate(From<Worker>()) { $0.update(\.badge) { "\($0)+" } }
        }
        try view.refresh()
        #expect(everybody.compactMap { ($0 as? Worker)?.badge } == ["B1+", "C1+"])
        #expect(try view.fetchAll(From<Party>().orderBy(.ascending(\.name))) == everybody)
    }
}
