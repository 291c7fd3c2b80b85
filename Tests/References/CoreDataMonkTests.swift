import PolyStore
import TestSupport
import Testing

/// CoreDataMonk, README: keys with a percent sign, `orderBy:` with a bar, options.
@MainActor @Suite struct CoreDataMonkTests {
    @Test(arguments: Backend.forObjectLayer)
    func keysAreNamesWithAPercentSign(_ backend: Backend) throws {
        let people = try People(backend)
        let view = people.stack.view
        // World.fetch(Person.self, %"name" == "Monk")
        let monk = try view.fetchOne(From<MyPerson>(), %"name" == "Monk")
        #expect(monk?.surname == "Adrian")
        // %"name" == "Warrior" && %"location" == "Taipei"
        let warrior = try view.fetchOne(From<MyPerson>(), %"name" == "Warrior" && %"location" == "Taipei")
        #expect(warrior?.surname == "Zed")
        // %"name" == %"location", !=, >, <, >=, <=
        #expect(try view.fetchCount(From<MyPerson>(), %"name" == %"location") == 0)
        #expect(try view.fetchCount(From<MyPerson>(), %"name" != %"location") == 5)
        #expect(try view.fetchCount(From<MyPerson>(), %"age" <= 22) == 3)
        // %"friend.age"%.any, %"friend.age"%.all
        #expect(try view.fetchAll(From<MyPerson>(), %"friends.age"%.any == 42).map(\.name) == ["John Smith"])
        #expect(try view.fetchCount(From<MyPerson>(), %"friends.age"%.all > 18 && %"friends.@count" > 0) == 4)
        // .Where("name like %@", pattern)
        #expect(try view.fetchCount(From<MyPerson>(), Where("name like %@", "*o*")) == 6)
        // !(%"name" == name && %"age" > age)
        #expect(try view.fetchCount(From<MyPerson>(), !(%"name" == "Monk" && %"age" > 18)) == 5)
        let name = "John"
        #expect(try view.fetchCount(From<MyPerson>(), %"name" == name || %"name" == name + " Smith") == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func ordersAndOptionsAreJoinedByABar(_ backend: Backend) throws {
        let people = try People(backend)
        let view = people.stack.view
        // %"age" >= 18 || %"location" == "Taipei", orderBy: .Ascending("name") | .Descending("age"), options: .Limit(100) | .Offset(20)
        let monks = try view.fetchAll(
            From<MyPerson>(), %"age" >= 18 || %"location" == "Taipei", OrderBy(.ascending("name") | .descending("age")),
            Tweak { ($0.limit, $0.offset) = (100, 1) })
        #expect(monks.map(\.name) == ["John Smith", "Monk", "Warrior"])
        // .NoPendingChanges, .NoPropertyValues, .Prefetch
        let options = Tweak<MyPerson> {
            $0.includesPendingChanges = false
            $0.includesPropertyValues = false
            $0.prefetch = ["friends"]
        }
        #expect(try view.fetchAll(From<MyPerson>(), options).count == 6)
        // .Batch(Int)
        #expect(try view.fetchLazily(From<MyPerson>().orderBy(.ascending(\.age)), batchSize: 2).map(\.age) == [16, 17, 22, 30, 35, 42])
    }
}
