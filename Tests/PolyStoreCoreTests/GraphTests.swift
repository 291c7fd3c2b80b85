import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Random changes of an object graph: both sides of every relationship agree, no relationship refers to a deleted object, and the store has the state of the
/// transaction.
@Suite struct GraphTests {
    struct Random {
        private var state: UInt64
        init(_ seed: Int) { state = UInt64(seed) &* 2_862_933_555_777_941_757 &+ 3_037_000_493 }
        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }

    /// The state of a graph as values, without its objects.
    private struct Picture: Equatable, Sendable {
        var departments: [Int64: Int64?] = [:]
        var spouses: [Int64: Int64?] = [:]
        var friends: [Int64: Set<Int64>] = [:]
        var people: [Int64: Set<Int64>] = [:]
        var tags: [Int64: Set<Int64>] = [:]
        var owners: [Int64: Int64?] = [:]
        var parents: [Int64: Int64?] = [:]
        /// The number of objects that a fetch returned more than once.
        var repeated = 0
    }

    private static func picture(_ context: Context) throws -> Picture {
        var picture = Picture()
        let people = try context.fetchAll(From<Person>())
        let departments = try context.fetchAll(From<Department>())
        let projects = try context.fetchAll(From<Project>())
        picture.repeated = people.count + departments.count + projects.count
        picture.repeated -= Set(people).count + Set(departments).count + Set(projects).count
        for person in people {
            picture.departments[person.objectID.rowID] = person.department?.objectID.rowID
            picture.spouses[person.objectID.rowID] = person.spouse?.objectID.rowID
            picture.friends[person.objectID.rowID] = Set(person.friends.map(\.objectID.rowID))
        }
        for department in departments {
            picture.people[department.objectID.rowID] = Set(department.people.map(\.objectID.rowID))
            picture.tags[department.objectID.rowID] = Set(department.tags.map(\.objectID.rowID))
        }
        for project in projects {
            picture.owners[project.objectID.rowID] = project.owner?.objectID.rowID
            picture.parents[project.objectID.rowID] = project.parent?.objectID.rowID
        }
        return picture
    }

    /// Checks the invariants of every graph.
    private static func check(_ picture: Picture, _ what: String) {
        #expect(picture.repeated == 0, "\(what): each object once")
        for (department, people) in picture.people {
            #expect(people == Set(picture.departments.filter { $0.value == department }.keys), "\(what): people of \(department)")
        }
        for (person, department) in picture.departments {
            if let department { #expect(picture.people[department] != nil, "\(what): department of \(person)") }
        }
        for (person, spouse) in picture.spouses {
            if let spouse { #expect(picture.spouses[spouse] == person, "\(what): spouse of \(person)") }
        }
        for (person, friends) in picture.friends {
            for friend in friends { #expect(picture.friends[friend]?.contains(person) == true, "\(what): friend \(friend) of \(person)") }
        }
        for (department, tags) in picture.tags {
            for tag in tags { #expect(picture.owners[tag] != nil, "\(what): tag \(tag) of \(department)") }
        }
        for (project, parent) in picture.parents {
            if let parent { #expect(picture.owners[parent] != nil, "\(what): parent of \(project)") }
        }
    }

    @Test(arguments: Backend.forObjectLayer, 1...6)
    func bothEndsAgreeAfterAnyChange(_ backend: Backend, _ seed: Int) throws {
        let company = try Company(backend)
        var random = Random(seed)
        var number = 0
        for round in 0..<12 {
            let steps = (0..<25).map { _ in (random.next(12), random.next(1000), random.next(1000)) }
            let start = number
            number += 100
            let expected = try company.stack.performOrBegin(explicitly: round % 2 == 1, Picture()) { transaction, commit in
                for (index, step) in steps.enumerated() {
                    try Self.apply(step, transaction, start + index)
                    if index % 6 == 0 { Self.check(try Self.picture(transaction), "seed \(seed), round \(round), step \(index) \(step)") }
                }
                // Deny cannot refuse here: departments with people were not deleted.
                let expected = try Self.picture(transaction)
                try commit()
                #expect(try Self.picture(transaction) == expected, "seed \(seed), round \(round), behind the commit")
                return expected
            }
            Self.check(expected, "seed \(seed), round \(round), before the commit")
            #expect(try company.stack.readAndWait { try Self.picture($0) } == expected, "seed \(seed), round \(round), after the commit")
            let illegal = (random.next(6), random.next(1000), random.next(1000))
            #expect(throws: StoreError.self, "seed \(seed), round \(round), \(illegal)") {
                try company.stack.performAndWait { try Self.applyIllegal(illegal, $0) }
            }
            #expect(try company.stack.readAndWait { try Self.picture($0) } == expected, "seed \(seed), round \(round), after \(illegal)")
            #expect(try company.stack.stores[0].verifyAndWait() == [], "seed \(seed), round \(round)")
        }
    }

    /// Writes a relationship of a deleted object, or of one whose id refers to a deleted object.
    private static func applyIllegal(_ step: (kind: Int, first: Int, second: Int), _ transaction: Transaction) throws {
        let (person, other) = (try transaction.create(Into<Person>()), try transaction.create(Into<Person>()))
        (person.email, other.email) = ("illegal \(step.first)", "other \(step.second)")
        let department = try transaction.create(Into<Department>())
        try transaction.delete(person)
        switch step.kind {
        case 0: person.friends = [other]
        case 1: person.department = department
        case 2: person.spouse = other
        case 3:
            try transaction.delete(department)
            department.people = [other]
        case 4:
            let projects = try transaction.fetchAll(From<Project>())
            let project = try transaction.create(Into<Project>())
            project.owner = department
            let gone = try transaction.create(Into<Department>())
            try transaction.delete(gone)
            gone.tags = Set(projects.prefix(step.first % 3) + [project])
        default: other.friends = [person]
        }
    }

    /// The view's objects are kept alive and updated; the view then equals a new snapshot.
    @MainActor
    @Test(arguments: Backend.forObjectLayer, 1...4)
    func theViewFollowsAnyChange(_ backend: Backend, _ seed: Int) throws {
        let company = try Company(backend)
        let stack = company.stack
        var random = Random(seed + 100)
        var held: [AnyObject] = []
        for round in 0..<12 {
            held += try stack.view.fetchAll(From<Person>()) + stack.view.fetchAll(From<Department>()) as [AnyObject]
            held += try stack.view.fetchAll(From<Project>()) as [AnyObject]
            _ = try Self.picture(stack.view)  // loads every relationship
            let steps = (0..<20).map { _ in (random.next(12), random.next(1000), random.next(1000)) }
            try stack.performAndWait { transaction in
                for (index, step) in steps.enumerated() { try Self.apply(step, transaction, round * 100 + index) }
            }
            let seen = try Self.picture(stack.view)
            #expect(try seen == stack.readAndWait { try Self.picture($0) }, "seed \(seed), round \(round)")
        }
    }

    private static func apply(_ step: (kind: Int, first: Int, second: Int), _ transaction: Transaction, _ number: Int) throws {
        let people = try transaction.fetchAll(From<Person>())
        let departments = try transaction.fetchAll(From<Department>())
        let projects = try transaction.fetchAll(From<Project>())
        func one<T>(_ objects: [T], _ index: Int) -> T? { objects.isEmpty ? nil : objects[index % objects.count] }
        switch step.kind {
        case 0, 1:
            let person = try transaction.create(Into<Person>())
            person.email = "p\(number)"
            person.department = one(departments, step.first)
        case 2: try transaction.create(Into<Department>()).title = "d\(number)"
        case 3:
            guard let owner = one(departments, step.first) else { return }
            let project = try transaction.create(Into<Project>())
            project.owner = owner
            project.parent = one(projects, step.second)
        case 4: one(people, step.first)?.department = step.second % 5 == 0 ? nil : one(departments, step.second)
        case 5: one(people, step.first)?.spouse = step.second % 5 == 0 ? nil : one(people, step.second)
        case 6: one(people, step.first)?.friends = Set(people.enumerated().filter { ($0.offset + step.second) % 3 == 0 }.map(\.element))
        case 7: one(departments, step.first)?.people = Set(people.enumerated().filter { ($0.offset + step.second) % 4 == 0 }.map(\.element))
        case 8: one(departments, step.first)?.tags = Set(projects.enumerated().filter { ($0.offset + step.second) % 2 == 0 }.map(\.element))
        case 9: if let person = one(people, step.first) { try transaction.delete(person) }
        case 10:
            // Moves or deletes the people that would deny the deletion.
            guard let department = one(departments, step.first) else { return }
            if step.second % 2 == 0 { department.people = [] } else { try transaction.delete(department.people) }
            try transaction.delete(department)
        default: if let project = one(projects, step.first) { try transaction.delete(project) }
        }
    }
}

extension DataStack {
    /// Runs a transaction that is committed when it ends, or one with an explicit commit.
    fileprivate func performOrBegin<T: Sendable>(
        explicitly: Bool, _ empty: T, _ body: @Sendable (Transaction, _ commit: () throws -> Void) throws -> T
    ) throws -> T {
        guard explicitly else { return try performAndWait { try body($0) {} } }
        let result = Protected(empty)
        try beginSynchronous { transaction throws in
            let value = try body(transaction) { _ = try transaction.commit() }
            result.withLock { $0 = value }
        }
        return result.withLock { $0 }
    }
}
