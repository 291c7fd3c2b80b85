import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

@Suite struct ChangesTests {
    @Test(arguments: Backend.forObjectLayer)
    func theSetsDescribeTheTransaction(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(4)
        try company.stack.performAndWait { transaction throws in
            #expect(transaction.insertedObjects(Person.self).isEmpty && transaction.updatedObjects(Person.self).isEmpty)
            let new = try transaction.create(Into<Person>())
            new.email = "new"
            let gone = try transaction.create(Into<Person>())
            try transaction.delete(gone)
            let changed = try transaction.edit(ids[0])
            changed.age = 1
            let deleted = try transaction.edit(ids[1])
            deleted.age = 2
            try transaction.delete(deleted)
            _ = try transaction.edit(ids[2])
            #expect(transaction.insertedObjects() == [new])
            #expect(transaction.updatedObjects() == [changed])
            #expect(transaction.deletedObjects(Person.self) == [deleted])
            #expect(transaction.insertedObjectIDs(Person.self) == [new.objectID])
            #expect(transaction.updatedObjectIDs(Person.self) == [ids[0]])
            #expect(transaction.deletedObjectIDs(Person.self) == [ids[1]])
            #expect(transaction.insertedObjects(Department.self).isEmpty)
            let department = try transaction.create(Into<Department>())
            #expect(Set(transaction.insertedObjectIDs().map(\.entityName)) == ["Person", "Dept"])
            #expect(transaction.insertedObjectIDs().compactMap { $0.cast(to: Department.self) } == [department.objectID])
            #expect(transaction.updatedObjectIDs().map(\.rowID) == [ids[0].rowID])
            #expect(transaction.deletedObjectIDs().map(\.rowID) == [ids[1].rowID])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func anObjectCreatedAndDeletedIsNoChange(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction throws in
            let person = try transaction.create(Into<Person>())
            #expect(transaction.hasChanges)
            try transaction.delete(person)
            #expect(!transaction.hasChanges)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func idsOfUpdatedObjectsIncludeThoseWithChangedRelationshipsOnly(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        try company.stack.performAndWait { transaction throws in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.age)))
            people[5].friends.insert(people[0])
            let updated = Set(transaction.updatedObjectIDs().map { "\($0.entityName) \($0.rowID)" })
            #expect(updated == ["Person \(people[5].objectID.rowID)", "Person \(people[0].objectID.rowID)"])
        }
        try company.stack.performAndWait { transaction throws in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.age)))
            let sales = try #require(people[3].department)
            people[4].department = sales
            let updated = Set(transaction.updatedObjectIDs().map { "\($0.entityName) \($0.rowID)" })
            #expect(updated.isSuperset(of: ["Person \(people[4].objectID.rowID)", "Dept \(sales.objectID.rowID)"]))
            #expect(updated.count == transaction.updatedObjects(Person.self).count + transaction.updatedObjects(Department.self).count)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func bothEndsOfARelationshipAreUpdated(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        try company.stack.performAndWait { transaction throws in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.age)))
            let sales = try #require(people[3].department)
            #expect(!sales.hasChanges && sales.changedKeys.isEmpty)
            people[4].department = sales
            #expect(people[4].changedKeys == ["department"])
            #expect(sales.changedKeys == ["people"])
            #expect(sales.hasChanges)
            #expect(transaction.updatedObjects(Department.self) == [sales])
            people[5].friends.insert(people[0])
            #expect(people[5].changedKeys == ["friends"])
            #expect(people[0].changedKeys == ["friends"])
            #expect(transaction.updatedObjects(Person.self) == [people[4], people[5], people[0]])
            // An object with changes of relationships only is fetched once.
            #expect(try transaction.fetchCount(From<Person>()) == 6)
            #expect(try transaction.fetchAll(From<Person>()).count == 6)
            let changes = try sales.changedValues()
            #expect(changes.count == 1)
            guard case .members(let added, let removed)? = changes["people"] else {
                Issue.record("\(changes)")
                return
            }
            #expect(added.compactMap { $0.cast(to: Person.self) } == [people[4].objectID] && removed.isEmpty)
            #expect(try people[4].changedValues()["department"]?.new?.objectID(of: Department.self) == sales.objectID)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func changedValuesAreOldAndNew(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { people in people[1].nickname = "P" }
        try company.stack.performAndWait { transaction throws in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.age)))
            let person = people[1]
            #expect(try person.changedValues().isEmpty)
            #expect(try !person.hasPersistentChangedValues())
            person.age = 99
            person.nickname = nil
            person.department = nil
            let research = try #require(people[0].department)
            let changes = try person.changedValues()
            #expect(Set(changes.keys) == ["age", "nickname", "department"])
            #expect(changes["age"] == .value(old: 10, new: 99))
            #expect(changes["nickname"] == .value(old: "P", new: nil))
            #expect(changes["department"]?.old?.objectID(of: Department.self) == research.objectID)
            #expect(changes["department"]?.new == nil)
            #expect(
                try person.committedValues() == [
                    "email": "p1@example.com", "age": 10, "nickname": "P", "department": changes["department"]?.old ?? 0,
                ])
            #expect(try person.committedValues(forKeys: ["age"]) == ["age": 10])
            expectError(.misuse) { try person.committedValues(forKeys: ["friends"]) }
            #expect(try person.hasPersistentChangedValues())
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aRevertedChangeIsNoPersistentChange(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        try company.stack.performAndWait { transaction throws in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.age)))
            let (person, research) = (people[1], people[1].department)
            person.age += 1
            person.age -= 1
            person.department = nil
            person.department = research
            person.friends = []
            person.friends = [people[2]]
            people[4].friends = [people[5]]
            people[4].friends = []
            #expect(person.hasChanges && person.changedKeys.isSuperset(of: ["age", "department"]))
            #expect(try person.changedValues().isEmpty)
            #expect(try people[4].changedValues().isEmpty)
            #expect(try research?.changedValues().isEmpty ?? false)
            #expect(try !person.hasPersistentChangedValues())
        }
        #expect(try company.stack.readAndWait { try $0.fetchAll(From<Department>()).map(\.people.count).sorted() } == [1, 3])
    }

    @Test(arguments: Backend.forObjectLayer)
    func newAndDeletedObjectsHaveTheirOwnAnswers(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(1)
        try company.stack.performAndWait { transaction throws in
            let new = try transaction.create(Into<Person>())
            new.email = "new"
            #expect(try new.changedValues() == ["email": .value(old: nil, new: "new"), "age": .value(old: nil, new: 0)])
            #expect(try new.committedValues().isEmpty)
            #expect(try new.hasPersistentChangedValues())
            let old = try transaction.edit(ids[0])
            try transaction.delete(old)
            #expect(try old.changedValues().isEmpty)
            #expect(try old.hasPersistentChangedValues())
            #expect(try old.committedValues(forKeys: ["age"]) == ["age": 0])
        }
        let values = try company.stack.readAndWait { context throws in
            try context.fetchOne(From<Person>())?.committedValues(forKeys: ["email"])
        }
        #expect(values == ["email": "new"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func aTransactionCarriesItsSourceAndMore(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction in
            #expect(transaction.sourceIdentifier == nil && transaction.userInfo.isEmpty)
            transaction.sourceIdentifier = "import"
            transaction.userInfo["file"] = 7
            #expect(transaction.sourceIdentifier as? String == "import")
            #expect(transaction.userInfo["file"] as? Int == 7)
        }
    }
}
