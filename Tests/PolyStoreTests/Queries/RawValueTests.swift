import Foundation
import PolyStore
import TestSupport
import Testing

/// Enumerations, Booleans, decimals and ranges in conditions and queries, on each backend.
@Suite struct RawValueTests {
    private static let date = Date(timeIntervalSinceReferenceDate: 1000)

    private static let conditions: [(name: String, condition: Where<Colleague>, initials: String)] = [
        ("equal", \.job == .engineer, "AD"),
        ("at least, by raw value", \.priority >= .normal, "BCDE"),
        ("greater", \.priority > .normal, "CE"),
        ("less", \.priority < .normal, "AJ"),
        ("at most", \.priority <= .normal, "ABDJ"),
        ("optional, at least", \.urgency >= .normal, "BDJ"),
        ("optional, less", \.urgency < .high, "CD"),
        ("texts are ordered too", \.job < .engineer, "BCEJ"),
        ("one of", [Trade.engineer, .doctor] ~= \.job, "ABDE"),
        ("one of a set", Set([Trade.clerk]) ~= \.job, "CJ"),
        ("one of, optional", [Trade.engineer, .doctor] ~= \.formerJob, "BCJ"),
        ("one of none", [Trade]() ~= \.job, ""),
        ("range of cases", Priority.low...Priority.normal ~= \.priority, "ABDJ"),
        ("half-open range of cases, optional", Priority.low..<Priority.high ~= \.urgency, "CD"),
        ("from a case", Priority.normal... ~= \.priority, "BCDE"),
        ("format, case", Where("job == %@", Trade.engineer), "AD"),
        ("format, case and number", Where("job == %@ AND age > %d", Trade.engineer, 15), "D"),
        ("format, optional case", Where("formerJob == %@", Trade?.some(.engineer)), "BJ"),
        ("format, no case", Where("formerJob == %@", Trade?.none), "AE"),
        ("format, cases", Where("job IN %@", [Trade.engineer, .doctor]), "ABDE"),
        ("format, order", Where("priority >= %@", Priority.normal), "BCDE"),
        ("format, range of cases", Where("priority IN %@", Priority.normal...Priority.high), "BCDE"),
        ("format, raw value", Where("job == 'doctor' OR priority == 10"), "BCE"),
        ("format, order among what no case has", Where("priority > 7"), "CE"),
        ("key", %"job" == Trade.engineer, "AD"),
        ("key, unequal", %"job" != Trade.engineer, "BCEJ"),
        ("#Predicate, over a path", Where("boss.job == %@", Trade.engineer), "B"),
        ("range in a format", Where("age IN %@", 20...40), "BCD"),
        ("half-open range in a format", Where("age IN %@", 20..<40), "BC"),
        ("range from, in a format", Where("age BETWEEN %@", 30...), "CDEJ"),
        ("range up to, in a format", Where("age BETWEEN %@", ..<30), "AB"),
        ("ranges in a dictionary", Where(["age": 20..<50, "score": ...4.0]), "CD"),
        ("range of dates, optional", date... ~= \.born, "BDEJ"),
        ("range of dates up to, optional", ..<date ~= \.born, "A"),
        ("range through dates, in a format", Where("born IN %@", ...date), "AB"),
        ("huge range, optional", 0.0...1e300 ~= \.score, "ADE"),
        ("ANY of a half-open range", 20..<40 ~= %"friends.age"%.any, "ABC"),
        ("decimals", Where("salary == 0.2 OR bonus > %@", Decimal(3)), "BE"),
    ]

    @Test(arguments: Backend.forObjectLayer)
    func conditionsMeanTheSameOnEveryBackend(_ backend: Backend) throws {
        let staff = try Staff(backend)
        for (name, condition, initials) in Self.conditions { #expect(try staff.initials(condition) == initials, "\(name)") }
    }

    @Test func aRawValueWithoutACaseIsAnError() throws {
        let staff = try Staff(.memory)
        let wrong: [(Where<Colleague>, String)] = [
            (
                Where("job == 'plumber'"),
                "\"plumber\" is not a raw value of Trade, the type of Colleague.job. It has \"engineer\", \"doctor\", \"clerk\"."
            ),
            (Where("boss.job != 'plumber'"), "\"plumber\" is not a raw value of Trade, the type of Colleague.job."),
            (Where("job IN {'clerk', 'Clerk'}"), "\"Clerk\" is not a raw value of Trade"),
            (Where("formerJob == 'plumber'"), "\"plumber\" is not a raw value of Trade, the type of Colleague.formerJob."),
            (Where("priority == 7"), "7 is not a raw value of Priority, the type of Colleague.priority."),
            (%"priority" == 7, "7 is not a raw value of Priority"), (Where(["urgency": 7]), "7 is not a raw value of Priority"),
            (Where("ANY friends.job == 'plumber'"), "\"plumber\" is not a raw value of Trade"),
            (Where("age == %@", Staff.self), "Argument 1 is a Staff.Type, which cannot be compared with what a store holds."),
            (Where("age == %@", 20...30), "A range goes with IN and BETWEEN only."),
        ]
        for (condition, message) in wrong { #expect(try staff.error(condition).contains(message), "\(message)") }
    }

    @Test(arguments: Backend.forObjectLayer)
    func sumsAndAveragesAreOfTheTypeOfTheAttribute(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context in
            let all = From<Colleague>()
            let (small, nobody) = (all.where(\.age <= 30), all.where(\.age > 100))
            let total: Decimal = try context.queryValue(all, .sum(\.salary))
            #expect(total == Decimal(string: "1000000000000000000008.15"))
            #expect(try context.queryValue(small, .sum(\.salary)) == Decimal(string: "0.6"), "exact, and not 0.6000000000000001")
            let mean: Decimal? = try context.queryValue(small, .average(\.salary))
            #expect(mean == Decimal(string: "0.2"))
            #expect(try context.queryValue(all, .average(\.bonus)) == Decimal(string: "2.2"))
            #expect(try context.queryValue(all, .sum(\.bonus)) == Decimal(string: "6.6"))
            #expect(try context.queryValue(nobody, .sum(\.salary)) == 0)
            #expect(try context.queryValue(nobody, .average(\.salary)) == Decimal?.none)
            let rounded: Double? = try context.queryValue(small, .average(\.salary))
            #expect(rounded == 0.2)
            let active: Int = try context.queryValue(all, .sum(\.isActive))
            #expect(active == 3)
            #expect(try context.queryValue(all, .sum(\.isHead)) == 2)
            #expect(try context.queryValue(all, .average(\.isActive)) == 0.5)

            #expect(try context.queryValue(all, Select<Decimal>(.sum("bonus"))) == Decimal(string: "6.6"))
            #expect(try context.queryValue(all, Select<Double>(.average("bonus"))) == 2.2)
            #expect(try context.queryValue(all, Select<Int>(.sum("isActive"))) == 3)
            let rows = try context.queryAttributes(
                all, Select("isActive", .sum("salary"), .average("bonus")), GroupBy("isActive"), OrderBy(.ascending("isActive")))
            #expect(rows.map { $0["sum(salary)"]?.decimal } == [Decimal(string: "7.7"), Decimal(string: "1000000000000000000000.45")])
            #expect(rows.map { $0["average(bonus)"]?.decimal } == [Decimal(string: "2.2"), Decimal(string: "2.2")])
            #expect(try context.fetchAll(all, Where("friends.@sum.salary == 0.4")).map(\.name) == ["Bob"])
            #expect(try context.fetchAll(all, Where("friends.@sum.isActive == 2")).map(\.name) == ["Bob"])
        }
    }
}
