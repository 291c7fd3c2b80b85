import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// The objects that conditions of every dialect match in a small company, on each backend.
@Suite struct ConditionTests {
    /// A company in which p5 is married to p4. Nicknames: p0 "Ångström", p1 "anna", p2 "ANNABEL", the others none.
    private func company(_ backend: Backend) throws -> Company {
        try .staffed(backend) { people in
            people[5].spouse = people[4]
            (people[0].nickname, people[1].nickname, people[2].nickname) = ("Ångström", "anna", "ANNABEL")
        }
    }

    // Computed, so that the compiler checks these expressions once: the initial value of a stored property is checked for the module too.
    private static var cases: [(name: String, condition: Where<Person>, ages: [Int])] {
        [
            ("path", Where(\.department?.title == "Research"), [0, 10, 20]),
            ("path, forced", Where(\.department!.title == "Sales"), [30]),
            ("not of a path to a missing object", !Where(\.department?.title == "Research"), [30]),
            ("path of two steps", Where(\.spouse?.spouse?.age == 50), [50]),
            ("path to an object", Where(\.spouse?.department == nil), [0, 10, 20, 30, 40, 50]),
            ("decimal over a path", Where(\.department?.budget > 60), [0, 10, 20]),
            ("count of a set", Where(\.friends.count >= 2), [20]),
            ("count by name", Where("friends.@count == 1"), [10, 30]),
            ("any", .any(\.friends, \.age > 20), [20]),
            ("any, format", Where("ANY friends.age > %d", 20), [20]),
            ("all", .all(\.friends, \.age > 10), [0, 10, 30, 40, 50]),
            ("all, format", Where("ALL friends.age > 10"), [0, 10, 30, 40, 50]),
            ("none", .none(\.friends, \.age > 10), [0, 20, 40, 50].filter { $0 != 20 }),
            ("none, format", Where("NONE friends.age > 10"), [0, 40, 50]),
            ("any over two steps", Where("ANY department.people.age == 20"), [0, 10, 20]),
            ("subquery", Where("SUBQUERY(friends, $f, $f.age > 10 AND $f.department.title == 'Sales').@count == 1"), [20]),
            ("average of many", Where("friends.@avg.age == 20"), [10, 20, 30]),
            ("most frequent of many", Where("mode(friends.age) == 10 OR friends.@mode.age == 20"), [10, 20, 30]),
            ("most frequent of nothing", Where("friends.@mode.age == nil"), [0, 40, 50]),
            ("sum of nothing", Where("friends.@sum.age == 0"), [0, 40, 50]),
            ("key against key over a path", Where("spouse.age > age"), [40]),
            ("arithmetic", Where("age / 10 * 2 + 1 == 7"), [30]),
            ("division by zero is unknown", Where("age / (age - 10) >= 0 OR NOT (age / (age - 10) >= 0)"), [0, 20, 30, 40, 50]),
            ("real against integer", Where("age > %f", 20.5), [30, 40, 50]),
            ("real in between", Where("age == 20.5"), []),
            ("between", Where("age BETWEEN {10, 30}"), [10, 20, 30]),
            ("in", Where("age IN %@", [10, 30, 99]), [10, 30]),
            ("like", Where("nickname LIKE 'a*a'"), [10]),
            ("like, folded", Where("nickname LIKE[cd] 'ann*'"), [10, 20]),
            ("like one", Where("nickname LIKE 'ann?'"), [10]),
            ("matches", Where("nickname MATCHES '[a-z]+'"), [10]),
            ("matches without case", Where("nickname MATCHES[c] '[a-z]+'"), [10, 20]),
            ("equal without case and marks", Where("nickname ==[cd] 'angstrom'"), [0]),
            ("begins, folded", Where("nickname BEGINSWITH[c] 'ANNA'"), [10, 20]),
            ("contains, folded", .contains(\.nickname, "STR", options: .caseInsensitive), [0]),
            ("ends", Where("nickname ENDSWITH 'BEL'"), [20]),
            ("null", Where("nickname == nil"), [30, 40, 50]),
            ("not null", Where("nickname != NULL"), [0, 10, 20]),
            ("less than nothing", Where("age < %@", nil as Int?), []),
            ("key", %"age" >= 40, [40, 50]),
            ("key, path", %"department.title" == "Sales", [30]),
            ("key, any", %"friends.age"%.any > 20, [20]),
            ("key against key", %"spouse.age" < %"age", [50]),
            ("dictionary", Where(["age": 10...30, "department.title": "Research"]), [10, 20]),
            ("dictionary with list and null", Where(["age": [10, 40, 50], "nickname": nil]), [40, 50]),
            ("dictionary, or", Where(["age": 10]).or(["age": 20]), [10, 20]),
            ("optional", Where(\.age > 30) &&? nil, [40, 50]),
            ("equal to", Where("age", isEqualTo: 10), [10]),
            ("member of", Where("age", isMemberOf: [10, 20]), [10, 20]),
            ("constants alone", Where("1 == 1 AND age > 40"), [50]),
            ("one", .one(\.department, \.title == "Sales"), [30]),
            ("true", Where("TRUEPREDICATE"), [0, 10, 20, 30, 40, 50]),
            ("no friends", Where("friends.@count == 0"), [0, 40, 50]),
            ("some friends", Where(\.friends.count > 0), [10, 20, 30]),
            ("#Predicate", Where(#Predicate<Person> { $0.age > 30 && $0.email.starts(with: "p5") }), [50]),
            ("#Predicate, path", Where(#Predicate<Person> { $0.department?.title == "Research" }), [0, 10, 20]),
            ("#Predicate, forced path", Where(#Predicate<Person> { $0.department!.title != "Research" }), [30]),
            ("#Predicate, missing object", Where(#Predicate<Person> { $0.department == nil }), [40, 50]),
            ("#Predicate, contains where", Where(#Predicate<Person> { $0.friends.contains { $0.age == 20 } }), [10, 30]),
            ("#Predicate, all", Where(#Predicate<Person> { $0.friends.allSatisfy { $0.age == 20 } }), [0, 10, 30, 40, 50]),
            ("#Predicate, filter", Where(#Predicate<Person> { $0.friends.filter { $0.age > 0 }.count == 2 }), [20]),
            ("#Predicate, count", Where(#Predicate<Person> { $0.friends.count == 1 || $0.friends.isEmpty }), [0, 10, 30, 40, 50]),
            (
                "#Predicate, list and ranges", Where(#Predicate<Person> { [10, 20, 30].contains($0.age) && (20...50).contains($0.age) }),
                [20, 30]
            ),
            ("#Predicate, text", Where(#Predicate<Person> { ($0.nickname ?? "none").contains("n") }), [0, 10, 30, 40, 50]),
            ("#Predicate, arithmetic", Where(#Predicate<Person> { $0.age + 1 == 3 * 7 }), [20]),
            ("#Predicate, missing is unknown", Where(#Predicate<Person> { !($0.nickname == "anna") }), [0, 20]),
            ("#Predicate, instead of what is missing", Where(#Predicate<Person> { ($0.department?.title ?? "None") == "None" }), [40, 50]),
            ("#Predicate, if", Where(#Predicate<Person> { if $0.age > 20 { $0.age == 50 } else { $0.age == 0 } }), [0, 50]),
            ("#Predicate, not empty", Where(#Predicate<Person> { !$0.email.isEmpty && $0.age == 10 }), [10]),
        ]
    }

    @Test(arguments: Backend.forObjectLayer)
    func everyDialectSelectsTheSame(_ backend: Backend) throws {
        let company = try company(backend)
        try company.stack.readAndWait { context throws in
            for (name, condition, ages) in Self.cases {
                let source = From<Person>().where(condition).orderBy(.ascending(\.age))
                #expect(try context.fetchAll(source).map(\.age) == ages, "\(name)")
                #expect(try context.fetchCount(source) == ages.count, "\(name)")
                #expect(try context.queryValue(source, .count) == ages.count, "\(name)")
                #expect(try context.plans(source).map(\.rowsReturned) == [ages.count], "\(name)")
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aTransactionSelectsByPendingChanges(_ backend: Backend) throws {
        let company = try company(backend)
        try company.stack.performAndWait { transaction throws in
            for (name, condition, ages) in Self.cases {
                // An unrelated pending change does not affect the results.
                if name == "path" { try transaction.create(Into<Department>()).title = "Empty" }
                #expect(try transaction.fetchAll(From<Person>().where(condition).orderBy(.ascending(\.age))).map(\.age) == ages, "\(name)")
            }
            func ages(_ condition: Where<Person>) throws -> [Int] {
                try transaction.fetchAll(From<Person>(), condition, OrderBy(.ascending(\.age))).map(\.age)
            }
            let research = try #require(try transaction.fetchOne(From<Department>().where(\.title == "Research")))
            research.title = "Development"
            #expect(try ages(Where(\.department?.title == "Research")) == [])
            #expect(try ages(Where(\.department?.title == "Development")) == [0, 10, 20])
            let unchanged = From<Person>().where(\.department?.title == "Research").tweak { $0.includesPendingChanges = false }
            #expect(try transaction.fetchCount(unchanged) == 3)
            let people = try transaction.fetchAll(From<Person>(), OrderBy(.ascending(\.age)))
            people[4].department = research
            people[5].friends = [people[4]]
            #expect(try ages(Where(\.department?.title == "Development")) == [0, 10, 20, 40])
            #expect(try ages(Where("ANY friends.age == 40")) == [50])
            #expect(try ages(Where("friends.@count == 1")) == [10, 30, 40, 50])
            try transaction.delete(people[3])
            #expect(try ages(Where("friends.@count == 1")) == [10, 20, 40, 50])
            #expect(try transaction.fetchCount(From<Department>().where(Where("people.@count == 4"))) == 1)
            #expect(
                try transaction.fetchAll(From<Person>(), OrderBy(.descending("department.title"), .ascending(\.age))).map(\.age) == [
                    0, 10, 20, 40, 50,
                ])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func ordersGoOverPathsAndFoldedTexts(_ backend: Backend) throws {
        let company = try company(backend)
        try company.stack.readAndWait { context throws in
            func ages(_ keys: OrderKey<Person>..., limit: Int? = nil, offset: Int = 0) throws -> [Int] {
                var chain = From<Person>().tweak { ($0.limit, $0.offset) = (limit, offset) }
                chain = keys.reduce(chain) { $0.orderBy($1) }
                return try context.fetchAll(chain).map(\.age)
            }
            #expect(try ages(.ascending("department.title"), .ascending(\.age)) == [40, 50, 0, 10, 20, 30])
            #expect(try ages(.descending(\.department?.title), .descending(\.age)) == [30, 20, 10, 0, 50, 40])
            #expect(try ages(.ascending("department.title", nulls: .last), limit: 3, offset: 2) == [20, 30, 40])
            #expect(try ages(.descending("friends.@count"), .ascending(\.age)) == [20, 10, 30, 0, 40, 50])
            #expect(try ages(.ascending(\.nickname, nulls: .last, options: .caseInsensitive), limit: 3) == [10, 20, 0])
            #expect(
                try ages(.ascending(\.nickname, nulls: .last, options: [.caseInsensitive, .diacriticInsensitive]), limit: 3) == [0, 10, 20])
            #expect(try ages(.ascending(\.nickname, nulls: .last), limit: 3) == [20, 10, 0])
        }
    }

    private static let wrong: [(condition: Where<Person>, message: String)] = [
        (Where("agee > 30"), "\"agee\" is not a property of Person. Did you mean \"age\"?"),
        (Where("department.titel == 'x'"), "\"titel\" is not a property of Dept. Did you mean \"title\"?"),
        (Where("friends.age > 3"), "leads to many objects"),
        (Where("ANY age > 3"), "ANY needs a path over a relationship"),
        (Where("age BEGINSWITH 'x'"), "BEGINSWITH needs text, and age is int64"),
        (Where("age == 'x'"), "cannot be compared"),
        (Where("department == 3"), "cannot be compared"),
        (Where("age.x == 3"), "is an attribute and has no \"x\""),
        (Where("nickname MATCHES '['"), "is not a regular expression"),
        (Where("friends.@variance.age > 3"), "There is no @variance"),
        (Where(\.computed == "x"), "Person.computed cannot be used in a query: it is computed or not stored"),
        (Where(\.email.count > 3), "after the attribute Person.email"),
    ]

    @Test(arguments: Backend.forObjectLayer)
    func errorsNameTheInvalidPart(_ backend: Backend) throws {
        let company = try company(backend)
        try company.stack.readAndWait { context throws in
            for (condition, message) in Self.wrong {
                do {
                    _ = try context.fetchAll(From<Person>(), condition)
                    Issue.record("\(message): accepted")
                } catch let error as StoreError {
                    #expect(error.code == .invalidPredicate && error.message.contains(message), "\(error)")
                }
            }
        }
    }
}
