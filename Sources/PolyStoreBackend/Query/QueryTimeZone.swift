import Foundation

/// The time zone in which a part of a date is computed: UTC, a fixed offset from it, or a zone of the tz database.
public struct QueryTimeZone: Sendable, Hashable {
    /// The canonical text: `UTC`, `+05:30`, `Europe/Berlin`.
    public let identifier: String
    /// The offset from UTC in seconds; nil for a zone of the tz database, whose offset depends on the date.
    public let offset: Int?

    /// The greatest magnitude of a fixed offset: 18 hours, in seconds.
    public static let greatestOffset = 64_800

    /// Coordinated Universal Time.
    public static let utc = QueryTimeZone(identifier: "UTC", offset: 0)

    /// The texts that ``init(_:)`` accepts, for error messages.
    package static let acceptedForms =
        "UTC, an offset of at most 18 hours such as \"+05:30\" or \"-08\", and the name of a zone of the tz database such as \"Europe/Berlin\""

    private init(identifier: String, offset: Int?) {
        self.identifier = identifier
        self.offset = offset
    }

    /// Creates a zone with a fixed offset.
    /// - Returns: nil if the offset exceeds 18 hours.
    public init?(secondsFromUTC offset: Int) {
        guard offset.magnitude <= Self.greatestOffset.magnitude else { return nil }
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let seconds = abs(offset)
        var text = (offset < 0 ? "-" : "+") + twoDigits(seconds / 3600) + ":" + twoDigits(seconds / 60 % 60)
        if seconds % 60 != 0 { text += ":" + twoDigits(seconds % 60) }
        self.init(identifier: offset == 0 ? "UTC" : text, offset: offset)
    }

    /// Creates a zone from its text.
    /// - Parameter text: `UTC`, `GMT` or `Z`; an offset with hours, `+05`, with minutes, `+05:30`, or with seconds, `-00:44:30`; or the name of a zone of the
    ///   tz database, `Europe/Berlin`.
    /// - Returns: nil for any other text, for an offset of more than 18 hours, and for a zone that the system does not know.
    public init?(_ text: String) {
        switch text {
        case "UTC", "GMT", "Z": self = .utc
        default:
            if let sign = text.utf8.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                guard let seconds = Self.seconds(text.utf8.dropFirst()) else { return nil }
                self.init(secondsFromUTC: sign == UInt8(ascii: "-") ? -seconds : seconds)
            } else {
                // `TimeZone` also accepts "GMT+5", which looks like "Etc/GMT+5" and has the opposite offset.
                guard Self.isName(text), !text.hasPrefix("GMT"), !text.hasPrefix("UTC"), TimeZone(identifier: text) != nil else {
                    return nil
                }
                self.init(identifier: text, offset: nil)
            }
        }
    }

    /// Returns the number of seconds in `hh`, `hh:mm` or `hh:mm:ss`.
    private static func seconds(_ text: Substring.UTF8View) -> Int? {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 3 else { return nil }
        var total = 0
        for (index, part) in parts.enumerated() {
            guard part.count == 2, part.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
            let number = part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            guard index == 0 || number < 60 else { return nil }
            total += number * [3600, 60, 1][index]
        }
        return total
    }

    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"), UInt8(ascii: "/"), UInt8(ascii: "+"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
