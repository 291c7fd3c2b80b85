import Foundation
import PolyStoreBackend

/// A day of the proleptic Gregorian calendar with the second of the day: the calendar of every date part.
///
/// The numbers of days are exact integers in every year that ``init(secondsSince2001:offset:)`` accepts.
package struct CivilDate {
    /// The year; 0 is the year before 1.
    package let year: Int64
    /// The month, from 1 to 12.
    package let month: Int64
    /// The day of the month, from 1 to 31.
    package let day: Int64
    /// The number of days since 2001-01-01, a Monday.
    private let days: Int64
    /// The second of the day, from 0 to 86,399.
    private let second: Int64

    /// The greatest distance of a date from the beginning of 2001, in seconds: 2^53. Greater doubles do not distinguish seconds.
    private static let greatest = 0x1p53
    private static let secondsOfDay: Int64 = 86_400
    /// The number of days in 400 years, after which the calendar repeats.
    private static let daysOfEra: Int64 = 146_097
    /// The number of days from 0000-03-01 to 2001-01-01. Counted from March, the leap day is the last day of its year.
    private static let daysBefore2001: Int64 = 730_791

    /// Creates a date from the seconds since 2001-01-01 00:00:00 UTC.
    /// - Parameter offset: the offset of the time zone from UTC in seconds.
    /// - Returns: nil for NaN, an infinity and a date of more than 2^53 seconds before or after 2001.
    package init?(secondsSince2001 seconds: Double, offset: Int = 0) {
        guard let whole = Self.whole(seconds) else { return nil }
        self.init(whole: whole + Int64(offset))
    }

    /// Creates a date from the seconds since 2001-01-01 00:00:00 UTC, as a clock in a zone of the tz database shows it.
    package init?(secondsSince2001 seconds: Double, in zone: TimeZone) {
        guard let whole = Self.whole(seconds) else { return nil }
        self.init(whole: whole + Int64(zone.secondsFromGMT(for: Self.regulated(seconds))))
    }

    private init(whole seconds: Int64) {
        let days = Self.floor(seconds, Self.secondsOfDay)
        second = seconds - days * Self.secondsOfDay
        self.days = days
        let sinceMarch = days + Self.daysBefore2001
        let era = Self.floor(sinceMarch, Self.daysOfEra)
        let dayOfEra = sinceMarch - era * Self.daysOfEra
        // Without the leap days before it, each year has 365 days: one in 4 years, except in centuries, except after 400 years.
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // From March on, the lengths of 5 months repeat: 153 days.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Returns a part of the date.
    package func part(_ part: DatePart) -> Int64 {
        switch part {
        case .year: year
        case .quarter: (month + 2) / 3
        case .month: month
        case .week: week
        case .day: day
        case .weekday: weekday
        case .hour: second / 3600
        case .minute: second / 60 % 60
        }
    }

    /// The day of the week, from 1 (Monday) to 7 (Sunday).
    private var weekday: Int64 { days - Self.floor(days, 7) * 7 + 1 }

    /// The number of the week, which is that of its Thursday in the Thursday's year.
    private var week: Int64 {
        let thursday = CivilDate(whole: (days + 4 - weekday) * Self.secondsOfDay)
        return (thursday.dayOfYear - 1) / 7 + 1
    }

    /// The number of the day in the year, from 1.
    private var dayOfYear: Int64 {
        let before: [Int64] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
        return before[Int(month) - 1] + day + (month > 2 && Self.isLeap(year) ? 1 : 0)
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// Returns the seconds without their fraction, rounded down.
    private static func whole(_ seconds: Double) -> Int64? {
        seconds.magnitude <= greatest ? Int64(seconds.rounded(.down)) : nil
    }

    /// Returns a date at which a time zone has the same offset, near enough for the tz database.
    ///
    /// After the last known change, the rules of a zone repeat every 400 years, with the calendar. Before the first one, the offset is constant.
    private static func regulated(_ seconds: Double) -> Date {
        let era = Double(daysOfEra * secondsOfDay)
        guard seconds >= 2 * era else { return Date(timeIntervalSinceReferenceDate: max(seconds, -2 * era)) }
        return Date(timeIntervalSinceReferenceDate: seconds.truncatingRemainder(dividingBy: era) + era)
    }

    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        let quotient = number / divisor
        return number % divisor < 0 ? quotient - 1 : quotient
    }
}

extension DatePart {
    /// Returns the part of a date, given as the seconds since 2001-01-01 00:00:00 UTC, at a fixed offset from UTC in seconds; nil where it is null.
    package func value(of seconds: Double, offset: Int) -> Int64? {
        CivilDate(secondsSince2001: seconds, offset: offset)?.part(self)
    }
}

/// A part of a date.
final class DatePartNode: ExpressionNode {
    private let part: DatePart
    private let date: ExpressionNode
    private let offset: Int
    /// The zone of the tz database; nil for a fixed offset.
    private let zone: TimeZone?

    init(_ part: DatePart, _ zone: QueryTimeZone, _ date: QueryExpression, _ lookup: RelatedLookup) {
        self.part = part
        self.date = .make(date, lookup)
        offset = zone.offset ?? 0
        self.zone = zone.offset == nil ? TimeZone(identifier: zone.identifier) : nil
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        guard case .real(let seconds) = try date.value(id, record) else { return .null }
        let civil =
            zone.map { CivilDate(secondsSince2001: seconds, in: $0) } ?? CivilDate(secondsSince2001: seconds, offset: offset)
        return civil.map { .integer($0.part(part)) } ?? .null
    }
}
