import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Queries of values over a small company, on each backend.
@Suite struct SelectTests {
    /// A company whose oldest two people are 40. Nicknames: p0 and p1 "a", p2 "b", the others none.
    static func company(_ backend: Backend) throws -> Company {
        try .staffed(backend) { people in
            people[5].age = 40
            (people[0].nickname, people[1].nickname, people[2].nickname) = ("a", "a", "b")
        }
    }

    /// The standard deviation of all ages: √(n·Σx² − (Σx)²) / n.
    private static let deviation = 8000.0.squareRoot() / 6

    private typealias Query = @Sendable (Context) throws -> [QueryRow]

    private static let cases: [(name: String, query: Query, rows: [QueryRow])] = {
        // Separate statements, because the compiler takes long to type-check one large literal.
        var all: [(name: String, query: Query, rows: [QueryRow])] = []
        func add(_ name: String, _ rows: [QueryRow], _ query: @escaping Query) { all.append((name, query, rows)) }
        add("rows", [["age": 30], ["age": 20, "nickname": "b"], ["age": 10, "nickname": "a"], ["age": 0, "nickname": "a"]]) {
            try $0.queryAttributes(From<Person>(), Select("age", "nickname"), Where(\.age < 35), OrderBy(.descending(\.age)))
        }
        add("one attribute", [["age": 0], ["age": 10]]) { try $0.queryAttributes(From<Person>(), Select("age"), Where(\.age < 15)) }
        add("limit and offset", [["age": 40], ["age": 30]]) {
            try $0.queryAttributes(From<Person>(), Select("age"), OrderBy(.descending("age")), Tweak { ($0.limit, $0.offset) = (2, 1) })
        }
        add("distinct", [["nickname": "a"], ["nickname": "b"], [:]]) {
            try $0.queryAttributes(From<Person>(), Select("nickname"), Tweak { $0.returnsDistinctResults = true })
        }
        add("distinct, in an order, cut", [["age": 30], ["age": 20]]) {
            try $0.queryAttributes(
                From<Person>(), Select("age"), OrderBy(.descending(\.age)),
                Tweak {
                    $0.returnsDistinctResults = true
                    ($0.limit, $0.offset) = (2, 1)
                })
        }
        add(
            "over a path",
            [["age": 20, "department.title": "Research"], ["age": 30, "department.title": "Sales"], ["age": 40], ["age": 40]]
        ) { try $0.queryAttributes(From<Person>(), Select("age", "department.title"), Where(\.age > 15)) }
        add("key paths", [["age": 30, "title": "Sales"]]) {
            try $0.queryAttributes(
                From<Person>(), Select(.attribute(\Person.department?.title, as: "title"), .attribute(\.age)), Where(\.age == 30))
        }
        add(
            "a count of each object's friends",
            [
                ["age": 20, "count(friends)": 2], ["age": 10, "count(friends)": 1], ["age": 30, "count(friends)": 1],
                ["age": 0, "count(friends)": 0],
            ]
        ) {
            try $0.queryAttributes(
                From<Person>(), Select("age", .count("friends")), Where(\.age < 35), OrderBy(.descending("count(friends)")))
        }
        add(
            "an average of each object's friends, ordered by a count that is not selected",
            [["age": 20, "mean": 20, "median(friends.age)": 20]]
        ) {
            try $0.queryAttributes(
                From<Person>(), Select("age", .average("friends.age", as: "mean"), .median("friends.age")), Where(\.age < 35),
                OrderBy(.descending("count(friends)")), Tweak { $0.limit = 1 })
        }
        add("an expression", [["decade": 4]]) {
            try $0.queryAttributes(From<Person>(), Select(SelectTerm("age / 10 + 1", as: "decade")), Where(\.age == 30))
        }
        add(
            "every function",
            [
                [
                    "count": 6, "count(nickname)": 3, "countDistinct(age)": 5, "sum(age)": 140, "average(age)": .real(140.0 / 6),
                    "min(age)": 0,
                    "max(nickname)": "b", "stddev(age)": .real(deviation), "median(age)": 25,
                ]
            ]
        ) {
            try $0.queryAttributes(
                From<Person>(),
                Select(
                    .count, .count("nickname"), .countDistinct("age"), .sum("age"), .average("age"), .minimum("age"),
                    .maximum("nickname"),
                    .standardDeviation("age"), .median("age")))
        }
        add("of nothing", [["count(age)": 0, "sum(age)": 0]]) {
            try $0.queryAttributes(
                From<Person>(),
                Select(.count("age"), .sum("age"), .average("age"), .standardDeviation(\.age), .median(\.age), .maximum("age")),
                Where(\.age > 1000))
        }
        add("nothing", []) { try $0.queryAttributes(From<Person>(), Select("age"), Where(\.age > 1000)) }
        add("no groups", []) { try $0.queryAttributes(From<Person>(), Select("age", .count), Where(\.age > 1000), GroupBy("age")) }
        add("groups", [["age": 30, "people": 1], ["age": 40, "people": 2]]) {
            try $0.queryAttributes(From<Person>(), Select("age", .count("age", as: "people")), Where(\.age > 25), GroupBy("age"))
        }
        add("groups, null first", [["sum(age)": 110], ["nickname": "a", "sum(age)": 10], ["nickname": "b", "sum(age)": 20]]) {
            try $0.queryAttributes(From<Person>(), Select("nickname", .sum("age")), GroupBy(\.nickname))
        }
        add("having a count, not selected", [["age": 40]]) {
            try $0.queryAttributes(From<Person>(), Select("age"), GroupBy("age"), Having("count(age) > 1"))
        }
        add("having an alias", [["nickname": "a", "mean": 5], ["nickname": "b", "mean": 20]]) {
            try $0.queryAttributes(
                From<Person>(), Select("nickname", .average("age", as: "mean")), GroupBy("nickname"),
                Having("mean > %d AND nickname != nil", 4))
        }
        add("having by keys", [["age": 10], ["age": 40]]) {
            try $0.queryAttributes(From<Person>(), Select("age"), GroupBy("age"), Having(%"count(age)" > 1 || %"age" == 10))
        }
        add("having arithmetic", [["age": 20]]) {
            try $0.queryAttributes(From<Person>(), Select("age"), GroupBy("age"), Having("sum(age) / count(age) == 20"))
        }
        add("having a text", [["nickname": "b"]]) {
            try $0.queryAttributes(From<Person>(), Select("nickname"), GroupBy("nickname"), Having("nickname BEGINSWITH[c] 'B'"))
        }
        add("having, of one group", []) { try $0.queryAttributes(From<Person>(), Select(.count), Having("count(age) > 100")) }
        add("in the order of a function", [["count": 3], ["nickname": "a", "count": 2], ["nickname": "b", "count": 1]]) {
            try $0.queryAttributes(
                From<Person>(), Select("nickname", .count), GroupBy("nickname"),
                OrderBy(.descending("count(objectID)"), .descending("nickname")))
        }
        add("in the order of an alias, cut", [["nickname": "b", "years": 20]]) {
            try $0.queryAttributes(
                From<Person>(), Select("nickname", .sum("age", as: "years")), GroupBy("nickname"), OrderBy(.ascending("years")),
                Tweak { ($0.limit, $0.offset) = (1, 1) })
        }
        add("in the order of what is grouped by", [[:], ["nickname": "b"], ["nickname": "a"]]) {
            try $0.queryAttributes(
                From<Person>(), Select("nickname"), GroupBy(\.nickname), OrderBy(.descending(\.nickname, nulls: .first)))
        }
        add(
            "two keys",
            [
                ["nickname": "a", "age": 0, "count": 1], ["nickname": "a", "age": 10, "count": 1],
                ["nickname": "b", "age": 20, "count": 1],
            ]
        ) { try $0.queryAttributes(From<Person>(), Select("nickname", "age", .count), Where(\.age < 25), GroupBy("nickname", "age")) }
        add("two keys, combined", [["count": 2], ["count": 1], ["count": 2], ["count": 1]]) {
            try $0.queryAttributes(From<Person>(), Select(.count), GroupBy(%"nickname" | %"department.title"))
        }
        add("terms, combined", [["nickname": "b", "average(age)": 20]]) {
            try $0.queryAttributes(
                From<Person>(), Select(.select("nickname") | .average("age")), Where(\.age == 20), GroupBy(%"nickname"))
        }
        add("by a path", [["count": 2], ["department.title": "Research", "count": 3], ["department.title": "Sales", "count": 1]]) {
            try $0.queryAttributes(From<Person>(), Select("department.title", .count), GroupBy(\.department?.title))
        }
        add("by a count", [["friends.@count": 0, "count": 3], ["friends.@count": 1, "count": 2], ["friends.@count": 2, "count": 1]]) {
            try $0.queryAttributes(From<Person>(), Select("friends.@count", .count), GroupBy("friends.@count"))
        }
        add("by an expression", [["score": 1, "count": 2], ["score": 2, "count": 2]]) {
            try $0.queryAttributes(
                From<Person>(), Select(SelectTerm("age / 20", as: "score"), .count), GroupBy("score"), Having("score > 0"))
        }
        add("by an object, asked about", [["count": 3]]) {
            try $0.queryAttributes(From<Person>(), Select(.count), GroupBy("department"), Having("department.title == 'Research'"))
        }
        add(
            "over many, of groups",
            [
                ["count(friends)": 1, "sum": 1, "average(friends.age)": 20, "countDistinct(friends)": 1],
                ["nickname": "a", "count(friends)": 1, "sum": 1, "average(friends.age)": 20, "countDistinct(friends)": 1],
                ["nickname": "b", "count(friends)": 2, "sum": 2, "average(friends.age)": 20, "countDistinct(friends)": 2],
            ]
        ) {
            try $0.queryAttributes(
                From<Person>(),
                Select(
                    "nickname", .count("friends"), .sum("friends.@count", as: "sum"), .average("friends.age"), .countDistinct("friends")
                ),
                GroupBy("nickname"))
        }
        add("over many, of all", [["count(friends)": 4]]) { try $0.queryAttributes(From<Person>(), Select(.count("friends"))) }
        add("over one and then many", [["sum(department.people.age)": 30]]) {
            try $0.queryAttributes(From<Person>(), Select(.sum("department.people.age")), Where(\.age == 0))
        }
        add("a decimal", [["title": "Research", "max(budget)": .decimal(100)], ["title": "Sales", "max(budget)": .decimal(50)]]) {
            try $0.queryAttributes(From<Department>(), Select("title", .maximum("budget")), GroupBy("title"))
        }
        add("the same twice", [["age": 0]]) {
            try $0.queryAttributes(From<Person>(), Select("age", "age", .attribute(\Person.age)), Where(\.age == 0))
        }
        add("after a chain", [["age": 30, "count": 1], ["age": 40, "count": 2]]) {
            try $0.queryAttributes(From<Person>().where(\.age > 25), Select("age", .count), GroupBy(\.age))
        }
        return all
    }()

    @Test(arguments: Backend.forObjectLayer)
    func everyQueryAnswersTheSame(_ backend: Backend) throws {
        let company = try Self.company(backend)
        try company.stack.readAndWait { context throws in
            for (name, query, rows) in Self.cases {
                do {
                    let found = try query(context)
                    #expect(found == rows, "\(name)")
                } catch {
                    Issue.record("\(name): \(error)")
                }
            }
        }
        // In a transaction without changes.
        try company.stack.performAndWait { transaction throws in
            for (name, query, rows) in Self.cases {
                let found = try query(transaction)
                #expect(found == rows, "\(name), in a transaction")
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aValueComesInTheTypeThatIsAsked(_ backend: Backend) throws {
        let company = try Self.company(backend)
        try company.stack.readAndWait { context throws in
            #expect(try context.queryValue(From<Person>(), Select<Double>(.average(\.age)), Where(\.age > 25)) == 110.0 / 3)
            #expect(try context.queryValue(From<Person>(), Select<Double>(.average(\Person.age)), Where(\.age == 30)) == 30)
            #expect(try context.queryValue(From<Person>(), Select<Int>(.average("age")), Where(\.age < 15)) == 5)
            #expect(try context.queryValue(From<Person>(), Select<Int>(.average("age")), Where(\.age > 25)) == nil, "not an integer")
            #expect(try context.queryValue(From<Person>(), Select<Int>("age"), Where("email == %@", "p3@example.com")) == 30)
            #expect(try context.queryValue(From<Person>(), Select<Int>(\.age), OrderBy(.descending(\.age))) == 40)
            #expect(try context.queryValue(From<Person>(), Select<Int8>(.sum("age")), Where(\.age > 1)) == nil, "too great")
            #expect(try context.queryValue(From<Person>(), Select<Int>("email")) == nil, "no number")
            #expect(try context.queryValue(From<Person>(), Select<String>("age")) == nil, "no text")
            #expect(try context.queryValue(From<Person>(), Select<String>(.maximum("email"))) == "p5@example.com")
            #expect(try context.queryValue(From<Person>(), Select<String>("nickname"), Where(\.age == 30)) == nil)
            #expect(try context.queryValue(From<Person>(), Select<Int>(.count), Where(\.age > 100)) == 0)
            #expect(try context.queryValue(From<Person>(), Select<Int>(.sum("age")), Where(\.age > 100)) == 0)
            #expect(try context.queryValue(From<Person>(), Select<Int>(.maximum("age")), Where(\.age > 100)) == nil)
            #expect(try context.queryValue(From<Person>(), Select<Int>("age"), Where(\.age > 100)) == nil)
            #expect(try context.queryValue(From<Department>(), Select<Decimal>(.maximum("budget"))) == 100)
            let youngest = try context.queryValue(From<Person>(), Select<ObjectID<Person>>(.objectID), OrderBy(.ascending(\.age)))
            #expect(try context.fetchExisting(#require(youngest))?.age == 0)
            let department = try context.queryValue(From<Person>(), Select<ObjectID<Department>>("department"), Where(\.age == 30))
            #expect(try context.fetchExisting(#require(department))?.title == "Sales")
            #expect(try context.queryValue(From<Person>(), Select<ObjectID<Person>>("department"), Where(\.age == 30)) == nil, "another's")
            #expect(try context.queryValue(From<Person>(), .standardDeviation(\.age)) == Self.deviation)
            #expect(try context.queryValue(From<Person>(), .median(\.age)) == 25)
            #expect(try context.queryValue(From<Person>(), Select<Int>("age"), GroupBy("age"), Having("count(age) > 1")) == 40)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func pendingChangesCountOnRequest(_ backend: Backend) throws {
        let company = try Self.company(backend)
        try company.stack.performAndWait { transaction throws in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.email)))
            people[0].age = 1000
            people[2].friends = []
            people[4].department = people[3].department
            try transaction.delete(people[5])
            let new = try transaction.create(Into<Person>())
            (new.email, new.age, new.department) = ("new", 7, people[3].department)
            func ages(_ pending: Bool) throws -> [QueryRow] {
                try transaction.queryAttributes(
                    From<Person>(), Select("age", "department.title", .count("friends")), OrderBy(.ascending(\.age)),
                    Tweak { if pending { $0.includesPendingChanges = true } })
            }
            #expect(try ages(false).map { $0["age"]?.int } == [0, 10, 20, 30, 40, 40])
            #expect(try ages(true).map { $0["age"]?.int } == [7, 10, 20, 30, 40, 1000])
            #expect(try ages(true).map { $0["count(friends)"]?.int } == [0, 0, 0, 0, 0, 0])
            #expect(
                try ages(true).compactMap { $0["department.title"]?.string } == [
                    "Sales", "Research", "Research", "Sales", "Sales", "Research",
                ])
            func sums(_ pending: Bool) throws -> [QueryRow] {
                try transaction.queryAttributes(
                    From<Person>(), Select("department.title", .sum("age"), .count("friends")), Where("department != nil"),
                    GroupBy("department.title"), Tweak { if pending { $0.includesPendingChanges = true } })
            }
            #expect(
                try sums(false) == [
                    ["department.title": "Research", "sum(age)": 30, "count(friends)": 3],
                    ["department.title": "Sales", "sum(age)": 30, "count(friends)": 1],
                ])
            #expect(
                try sums(true) == [
                    ["department.title": "Research", "sum(age)": 1030, "count(friends)": 0],
                    ["department.title": "Sales", "sum(age)": 77, "count(friends)": 0],
                ])
            let mine = From<Person>().tweak { $0.includesPendingChanges = true }
            #expect(try transaction.queryValue(mine, .sum(\.age)) == 1107)
            #expect(try transaction.queryValue(From<Person>(), .sum(\.age)) == 140)
            #expect(try transaction.queryValue(mine, Select<Int>(.maximum("age"))) == 1000)
            #expect(try transaction.queryGroups(mine, by: \.age, .count).map(\.key) == [7, 10, 20, 30, 40, 1000])
        }
    }

    @Test func theGroupsOfSeveralStoresAreOfAllTheirObjects() throws {
        let folder = try Folder()
        let models: [any Model.Type] = [Person.self, Department.self, Project.self]
        let stack = try DataStack(Schema("Two", models, configurations: ["A": models, "B": models]))
        try stack.addStore(Backend.lmdb.store(in: folder), configuration: "A")
        try stack.addStore(Backend.sqlite.store(in: folder), configuration: "B")
        try stack.performAndWait { transaction throws in
            for (store, ages) in [("A", [1, 2, 2, 9]), ("B", [2, 3, 9])] {
                let department = try transaction.create(Into<Department>(store))
                department.title = store
                for (index, age) in ages.enumerated() {
                    let person = try transaction.create(Into<Person>(store))
                    (person.age, person.email, person.department) = (age, "\(store)\(index)", department)
                }
            }
        }
        try stack.readAndWait { context throws in
            let counts = try context.queryAttributes(
                From<Person>(), Select("age", .count, .countDistinct("department")), GroupBy("age"), Having("count(age) > 1"),
                OrderBy(.descending("count(age)"), .descending("age")), Tweak { $0.limit = 2 })
            #expect(
                counts == [
                    ["age": 2, "count": 3, "countDistinct(department)": 2], ["age": 9, "count": 2, "countDistinct(department)": 2],
                ])
            // The first departments of both stores have the same row id.
            let departments = try context.queryAttributes(From<Person>(), Select("department", .sum("age")), GroupBy("department"))
            #expect(departments.map { $0["sum(age)"] } == [14, 14])
            let titles = try departments.compactMap { row in
                try row["department"]?.objectID(of: Department.self).flatMap { try context.fetchExisting($0) }?.title
            }
            #expect(titles == ["A", "B"])
            let rows = try context.queryAttributes(
                From<Person>(), Select("age", "department.title"), OrderBy(.descending("age"), .ascending("department.title")),
                Tweak { ($0.limit, $0.offset) = (3, 1) })
            #expect(rows.map { $0["age"] } == [9, 3, 2])
            #expect(rows.map { $0["department.title"] } == ["B", "B", "A"])
            let distinct = try context.queryAttributes(
                From<Person>(), Select("age"), OrderBy(.ascending("age")), Tweak { $0.returnsDistinctResults = true })
            #expect(distinct == [["age": 1], ["age": 2], ["age": 3], ["age": 9]])
            #expect(try context.queryValue(From<Person>("B"), Select<Int>(.count)) == 3)
            #expect(try context.queryValue(From<Person>(), Select<Double>(.median("age"))) == 2)
            expectError(.unsupported) {
                _ = try context.queryAttributes(From<Person>(), Select(.count), GroupBy("department"), Having("department.title == 'A'"))
            }
            expectError(.invalidPredicate) { _ = try context.queryAttributes(From<Person>(), Select(.countDistinct("friends"))) }
        }
    }

    private static let faults: [(name: String, query: Query, message: String)] = {
        // Separate statements, because the compiler takes long to type-check one large literal.
        var all: [(name: String, query: Query, message: String)] = []
        func add(_ name: String, _ message: String, _ query: @escaping Query) { all.append((name, query, message)) }
        add("a wrong name", "\"agee\" is not a property of Person. Did you mean \"age\"?") {
            try $0.queryAttributes(From<Person>(), Select("agee"))
        }
        add("a wrong name, as a key path", "Did you mean \"age\"?") { try $0.queryAttributes(From<Person>(), Select(.average(\.agee))) }
        add("a wrong name in a function", "average(agee)\n        ^~~~") { try $0.queryAttributes(From<Person>(), Select("average(agee)")) }
        add("another model's", "is not a key path of Person") {
            try $0.queryAttributes(From<Person>(), Select(.attribute(\Department.title)))
        }
        add("not stored", "cannot be used in a query") { try $0.queryAttributes(From<Person>(), Select(.attribute(\Person.computed))) }
        add("neither a group key nor computed", "group by \"nickname\"") {
            try $0.queryAttributes(From<Person>(), Select("nickname", .count("age")))
        }
        add("not grouped", "\"nickname\" differs among the objects of a group") {
            try $0.queryAttributes(From<Person>(), Select("nickname", .count("age")), GroupBy("age"))
        }
        add("text", "average needs numbers, and email is string") { try $0.queryAttributes(From<Person>(), Select(.average("email"))) }
        add("text, median", "median needs numbers, and email is string") {
            try $0.queryAttributes(From<Person>(), Select(.median("email")))
        }
        add("decimals", "stddev needs numbers, and budget is decimal") {
            try $0.queryAttributes(From<Department>(), Select(.standardDeviation("budget")))
        }
        add("an object", "is an object of Dept") { try $0.queryAttributes(From<Person>(), Select(.sum("department"))) }
        add("many objects", "leads to many objects") { try $0.queryAttributes(From<Person>(), Select("friends")) }
        add("many objects, average", "needs a property") {
            try $0.queryAttributes(From<Person>(), Select(.average("friends")))
        }
        add(
            "having a wrong name",
            "\"agee\" is neither a group key nor computed over the groups; there is age. (at 1:13)\nage > 1 AND agee > 1\n            ^~~~"
        ) { try $0.queryAttributes(From<Person>(), Select("age"), GroupBy("age"), Having("age > 1 AND agee > 1")) }
        add("having what is not grouped", "\"nickname\" is neither a group key") {
            try $0.queryAttributes(From<Person>(), Select("age"), GroupBy("age"), Having("nickname == 'a'"))
        }
        add("having a key path", "by names") { try $0.queryAttributes(From<Person>(), Select("age"), GroupBy("age"), Having(\.age > 3)) }
        add("having a wrong function", "variance(…) is not supported") {
            try $0.queryAttributes(From<Person>(), Select("age"), GroupBy("age"), Having("variance(age) > 3"))
        }
        add("having text", "sum needs numbers") {
            try $0.queryAttributes(From<Person>(), Select("age"), GroupBy("age"), Having("sum(email) > 3"))
        }
        add("having a wrong type", "cannot be compared") {
            try $0.queryAttributes(From<Person>(), Select("age"), GroupBy("age"), Having("age == 'x'"))
        }
        add("having a subquery", "about objects") {
            try $0.queryAttributes(
                From<Person>(), Select("age"), GroupBy("age"), Having("SUBQUERY(friends, $f, $f.age > 1).@count > 1"))
        }
        add("order by what is not grouped", "\"nickname\" is neither a group key") {
            try $0.queryAttributes(From<Person>(), Select("age"), GroupBy("age"), OrderBy(.ascending(\.nickname)))
        }
        add("order by a function without groups", "no group") {
            try $0.queryAttributes(From<Person>(), Select("age"), OrderBy(.ascending("sum(age)")))
        }
        add("one alias", "Two selected values are called \"a\"") {
            try $0.queryAttributes(From<Person>(), Select(.sum("age", as: "a"), .average("age", as: "a")))
        }
        add("a negative limit", "neither may be negative") {
            try $0.queryAttributes(From<Person>(), Select("age"), Tweak { $0.limit = -1 })
        }
        add("nothing selected", "nothing to select") { try $0.queryAttributes(From<Person>(), Select([])) }
        add("a function of a function", "function of a function") { try $0.queryAttributes(From<Person>(), Select(.sum("count(age)"))) }
        add("a broken expression", "age +") { try $0.queryAttributes(From<Person>(), Select("age +")) }
        add("grouped by many", "leads to many objects") { try $0.queryAttributes(From<Person>(), Select(.count), GroupBy("friends")) }
        return all
    }()

    @Test(arguments: [Backend.memory, .sqlite])
    func invalidQueriesAreReported(_ backend: Backend) throws {
        let company = try Self.company(backend)
        try company.stack.readAndWait { context throws in
            for (name, query, message) in Self.faults {
                let error = expectError(.invalidPredicate) { _ = try query(context) }
                #expect(error?.message.contains(message) ?? false, "\(name): \(error?.message ?? "nothing")")
            }
        }
    }

    /// A limit of 0 returns before anything is read.
    @Test func aLimitOfZeroReturnsNoRows() throws {
        let company = try Self.company(.memory)
        try company.stack.readAndWait { context throws in
            #expect(try context.queryAttributes(From<Person>(), Select("age"), Tweak { $0.limit = 0 }) == [])
            #expect(try context.queryAttributes(From<Person>(), Select("age", .count), GroupBy("age"), Tweak { $0.limit = 0 }) == [])
        }
    }

    @Test func valuesAreEqualAsNumbersAndFitTheirType() throws {
        #expect(QueryValue.integer(2) == 2.0)
        #expect(QueryValue.unsigned(2) == 2)
        #expect(Set<QueryValue>([1, 1.0, .unsigned(1), "1", true]).count == 3)
        #expect(QueryValue.real(.nan) == .real(.nan))
        #expect(QueryValue.unsigned(.max).int == nil)
        #expect(QueryValue.unsigned(.max).as(UInt64.self) == .max)
        #expect(QueryValue.integer(.max) != .real(0x1p63))
        #expect(QueryValue.real(1e300).as(Float.self) == nil)
        #expect(QueryValue.real(.infinity).as(Float.self) == .infinity)
        #expect(QueryValue.real(0.5).as(Decimal.self) == 0.5)
        #expect(QueryValue.text("x").as(Size.self) == nil)
        #expect(QueryValue.text("large").as(Size.self) == .large)
        #expect(QueryValue.bool(true).int == nil)
    }

    private enum Size: String, QueryResult { case large }
}
