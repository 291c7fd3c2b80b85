import Foundation

/// Conversions between dates and ISO 8601 text. A date that is written and read is equal.
enum ISODate {
    /// Returns the date of a text such as `2024-01-31`, `2024-01-31T10:20`, `2024-01-31 10:20:30.125Z` or `2024-01-31T10:20:30,5+02:00`; nil for any other.
    ///
    /// A year with more than four digits has a sign. The leap second 60 is treated as the first second of the next minute.
    static func date(from bytes: UnsafeBufferPointer<UInt8>, _ timeZone: TimeZone) -> Date? {
        var scanner = DateScanner(bytes: bytes)
        guard let year = scanner.year(), scanner.skip(UInt8(ascii: "-")), let month = scanner.number(2), scanner.skip(UInt8(ascii: "-")),
            let day = scanner.number(2), let days = CivilDate.days(year: year, month: month, day: day)
        else { return nil }
        if scanner.isAtEnd { return CivilDate.instant(days: days, seconds: 0, fraction: [], offset: nil, timeZone) }
        guard scanner.skip(UInt8(ascii: "T")) || scanner.skip(UInt8(ascii: "t")) || scanner.skip(UInt8(ascii: " ")) else { return nil }
        guard let hour = scanner.number(2), hour < 24, scanner.skip(UInt8(ascii: ":")), let minute = scanner.number(2), minute < 60 else {
            return nil
        }
        var second = 0
        var fraction: ArraySlice<UInt8> = []
        if scanner.skip(UInt8(ascii: ":")) {
            guard let value = scanner.number(2), value <= 60 else { return nil }
            second = value
            if scanner.skip(UInt8(ascii: ".")) || scanner.skip(UInt8(ascii: ",")) {
                fraction = scanner.digits()
                if fraction.isEmpty { return nil }
            }
        }
        let offset = scanner.isAtEnd ? nil : scanner.zone()
        guard scanner.isAtEnd, !scanner.failed else { return nil }
        return CivilDate.instant(days: days, seconds: hour * 3600 + minute * 60 + second, fraction: fraction, offset: offset, timeZone)
    }

    /// Returns the text of a date in UTC with the digits that are needed to read back an equal date; nil beyond the years ±9,999,999.
    static func text(_ date: Date) -> String? {
        let interval = date.timeIntervalSinceReferenceDate
        guard interval.magnitude < 3e14, var digits = DecimalDigits(validText: interval.description) else { return nil }
        var fraction: [UInt8] = []
        if digits.exponent < 0 {
            let count = -digits.exponent
            if digits.digits.count < count { digits.digits.insert(contentsOf: repeatElement(0, count: count - digits.digits.count), at: 0) }
            fraction = Array(digits.digits.suffix(count))
            digits.digits.removeLast(count)
            digits.exponent = 0
        }
        var whole = digits.digits.reduce(0) { $0 * 10 + Int($1) }
        for _ in 0..<digits.exponent { whole *= 10 }
        if digits.isNegative {
            whole = -whole
            if !fraction.isEmpty {
                CivilDate.complement(&fraction)
                whole -= 1
            }
        }
        let days = (whole >= 0 ? whole : whole - 86_399) / 86_400
        let seconds = whole - days * 86_400
        let (year, month, day) = CivilDate.date(days: days)
        guard year.magnitude <= 9_999_999 else { return nil }
        var text: [UInt8] = []
        if year < 0 || year > 9999 { text.append(year < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+")) }
        append(Int(year.magnitude), width: year > 9999 || year < -9999 ? 6 : 4, &text)
        for (separator, value) in [("-", month), ("-", day), ("T", seconds / 3600), (":", seconds / 60 % 60), (":", seconds % 60)] {
            text.append(contentsOf: separator.utf8)
            append(value, width: 2, &text)
        }
        if !fraction.isEmpty {
            text.append(UInt8(ascii: "."))
            text.append(contentsOf: fraction.map { $0 + 48 })
        }
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(_ value: Int, width: Int, _ text: inout [UInt8]) {
        let digits = String(value)
        text.append(contentsOf: repeatElement(48, count: max(0, width - digits.utf8.count)))
        text.append(contentsOf: digits.utf8)
    }
}
