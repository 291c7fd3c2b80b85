import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

@Suite struct QueryTests {
    @Test(arguments: Backend.forObjectLayer)
    func valuesAreComputedOverMatchingObjects(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(6)  // ages 0, 10, … 50
        try company.stack.readAndWait { context throws in
            let adults = From<Person>().where(\.age > 15)
            #expect(try context.queryValue(From<Person>(), .count) == 6)
            #expect(try context.queryValue(adults, .count) == 4)
            #expect(try context.queryValue(adults, .sum(\.age)) == 140)
            #expect(try context.queryValue(adults, .average(\.age)) == 35)
            #expect(try context.queryValue(adults, .minimum(\.age)) == 20)
            #expect(try context.queryValue(adults, .maximum(\.email)) == "p5@example.com")
            #expect(try context.queryValue(adults, .count(\.nickname)) == 0)
            #expect(try context.queryValue(From<Person>(), .countDistinct(\.age)) == 6)
            let nobody = From<Person>().where(\.age > 1000)
            #expect(try context.queryValue(nobody, .sum(\.age)) == 0)
            #expect(try context.queryValue(nobody, .average(\.age)) == nil)
            #expect(try context.queryValue(nobody, .minimum(\.age)) == nil)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func groupsComeInOrderTheOneWithoutAValueFirst(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(6)
        try company.stack.performAndWait { transaction throws in
            for (number, person) in try transaction.fetchExisting(ids).enumerated() where number % 3 != 0 {
                person.nickname = number % 3 == 1 ? "b" : "a"
            }
        }
        try company.stack.readAndWait { context throws in
            let groups = try context.queryGroups(From<Person>(), by: \.nickname, .count, .maximum(\.age), .sum(\.age))
            #expect(groups.map(\.key) == [nil, "a", "b"])
            #expect(groups.map(\.values.0) == [2, 2, 2])
            #expect(groups.map(\.values.1) == [30, 50, 40])
            #expect(groups.map(\.values.2) == [30, 70, 50])
            let ages = try context.queryGroups(From<Person>().where(\.age < 25), by: \.age, .count)
            #expect(ages.map(\.key) == [0, 10, 20])
        }
    }

    @Test func ofSeveralStoresTheValuesAreOfAllObjects() throws {
        let folder = try Folder()
        let stack = try DataStack(
            Schema(
                "Two", [Person.self, Department.self, Project.self],
                configurations: ["A": [Person.self, Department.self, Project.self], "B": [Person.self, Department.self, Project.self]]))
        try stack.addStore(Backend.lmdb.store(in: folder), configuration: "A")
        try stack.addStore(Backend.sqlite.store(in: folder), configuration: "B")
        try stack.performAndWait { transaction throws in
            for (age, store) in [(1, "A"), (2, "A"), (2, "B")] {
                let person = try transaction.create(Into<Person>(store))
                (person.age, person.email) = (age, "\(age)@example.com")
            }
        }
        try stack.readAndWait { context throws in
            #expect(try context.queryValue(From<Person>(), .count) == 3)
            #expect(try context.queryValue(From<Person>("A"), .count) == 2)
            let groups = try context.queryGroups(From<Person>(), by: \.age, .count)
            #expect(groups.map(\.key) == [1, 2])
            #expect(groups.map(\.values) == [1, 2])
        }
    }

    @Test func aQueryWithALimitIsRefused() throws {
        let company = try Company(.memory)
        _ = try company.stack.readAndWait { context throws in
            expectError(.invalidPredicate) { _ = try context.queryValue(From<Person>().limit(3), .count) }
        }
    }

    /// A fetch uses the same index on every backend, and reports the number of rows it examined.
    @Test(arguments: Backend.forObjectLayer)
    func plansNameTheIndexAndCountRows(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(50)
        try company.stack.readAndWait { context throws in
            let plan = try #require(try context.plans(From<Person>().where(\.email == "p7@example.com")).first)
            #expect(plan.access == "index Person_email (email=?)")
            #expect(plan.rowsExamined == 1)
            #expect(plan.rowsReturned == 1)
            let text = try context.explain(From<Person>().where(\.nickname == "x"))
            #expect(text.contains("access: scan"))
            #expect(text.contains("rows: 50 examined, 0 returned"))
        }
    }
}
