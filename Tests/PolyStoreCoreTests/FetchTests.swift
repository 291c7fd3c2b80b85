import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

@Suite struct FetchTests {
    @Test(arguments: Backend.forObjectLayer)
    func clausesAndChainsAgree(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(10)
        try company.stack.readAndWait { context throws in
            let clauses = try context.fetchAll(
                From<Person>(), Where(\.age > 30 && \.age <= 80), OrderBy(.descending(\.age)), Tweak { $0.limit = 3 })
            let chain = try context.fetchAll(From<Person>().where(\.age > 30).where(\.age <= 80).orderBy(.descending(\.age)).limit(3))
            #expect(clauses.map(\.age) == [80, 70, 60])
            #expect(clauses == chain)
            #expect(try context.fetchAll(From<Person>(), OrderBy(.descending(\.age)), Tweak { $0.offset = 8 }).map(\.age) == [10, 0])
            #expect(try context.fetchOne(From<Person>(), Where(\.age == 31)) == nil)
            #expect(try context.fetchObjectID(From<Person>(), Where(\.age == 50))?.rowID != nil)
            #expect(try context.fetchCount(From<Person>(), Where<Person>(true)) == 10)
            #expect(try context.fetchAll(From<Person>(), Where<Person>(false)).isEmpty)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func everyOperatorSelectsItsMatches(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(6)
        try company.stack.performAndWait { transaction throws in
            for person in try transaction.fetchAll(From<Person>(), Where(\.age >= 30)) { person.nickname = "N\(person.age)%_" }
        }
        func check(_ condition: Where<Person>, _ ages: [Int], sourceLocation: SourceLocation = #_sourceLocation) throws {
            let found = try company.stack.readAndWait { try $0.fetchAll(From<Person>(), condition).map(\.age) }
            #expect(found == ages, sourceLocation: sourceLocation)
        }
        try check(\.age == 20, [20])
        try check(\.age != 20, [0, 10, 30, 40, 50])
        try check(\.age < 20, [0, 10])
        try check(\.age <= 20, [0, 10, 20])
        try check(\.age > 30, [40, 50])
        try check(\.age >= 30, [30, 40, 50])
        try check(!(\.age >= 30), [0, 10, 20])
        try check(\.age < 10 || \.age > 40, [0, 50])
        try check(\.nickname == nil, [0, 10, 20])
        try check(\.nickname != nil, [30, 40, 50])
        try check(\.nickname == "N40%_", [40])
        try check(\.nickname != "N40%_", [30, 50])
        try check(!(\.nickname == "N40%_"), [30, 50])
        try check([10, 30, 99] ~= \.age, [10, 30])
        try check(15...40 ~= \.age, [20, 30, 40])
        try check(10..<30 ~= \.age, [10, 20])
        try check(.contains(\.email, "3@ex"), [30])
        try check(.beginsWith(\.email, "p4"), [40])
        try check(.endsWith(\.email, ".org"), [])
        try check(.contains(\.nickname, "%_"), [30, 40, 50])
        try check(.contains(\.nickname, "%_") && \.age > 30, [40, 50])
        try check(\.age > 30 && !.contains(\.nickname, "4"), [50])
        try check(.endsWith(\.nickname, "0%_"), [30, 40, 50])
        try check(\.email == \.email, [0, 10, 20, 30, 40, 50])
        try check(\.age < \.age, [])
    }

    @Test(arguments: Backend.forObjectLayer)
    func nullsSortFirstOrLastAsRequested(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(3)
        try company.stack.performAndWait { try $0.fetchAll(From<Person>())[1].nickname = "x" }
        try company.stack.readAndWait { context throws in
            func ages(_ order: OrderKey<Person>) throws -> [Int] { try context.fetchAll(From<Person>().orderBy(order)).map(\.age) }
            #expect(try ages(.ascending(\.nickname)) == [0, 20, 10])
            #expect(try ages(.descending(\.nickname)) == [10, 0, 20])
            #expect(try ages(.ascending(\.nickname, nulls: .last)) == [10, 0, 20])
            #expect(try ages(.descending(\.nickname, nulls: .first)) == [0, 20, 10])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aPropertyThatIsNotStoredIsRefused(_ backend: Backend) throws {
        let company = try Company(backend)
        let error = expectError(.invalidPredicate) {
            try company.stack.readAndWait { _ = try $0.fetchAll(From<Person>(), Where(\.computed == "x")) }
        }
        #expect(error?.entity == "Person")
        expectError(.invalidPredicate) {
            try company.stack.readAndWait { _ = try $0.fetchAll(From<Person>().orderBy(.ascending(\.computed))) }
        }
        expectError(.invalidPredicate) { try company.stack.readAndWait { _ = try $0.fetchAll(From<Person>().limit(-1)) } }
    }

    @Test(arguments: Backend.forObjectLayer)
    func existingObjectsComeInTheOrderOfTheirIds(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(5)
        try company.stack.performAndWait { try $0.delete(ids[2]) }
        try company.stack.readAndWait { context throws in
            let found = try context.fetchExisting([ids[4], ids[2], ids[0], ids[4]])
            #expect(found.map(\.age) == [40, 0, 40])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func decimalsKeepOrderAndValue(_ backend: Backend) throws {
        let company = try Company(backend)
        let budgets = ["-1000000.01", "-1", "-0.5", "0", "0.1", "0.11", "1", "1.5", "99.99", "100", "12345678901234567890123456789"]
            .compactMap { Decimal(string: $0) }
        try company.stack.performAndWait { transaction throws in
            for budget in budgets.reversed() { try transaction.create(Into<Department>()).budget = budget }
        }
        try company.stack.readAndWait { context throws in
            #expect(try context.fetchAll(From<Department>().orderBy(.ascending(\.budget))).map(\.budget) == budgets)
            #expect(try context.fetchCount(From<Department>(), Where(\.budget > Decimal(string: "0.1") ?? 0)) == 6)
            #expect(try context.fetchCount(From<Department>(), Where(\.budget == Decimal(string: "1.50") ?? 0)) == 1)
        }
    }

    @Test(arguments: Backend.allCases)
    func explainNamesTheStoreAndTheEntity(_ backend: Backend) throws {
        let company = try Company(backend)
        let plan = try company.stack.readAndWait { try $0.explain(From<Person>(), Where(\.age > 30)) }
        #expect(plan.contains("fetch Person"))
    }
}
