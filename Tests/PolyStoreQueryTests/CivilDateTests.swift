import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreQuery

/// The calendar of date parts, compared with one that counts day by day.
@Suite struct CivilDateTests {
    /// A calendar that only knows the day after a day.
    private struct Counted {
        var (year, month, day): (Int64, Int64, Int64)
        var weekday: Int64
        /// The week of the year of its Thursday.
        var week: Int64

        var isLeap: Bool { year % 400 == 0 || year % 4 == 0 && year % 100 != 0 }

        var length: Int64 { [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Int(month) - 1] }

        mutating func advance() {
            day += 1
            if day > length { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
            weekday = weekday % 7 + 1
            guard weekday == 1 else { return }
            week += 1
            // The Thursday of the new week, 3 days later, is among the first 7 days of a year.
            if month == 12 && day >= 29 || month == 1 && day <= 4 { week = 1 }
        }
    }

    @Test func everyDayFollowsTheDayBefore() throws {
        // From year −400, a Saturday in week 52 of the year before, as in 1600 and 2000.
        let first: Int64 = -6 * 146_097 - 366
        var counted = Counted(year: -400, month: 1, day: 1, weekday: 6, week: 52)
        for days in first..<(first + 3 * 146_097) {
            let date = try #require(CivilDate(secondsSince2001: Double(days * 86_400) + 86_399.5))
            let parts = DatePart.allCases.map { date.part($0) }
            let expected = [
                counted.year, (counted.month - 1) / 3 + 1, counted.month, counted.week, counted.day, counted.weekday, 23, 59,
            ]
            #expect(parts == expected, "day \(days)")
            if parts != expected { return }
            counted.advance()
        }
        #expect(counted.year == 800)
    }

    @Test func everySecondOfADayHasItsHourAndMinute() throws {
        for offset in [0, 1, -1, 19_800, -64_800, 64_800] {
            for second in 0..<86_400 {
                // In the year −1, so that the numbers are negative.
                let date = try #require(CivilDate(secondsSince2001: Double(second) - 63_176_457_600, offset: offset))
                let local = (second + offset + 86_400) % 86_400
                guard date.part(.hour) == Int64(local / 3600), date.part(.minute) == Int64(local / 60 % 60) else {
                    Issue.record("second \(second) at offset \(offset): \(date.part(.hour)):\(date.part(.minute))")
                    return
                }
            }
        }
    }

    /// The rules of a zone repeat after 400 years, and its first offset applies to all earlier dates.
    @Test func zonesApplyToDatesFarAway() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let summer = 741_479_400.0  // 2024-06-30 22:30 UTC
        let era = Double(146_097 * 86_400)
        for cycles in [0, 1, 2, 3, 1000, 700_000] as [Double] {
            let date = try #require(CivilDate(secondsSince2001: summer + cycles * era, in: zone))
            #expect([date.part(.month), date.part(.day), date.part(.hour), date.part(.minute)] == [7, 1, 0, 30], "after \(cycles) cycles")
        }
        for cycles in [1, 2, 3, 1000, 700_000] as [Double] {
            let date = try #require(CivilDate(secondsSince2001: summer - cycles * era, in: zone))
            #expect(
                [date.part(.month), date.part(.day), date.part(.hour), date.part(.minute)] == [6, 30, 23, 23], "before \(cycles) cycles")
        }
    }
}
