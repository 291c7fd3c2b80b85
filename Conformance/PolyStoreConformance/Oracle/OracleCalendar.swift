import Foundation
import PolyStoreBackend

/// A naive calendar, which counts years and months one by one.
enum OracleCalendar {
    static func part(_ part: DatePart, _ seconds: Double, _ zone: QueryTimeZone) -> Int64? {
        guard abs(seconds) <= 9_007_199_254_740_992 else { return nil }
        let whole = seconds.rounded(.down)
        // Zones of the tz database are drawn only with rules that never change.
        let offset = zone.offset ?? TimeZone(identifier: zone.identifier)?.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: 0)) ?? 0
        let local = Int(whole) + offset
        var days = local >= 0 ? local / 86_400 : -((86_399 - local) / 86_400)
        let second = local - days * 86_400
        // 2001-01-01 was a Monday.
        let weekday = ((days % 7) + 7) % 7 + 1
        if part == .hour { return Int64(second / 3600) }
        if part == .minute { return Int64(second % 3600 / 60) }
        if part == .weekday { return Int64(weekday) }
        var year = 2001
        let eras = days / 146_097
        (year, days) = (year + eras * 400, days - eras * 146_097)
        while days < 0 {
            year -= 1
            days += length(year)
        }
        while days >= length(year) {
            days -= length(year)
            year += 1
        }
        let ordinal = days + 1
        if part == .year { return Int64(year) }
        if part == .week { return Int64(week(year, ordinal, weekday)) }
        var month = 1
        for length in [31, length(year) - 337, 31, 30, 31, 30, 31, 31, 30, 31, 30] where days >= length {
            days -= length
            month += 1
        }
        return Int64(part == .month ? month : (part == .quarter ? (month - 1) / 3 + 1 : days + 1))
    }

    private static func length(_ year: Int) -> Int {
        year % 400 == 0 || year % 4 == 0 && year % 100 != 0 ? 366 : 365
    }

    /// The weeks before the first one with a Thursday belong to the year before, and those after the last one to the year after.
    private static func week(_ year: Int, _ ordinal: Int, _ weekday: Int) -> Int {
        let number = (ordinal - weekday + 10) / 7
        if number < 1 { return week(year - 1, ordinal + length(year - 1), weekday) }
        let daysUntilThursday = 4 - weekday
        return ordinal + daysUntilThursday > length(year) ? 1 : number
    }
}
