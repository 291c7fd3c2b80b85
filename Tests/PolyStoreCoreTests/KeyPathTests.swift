import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// How key paths of several steps are understood.
@Suite struct KeyPathTests {
    @Test(arguments: [
        ("\\Person.name", "Person", ["name"]),
        ("\\Person.department?.title", "Person", ["department", "title"]),
        ("\\Person.department!.title?", "Person", ["department", "title"]),
        ("\\Module.Person.`the name`.title", "Module.Person", ["`the name`", "title"]),
        (
            "\\Person.<computed 0x55ac (Optional<Department>)>?.<computed 0x66bd (String)>", "Person",
            ["<computed 0x55ac (Optional<Department>)>", "<computed 0x66bd (String)>"]
        ),
        ("\\Box<Person>.<computed 0x1 ((Int) -> Int)>", "Box<Person>", ["<computed 0x1 ((Int) -> Int)>"]),
        ("\\Person.self", "Person", []),
        // Other forms are not understood.
        ("KeyPath<Person, String>", "Person", nil), ("\\Personal.name", "Person", nil), ("", "Person", nil),
    ])
    func stepsAreReadFromDescriptions(description: String, root: String, steps: [String]?) {
        #expect(KeyPathSteps(description, root: root)?.names == steps)
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsThemselvesAreNoProperty(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            let error = expectError(.invalidPredicate) { try context.fetchAll(From<Visit>().orderBy(.ascending(\.self))) }
            #expect(error?.message.contains("it has no step from Visit") == true, "\(String(describing: error))")
        }
    }

    /// The count of a to-many relationship, inherited ones included, and behind a to-one relationship.
    @Test(arguments: Backend.forObjectLayer)
    func countsOfMembersAreFound(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            let visited = try context.fetchAll(From<Visit>()).compactMap(\.party?.name)
            #expect(try context.fetchAll(From<Party>().where(\.visits.count == 1)).count == visited.count)
            #expect(try context.fetchAll(From<Human>().where(\.visits.count > 0)).map(\.name).allSatisfy(visited.contains))
            let bosses = try context.fetchAll(From<Worker>()).filter { !$0.reports.isEmpty }.names
            #expect(try context.fetchAll(From<Worker>().where(\.reports.count > 0)).names == bosses)
            let led = try context.fetchAll(From<Worker>()).filter { $0.boss?.reports.count == 1 }.names
            #expect(try context.fetchAll(From<Worker>().where(\.boss?.reports.count == 1)).names == led)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsWithAndWithoutMembersAreFound(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { people in
            people[0].friends = [people[1]]
            people[2].spouse = people[3]
        }
        try company.stack.readAndWait { context throws in
            let people = try context.fetchAll(From<Person>().orderBy(.ascending(\.email)))
            let lonely = people.filter(\.friends.isEmpty).map(\.email)
            func emails(_ condition: Where<Person>) throws -> [String] {
                try context.fetchAll(From<Person>().where(condition).orderBy(.ascending(\.email))).map(\.email)
            }
            #expect(!lonely.isEmpty && lonely.count < people.count)
            #expect(try emails(\.friends.isEmpty == true) == lonely)
            #expect(try emails(!\.friends.isEmpty) == people.map(\.email).filter { !lonely.contains($0) })
            #expect(try emails(!(\.friends.isEmpty == true) || \.age == 0) == emails(!\.friends.isEmpty || \.age == 0))
            #expect(try emails(!(!\.friends.isEmpty)) == lonely)
        }
    }
}
