import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Relationships connect existing objects: none refers to, or belongs to, a deleted or missing object.
@Suite struct OwnerTests {
    private func ids(_ company: Company) throws -> (gone: ObjectID<Person>, department: ObjectID<Department>, people: [ObjectID<Person>]) {
        let people = try company.people(3)
        return try company.stack.performAndWait { transaction throws in
            let person = try transaction.create(Into<Person>())
            person.email = "gone"
            let department = try transaction.create(Into<Department>())
            let id = person.objectID
            try transaction.delete(person)
            return (id, department.objectID, people)
        }
    }

    private func goneDepartment(_ company: Company) throws -> ObjectID<Department> {
        let id = try company.stack.performAndWait { try $0.create(Into<Department>()).objectID }
        try company.stack.performAndWait { try $0.delete(id) }
        return id
    }

    private struct Change: Sendable {
        let name: String
        let body: @Sendable (Person, _ others: [Person], Department) -> Void
    }

    /// Every way to write a relationship of a person.
    private let changes = [
        Change(name: "many to many") { person, others, _ in person.friends = [others[0], others[1]] },
        Change(name: "to one with an inverse") { person, _, department in person.department = department },
        Change(name: "one to one") { person, others, _ in person.spouse = others[0] },
    ]

    @Test(arguments: Backend.forObjectLayer)
    func relationshipsOfADeletedObjectAreRefused(_ backend: Backend) throws {
        for change in changes {
            let company = try Company(backend)
            let (_, department, people) = try ids(company)
            let error = expectError(.constraint) {
                try company.stack.performAndWait { transaction throws in
                    let objects = try transaction.fetchExisting(people)
                    try transaction.delete(objects[2])
                    change.body(objects[2], objects, try transaction.edit(department))
                }
            }
            #expect(error?.message.contains("deleted") ?? false, "\(change.name)")
            try company.stack.readAndWait { context throws in
                for person in try context.fetchAll(From<Person>()) {
                    #expect(person.friends.isEmpty && person.spouse == nil && person.department == nil, "\(change.name)")
                }
            }
            #expect(try company.verified().isEmpty, "\(change.name)")
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func relationshipsOfAMissingObjectAreRefused(_ backend: Backend) throws {
        for change in changes {
            let company = try Company(backend, expectsSilence: false)
            let (gone, department, people) = try ids(company)
            #expect(throws: StoreError.self, "\(change.name)") {
                try company.stack.performAndWait { transaction throws in
                    let objects = try transaction.fetchExisting(people)
                    change.body(try transaction.object(with: gone), objects, try transaction.edit(department))
                }
            }
            #expect(throws: StoreError.self, "\(change.name)") {
                let draft = company.stack.beginUnsafe()
                let objects = try draft.fetchExisting(people)
                change.body(try draft.object(with: gone), objects, try draft.edit(department))
                try draft.commit()
            }
            #expect(try company.verified().isEmpty, "\(change.name)")
        }
    }

    /// A relationship without an inverse, and the inverse of a to-one relationship.
    @Test(arguments: Backend.forObjectLayer)
    func toManyRelationshipsOfAMissingOrDeletedObjectAreRefused(_ backend: Backend) throws {
        let company = try Company(backend, expectsSilence: false)
        let (_, department, people) = try ids(company)
        let gone = try goneDepartment(company)
        let project = try company.stack.performAndWait { transaction throws in
            let project = try transaction.create(Into<Project>())
            project.owner = try transaction.edit(department)
            return project.objectID
        }
        let writes: [@Sendable (Transaction, Department) throws -> Void] = [
            { $1.tags = [try $0.edit(project)] }, { $1.people = Set(try $0.fetchExisting(people)) },
        ]
        for (number, write) in writes.enumerated() {
            expectError(.constraint) {
                try company.stack.performAndWait { try write($0, $0.object(with: gone)) }
            }
            expectError(.constraint) {
                try company.stack.performAndWait { transaction throws in
                    let object = try transaction.create(Into<Department>())
                    try transaction.delete(object)
                    try write(transaction, object)
                }
            }
            #expect(try company.verified().isEmpty, "\(number)")
        }
    }

    /// After a valid assignment, the relationship no longer refuses the commit.
    @Test(arguments: Backend.forObjectLayer)
    func aRefusedAssignmentCanBeCorrected(_ backend: Backend) throws {
        let company = try Company(backend)
        let (_, department, people) = try ids(company)
        let other = company.stack.newContext()
        let foreign = try #require(try other.fetchExisting(people[1]))
        let foreignDepartment = try #require(try other.fetchExisting(department))
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        let objects = try draft.fetchExisting(people)
        objects[0].spouse = foreign
        expectError(.misuse) { try draft.commit() }
        objects[0].spouse = objects[1]
        #expect(try draft.commit())
        objects[0].friends = [foreign]
        expectError(.misuse) { try draft.commit() }
        objects[0].friends = [objects[1]]
        #expect(try draft.commit())
        // Restoring the previous value is valid too.
        objects[0].department = foreignDepartment
        expectError(.misuse) { try draft.commit() }
        objects[0].department = nil
        objects[0].age = 77
        #expect(try draft.commit())
        // A deleted target, and the deletion of the object with the invalid value.
        try draft.delete(objects[2])
        objects[0].spouse = objects[2]
        expectError(.constraint) { try draft.commit() }
        objects[0].spouse = nil
        #expect(try draft.commit())
        objects[1].spouse = foreign
        try draft.delete(objects[1])
        #expect(try draft.commit())
        // A relationship of a deleted object is valid once it is cleared.
        let last = try draft.create(Into<Person>())
        last.email = "last"
        try draft.commit()
        try draft.delete(last)
        last.friends = [objects[0]]
        expectError(.constraint) { try draft.commit() }
        last.friends = []
        #expect(try draft.commit())
        #expect(try company.verified().isEmpty)
    }
}
