import Foundation
import PolyStoreFormats

/// Texts of dates in the form of ISO 8601, as SQLite's date functions write them.
enum DateText {
    /// A form of texts.
    enum Form: Sendable, Hashable, CaseIterable {
        /// `2024-02-29`
        case day
        /// `2024-02-29 23:59:59`
        case second
        /// `2024-02-29 23:59:59.123`
        case millisecond
        /// `2024-02-29T23:59:59`
        case secondWithT
        /// `2024-02-29T23:59:59Z`
        case secondWithZone
        /// `2024-02-29T23:59:59.123Z`
        case millisecondWithZone

        fileprivate var hasTime: Bool { self != .day }
        fileprivate var separator: UInt8 { UInt8(ascii: self == .second || self == .millisecond ? " " : "T") }
        fileprivate var hasFraction: Bool { self == .millisecond || self == .millisecondWithZone }
        fileprivate var hasZone: Bool { self == .secondWithZone || self == .millisecondWithZone }
        fileprivate var length: Int { !hasTime ? 10 : 19 + (hasFraction ? 4 : 0) + (hasZone ? 1 : 0) }
    }

    /// Returns the date of a text in UTC; nil if the text does not have the form.
    static func date(_ text: String, _ form: Form) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count == form.length, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        func number(_ start: Int, _ count: Int) -> Int? {
            bytes[start..<start + count].reduce(Int?.some(0)) { value, byte in
                value.flatMap { byte >= 48 && byte <= 57 ? $0 * 10 + Int(byte) - 48 : nil }
            }
        }
        guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2),
            let days = CivilDate.days(year: year, month: month, day: day)
        else { return nil }
        guard form.hasTime else { return Date(timeIntervalSinceReferenceDate: Double(days * 86400)) }
        guard bytes[10] == form.separator, bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"), let hour = number(11, 2),
            let minute = number(14, 2), let second = number(17, 2), hour < 24, minute < 60, second < 60
        else { return nil }
        if form.hasZone, bytes.last != UInt8(ascii: "Z") { return nil }
        var milliseconds = 0
        if form.hasFraction {
            guard bytes[19] == UInt8(ascii: "."), let fraction = number(20, 3) else { return nil }
            milliseconds = fraction
        }
        return Date(timeIntervalSinceReferenceDate: Double(days * 86400 + hour * 3600 + minute * 60 + second) + Double(milliseconds) / 1000)
    }

    /// Returns the text of a date in UTC; nil for a date that the form does not express.
    static func text(_ date: Date, _ form: Form) -> String? {
        let scaled = (date.timeIntervalSinceReferenceDate * 1000).rounded()
        guard scaled.magnitude < 1e15 else { return nil }
        let all = Int(scaled)
        let rest = modulus(all, 86_400_000)
        let (year, month, day) = CivilDate.date(days: (all - rest) / 86_400_000)
        guard (0...9999).contains(year) else { return nil }
        var text = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        guard form.hasTime else { return rest == 0 ? text : nil }
        guard form.hasFraction || rest % 1000 == 0 else { return nil }
        let seconds = rest / 1000
        text +=
            "\(Character(Unicode.Scalar(form.separator)))\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
        if form.hasFraction { text += ".\(padded(rest % 1000, 3))" }
        return form.hasZone ? text + "Z" : text
    }

    private static func padded(_ value: Int, _ width: Int) -> String {
        let digits = "\(value)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func modulus(_ value: Int, _ divisor: Int) -> Int { (value % divisor + divisor) % divisor }
}
