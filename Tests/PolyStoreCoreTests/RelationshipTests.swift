import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

@Suite struct RelationshipTests {
    /// Creates two departments, with p0 … p2 in the first.
    private func staffed(_ backend: Backend, expectsSilence: Bool = true) throws -> (Company, [ObjectID<Department>], [ObjectID<Person>]) {
        let company = try Company(backend, expectsSilence: expectsSilence)
        let people = try company.people(4)
        let departments = try company.stack.performAndWait { transaction throws in
            let research = try transaction.create(Into<Department>())
            research.title = "Research"
            let sales = try transaction.create(Into<Department>())
            sales.title = "Sales"
            for id in people.prefix(3) { try transaction.edit(id).department = research }
            return [research.objectID, sales.objectID]
        }
        return (company, departments, people)
    }

    @Test(arguments: Backend.forObjectLayer)
    func toOneAndItsInverseAgree(_ backend: Backend) throws {
        let (company, departments, people) = try staffed(backend)
        try company.stack.readAndWait { context throws in
            let research = try #require(try context.fetchExisting(departments[0]))
            #expect(Set(research.people.map(\.objectID)) == Set(people.prefix(3)))
            let person = try #require(try context.fetchExisting(people[0]))
            #expect(person.department === research)
            #expect(try context.fetchExisting(people[3])?.department == nil)
            #expect(try context.fetchCount(From<Person>(), Where(\.department == departments[0])) == 3)
            #expect(try context.fetchCount(From<Person>(), Where(\.department == nil)) == 1)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func inversesAreKeptInMemoryAtOnce(_ backend: Backend) throws {
        let (company, departments, people) = try staffed(backend)
        try company.stack.performAndWait { transaction throws in
            let research = try transaction.edit(departments[0])
            let sales = try transaction.edit(departments[1])
            let person = try transaction.edit(people[0])
            #expect(research.people.count == 3)
            person.department = sales
            #expect(research.people.count == 2)
            #expect(sales.people == [person])
            sales.people = []
            #expect(person.department == nil)
            let other = try transaction.edit(people[1])
            sales.people.insert(other)
            #expect(other.department === sales)
            #expect(research.people.map(\.objectID) == [people[2]])
        }
        try company.stack.readAndWait { context throws in
            #expect(try context.fetchExisting(departments[1])?.people.map(\.objectID) == [people[1]])
            #expect(try context.fetchExisting(departments[0])?.people.map(\.objectID) == [people[2]])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func symmetricManyToManyHoldsBothWays(_ backend: Backend) throws {
        let (company, _, people) = try staffed(backend)
        try company.stack.performAndWait { transaction throws in
            let all = try transaction.fetchExisting(people)
            all[0].friends = [all[1], all[2]]
            #expect(all[1].friends == [all[0]])
        }
        try company.stack.performAndWait { transaction throws in
            let all = try transaction.fetchExisting(people)
            #expect(all[0].friends == [all[1], all[2]])
            #expect(all[2].friends == [all[0]])
            all[2].friends.remove(all[0])
            #expect(all[0].friends == [all[1]])
        }
        let counts = try company.stack.readAndWait { context in try context.fetchAll(From<Person>()).map(\.friends.count) }
        #expect(counts == [1, 1, 0, 0])
    }

    @Test(arguments: Backend.forObjectLayer)
    func oneToOneClearsFormerPartners(_ backend: Backend) throws {
        let (company, _, people) = try staffed(backend)
        try company.stack.performAndWait { transaction throws in
            let all = try transaction.fetchExisting(people)
            all[0].spouse = all[1]
            all[2].spouse = all[3]
            #expect(all[1].spouse === all[0])
            all[0].spouse = all[3]
            #expect(all[1].spouse == nil)
            #expect(all[2].spouse == nil)
            #expect(all[3].spouse === all[0])
        }
        let spouses = try company.stack.readAndWait { try $0.fetchAll(From<Person>()).map { $0.spouse?.email } }
        #expect(spouses == ["p3@example.com", nil, nil, "p0@example.com"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func denyNamesTheViolatingObjects(_ backend: Backend) throws {
        let (company, departments, people) = try staffed(backend)
        let error = expectError(.constraint) { try company.stack.performAndWait { try $0.delete(departments[0]) } }
        #expect(error?.entity == "Dept")
        #expect(error?.attribute == "people")
        #expect(error?.message.contains("Person \(people[0].rowID)") == true)
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Department>()) } == 2)
        // A department can be deleted together with its people, in any order.
        try company.stack.performAndWait { transaction throws in
            try transaction.delete(departments[0])
            try transaction.delete(try transaction.fetchExisting(people))
        }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Department>()) } == 1)
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func cascadeAndNullifyReachRelatedObjects(_ backend: Backend) throws {
        let (company, departments, _) = try staffed(backend)
        let projects = try company.stack.performAndWait { transaction throws in
            let sales = try transaction.edit(departments[1])
            let research = try transaction.edit(departments[0])
            let made = try (0..<4).map { number in
                let project = try transaction.create(Into<Project>())
                project.name = "project \(number)"
                project.owner = number < 3 ? sales : research
                return project
            }
            made[3].parent = made[0]
            research.tags = [made[1], made[3]]
            return made.map(\.objectID)
        }
        try company.stack.performAndWait { try $0.delete(departments[1]) }
        try company.stack.readAndWait { context throws in
            let left = try context.fetchAll(From<Project>())
            #expect(left.map(\.objectID) == [projects[3]])
            #expect(left[0].parent == nil)  // a relationship without an inverse does not dangle
            let research = try #require(try context.fetchExisting(departments[0]))
            #expect(research.tags.map(\.objectID) == [projects[3]])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aRequiredRelationshipRefusesTheCommit(_ backend: Backend) throws {
        let (company, departments, _) = try staffed(backend)
        let error = expectError(.constraint) { try company.stack.performAndWait { try $0.create(Into<Project>()).name = "x" } }
        #expect(error?.attribute == "owner")
        try company.stack.performAndWait { transaction throws in
            let project = try transaction.create(Into<Project>())
            project.owner = try transaction.edit(departments[0])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func deletingAFriendLeavesNoLink(_ backend: Backend) throws {
        let (company, _, people) = try staffed(backend)
        try company.stack.performAndWait { transaction throws in
            let all = try transaction.fetchExisting(people)
            all[0].friends = Set(all.dropFirst())
        }
        try company.stack.performAndWait { try $0.delete(people[0]) }
        #expect(try company.stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.friends.count) } == [0, 0, 0])
    }

    /// A one-way link to an object created and deleted in the same transaction must not be written.
    @Test(arguments: Backend.forObjectLayer)
    func aLinkToAMissingObjectIsNotWritten(_ backend: Backend) throws {
        let (company, departments, _) = try staffed(backend)
        try company.stack.performAndWait { transaction in
            let research = try transaction.edit(departments[0])
            let kept = try transaction.create(Into<Project>())
            let dropped = try transaction.create(Into<Project>())
            kept.owner = research
            dropped.owner = research
            research.tags = [kept, dropped]
            dropped.parent = kept
            kept.parent = dropped
            try transaction.delete(dropped)
            #expect(research.tags == [kept])
            #expect(kept.parent == nil)
        }
        let found = try company.stack.readAndWait { context in
            (try context.fetchExisting(departments[0])?.tags.count, try context.fetchCount(From<Project>()))
        }
        #expect(found == (1, 1))
        #expect(try company.stack.stores[0].verifyAndWait() == [])
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsAreUniqueWithinAContext(_ backend: Backend) throws {
        let (company, departments, people) = try staffed(backend)
        try company.stack.readAndWait { context throws in
            let first = try #require(try context.fetchExisting(people[0]))
            let again = try context.fetchOne(From<Person>(), Where(\.email == "p0@example.com"))
            #expect(first === again)
            let department = try #require(first.department)
            let same = try context.fetchExisting(departments[0])
            #expect(department === same)
            #expect(department.people.contains(first))
        }
    }
}
