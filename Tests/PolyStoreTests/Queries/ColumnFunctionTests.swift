import Foundation
import PolyStore
import TestSupport
import Testing

/// Groups and aggregates by key paths, on each backend.
@Suite struct KeyPathGroupTests {
    @Test(arguments: Backend.forObjectLayer)
    func keysAreEnumsObjectsAndPaths(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = From<Colleague>()
            #expect(try context.queryGroups(all, by: \.job, .count).map(\.values) == [2, 2, 2])
            let former = try context.queryGroups(all, by: \.formerJob, .count)
            #expect(former.map(\.key).contains(nil) && former.reduce(0) { $0 + $1.values } == 6)
            let bosses = try context.queryGroups(all, by: \.boss, .count, .maximum(\.age))
            #expect(bosses.map { $0.key?.name } == [nil, "Ann", "Bob", "Eve"] && bosses.map(\.values.0) == [3, 1, 1, 1])
            let names = try context.queryGroups(all, by: \.boss?.name, .count)
            #expect(names.map(\.key) == [nil, "Ann", "Bob", "Eve"] && names.map(\.values) == [3, 1, 1, 1])
            #expect(try context.queryValue(all, .maximum(\.boss?.age)) == 50)
            #expect(try context.queryValue(all, .minimum(\.boss?.name)) == "Ann")
            #expect(try context.queryValue(all, .average(\.boss?.age)) == 80.0 / 3)
            let error = failure { _ = try context.queryGroups(all, by: \.initial, .count) }
            #expect(error?.code == .invalidPredicate && error?.message.contains("Colleague.initial") == true, "\(error?.message ?? "")")
        }
    }
}

/// Functions of columns, on each backend.
@Suite struct ColumnFunctionTests {
    @Test(arguments: Backend.forObjectLayer)
    func partsOfDates(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.performAndWait { transaction in
            let texts = ["2020-02-29T23:30:00Z", "2021-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2000-06-15T12:00:00Z"]
            for (colleague, text) in zip(try transaction.fetchAll(From<Colleague>().orderBy { $0.age }), texts) {
                colleague.born = try Date(text, strategy: .iso8601)
            }
            for colleague in try transaction.fetchAll(From<Colleague>().where { $0.age > 40 }) { colleague.born = nil }
        }
        try staff.stack.readAndWait { context throws in
            let all = From<Colleague>().orderBy { $0.age }
            func names(_ chain: some FetchSource<Colleague>) throws -> String {
                String(try context.fetchAll(chain).compactMap(\.name.first))
            }
            #expect(try names(all.where { $0.born.year == 2020 }) == "A")
            #expect(try names(all.where { $0.born.month == 12 && $0.born.day == 31 }) == "C")
            #expect(try names(all.where { $0.born.part(.year, in: "+01:00") == 1970 }) == "C")
            #expect(try names(all.where { $0.born.part(.month, in: "Europe/Berlin") == 3 }) == "A")
            #expect(try names(all.where { $0.born.week == 53 }) == "B")
            #expect(try names(all.where { $0.born.quarter.isIn([1, 2]) && $0.born.weekday > 4 }) == "AB")
            #expect(try context.queryRows(all.select { $0.born.hour }) == [23, 0, 23, 12, nil, nil])
            let years = try context.queryRows(From<Colleague>().select { ($0.born.year, $0.objectID.count) }.groupBy { $0.born.year })
            #expect(years.map(\.0) == [nil, 1969, 2000, 2020, 2021] && years.map(\.1) == [2, 1, 1, 1, 1])
            #expect(try names(From<Colleague>().where { $0.born.orNil != nil }.orderBy { $0.born.month.descending }) == "CDAB")
            let zone = failure { _ = try context.fetchAll(all.where { $0.born.part(.year, in: "Europe/Nowhere") == 1 }) }
            #expect(zone?.code == .invalidPredicate && zone?.message.contains("Europe/Nowhere") == true)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func functionsOfNumbers(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = From<Colleague>().orderBy { $0.age }
            #expect(try context.queryRows(all.select { $0.age.log10 }.limit(1)) == [1])
            #expect(try context.queryRows(all.select { ($0.age - 10).ln }.limit(1)) == [nil])
            #expect(try context.queryRows(all.where { $0.age.squareRoot > 7 }.select { $0.age }) == [50, 60])
            #expect(try context.queryRows(all.where { ($0.age - 35).magnitude < 10 }.select { $0.age }) == [30, 40])
            #expect(try context.queryRows(all.where { $0.age.power(2) == 900 }.select { $0.age }) == [30])
            #expect(
                try context.queryRows(all.where { $0.score != nil }.select { $0.score.floor })
                    == context.fetchAll(all).compactMap { $0.score?.rounded(.down) })
            #expect(try context.queryValue(all.select { $0.job.orNil }.limit(1)) == .engineer)
            let mode = try context.queryValue(From<Colleague>().select { ($0.boss.age.mode, $0.friends.count.mode) })
            #expect(mode?.0 == 10 && mode?.1 == 1)
            #expect(try context.queryValue(From<Colleague>(), .mode(\.isActive)) != nil)
            #expect(try context.queryAttributes(From<Colleague>(), Select(.mode(\.age))).first?["mode(age)"] == 10)
            #expect(try context.queryRows(all.select { $0.errands.hours.median }.limit(2)) == [3, 2])
        }
    }
}

/// Arithmetic of decimals by columns, on each backend.
@Suite struct ColumnDecimalTests {
    @Test(arguments: Backend.forObjectLayer)
    func decimalsAreComputedExactly(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.readAndWait { context throws in
            let all = From<Colleague>().orderBy { $0.age }
            let salaries = try context.fetchAll(all).map(\.salary)
            #expect(try context.queryRows(all.select { $0.salary * 2 + 1 }) == salaries.map { $0 * 2 + 1 })
            #expect(
                try context.queryRows(all.select { $0.salary - ($0.bonus ?? 0) })
                    == context.fetchAll(all).map { $0.salary - ($0.bonus ?? 0) })
            #expect(try context.queryValue(From<Colleague>().select { ($0.salary * 3).sum }) == salaries.reduce(0, +) * 3)
            let error = failure { _ = try context.queryRows(all.select { $0.salary / 3 }) }
            #expect(error?.code == .invalidPredicate)
        }
        try staff.stack.performAndWait { try $0.batchUpdate(From<Colleague>()) { $0.set(\.bonus) { $0.salary * 2 } } }
        try staff.stack.readAndWait { context throws in
            #expect(try context.fetchAll(From<Colleague>()).allSatisfy { $0.bonus == $0.salary * 2 })
        }
    }
}
