import PolyStore
import TestSupport
import Testing

/// CoreStore 1.6, README, "Querying": `Select`, `GroupBy`, `queryValue` and `queryAttributes`.
@MainActor @Suite struct CoreStoreQueryingTests {
    @Test(arguments: Backend.forObjectLayer)
    func aValueOfTheFirstObject(_ backend: Backend) throws {
        let people = try People(backend)
        let view = people.stack.view
        // Select<Int>("age"), Where("name == %@", "John Smith")
        let johnsAge = try view.queryValue(From<MyPerson>(), Select<Int>("age"), Where("name == %@", "John Smith"))
        #expect(johnsAge == 30)
        let nobodysAge = try view.queryValue(From<MyPerson>(), Select<Int>("age"), Where("name == %@", "Nobody"))
        #expect(nobodysAge == nil)
        // The supported types: Bool, the integers, Double, Float, String, dates, data, ids.
        #expect(try view.queryValue(From<MyPerson>(), Select<Int8>("age"), Where("name == %@", "John Smith")) == 30)
        #expect(try view.queryValue(From<MyPerson>(), Select<Double>("rating"), Where("name == %@", "John Smith")) == 4.5)
        #expect(try view.queryValue(From<MyPerson>(), Select<String>("surname"), Where("name == %@", "John Smith")) == "Smith")
        #expect(try view.queryValue(From<MyPerson>(), Select<Int>("surname"), Where("name == %@", "John Smith")) == nil)
    }

    @Test(arguments: Backend.forObjectLayer)
    func attributesAndAggregates(_ backend: Backend) throws {
        let people = try People(backend)
        let view = people.stack.view
        let two = Where<MyPerson>("name IN %@", ["John Smith", "Jane Doe"])
        // Select("age")
        #expect(
            try view.queryAttributes(From<MyPerson>(), Select("age")).compactMap { $0["age"]?.int }.sorted() == [16, 17, 22, 30, 35, 42])
        // Select<Int>(.Maximum("age")), .Average, .Count, .Minimum, .Sum
        #expect(try view.queryValue(From<MyPerson>(), Select<Int>(.maximum("age"))) == 42)
        #expect(try view.queryValue(From<MyPerson>(), Select<Int>(.minimum("age"))) == 16)
        #expect(try view.queryValue(From<MyPerson>(), Select<Double>(.average("age"))) == 27)
        #expect(try view.queryValue(From<MyPerson>(), Select<Int>(.sum("age"))) == 162)
        #expect(try view.queryValue(From<MyPerson>(), Select<Int>(.count("location"))) == 5)
        // Select("name", "age")
        let rows = try view.queryAttributes(From<MyPerson>(), Select("name", "age"), two, OrderBy(.descending("age")))
        #expect(rows == [["name": .text("John Smith"), "age": .integer(30)], ["name": .text("Jane Doe"), "age": .integer(22)]])
        // Select("name", .Count("friends")), with "count(friends)" as its key, or with a custom one
        let friends = try view.queryAttributes(
            From<MyPerson>(), Select("name", .count("friends")), two, GroupBy("name"), OrderBy(.descending("name")))
        #expect(friends.map { $0["name"]?.string } == ["John Smith", "Jane Doe"])
        #expect(friends.map { $0["count(friends)"]?.int } == [2, 3])
        let aliased = try view.queryAttributes(
            From<MyPerson>(), Select("name", .count("friends", as: "friendsCount")), two, GroupBy("name"), OrderBy(.descending("name")))
        #expect(aliased.map { $0["friendsCount"]?.int } == [2, 3])
    }

    @Test(arguments: Backend.forObjectLayer)
    func groupsCountTheirObjects(_ backend: Backend) throws {
        let people = try People(backend)
        // Select("age", .Count("age", As: "count")), GroupBy("age")
        let ages = try people.stack.view.queryAttributes(
            From<MyPerson>(), Select("age", .count("age", as: "count")), GroupBy("age"))
        #expect(ages.compactMap { $0["age"]?.int } == [16, 17, 22, 30, 35, 42])
        #expect(ages.allSatisfy { $0["count"] == 1 })
    }

    @Test(arguments: Backend.forObjectLayer)
    func coreDataMonksQueries(_ backend: Backend) throws {
        let people = try People(backend)
        let view = people.stack.view
        // World.queryValue(Person.self, .Average("age"))
        #expect(try view.queryValue(From<MyPerson>(), Select<Double>(.average("age"))) == 27)
        // .Select("location") | .Average("age"), %"name" == "Monk", orderBy: .Descending("age"), groupBy: %"location"
        let rows = try view.queryAttributes(
            From<MyPerson>(), Select(.select("location") | .average("age")), %"name" == "Monk", GroupBy("location"),
            OrderBy(.descending("average(age)")))
        #expect(rows.map { $0["location"]?.string } == ["Taipei", "Kyoto"])
        #expect(rows.map { $0["average(age)"]?.double } == [42, 17])
        // .StdDev, .Min, .Max, .Median, .Sum, .Count with their aliases; having:
        let spread = try view.queryAttributes(
            From<MyPerson>(),
            Select("gender", .standardDeviation("age"), .minimum("age"), .maximum("age"), .median("age"), .sum("age"), .count("age")),
            GroupBy("gender"), Having("count(age) > 2"))
        #expect(spread.count == 1)
        #expect(spread.first?["gender"]?.string == "M")
        #expect(spread.first?["median(age)"]?.double == 32.5)
        #expect(spread.first?["count(age)"] == 4)
    }
}
