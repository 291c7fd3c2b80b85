import Foundation

/// The accepted date formats, tried in order.
///
///     ConversionOptions(dates: [.pattern("dd.MM.yyyy"), .iso8601])
public struct DateFormats: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The formats, in order.
    public var formats: [DateFormat]
    /// The time zone of text without a time zone. The default is UTC.
    public var timeZone: TimeZone

    /// Creates formats that are tried in order.
    public init(_ formats: [DateFormat], timeZone: TimeZone = .gmt) {
        self.formats = formats
        self.timeZone = timeZone
    }

    public init(arrayLiteral elements: DateFormat...) { self.init(elements) }

    /// ISO 8601.
    public static let `default`: DateFormats = [.iso8601]

    /// Returns the date of a value in the first matching format.
    ///
    /// - Throws: ``RecordError`` with the list of formats.
    public func date(from value: JSONValue) throws -> Date {
        for format in formats {
            if let date = try format.date(from: value, timeZone) { return date }
        }
        let names = formats.map(\.description).joined(separator: " or ")
        throw RecordError.wrongType(expected: "a date (\(names.isEmpty ? "no format is given" : names))", found: value)
    }
}

/// A date format.
public struct DateFormat: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case iso8601
        case seconds
        case milliseconds
        case pattern(DatePattern)
        /// An invalid pattern, and the reason.
        case invalid(String, reason: String)
    }

    let kind: Kind

    /// `2024-01-31T10:20:30.123+02:00`. The time, its seconds, the fraction and the zone are optional; the separator may be a space.
    public static let iso8601 = DateFormat(kind: .iso8601)
    /// A number of seconds since 1 January 1970, 00:00 UTC, with an optional fraction.
    public static let secondsSince1970 = DateFormat(kind: .seconds)
    /// A number of milliseconds since 1 January 1970, 00:00 UTC.
    public static let millisecondsSince1970 = DateFormat(kind: .milliseconds)

    /// Returns the format of a pattern such as `dd.MM.yyyy HH:mm`.
    ///
    /// Pattern letters are those of Unicode's date patterns: `y` year, `M` month (`MMM` and `MMMM`: English names), `d` day, `H` hour, `h` 12-hour clock with
    /// `a` for AM and PM, `m` minute, `s` second, `S` fraction, `Z`, `X` and `x` zone, `E` weekday (English, not validated). Literal text is enclosed in
    /// apostrophes. Reading a date with any other letter throws.
    public static func pattern(_ pattern: String) -> DateFormat {
        do {
            return DateFormat(kind: .pattern(try DatePattern(pattern)))
        } catch {
            return DateFormat(kind: .invalid(pattern, reason: error.reason))
        }
    }

    public var description: String {
        switch kind {
        case .iso8601: "ISO 8601"
        case .seconds: "seconds since 1970"
        case .milliseconds: "milliseconds since 1970"
        case .pattern(let pattern): pattern.text
        case .invalid(let pattern, _): pattern
        }
    }

    func date(from value: JSONValue, _ timeZone: TimeZone) throws -> Date? {
        switch (kind, value) {
        case (.iso8601, .string(var text)): return text.withUTF8 { ISODate.date(from: $0, timeZone) }
        case (.pattern(let pattern), .string(var text)): return text.withUTF8 { pattern.date(from: $0, timeZone) }
        case (.invalid(let pattern, let reason), _):
            throw RecordError(.unsupported, "The date pattern '\(pattern)' cannot be used: \(reason)")
        case (.seconds, .number), (.seconds, .string), (.milliseconds, .number), (.milliseconds, .string):
            guard let seconds = value.number(.default)?.double else { return nil }
            return Date(timeIntervalSince1970: kind == .seconds ? seconds : seconds / 1000)
        default: return nil
        }
    }
}
