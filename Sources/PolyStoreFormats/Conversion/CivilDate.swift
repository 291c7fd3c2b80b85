import Foundation

/// Conversions between days and fields of the proleptic Gregorian calendar.
package enum CivilDate {
    /// Returns the number of days from 1 January 2001 to a date; nil for a date that does not exist.
    package static func days(year: Int, month: Int, day: Int) -> Int? {
        guard (1...12).contains(month), day >= 1, day <= length(of: month, year), year.magnitude <= 9_999_999 else { return nil }
        // Counts years from March, in cycles of 400 years; 719_468 days before 1970.
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468 - 11_323
    }

    static func length(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the date that is a number of days after 1 January 2001.
    package static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 11_323 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// Returns the date for local date and time fields.
    ///
    /// - Parameters:
    ///   - fraction: The digits of the fraction of a second, each 0…9.
    ///   - offset: The seconds east of UTC; nil to use `timeZone`.
    static func instant(days: Int, seconds: Int, fraction: ArraySlice<UInt8>, offset: Int?, _ timeZone: TimeZone) -> Date? {
        let local = days * 86_400 + seconds
        let whole: Int
        if let offset {
            whole = local - offset
        } else if timeZone == .gmt {
            whole = local
        } else {
            // The offset depends on the instant. Near a clock change the second approximation is correct.
            let guess = local - timeZone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: Double(local)))
            whole = local - timeZone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: Double(guess)))
        }
        if fraction.isEmpty { return Date(timeIntervalSinceReferenceDate: Double(whole)) }
        // Up to 2^53 both the digits and the power of ten are exact, so the single division is correctly rounded.
        if fraction.count <= 9 {
            let scale = fraction.reduce(1) { scale, _ in scale * 10 }
            let (product, overflow) = whole.multipliedReportingOverflow(by: scale)
            let total = product &+ fraction.reduce(0) { $0 * 10 + Int($1) }
            if !overflow, total.magnitude < 1 << 53 {
                return Date(timeIntervalSinceReferenceDate: Double(total) / JSONNumber.powersOfTen[fraction.count])
            }
        }
        return slow(whole: whole, fraction: fraction)
    }

    private static func slow(whole: Int, fraction: ArraySlice<UInt8>) -> Date? {
        var digits = Array(fraction)
        var (magnitude, sign) = (whole, "")
        if whole < 0 {
            // -5 + 0.25 is -4.75: the complement of the fraction.
            complement(&digits)
            magnitude = digits.allSatisfy { $0 == 0 } ? -whole : -whole - 1
            sign = "-"
        }
        let text = sign + "\(magnitude)." + String(decoding: digits.map { $0 + 48 }, as: UTF8.self)
        return Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    /// Replaces the digits of a fraction f by those of 1 - f, or by zeros if f is 0.
    static func complement(_ digits: inout [UInt8]) {
        guard let last = digits.lastIndex(where: { $0 != 0 }) else { return }
        for index in 0..<last { digits[index] = 9 - digits[index] }
        digits[last] = 10 - digits[last]
    }
}
