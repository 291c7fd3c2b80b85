import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Objects obtained by id without reading the store.
@Suite struct ReferenceTests {
    private func staffed(_ backend: Backend, expectsSilence: Bool = true) throws -> (Company, [ObjectID<Department>], [ObjectID<Person>]) {
        let company = try Company(backend, expectsSilence: expectsSilence)
        let people = try company.people(4)
        let departments = try company.stack.performAndWait { transaction throws in
            try ["Research", "Sales", "Gone"].map { title in
                let department = try transaction.create(Into<Department>())
                department.title = title
                return department.objectID
            }
        }
        try company.stack.performAndWait { try $0.delete(departments[2]) }
        return (company, departments, people)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aRelationshipIsSetWithoutReadingItsTarget(_ backend: Backend) throws {
        let (company, departments, people) = try staffed(backend)
        try company.stack.performAndWait { transaction throws in
            let research = try transaction.object(with: departments[0])
            #expect(research.isFault)
            let person = try transaction.edit(people[0])
            person.department = research
            let new = try transaction.create(Into<Person>())
            new.email = "new"
            new.department = try transaction.object(with: departments[0])
            #expect(new.department === research)
            #expect(research.isFault)
            #expect(research.people == [person, new])
            // Objects of several entities, and an object that is already loaded.
            try transaction.edit(people[1]).department = try transaction.object(with: departments[1])
            try transaction.edit(people[2]).friends = [try transaction.object(with: people[3])]
            #expect(try transaction.object(with: people[0]) === person)
            #expect(try transaction.object(with: new.objectID) === new)
        }
        try company.stack.readAndWait { context throws in
            #expect(try context.fetchExisting(departments[0])?.people.count == 2)
            #expect(try context.fetchExisting(people[1])?.department?.title == "Sales")
            #expect(try context.fetchExisting(people[3])?.friends.map(\.objectID) == [people[2]])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aFaultReadsItsValuesAtTheFirstAccess(_ backend: Backend) throws {
        let (company, departments, _) = try staffed(backend)
        try company.stack.performAndWait { transaction throws in
            let sales = try transaction.object(with: departments[1])
            #expect(sales.title == "Sales")
            #expect(!sales.isFault)
            try transaction.object(with: departments[0]).title = "Development"
        }
        #expect(try company.stack.readAndWait { try $0.fetchExisting(departments[0])?.title } == "Development")
    }

    private enum Step: CaseIterable {
        case toOne, newObject, oneToOne, manyToMany, inverse, requiredToOne

        /// Sets a relationship to a deleted object. Returns its entity and name.
        func take(_ transaction: Transaction, _ people: [ObjectID<Person>], _ gone: ObjectID<Department>, _ nobody: ObjectID<Person>) throws
            -> (entity: String, relationship: String)
        {
            switch self {
            case .toOne:
                try transaction.edit(people[0]).department = try transaction.object(with: gone)
                return ("Person", "department")
            case .newObject:
                let person = try transaction.create(Into<Person>())
                person.email = "new"
                person.department = try transaction.object(with: gone)
                return ("Person", "department")
            case .oneToOne:
                try transaction.edit(people[0]).spouse = try transaction.object(with: nobody)
                return ("Person", "spouse")
            case .manyToMany:
                try transaction.edit(people[0]).friends = [try transaction.object(with: people[1]), try transaction.object(with: nobody)]
                return ("Person", "friends")
            case .inverse:
                let department = try transaction.create(Into<Department>())
                department.people = [try transaction.object(with: nobody)]
                return ("Dept", "people")
            case .requiredToOne:
                let project = try transaction.create(Into<Project>())
                project.owner = try transaction.object(with: gone)
                return ("Project", "owner")
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aMissingTargetRefusesTheCommit(_ backend: Backend) throws {
        // Reading such an object logs a warning.
        let (company, departments, people) = try staffed(backend, expectsSilence: false)
        let nobody = people[3]
        try company.stack.performAndWait { try $0.delete(nobody) }
        for step in Step.allCases {
            let error = expectError(.constraint) {
                try company.stack.performAndWait { transaction throws in
                    let (entity, relationship) = try step.take(transaction, people, departments[2], nobody)
                    try transaction.edit(people[0]).nickname = "must not be kept"
                    do { _ = try transaction.fetchAll(From<Person>()) } catch {}
                    #expect(entity.isEmpty == relationship.isEmpty)
                }
            }
            let expected = try company.stack.performAndWait { transaction throws in
                let expected = try step.take(transaction, people, departments[2], nobody)
                for person in try transaction.fetchAll(From<Person>(), Where(\.email == "new")) { try transaction.delete(person) }
                for project in try transaction.fetchAll(From<Project>()) { try transaction.delete(project) }
                for department in try transaction.fetchAll(From<Department>(), Where(\.title == "")) {
                    department.people = []
                    try transaction.delete(department)
                }
                let person = try transaction.edit(people[0])
                person.department = nil
                person.spouse = nil
                person.friends = []
                // An object that no relationship refers to any more is not checked.
                return [expected.entity, expected.relationship]
            }
            #expect(error?.entity == expected[0], "\(step)")
            #expect(error?.attribute == expected[1], "\(step)")
            #expect(error?.message.contains("not in the store") == true)
            #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>(), Where(\.nickname != nil)) } == 0)
        }
    }

    /// The missing object has no record that could hold the change.
    @Test(arguments: Backend.forObjectLayer)
    func aMemberThatIsNotThereRefusesTheCommitOfAnUnqueuedTransaction(_ backend: Backend) throws {
        let (company, departments, people) = try staffed(backend, expectsSilence: false)
        try company.stack.performAndWait { try $0.delete(people[3]) }
        let draft = company.stack.beginUnsafe()
        for isChild in [true, false] {
            let transaction = isChild ? draft.beginUnsafe() : draft
            try transaction.edit(departments[0]).people.insert(try transaction.object(with: people[3]))
            expectError(.notFound) { try transaction.commit() }
            transaction.rollback()
        }
        #expect(try draft.commit() == false)
        #expect(try company.stack.stores[0].verifyAndWait() == [])
    }

    @Test(arguments: Backend.forObjectLayer)
    func aDeletedObjectIsNotATarget(_ backend: Backend) throws {
        let (company, departments, people) = try staffed(backend)
        expectError(.notFound) {
            try company.stack.performAndWait { transaction throws in
                let research = try transaction.edit(departments[0])
                try transaction.delete(research)
                _ = try transaction.object(with: departments[0])
            }
        }
        expectError(.constraint) {
            try company.stack.performAndWait { transaction throws in
                let research = try transaction.edit(departments[0])
                try transaction.delete(research)
                try transaction.edit(people[0]).department = research
            }
        }
        // Deleted after it was set: the delete rule clears the relationship.
        try company.stack.performAndWait { transaction throws in
            try transaction.edit(people[0]).spouse = try transaction.object(with: people[3])
            try transaction.delete(people[3])
        }
        #expect(try company.stack.readAndWait { try $0.fetchExisting(people[0])?.spouse == nil })
    }

    @Test(arguments: Backend.forObjectLayer)
    func changesOfMissingObjectsRefuseTheCommit(_ backend: Backend) throws {
        let (company, departments, _) = try staffed(backend, expectsSilence: false)
        expectError(.notFound) {
            try company.stack.performAndWait { transaction throws in
                let gone = try transaction.object(with: departments[2])
                gone.title = "lost"
                #expect(gone.isDeleted)
            }
        }
        #expect(company.logger.lines.count == 1)
    }
}
