import Foundation

/// A date pattern such as `dd.MM.yyyy HH:mm`, read without a locale. See ``DateFormat/pattern(_:)``.
struct DatePattern: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        case literal([UInt8])
        case field(Character, count: Int)
    }

    let text: String
    let parts: [Part]

    static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
    ]
    static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    init(_ text: String) throws(RecordError) {
        self.text = text
        var parts: [Part] = []
        var literal: [UInt8] = []
        var characters = text[...]
        while let first = characters.first {
            if first == "'" {
                characters = characters.dropFirst()
                guard let end = characters.firstIndex(of: "'") else { throw RecordError(.unsupported, "an apostrophe has no end") }
                literal += end == characters.startIndex ? Array("'".utf8) : Array(characters[..<end].utf8)
                characters = characters[characters.index(after: end)...]
            } else if first.isASCII, first.isLetter {
                let run = characters.prefix { $0 == first }
                guard "yMdHhmsSaZXxE".contains(first) else { throw RecordError(.unsupported, "the letter '\(first)' is not supported") }
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = []
                parts.append(.field(first, count: run.count))
                characters = characters[run.endIndex...]
            } else {
                literal += Array(String(first).utf8)
                characters = characters.dropFirst()
            }
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
        self.parts = parts
    }

    /// Returns the date of a text that matches the whole pattern; nil for any other text. Missing fields default to 1 January 2000, 00:00.
    func date(from bytes: UnsafeBufferPointer<UInt8>, _ timeZone: TimeZone) -> Date? {
        var scanner = DateScanner(bytes: bytes)
        var fields = Fields()
        for (position, part) in parts.enumerated() {
            switch part {
            case .literal(let literal):
                for byte in literal where !scanner.skip(byte) { return nil }
            case .field(let letter, let count):
                // If another numeric field follows without a separator, the number of letters is the number of digits.
                let isTight = position + 1 < parts.count && parts[position + 1].isNumeric
                guard fields.read(letter, count, isTight, &scanner) else { return nil }
            }
        }
        guard scanner.isAtEnd, !scanner.failed else { return nil }
        return fields.date(timeZone)
    }

    private struct Fields {
        var (year, month, day, hour, minute, second) = (2000, 1, 1, 0, 0, 0)
        var fraction: ArraySlice<UInt8> = []
        var isAfternoon: Bool?
        var hasHalfDay = false
        var offset: Int?

        mutating func read(_ letter: Character, _ count: Int, _ isTight: Bool, _ scanner: inout DateScanner) -> Bool {
            func number(_ most: Int) -> Int? { scanner.number(isTight ? count : 1, isTight ? count : most) }
            switch letter {
            case "y":
                let value = count == 2 ? scanner.number(2) : count == 4 ? scanner.number(4) : number(4)
                // Two-digit years are 1970 to 2069.
                guard let value else { return false }
                year = count == 2 ? value + (value < 70 ? 2000 : 1900) : value
            case "M" where count >= 3:
                guard let index = scanner.name(DatePattern.months) ?? scanner.name(DatePattern.months.map { String($0.prefix(3)) }) else {
                    return false
                }
                month = index + 1
            case "M": return assign(number(2), to: \.month)
            case "d": return assign(number(2), to: \.day)
            case "H": return assign(number(2), to: \.hour) && hour < 24
            case "h":
                hasHalfDay = true
                return assign(number(2), to: \.hour) && (1...12).contains(hour)
            case "a":
                guard let index = scanner.name(["am", "pm"]) else { return false }
                isAfternoon = index == 1
            case "m": return assign(number(2), to: \.minute) && minute < 60
            case "s": return assign(number(2), to: \.second) && second <= 60
            case "S":
                fraction = scanner.digits()
                return !fraction.isEmpty
            case "E": return (scanner.name(DatePattern.weekdays) ?? scanner.name(DatePattern.weekdays.map { String($0.prefix(3)) })) != nil
            default:
                offset = scanner.zone()
                return offset != nil
            }
            return true
        }

        private mutating func assign(_ value: Int?, to field: WritableKeyPath<Fields, Int>) -> Bool {
            guard let value else { return false }
            self[keyPath: field] = value
            return true
        }

        func date(_ timeZone: TimeZone) -> Date? {
            guard let days = CivilDate.days(year: year, month: month, day: day) else { return nil }
            var hour = hour
            if hasHalfDay { hour = hour % 12 + (isAfternoon == true ? 12 : 0) }
            return CivilDate.instant(days: days, seconds: hour * 3600 + minute * 60 + second, fraction: fraction, offset: offset, timeZone)
        }
    }
}

extension DatePattern.Part {
    fileprivate var isNumeric: Bool {
        guard case .field(let letter, let count) = self else { return false }
        return "ydHhmsS".contains(letter) || (letter == "M" && count < 3)
    }
}
