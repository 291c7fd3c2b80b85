import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// The syntactic forms of a fetch: clauses, lists of clauses, classes and chains, from contexts and from the stack.
@Suite struct ClauseTests {
    @Test(arguments: Backend.forObjectLayer)
    @MainActor func everyFormFindsTheSame(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let (stack, view) = (company.stack, company.stack.view)
        let expected = ["p3@example.com", "p4@example.com"]
        let clauses: [any FetchClause<Person>] = [
            Where("age > 20"), OrderBy(.ascending("age")), Tweak { $0.limit = 2 },
        ]
        let chain = From<Person>().where(\.age > 20).orderBy(.ascending(\.age)).limit(2)
        #expect(try stack.fetchAll(chain).map(\.email) == expected)
        #expect(try view.fetchAll(From<Person>(), clauses).map(\.email) == expected)
        #expect(try stack.fetchAll(From<Person>(), clauses).map(\.email) == expected)
        #expect(try view.fetchAll(From<Person>().clauses(clauses)).map(\.email) == expected)
        #expect(
            try view.fetchAll(Person.self, Where(\.age > 20), OrderBy(.ascending(\.age)), Tweak { $0.limit = 2 }).map(\.email) == expected)
        #expect(
            try view.fetchAll(
                From<Person>(), Where(\.age > 20), Where(\.age < 50), Where("email != 'p9'"), OrderBy(.ascending(\.age)),
                Tweak { $0.limit = 2 }
            ).map(\.email) == expected)
        #expect(try view.fetchAll(From<Person>().where("age > %d", 20).orderBy(.ascending(\.age)).limit(2)).map(\.email) == expected)
        #expect(
            try view.fetchAll(From<Person>().where(format: "age > %d", 20).orderBy(OrderBy(.ascending(\.age))).limit(2)).map(\.email)
                == expected)
        #expect(try view.fetchAll(From<Person>().where(["age": 30...40]).orderBy(.ascending(\.age))).map(\.email) == expected)
        #expect(
            try view.fetchAll(From<Person>().where(\.age > 20).tweak(Tweak { $0.limit = 2 }).orderBy(.ascending(\.age))).map(\.email)
                == expected)
        #expect(try stack.fetchOne(Person.self, %"age" == 30)?.email == expected[0])
        #expect(try stack.fetchOne(chain)?.email == expected[0])
        #expect(try stack.fetchCount(From<Person>(), Where(\.age > 20)) == 3)
        #expect(try stack.fetchCount(From<Person>(), [Where(\.age > 20)]) == 3)
        #expect(try stack.fetchCount(Person.self) == 6)
        let ids = try stack.fetchObjectIDs(chain)
        #expect(try stack.fetchObjectIDs(From<Person>(), clauses) == ids)
        #expect(try stack.fetchObjectIDs(Person.self, Where(\.age > 20), OrderBy(.ascending(\.age)), Tweak { $0.limit = 2 }) == ids)
        #expect(try stack.fetchObjectID(chain) == ids[0])
        #expect(try stack.fetchObjectID(Person.self, Where(\.age == 30)) == ids[0])
        #expect(try stack.fetchExisting(ids).map(\.email) == expected)
        #expect(try stack.fetchExisting(ids[0])?.email == expected[0])
        #expect(try stack.explain(From<Person>(), clauses) == view.explain(From<Person>().clauses(clauses)))
        #expect(try stack.fetchAll(From<Person>().prefetch(\.department, \.friends)).count == 6)
        expectError(.invalidPredicate) { try stack.fetchAll(From<Person>().prefetch(\.computed)) }
        #expect(
            try stack.fetchAll(From<Person>(), OrderBy(SortDescriptor(\.age, order: .reverse)), Tweak { $0.limit = 1 }).map(\.age) == [50])
        var seen: [String] = []
        try stack.fetchInBatches(From<Person>(), Where(\.age > 20), OrderBy(.ascending(\.age)), size: 2) { seen += $0.map(\.email) }
        #expect(seen == expected + ["p5@example.com"])
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func queriesCanBeChained(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { $0[4].age = 30 }
        let stack = company.stack
        #expect(try stack.queryValue(From<Person>().select(Int.self, .maximum(\.age))) == 50)
        #expect(try stack.queryValue(From<Person>().select(\.age).where(\.email == "p2@example.com")) == 20)
        #expect(try stack.queryValue(From<Person>().select(\.nickname).where(\.email == "p2@example.com")) == nil)
        let rows: [QueryRow] = [["age": 30, "people": 2]]
        #expect(
            try stack.queryAttributes(
                From<Person>().select(.attribute(\.age), .count(as: "people")).groupBy(\.age).having("people > %d", 1)) == rows)
        #expect(
            try stack.queryAttributes(
                From<Person>().select("age", .count(as: "people")).groupBy("age").orderBy(.descending("age")).limit(1))
                == [["age": 50, "people": 1]])
        #expect(
            try stack.queryAttributes(From<Person>(), Select("age", .count(as: "people")), [GroupBy("age"), Having("people > 1")]) == rows)
        #expect(
            try stack.queryAttributes(From<Person>(), Select("age", "email", .count), GroupBy(\.age, \.email, \.nickname, \.department))
                .count
                == 6)
        #expect(try stack.queryValue(From<Person>(), .maximum(\.age)) == 50)
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func conditionsHaveEveryForm(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { people in people[5].nickname = "Max" }
        let view = company.stack.view
        func ages(_ condition: Where<Person>) throws -> [Int] {
            try view.fetchAll(From<Person>().where(condition).orderBy(.ascending(\.age))).map(\.age)
        }
        #expect(try ages(Where()) == [0, 10, 20, 30, 40, 50])
        #expect(try ages(Where(\.age, isEqualTo: 30)) == [30])
        #expect(try ages(Where(\.nickname, isEqualTo: "Max")) == [50])
        #expect(try ages(Where(\.nickname, isEqualTo: nil)).count == 5)
        #expect(try ages(Where(\.age, isMemberOf: [10, 30])) == [10, 30])
        #expect(try ages(Where(\.age, isMemberOf: 10...20)) == [10, 20])
        #expect(try ages(Where(\.age, isMemberOf: 40...)) == [40, 50])
        #expect(try ages(Where { $0.age > 10 && $0.nickname == nil }) == [20, 30, 40])
        let sales = try #require(try view.fetchOne(Department.self, Where(\.title == "Sales")))
        #expect(try ages(Where(\.department, isEqualTo: sales)) == [30])
        #expect(try ages(Where(\.department, isEqualTo: sales.objectID)) == [30])
        // Path over a to-one relationship: a person without a department satisfies ALL and NONE.
        #expect(try ages(.any(\.department?.people, \.age == 0)) == [0, 10, 20])
        #expect(try ages(.all(\.department?.people, \.age < 30)) == [0, 10, 20, 40, 50])
        #expect(try ages(.none(\.department?.people, \.age == 30)) == [0, 10, 20, 40, 50])
        #expect(try view.fetchAll(From<Person>(), .any(\.friends, \.age == 30)).map(\.age) == [20])
    }

    @Test func conditionsOnSuperclassesSelectSubclasses() throws {
        let parties = try Parties(.memory)
        try parties.write { transaction throws in
            let condition: Where<Worker> = \Party.name == "Bob" && \Worker.age > 1
            #expect(try transaction.fetchAll(From<Worker>(), condition).map(\.name) == ["Bob"])
            #expect(try transaction.fetchAll(From<Worker>(), Where<Worker>(\Party.name == "Bob")).count == 1)
            expectError(.invalidPredicate) { try transaction.fetchAll(From<Party>(), Where<Party>(\Worker.badge == "B1")) }
        }
    }

    @Test func clausesThatAreWrittenAlikeAreEqual() {
        func same<T: Hashable>(_ left: T, _ right: T, _ location: SourceLocation = #_sourceLocation) {
            #expect(left == right, sourceLocation: location)
            #expect(left.hashValue == right.hashValue, sourceLocation: location)
        }
        func differ<T: Hashable>(_ left: T, _ right: T, _ location: SourceLocation = #_sourceLocation) {
            #expect(left != right, sourceLocation: location)
        }
        same(Where<Person>(), Where<Person>(true))
        same(Where<Person>(\.age > 3), Where<Person>(\.age > 3))
        differ(Where<Person>(\.age > 3), Where<Person>(\.age > 4))
        same(Where<Person>("age > %d", 3), Where<Person>("age > 3"))
        same(Where<Person>(\.department?.title == "x"), Where<Person>(\.department?.title == "x"))
        differ(Where<Person>(\.department?.title == "x"), Where<Person>(\.department?.title == "y"))
        differ(Where<Person>(\.department?.title == "x"), Where<Person>(\.department?.title != "x"))
        same(Where<Person>.any(\.friends, \.age > 3), .any(\.friends, \.age > 3))
        differ(Where<Person>.any(\.friends, \.age > 3), .all(\.friends, \.age > 3))
        differ(Where<Person>.any(\.friends, \.age > 3), .any(\.friends, \.age > 4))
        differ(Where<Person>.count(\.friends, .equal, 3), .count(\.friends, .equal, 4))
        func joined(_ limit: Int) -> Where<Person> {
            let (first, second): (Where<Person>, Where<Person>) = (\.age > limit && \.email == "x", Where("age == 2") && !Where(\.age < 1))
            return first || second
        }
        same(joined(3), joined(3))
        differ(joined(3), joined(4))
        differ(Where<Person>(\.age > 3) && \.email == "x", Where(\.age > 3) || \.email == "x")
        same(OrderBy<Person>(.ascending(\.age), .descending("email")), OrderBy(.ascending(\.age), .descending("email")))
        differ(OrderBy<Person>(.ascending(\.age)), OrderBy(.descending(\.age)))
        differ(OrderBy<Person>(.ascending(\.email)), OrderBy(.ascending(\.email, options: .caseInsensitive)))
        same(OrderBy<Person>(), OrderBy<Person>([]))
        same(GroupBy<Person>("a"), GroupBy<Person>("a"))
        differ(GroupBy<Person>(\.age), GroupBy<Person>(\.email))
        same(Having<Person>("count > 1"), Having<Person>("count > 1"))
        same(SelectTerm.average("a"), SelectTerm.average("a"))
        differ(SelectTerm.average("a"), SelectTerm.sum("a"))
        same(Select<Int>("a"), Select<Int>("a"))
        same(Into<Person>(), Into(Person.self))
        differ(Into<Person>(), Into(Person.self, nil))
        same(From<Person>(["A", nil]), From(Person.self, "A", nil))
        differ(From<Person>("A"), From<Person>())
        same(From<Person>().where(\.age > 3).limit(2), From<Person>().where(\.age > 3).limit(2))
        differ(From<Person>().where(\.age > 3).limit(2), From<Person>().where(\.age > 3).limit(3))
        same(
            From<Person>().select(Int.self, .maximum(\.age)).groupBy(\.age), From<Person>().select(Int.self, .maximum(\.age)).groupBy(\.age)
        )
    }

    @Test func storesAreNamedInEveryForm() throws {
        let gadgets = try Gadgets(.memory, configurations: ["Shop", "Store"])
        try gadgets.stack.performAndWait { transaction throws in
            try transaction.create(Into(Gadget.self, "Shop")) { $0.label = "a" }
            try transaction.create(Into<Gadget>("Store")) { $0.label = "b" }
        }
        try gadgets.stack.readAndWait { context throws in
            #expect(try context.fetchCount(From(Gadget.self, "Shop")) == 1)
            #expect(try context.fetchCount(From<Gadget>(["Shop", "Store"])) == 2)
            #expect(try context.fetchCount(From(Gadget.self, ["Store"])) == 1)
            #expect(try context.fetchCount(From(Gadget.self, "Store", "Shop")) == 2)
            expectError(.storeNotFound) { try context.fetchCount(From<Gadget>([])) }
        }
    }
}
