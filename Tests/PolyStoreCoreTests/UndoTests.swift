import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Undo and redo.
@Suite struct UndoTests {
    @Test(arguments: Backend.forObjectLayer)
    func undoesChangesStepByStep(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        let person = try draft.edit(ids[0])
        #expect(!draft.canUndo && !draft.canRedo)
        person.age = 1
        draft.flush()
        person.age = 2
        person.nickname = "two"
        draft.flush()
        person.age = 3
        try draft.undo()
        #expect(person.age == 2 && person.nickname == "two")
        try draft.undo()
        #expect(person.age == 1 && person.nickname == nil)
        #expect(person.changedKeys == ["age"])
        try draft.undo()
        #expect(person.age == 0 && !person.hasChanges)
        #expect(!draft.canUndo && !draft.hasChanges)
        try draft.undo()
        for expected in [1, 2, 3] {
            try draft.redo()
            #expect(person.age == expected)
        }
        #expect(!draft.canRedo)
        #expect(person.nickname == "two")
        try draft.commit()
        #expect(try company.ages() == [3, 10])
        #expect(!draft.canUndo)
    }

    /// A member that is removed and added again, and whose addition alone is undone.
    @Test(arguments: Backend.forObjectLayer)
    func undoingAnAdditionRestoresTheRemovalBeforeIt(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(3)
        try company.stack.performAndWait { transaction in
            let people = try transaction.fetchExisting(ids)
            people[0].friends = [people[1], people[2]]
        }
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        let people = try draft.fetchExisting(ids)
        people[0].friends.remove(people[1])
        draft.flush()
        people[0].friends.insert(people[1])
        draft.flush()
        #expect(people[0].friends.count == 2)
        try draft.undo()
        #expect(people[0].friends == [people[2]] && people[1].friends.isEmpty)
        #expect(try draft.fetchCount(From<Person>(), Where("ANY friends.age == %@", people[1].age)) == 0)
        try draft.redo()
        #expect(people[0].friends.count == 2)
        try draft.undo()
        try draft.commit()
        try company.stack.readAndWait { context throws in
            let found = try context.fetchExisting(ids)
            #expect(found[0].friends == [found[2]] && found[1].friends.isEmpty)
        }
        #expect(try company.verified().isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func undoesCreationsDeletionsAndRelationships(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(3)
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        let people = try draft.fetchExisting(ids)
        let department = try draft.create(Into<Department>())
        department.title = "Research"
        department.people = [people[0], people[1]]
        draft.flush()
        people[0].spouse = people[2]
        people[1].friends = [people[2]]
        draft.flush()
        people[1].department = nil
        try draft.delete(people[2])
        #expect(people[0].spouse == nil && people[1].friends.isEmpty && department.people == [people[0]])
        try draft.undo()
        #expect(!people[2].isDeleted && people[2].age == 20)
        #expect(people[0].spouse == people[2] && people[2].spouse == people[0])
        #expect(people[1].friends == [people[2]] && people[2].friends == [people[1]])
        #expect(department.people == [people[0], people[1]])
        try draft.undo()
        #expect(people[0].spouse == nil && people[2].spouse == nil && people[1].friends.isEmpty)
        try draft.undo()
        #expect(department.isDeleted && people[0].department == nil)
        #expect(try draft.fetchCount(From<Department>()) == 0)
        #expect(!draft.hasChanges)
        try draft.redo()
        #expect(!department.isDeleted && department.people == [people[0], people[1]] && department.title == "Research")
        #expect(try draft.fetchCount(From<Department>()) == 1)
        try draft.redo()
        try draft.redo()
        #expect(people[2].isDeleted)
        try draft.commit()
        #expect(try company.count() == 2)
        try company.stack.readAndWait { context throws in
            #expect(try context.fetchOne(From<Department>())?.people.map(\.objectID) == [ids[0]])
        }
        #expect(try company.verified().isEmpty)
    }

    @Test func aNewChangeClearsTheRedoStack() throws {
        let company = try Company(.memory)
        let id = try company.people(1)[0]
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        let person = try draft.edit(id)
        person.age = 1
        try draft.undo()
        #expect(draft.canRedo)
        person.nickname = "other"
        #expect(!draft.canRedo)
        try draft.undo()
        #expect(person.nickname == nil && person.age == 0)
    }

    @Test func mustBeAskedFor() throws {
        let company = try Company(.memory)
        let draft = company.stack.beginUnsafe()
        expectError(.misuse) { try draft.undo() }
        expectError(.misuse) { try draft.redo() }
        #expect(!draft.canUndo)
    }

    @Test func observersAreNotifiedAtTheEndOfAStep() throws {
        let company = try Company(.memory)
        let ids = try company.people(2)
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        var notified: [String] = []
        let observation = draft.observe { changes in
            notified.append("+\(changes.inserted.count) ~\(changes.updated.count) -\(changes.deleted.count)")
        }
        try draft.edit(ids[0]).age = 5
        try draft.create(Into<Person>()).email = "new"
        draft.flush()
        draft.flush()
        try draft.delete(ids[1])
        draft.flush()
        #expect(notified == ["+1 ~1 -0", "+0 ~0 -1"])
        observation.cancel()
        try draft.commit()
        #expect(notified.count == 2)
    }

    /// Random steps, compared with a list of the states after each of them.
    @Test(arguments: Backend.forObjectLayer, [1, 2, 3] as [UInt64])
    func randomStepsAreUndoneAndRedoneExactly(_ backend: Backend, _ seed: UInt64) throws {
        let company = try Company(backend)
        try company.people(5)
        var random = Numbers(seed)
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        func state() throws -> [String] {
            try draft.fetchAll(From<Person>()).map { person in
                "\(person.email) \(person.age) \(person.department?.title ?? "-") \(person.spouse?.email ?? "-") \(person.friends.map(\.email).sorted())"
            } + draft.fetchAll(From<Department>()).map { "\($0.title): \($0.people.map(\.email).sorted())" }
        }
        var states = [try state()]
        var position = 0
        for number in 0..<60 {
            if random.next(4) == 0, position > 0 {
                try draft.undo()
                position -= 1
            } else if random.next(4) == 0, position < states.count - 1 {
                try draft.redo()
                position += 1
            } else {
                for _ in 0...random.next(3) { try change(draft, &random, number) }
                // Ensures that the step has a change.
                try draft.fetchOne(From<Person>())?.nickname = "\(number)"
                draft.flush()
                position += 1
                states = states[..<position] + [try state()]
            }
            #expect(try state() == states[position], "seed \(seed), step \(number)")
        }
        let last = try state()
        try draft.commit()
        #expect(try state() == last)
        #expect(try company.verified().isEmpty)
    }

    private func change(_ draft: UnsafeTransaction, _ random: inout Numbers, _ number: Int) throws {
        let people = try draft.fetchAll(From<Person>())
        let departments = try draft.fetchAll(From<Department>())
        func one(_ random: inout Numbers) -> Person? { people.isEmpty ? nil : people[random.next(people.count)] }
        switch random.next(7) {
        case 0: try draft.create(Into<Person>()).email = "new \(number) \(random.next(1_000_000))"
        case 1: try draft.create(Into<Department>()).title = "department \(number)"
        case 2: one(&random)?.age = random.next(100)
        case 3: one(&random)?.spouse = one(&random)
        case 4: one(&random)?.friends = Set((0..<random.next(3)).compactMap { _ in one(&random) })
        case 5: one(&random)?.department = departments.isEmpty ? nil : departments[random.next(departments.count)]
        default: if people.count > 3, let person = one(&random) { try draft.delete(person) }
        }
    }
}

/// A generator with a seed.
struct Numbers {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
