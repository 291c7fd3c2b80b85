import Foundation
import PolyStoreBackend
import PolyStoreCore
import Testing

@Suite struct FetchTests {
    @Test(arguments: Backend.allCases)
    func clausesAndChainsAgree(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(10)
        try company.stack.read { context in
            let clauses = try context.fetchAll(
                From<Person>(), Where(\.age > 30 && \.age <= 80), OrderBy(.descending(\.age)), Tweak { $0.limit = 3 })
            let chain = try context.fetchAll(From<Person>().where(\.age > 30).where(\.age <= 80).orderBy(.descending(\.age)).limit(3))
            #expect(clauses.map(\.age) == [80, 70, 60])
            #expect(clauses == chain)
            #expect(try context.fetchAll(From<Person>(), OrderBy(.descending(\.age)), Tweak { $0.offset = 8 }).map(\.age) == [10, 0])
            #expect(try context.fetchOne(From<Person>(), Where(\.age == 31)) == nil)
            #expect(try context.fetchObjectID(From<Person>(), Where(\.age == 50))?.key != nil)
            #expect(try context.fetchCount(From<Person>(), Where<Person>(true)) == 10)
            #expect(try context.fetchAll(From<Person>(), Where<Person>(false)).isEmpty)
        }
    }

    @Test(arguments: Backend.allCases)
    func everyOperatorSelectsWhatItSays(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(6)
        try company.stack.performAndWait { transaction in
            for person in try transaction.fetchAll(From<Person>(), Where(\.age >= 30)) { person.nickname = "N\(person.age)%_" }
        }
        let cases: [(Where<Person>, [Int])] = [
            (\.age == 20, [20]), (\.age != 20, [0, 10, 30, 40, 50]), (\.age < 20, [0, 10]), (\.age <= 20, [0, 10, 20]),
            (\.age > 30, [40, 50]), (\.age >= 30, [30, 40, 50]), (!(\.age >= 30), [0, 10, 20]),
            (\.age < 10 || \.age > 40, [0, 50]), (\.nickname == nil, [0, 10, 20]), (\.nickname != nil, [30, 40, 50]),
            (\.nickname == "N40%_", [40]), (\.nickname != "N40%_", [30, 50]), (!(\.nickname == "N40%_"), [30, 50]),
            ([10, 30, 99] ~= \.age, [10, 30]), (15...40 ~= \.age, [20, 30, 40]), (10..<30 ~= \.age, [10, 20]),
            ((\Person.email).contains("3@ex"), [30]), ((\Person.email).beginsWith("p4"), [40]), ((\Person.email).endsWith(".org"), []),
            ((\Person.nickname).contains("%_"), [30, 40, 50]), ((\Person.nickname).endsWith("0%_"), [30, 40, 50]),
            (\.email == \.email, [0, 10, 20, 30, 40, 50]), (\.age < \.age, []),
        ]
        try company.stack.read { context in
            for (condition, ages) in cases { #expect(try context.fetchAll(From<Person>(), condition).map(\.age) == ages, "\(condition)") }
        }
    }

    @Test(arguments: Backend.allCases)
    func nullsStandWhereTheyAreTold(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(3)
        try company.stack.performAndWait { try $0.fetchAll(From<Person>())[1].nickname = "x" }
        try company.stack.read { context in
            func ages(_ order: OrderKey<Person>) throws -> [Int] { try context.fetchAll(From<Person>().orderBy(order)).map(\.age) }
            #expect(try ages(.ascending(\.nickname)) == [0, 20, 10])
            #expect(try ages(.descending(\.nickname)) == [10, 0, 20])
            #expect(try ages(.ascending(\.nickname, nulls: .last)) == [10, 0, 20])
            #expect(try ages(.descending(\.nickname, nulls: .first)) == [0, 20, 10])
        }
    }

    @Test(arguments: Backend.allCases)
    func aPropertyThatIsNotStoredIsRefused(_ backend: Backend) throws {
        let company = try Company(backend)
        let error = expectError(.invalidPredicate) { try company.stack.read { try $0.fetchAll(From<Person>(), Where(\.computed == "x")) } }
        #expect(error?.entity == "Person")
        expectError(.invalidPredicate) { try company.stack.read { try $0.fetchAll(From<Person>().orderBy(.ascending(\.computed))) } }
        expectError(.invalidPredicate) { try company.stack.read { try $0.fetchAll(From<Person>().limit(-1)) } }
    }

    @Test(arguments: Backend.allCases)
    func existingObjectsComeInTheOrderOfTheirIds(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(5)
        try company.stack.performAndWait { try $0.delete(ids[2]) }
        try company.stack.read { context in
            let found = try context.fetchExisting([ids[4], ids[2], ids[0], ids[4]])
            #expect(found.map(\.age) == [40, 0, 40])
        }
    }

    @Test(arguments: Backend.allCases)
    func decimalsKeepOrderAndValue(_ backend: Backend) throws {
        let company = try Company(backend)
        let budgets = ["-1000000.01", "-1", "-0.5", "0", "0.1", "0.11", "1", "1.5", "99.99", "100", "12345678901234567890123456789"]
            .compactMap { Decimal(string: $0) }
        try company.stack.performAndWait { transaction in
            for budget in budgets.reversed() { try transaction.create(Into<Department>()).budget = budget }
        }
        try company.stack.read { context in
            #expect(try context.fetchAll(From<Department>().orderBy(.ascending(\.budget))).map(\.budget) == budgets)
            #expect(try context.fetchCount(From<Department>(), Where(\.budget > Decimal(string: "0.1") ?? 0)) == 6)
            #expect(try context.fetchCount(From<Department>(), Where(\.budget == Decimal(string: "1.50") ?? 0)) == 1)
        }
    }

    @Test(arguments: Backend.allCases)
    func explainTellsTheStoreAndTheEntity(_ backend: Backend) throws {
        let company = try Company(backend)
        let plan = try company.stack.read { try $0.explain(From<Person>(), Where(\.age > 30)) }
        #expect(plan.contains("fetch Person"))
    }
}
