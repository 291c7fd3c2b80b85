import Foundation
import PolyStore
import TestSupport
import Testing

extension Trade: Decodable {}

/// Queries of values by columns in closures, on each backend: selections, groups, conditions on groups and their orders.
@Suite struct ColumnQueryTests {
    private static let all = From<Colleague>()

    @Test(arguments: Backend.forObjectLayer)
    func selectsValuesOfEachObject(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = Self.all.orderBy { $0.age }
            #expect(try context.queryRows(all.select { $0.name }) == ["Ann", "Bob", "Cid", "Dan", "Eve", "Jan"])
            let rows = try context.queryRows(all.where { $0.age < 30 }.select { ($0.name, $0.age, $0.job, $0.formerJob, $0.isActive) })
            let expected = try context.fetchAll(all.where { $0.age < 30 }).map { ($0.name, $0.age, $0.job, $0.formerJob, $0.isActive) }
            #expect(rows.count == 2 && zip(rows, expected).allSatisfy { $0 == $1 })
            #expect(try context.queryRows(all.select { $0.salary }) == context.fetchAll(all).map(\.salary))
            #expect(try context.queryRows(all.select { $0.born }) == context.fetchAll(all).map(\.born))
            #expect(try context.queryRows(all.select { $0.age * 2 + 1 }) == [21, 41, 61, 81, 101, 121])
            #expect(try context.queryRows(all.select { $0.name.length }) == [3, 3, 3, 3, 3, 3])
            #expect(try context.queryRows(all.select { $0.friends.count }) == [1, 2, 1, 1, 1, 0])
            #expect(try context.queryRows(all.select { $0.errands.hours.maximum }) == [5, 2, nil, nil, nil, nil])
            #expect(try context.queryRows(all.select { $0.errands.hours.sum }) == [9, 2, 0, 0, 0, 0])
            #expect(try context.queryRows(all.select { $0.age }.limit(2).offset(1)) == [20, 30])
            #expect(try context.queryRows(Self.all.select { $0.job }.distinct()).count == 3)
            #expect(try context.queryRows(Self.all.orderBy { $0.age * -1 }.select { $0.age }) == [60, 50, 40, 30, 20, 10])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func selectsValuesOfRelatedObjects(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = Self.all.orderBy { $0.age }
            let objects = try context.fetchAll(all)
            #expect(try context.queryRows(all.select { $0.boss.name.orNil }) == [nil, "Ann", "Bob", "Eve", nil, nil])
            #expect(try context.queryRows(all.select { $0.boss.name.orNil ?? "none" }) == ["none", "Ann", "Bob", "Eve", "none", "none"])
            #expect(try context.queryRows(all.select { $0.boss.job.orNil }) == objects.map { $0.boss?.job })
            #expect(try context.queryRows(all.select { $0.boss }) == objects.map(\.boss))
            #expect(try context.queryRows(all.select { $0.objectID }) == objects.map(\.objectID))
            #expect(try context.queryRows(all.select { $0.boss.objectID.orNil }) == objects.map { $0.boss?.objectID })
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func selectsAggregatesOfAllObjects(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = Self.all
            let (count, sum, average, minimum, maximum) = try #require(
                try context.queryValue(all.select { ($0.objectID.count, $0.age.sum, $0.age.average, $0.age.minimum, $0.name.maximum) }))
            #expect(count == 6 && sum == 210 && average == 35 && minimum == 10 && maximum == "Jan")
            #expect(try context.queryValue(all.where { $0.age > 1000 }.select { $0.age.average }) == nil)
            #expect(try context.queryValue(all.where { $0.age > 1000 }.select { $0.age.sum }) == 0)
            #expect(try context.queryValue(all.select { $0.salary.sum }) == context.queryValue(all, .sum(\.salary)))
            #expect(try context.queryValue(all.select { $0.bonus.average }) == context.queryValue(all, .average(\.bonus)))
            #expect(try context.queryValue(all.select { $0.score.nonNullCount }) == context.queryValue(all, .count(\.score)))
            #expect(try context.queryValue(all.select { $0.score.minimum }) == context.queryValue(all, .minimum(\.score)))
            #expect(try context.queryValue(all.select { $0.age.median }) == 35)
            #expect(try context.queryValue(all.select { $0.age.standardDeviation }) == context.queryValue(all, .standardDeviation(\.age)))
            #expect(try context.queryValue(all.select { $0.isActive.sum }) == context.queryValue(all, .sum(\.isActive)))
            #expect(try context.queryValue(all.select { $0.job.countDistinct }) == 3)
            #expect(try context.queryValue(all.select { $0.boss.age.countDistinct }) == 3)
            #expect(try context.queryValue(all.select { $0.boss.objectID.count }) == 3)
            #expect(try context.queryValue(all.select { ($0.age * 2).sum }) == 420)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func groupsByEnumsPathsAndExpressions(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = Self.all
            let byJob = try context.queryRows(all.select { ($0.job, $0.objectID.count, $0.age.average) }.groupBy { $0.job })
            #expect(byJob.map(\.1) == [2, 2, 2] && Set(byJob.map(\.0)) == [.engineer, .doctor, .clerk])
            for (job, _, average) in byJob { #expect(try average == context.queryValue(all.where { $0.job == job }, .average(\.age))) }
            let byBoss = try context.queryRows(all.select { ($0.boss.name.orNil, $0.objectID.count) }.groupBy { $0.boss.name })
            #expect(byBoss.map(\.0) == [nil, "Ann", "Bob", "Eve"] && byBoss.map(\.1) == [3, 1, 1, 1])
            let byObject = try context.queryRows(all.select { ($0.boss, $0.age.sum) }.groupBy { $0.boss })
            #expect(byObject.map { $0.0?.name } == [nil, "Ann", "Bob", "Eve"] && byObject.map(\.1) == [120, 20, 30, 40])
            let byDecade = try context.queryRows(all.select { ($0.age / 20, $0.objectID.count) }.groupBy { $0.age / 20 })
            #expect(byDecade.map(\.0) == [0, 1, 2, 3] && byDecade.map(\.1) == [1, 2, 2, 1])
            let byTwo = try context.queryRows(all.select { ($0.job, $0.isActive, $0.objectID.count) }.groupBy { ($0.job, $0.isActive) })
            #expect(byTwo.reduce(0) { $0 + $1.2 } == 6 && Set(byTwo.map { "\($0.0) \($0.1)" }).count == byTwo.count)
            let letters = try context.queryRows(
                all.select { ($0.boss.name.orNil ?? "none", $0.objectID.count) }.groupBy { $0.boss.name.orNil ?? "none" })
            #expect(letters.map(\.0) == ["Ann", "Bob", "Eve", "none"])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func conditionsAndOrdersOfGroups(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = Self.all
            let groups = all.select { ($0.boss.name.orNil, $0.age.sum) }.groupBy { $0.boss.name }
            #expect(try context.queryRows(groups.having { $0.age.sum > 20 }).map(\.1) == [120, 30, 40])
            #expect(try context.queryRows(groups.having { $0.age.sum > 20 && $0.boss.name.orNil != nil }).map(\.1) == [30, 40])
            #expect(try context.queryRows(groups.having { $0.objectID.count == 1 }.having { $0.age.average < 35 }).map(\.1) == [20, 30])
            #expect(
                try context.queryRows(
                    groups.having {
                        $0.objectID.count == 1
                        $0.age.average + 1 > 30
                    }
                ).map(\.1) == [30, 40])
            #expect(try context.queryRows(groups.orderBy { $0.age.sum.descending }).map(\.1) == [120, 40, 30, 20])
            #expect(try context.queryRows(groups.orderBy { ($0.objectID.count, $0.boss.name.descending) }).map(\.1) == [40, 30, 20, 120])
            #expect(try context.queryRows(groups.orderBy { $0.age.sum }.limit(1).offset(1)).map(\.1) == [30])
            let lengths = all.select { ($0.age / 20, $0.objectID.count) }.groupBy { $0.age / 20 }
            #expect(try context.queryRows(lengths.having { $0.age / 20 > 0 }.orderBy { ($0.age / 20).descending }).map(\.0) == [3, 2, 1])
            // A key that is an aggregate of related objects is a key, and not an aggregate of the group.
            let byCount = all.select { $0.objectID.count }.groupBy { $0.friends.count }
            #expect(try context.queryRows(byCount.having { $0.friends.count > 1 }) == [1])
            #expect(try context.queryRows(byCount.orderBy { $0.friends.count.descending }) == [1, 4, 1])
            // Aliases do not shadow columns.
            let shadowed = try context.queryAttributes(
                all, Select("job", .count(as: "age")), GroupBy("job", "age"), Having<Colleague> { $0.age > 30 },
                OrderBy(.descending("job")))
            #expect(shadowed.count == 3)
            let named = all.select { ($0.job, $0.age.average.as("age")) }.groupBy { $0.job }.having { $0.age.maximum > 50 }
            #expect(try context.queryAttributes(named).count == 1)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func typedGroups(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let groups = try context.queryGroups(Self.all, by: { $0.job }, select: { ($0.objectID.count, $0.age.maximum) })
            #expect(groups.map(\.values.0) == [2, 2, 2])
            for group in groups {
                #expect(try group.values.1 == context.queryValue(Self.all.where { $0.job == group.key }, .maximum(\.age)))
            }
            let counts = try context.queryGroups(Self.all, by: { $0.boss }, select: { $0.objectID.count })
            #expect(counts.map { $0.key?.name } == [nil, "Ann", "Bob", "Eve"] && counts.map(\.values) == [3, 1, 1, 1])
        }
    }

    private struct Total: Decodable, Equatable {
        let job: Trade
        let count: Int
        let average: Double?
        let top: String?
        let bonus: Decimal?
    }

    @Test(arguments: Backend.forObjectLayer)
    func rowsOfDecodableTypes(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let query = Self.all.select {
                ($0.job, $0.objectID.count, $0.age.average.as("average"), $0.boss.name.maximum.as("top"), $0.bonus.maximum.as("bonus"))
            }.groupBy { $0.job }
            let totals = try context.queryRows(query, as: Total.self)
            let rows = try context.queryRows(query)
            #expect(totals == rows.map { Total(job: $0.0, count: $0.1, average: $0.2, top: $0.3, bonus: $0.4) })
            #expect(try context.queryRows(Self.all.orderBy { $0.age }.select { $0.name }, as: String.self).first == "Ann")
            #expect(
                try context.queryRows(Self.all.orderBy { $0.age }.select { $0.formerJob }, as: Trade?.self).prefix(2) == [nil, .engineer])
            #expect(try context.queryRows(Self.all.orderBy { $0.age }.select { $0.job }, as: Trade.self).first == .engineer)
            #expect(
                failure { _ = try context.queryRows(Self.all.select { ($0.formerJob, $0.name) }, as: String.self) }?.code == .invalidValue)
            struct Wrong: Decodable { let job: Trade, mean: Double }
            let error = failure { _ = try context.queryRows(query, as: Wrong.self) }
            #expect(error?.code == .invalidValue && error?.message.contains("mean") == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("job, count, average, top, bonus") == true, "\(error?.message ?? "")")
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func rowsOfDictionaries(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let rows = try context.queryAttributes(
                Self.all.select { ($0.boss.name.orNil, $0.age.average, $0.objectID.count, ($0.age + 1).sum) }.groupBy { $0.boss.name })
            #expect(rows.last?["boss.name"] == "Eve" && rows.last?["average(age)"] == 40 && rows.last?["count"] == 1)
            #expect(rows.last?["sum(age + 1)"] == 41 && rows.first?["boss.name"] == nil)
            let twice = failure { _ = try context.queryAttributes(Self.all.select { ($0.name, $0.name) }) }
            #expect(twice?.code == .invalidPredicate && twice?.message.contains("\"name\"") == true)
            #expect(try context.queryRows(Self.all.select { ($0.age, $0.age) }).allSatisfy { $0 == $1 })
        }
    }

    @Test func invalidQueriesAreRefused() throws {
        let staff = try Staff(.memory)
        let all = Self.all
        func message(_ body: @escaping @Sendable (Context) throws -> Void) -> String {
            var found = "no error"
            do { try staff.stack.readAndWait { try body($0) } } catch {
                found = (error as? StoreError).map { $0.code == .invalidPredicate ? $0.message : "\($0.code)" } ?? "\(error)"
            }
            return found
        }
        #expect(message { _ = try $0.queryRows(all.select { $0.boss.name }) }.contains("boss.name.orNil"))
        #expect(message { _ = try $0.queryRows(all.select { ($0.name, $0.age.average) }) }.contains("group by \"name\""))
        #expect(
            message { _ = try $0.queryRows(all.select { ($0.name, $0.objectID.count) }.groupBy { $0.job }) }.contains("\"name\" differs"))
        #expect(message { _ = try $0.queryRows(all.select { $0.friends }) }.contains("friends"))
        #expect(message { _ = try $0.queryRows(all.select { $0.initial }) }.contains("Colleague.initial"))
        #expect(message { _ = try $0.fetchAll(all.where { $0.age.average > 3 }) }.contains("average(age)"))
        #expect(message { _ = try $0.fetchAll(all.orderBy { $0.age.sum }) }.contains("sum(age)"))
        #expect(message { _ = try $0.queryRows(all.select { $0.age.sum }.having { $0.name == "x" }) }.contains("name"))
        #expect(message { _ = try $0.queryRows(all.select { ($0.age.average).sum }) }.contains("average(age)"))
        #expect(message { _ = try $0.queryRows(all.select { $0.age.average ?? 0 }) }.contains("computes with an aggregate"))
        #expect(message { _ = try $0.queryValue(all.limit(2).select { $0.age.sum }) }.contains("A limit or an offset"))
        #expect(message { _ = try $0.queryGroups(all.limit(2), by: { $0.job }, select: { $0.age.sum }) }.contains("A limit or an offset"))
        var kept: Columns<Errand>?
        _ = From<Errand>().where { errand in
            kept = errand
            return errand.hours > 1
        }
        let errand = try #require(kept)
        for query in [
            all.select { _ in errand.hours }, all.select { $0.objectID.count }.groupBy { _ in errand.hours },
            all.select { $0.objectID.count }.having { _ in errand.hours > 1 },
        ] { #expect(message { _ = try $0.queryRows(query) }.contains("another fetch")) }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aNullThatIsNotOptionalIsAnError(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            // A division by zero is null.
            let error = failure { _ = try context.queryRows(Self.all.select { $0.age / ($0.age - 10) }) }
            #expect(error?.code == .invalidValue && error?.message.contains("orNil") == true, "\(error?.message ?? "")")
            #expect(try context.queryRows(Self.all.orderBy { $0.age }.select { ($0.age / ($0.age - 10)).orNil }).first == .some(nil))
        }
    }

    @Test func rowsAreObserved() async throws {
        let staff = try Staff(.memory)
        var names = staff.stack.values(of: Self.all.where { $0.age > 45 }.orderBy { $0.age }.select { $0.name }).makeAsyncIterator()
        #expect(try await names.next() == ["Eve", "Jan"])
        var totals = staff.stack.values(
            of: Self.all.select { ($0.job, $0.objectID.count, $0.age.average.as("average")) }.groupBy { $0.job }.decoding(Total.self)
        ).makeAsyncIterator()
        #expect(try await totals.next()?.count == 3)
        try await staff.stack.perform { transaction in
            try transaction.create(Colleague.self) { ($0.name, $0.age, $0.job) = ("Kim", 70, .clerk) }
        }
        #expect(try await names.next() == ["Eve", "Jan", "Kim"])
        #expect(try await totals.next()?.map(\.count).max() == 3)
    }

    @Test(arguments: Backend.forObjectLayer)
    func pendingChangesAreIncludedOnRequest(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.performAndWait { transaction in
            try transaction.create(Colleague.self) { ($0.name, $0.age, $0.job) = ("Kim", 70, .clerk) }
            let query = Self.all.select { ($0.job, $0.objectID.count) }.groupBy { $0.job }.having { $0.age.maximum > 60 }
            #expect(try transaction.queryRows(query).isEmpty)
            #expect(try transaction.queryRows(query.tweak { $0.includesPendingChanges = true }).map(\.1) == [3])
            // An object that the transaction has deleted, in committed rows.
            let ann = try #require(try transaction.fetchOne(Self.all.where { $0.name == "Ann" }))
            try transaction.delete(ann)
            #expect(try transaction.queryRows(Self.all.where { $0.name == "Bob" }.select { $0.boss }) == [nil])
        }
    }
}
