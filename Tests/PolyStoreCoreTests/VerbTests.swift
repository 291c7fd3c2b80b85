import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Batch operations on objects of several classes, on ordered relationships, and in unqueued transactions.
@Suite struct VerbTests {
    private struct Stop: Error {}

    // MARK: Inheritance

    @Test(arguments: Backend.forObjectLayer)
    func fetchOrCreateFindsObjectsOfTheClassesBelow(_ backend: Backend) throws {
        let parties = try Parties(backend)
        try parties.write { transaction throws in
            #expect(try transaction.fetchOrCreate(From<Party>(), Where(\.name == "Bob")) is Worker)
            #expect(try transaction.fetchOrCreate(From<Human>(), Where("name == 'Bob'")) is Worker)
            #expect(!transaction.hasChanges)
            // An abstract class has no objects of its own.
            expectError(.misuse) { try transaction.fetchOrCreate(From<Party>(), Where("name == 'Dee'")) }
            let dee = try transaction.fetchOrCreate(From<Worker>(), Where("name == 'Dee' AND badge == 'D1' AND age == 20"))
            #expect((dee.name, dee.badge, dee.age) == ("Dee", "D1", 20))
            #expect(try transaction.fetchOrCreate(From<Party>(), Where("name == 'Dee'")) === dee)
            // An attribute of a subclass cannot be assigned to an object of its superclass.
            expectError(.invalidPredicate) { try transaction.fetchOrCreate(From<Human>(), Where("name == 'Eve' AND badge == 'E1'")) }
        }
        #expect(try parties.read { try $0.fetchCount(From<Worker>(), Where("badge == 'D1'")) } == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func batchUpdateReachesTheClassesBelow(_ backend: Backend) throws {
        let parties = try Parties(backend)
        try parties.write { transaction throws in
            let humans = try transaction.batchUpdate(From<Human>()) { $0.increment(\.age, by: 1) }
            #expect(humans == 3)
            let all = try transaction.batchUpdate(From<Party>()) { $0.update(\.name) { $0 + "!" } }
            #expect(all == 5)
            #expect(transaction.updatedObjects(Worker.self).count == 2)
            #expect(transaction.updatedObjects(Human.self).count == 3)
            #expect(transaction.updatedObjects(Party.self).count == 5)
            #expect(transaction.updatedObjectIDs().count == 5)
            let worker = try #require(try transaction.fetchOne(From<Worker>(), Where("age == 41")))
            #expect(try worker.changedValues().keys.sorted() == ["age", "name"])
            #expect(try worker.committedValues(forKeys: ["age", "badge"]) == ["age": 40, "badge": "B1"])
            #expect(try worker.committedValues().keys.sorted() == ["age", "badge", "boss", "employer", "name", "sponsor"])
        }
        #expect(
            try parties.read { try $0.fetchAll(From<Human>().orderBy(.ascending(\.age))).map { "\($0.name) \($0.age)" } } == [
                "Ann! 31", "Bob! 41", "Cy! 51",
            ])
    }

    // MARK: Ordered relationships

    @Test(arguments: Backend.forObjectLayer)
    func changesOfOrderAreChanges(_ backend: Backend) throws {
        let music = try OrderedTests.Music(backend)
        try music.change { _, lists, tracks in
            lists[0].tracks = [tracks[0], tracks[1], tracks[2]]
            lists[0].picks = [tracks[3], tracks[4]]
        }
        try music.change { transaction, lists, tracks in
            #expect(!lists[0].hasChanges)
            lists[0].tracks.reverse()
            #expect(lists[0].hasChanges && lists[0].changedKeys == ["tracks"])
            #expect(transaction.hasChanges)
            #expect(transaction.updatedObjects(Playlist.self) == [lists[0]])
            guard case .list(let old, let new)? = try lists[0].changedValues()["tracks"] else {
                Issue.record("no list")
                return
            }
            #expect(old.compactMap { $0.cast(to: Track.self) } == [tracks[0], tracks[1], tracks[2]].map(\.objectID))
            #expect(new == old.reversed())
            lists[0].tracks.reverse()
            #expect(try lists[0].changedValues().isEmpty)
            lists[0].picks.append(tracks[5])
            #expect(try lists[0].changedValues().keys.sorted() == ["picks"])
        }
    }

    // MARK: Unqueued transactions

    @Test(arguments: Backend.forObjectLayer)
    func unsafeTransactionsHaveAllOfThem(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(3)
        let draft = company.stack.beginUnsafe()
        let made = try draft.fetchOrCreate(From<Person>(), Where(\.email == "new" && \.age == 5))
        #expect(try draft.fetchOrCreate(From<Person>(), Where(\.email == "new")) === made)
        #expect(try draft.batchUpdate(From<Person>(), Where(\.age >= 5)) { $0.increment(\.age, by: 1) } == 3)
        #expect(draft.updatedObjectIDs(Person.self) == [ids[1], ids[2]])
        let person = try draft.edit(ids[1])
        #expect(try person.changedValues() == ["age": .value(old: 10, new: 11)])
        try company.stack.performAndWait(editing: ids[0]) { _, other in other.nickname = "meanwhile" }
        try draft.commit()
        #expect(!draft.hasChanges)
        #expect(try person.changedValues().isEmpty)
        #expect(try company.ages() == [0, 11, 21, 6])
        // A child transaction compares with the state of its parent.
        let child = draft.beginUnsafe()
        try child.batchUpdate(From<Person>()) { $0.set(\.nickname, to: "c") }
        #expect(child.updatedObjects(Person.self).count == 4)
        try child.commit()
        #expect(draft.updatedObjects(Person.self).count == 4)
        draft.rollback()
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>(), Where(\.nickname == "c")) } == 0)
    }

    /// A batch update records the previous values, so that the commit detects conflicts.
    @Test(arguments: Backend.forObjectLayer)
    func batchUpdatesConflictAsSingleChangesDo(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let draft = company.stack.beginUnsafe()
        try draft.batchUpdate(From<Person>()) { $0.increment(\.age, by: 1) }
        try company.stack.performAndWait(editing: ids[1]) { _, person in person.age = 50 }
        expectError(.conflict) { try draft.commit() }
        try draft.commit(mergePolicy: .attributesMineWins)
        #expect(try company.ages() == [1, 11])
        // Rows that no other transaction changed do not conflict.
        try draft.batchUpdate(From<Person>(), Where(\.age == 1)) { $0.set(\.nickname, to: "n") }
        try company.stack.performAndWait(editing: ids[1]) { _, person in person.age = 60 }
        try draft.commit()
        #expect(try company.ages() == [1, 60])
    }

    @Test(arguments: Backend.forObjectLayer)
    func batchUpdatesCanBeUndone(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        let people = try draft.fetchAll(From<Person>().orderBy(.ascending(\.email)))
        let sales = try #require(try draft.fetchOne(From<Department>(), Where(\.title == "Sales")))
        try draft.batchUpdate(From<Person>()) {
            $0.increment(\.age, by: 1)
            $0.set(\.department, to: sales)
        }
        #expect(people.map(\.age) == [1, 11, 21, 31, 41, 51])
        #expect(sales.people.count == 6)
        try draft.undo()
        #expect(people.map(\.age) == [0, 10, 20, 30, 40, 50])
        #expect(sales.people.count == 1)
        #expect(!draft.hasChanges)
        try draft.redo()
        #expect(people.map(\.age) == [1, 11, 21, 31, 41, 51])
        try draft.commit()
        #expect(try company.ages() == [1, 11, 21, 31, 41, 51])
    }

    /// An update that fails midway is undone completely, even if the error is caught and the transaction continues.
    @Test(arguments: Backend.forObjectLayer)
    func aBatchUpdateThatFailsLeavesNothing(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(700)
        try company.stack.performAndWait { transaction throws in
            let before = try transaction.fetchOne(From<Person>(), Where(\.age == 0))
            before?.nickname = "before"
            #expect(throws: Stop.self) {
                try transaction.batchUpdate(From<Person>()) { $0.update(\.age) { if $0 == 6500 { throw Stop() } else { $0 + 1 } } }
            }
            #expect(transaction.updatedObjects(Person.self).count == 1)
            #expect(before?.age == 0 && before?.nickname == "before")
            try transaction.batchUpdate(From<Person>(), Where(\.age == 6500)) { $0.set(\.nickname, to: "after") }
        }
        try company.stack.readAndWait { context throws in
            let ages: Int = (0..<700).reduce(0) { $0 + $1 * 10 }
            #expect(try context.queryValue(From<Person>(), .sum(\.age)) == ages)
            #expect(try context.fetchCount(From<Person>(), Where("nickname IN {'before', 'after'}")) == 2)
        }
    }
}
