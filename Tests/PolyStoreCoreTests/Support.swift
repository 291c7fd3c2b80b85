import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

let companySchema = Schema("Company 1", Person.self, Department.self, Project.self)

/// A stack with one store. Fails the test on any unexpected warning or error in the log.
final class Company {
    let folder: Folder
    let stack: DataStack
    let logger = RecordingLogger()
    private let expectsSilence: Bool

    /// - Parameter faults: The faults to inject into the backend; nil for none.
    init(_ backend: Backend, faults: Faults? = nil, expectsSilence: Bool = true) throws {
        folder = try Folder()
        self.expectsSilence = expectsSilence
        stack = try DataStack(companySchema, logger: logger)
        // Independent of the speed of the machine.
        stack.snapshotWarningAge = .seconds(100_000)
        let store = backend.store(in: folder)
        try stack.addStore(faults.map(store.wrapped) ?? store)
    }

    deinit { if expectsSilence, !logger.lines.isEmpty { Issue.record("unexpected log: \(logger.lines)") } }

    /// Creates people p0, p1, … with ages 0, 10, 20, …
    @discardableResult
    func people(_ count: Int) throws -> [ObjectID<Person>] {
        try stack.performAndWait { transaction throws in
            try (0..<count).map { number in
                let person = try transaction.create(Into<Person>())
                person.email = "p\(number)@example.com"
                person.age = number * 10
                return person.objectID
            }
        }
    }

    /// Creates six people aged 0, 10, … 50: p0 to p2 in the department Research (budget 100), p3 in Sales (50), the others in none. p1 and p2 are friends, and
    /// p2 and p3.
    /// - Parameter adjust: Adds the data of a test.
    static func staffed(_ backend: Backend, _ adjust: @Sendable @escaping ([Person]) -> Void) throws -> Company {
        let company = try Company(backend)
        try company.people(6)
        try company.stack.performAndWait { transaction throws in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.age)))
            let (research, sales) = (try transaction.create(Into<Department>()), try transaction.create(Into<Department>()))
            (research.title, research.budget) = ("Research", 100)
            (sales.title, sales.budget) = ("Sales", 50)
            for person in people[0...2] { person.department = research }
            people[3].department = sales
            people[1].friends = [people[2]]
            people[2].friends = [people[1], people[3]]
            adjust(people)
        }
        return company
    }
}

extension Transaction {
    /// Creates a person with a number as email and age.
    func createPerson(_ number: Int) throws -> Person {
        let person = try create(Into<Person>())
        person.email = "n\(number)"
        person.age = number
        return person
    }
}
