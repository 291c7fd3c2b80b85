import Foundation
import PolyStoreBackend
import SeededRandom

/// JSON for the oracle: texts, valid and invalid ones, and a naive reader, which builds a tree.
enum OracleJSON {
    /// The keys that are drawn.
    static let keys = ["a", "b", "A", "é", "", "a\"b", "\u{0}", "😀", "a.b"]
    private static let numbers = [
        "0", "-0", "1", "2", "1.0", "10e-1", "1E0", "0.5", "-1.5", "3", "100", "1e2", "-1", "9007199254740992", "9007199254740993",
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e18",
        "1e19",
        "1e300", "1e400", "-1e400", "1e-400", "0e999999999999999999999", "1e99999999999999999999", "12345678901234567890123456789e-28",
        "0.1",
        "5.0e+0", "0.000", "100000000000000000000e-20",
    ]
    private static let texts = [
        "", "a", "b", "ab", "é", "e\u{301}", "😀", "\u{0}", "a\u{0}b", "\"", "\\", "/", "1", "true", "null", "\u{7f}", "\u{2028}", "YQ==",
        "00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff", "https://example.org/",
    ]
    /// Parts of texts that no valid text contains, or that are not characters.
    private static let faults = ["\\ud83d", "\\ude00", "\\u00zz", "\\x", "\n", "\\ud83d\\u0041"]

    // MARK: Drawing

    /// Draws a text, in most cases valid.
    static func text(_ random: inout SplitMix64) -> String {
        if random.once(in: 60) {
            let depth = random.pick([511, 512, 513, 3000])
            return String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        let text = space(&random) + value(3, &random) + space(&random)
        guard random.once(in: 8) else { return text }
        var scalars = Array(text.unicodeScalars)
        switch random.below(3) {
        case 0: if !scalars.isEmpty { scalars.remove(at: random.below(scalars.count)) }
        case 1:
            scalars.insert(
                random.pick(["{", "}", "]", ",", ":", "\"", "0", "-", ".", "e", "\\", "\u{0}", "\u{1}"]),
                at: random.below(scalars.count + 1))
        default: scalars = Array(scalars.prefix(random.below(scalars.count + 1)))
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func space(_ random: inout SplitMix64) -> String {
        random.once(in: 6) ? random.pick([" ", "\n", "\t", "\r", "  "]) : ""
    }

    private static func value(_ depth: Int, _ random: inout SplitMix64) -> String {
        func list(_ opening: String, _ closing: String, _ member: (inout SplitMix64) -> String) -> String {
            let members = (0..<random.below(4)).map { _ in space(&random) + member(&random) + space(&random) }
            return opening + (members.isEmpty ? space(&random) : members.joined(separator: ",")) + closing
        }
        switch random.below(depth > 0 ? 12 : 5) {
        case 0: return random.pick(["true", "false", "null"])
        case 1...2: return random.pick(numbers)
        case 3...4: return quoted(random.pick(texts), &random)
        case 5...6: return list("[", "]") { value(depth - 1, &$0) }
        default:
            return list("{", "}") { random in
                quoted(random.once(in: 12) ? random.pick(texts) : random.pick(keys), &random) + space(&random) + ":" + space(&random)
                    + value(depth - 1, &random)
            }
        }
    }

    private static func quoted(_ text: String, _ random: inout SplitMix64) -> String {
        var result = "\""
        for unit in text.unicodeScalars {
            let isRequired = unit.value < 0x20 || unit == "\"" || unit == "\\"
            if isRequired || random.once(in: 8) {
                for half in String(unit).utf16 {
                    let digits = String(half, radix: 16, uppercase: random.once(in: 2))
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                result.unicodeScalars.append(unit)
            }
        }
        if random.once(in: 40) { result += random.pick(faults) }
        return result + "\""
    }

    /// Draws a constant that values in JSON are compared with, now and then null.
    static func constant(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
        if random.once(in: 20) { return .null }
        let found: Value =
            switch type {
            case .json: random.once(in: 2) ? .text(value(1, &random)) : .text(random.pick(numbers))
            case .string, .url: .text(random.pick(texts))
            case .bool: .integer(Int64(random.below(2)))
            case .uuid, .data: converted(.text(random.pick(texts)), type)
            default: converted(.number(random.pick(numbers)), type)
            }
        return found.isNull ? OracleValues.value(type, &random) : found
    }

    // MARK: Reading

    private indirect enum Tree {
        case null
        case bool(Bool)
        case number(String)
        /// Nil if it contains half of a surrogate pair.
        case text(String?)
        case array([(tree: Tree, source: String)])
        case object([(key: String?, tree: Tree, source: String)])
    }

    /// Returns the value of a field.
    static func value(_ field: JSONField, in text: String) -> Value {
        var reader = Reader(Array(text.unicodeScalars))
        guard var found = reader.document() else { return .null }
        for key in field.keys {
            guard case .object(let members) = found.tree,
                let member = members.first(where: { $0.key.map { Array($0.utf8) } == Array(key.utf8) })
            else { return .null }
            found = (member.tree, member.source)
        }
        switch field.result {
        case .value(.json): if case .null = found.tree { return .null } else { return .text(found.source) }
        case .value(let type): return converted(found.tree, type)
        case .contains(let wanted, let type):
            guard case .array(let elements) = found.tree else { return .null }
            let isFound = elements.contains { element in
                let value = converted(element.tree, type)
                return !value.isNull && OracleValues.same(value, OracleValues.kept(wanted))
            }
            return .integer(isFound ? 1 : 0)
        }
    }

    private static func converted(_ tree: Tree, _ type: AttributeType) -> Value {
        switch (tree, type) {
        case (.bool(let bool), .bool): return .integer(bool ? 1 : 0)
        case (.text(let text?), .string), (.text(let text?), .url): return .text(text)
        case (.text(let text?), .uuid): return UUID(uuidString: text).map { .blob(withUnsafeBytes(of: $0.uuid, Array.init)) } ?? .null
        case (.text(let text?), .data): return Data(base64Encoded: text).map { .blob(Array($0)) } ?? .null
        case (.number(let text), .double), (.number(let text), .date), (.number(let text), .float):
            guard var number = Double(text) else { return .null }
            if type == .float { number = Double(Float(number)) }
            return number.isFinite ? OracleValues.kept(.real(number)) : .null
        case (.number(let text), .decimal):
            return Decimal(string: text).map { $0.isNaN ? .null : .blob($0.orderedBytes) } ?? .null
        case (.number(let text), .int64): return integer(text).flatMap { Int64($0) }.map { .integer($0) } ?? .null
        case (.number(let text), .uint64): return integer(text).flatMap { UInt64($0) }.map { .integer(Int64(bitPattern: $0)) } ?? .null
        default: return .null
        }
    }

    /// Returns the digits of a number that is an integer of at most 40 digits, with its sign.
    private static func integer(_ text: String) -> String? {
        let parts = text.lowercased().split(separator: "e")
        let sign = parts[0].hasPrefix("-") ? "-" : ""
        let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".")
        var whole = String(mantissa[0])
        var fraction = mantissa.count > 1 ? String(mantissa[1]) : ""
        if (whole + fraction).allSatisfy({ $0 == "0" }) { return "0" }
        guard let exponent = parts.count > 1 ? Int(parts[1]) : 0, (-40...40).contains(exponent) else { return nil }
        for _ in 0..<max(exponent, 0) {
            whole.append(fraction.isEmpty ? "0" : fraction.removeFirst())
        }
        for _ in 0..<max(-exponent, 0) {
            fraction.insert(whole.popLast() ?? "0", at: fraction.startIndex)
        }
        guard fraction.allSatisfy({ $0 == "0" }) else { return nil }
        let digits = whole.drop { $0 == "0" }
        return sign + (digits.isEmpty ? "0" : digits)
    }

    /// A recursive reader of the grammar.
    private struct Reader {
        private let text: [Unicode.Scalar]
        private var at = 0

        init(_ text: [Unicode.Scalar]) { self.text = text }

        mutating func document() -> (tree: Tree, source: String)? {
            space()
            guard let found = located(0) else { return nil }
            space()
            return at == text.count ? found : nil
        }

        private mutating func located(_ depth: Int) -> (tree: Tree, source: String)? {
            let start = at
            guard let tree = value(depth) else { return nil }
            var source = String.UnicodeScalarView()
            source.append(contentsOf: text[start..<at])
            return (tree, String(source))
        }

        private mutating func space() { while at < text.count, [" ", "\n", "\r", "\t"].contains(text[at]) { at += 1 } }

        private mutating func take(_ wanted: String) -> Bool {
            let scalars = Array(wanted.unicodeScalars)
            guard text[at...].starts(with: scalars) else { return false }
            at += scalars.count
            return true
        }

        private mutating func value(_ depth: Int) -> Tree? {
            if take("null") { return .null }
            if take("true") { return .bool(true) }
            if take("false") { return .bool(false) }
            if at < text.count, text[at] == "\"" { return string().map { .text($0) } }
            if take("[") {
                guard depth < 512 else { return nil }
                var elements: [(Tree, String)] = []
                space()
                if take("]") { return .array([]) }
                repeat {
                    space()
                    guard let element = located(depth + 1) else { return nil }
                    elements.append(element)
                    space()
                } while take(",")
                return take("]") ? .array(elements) : nil
            }
            if take("{") {
                guard depth < 512 else { return nil }
                var members: [(String?, Tree, String)] = []
                space()
                if take("}") { return .object([]) }
                repeat {
                    space()
                    guard at < text.count, text[at] == "\"", let key = string() else { return nil }
                    space()
                    guard take(":") else { return nil }
                    space()
                    guard let member = located(depth + 1) else { return nil }
                    members.append((key, member.tree, member.source))
                    space()
                } while take(",")
                return take("}") ? .object(members) : nil
            }
            return number()
        }

        private mutating func digits() -> Bool {
            let start = at
            while at < text.count, ("0"..."9").contains(text[at]) { at += 1 }
            return at > start
        }

        private mutating func number() -> Tree? {
            let start = at
            _ = take("-")
            if !take("0"), !digits() { return nil }
            if take("."), !digits() { return nil }
            if take("e") || take("E") {
                if !take("+") { _ = take("-") }
                if !digits() { return nil }
            }
            var source = String.UnicodeScalarView()
            source.append(contentsOf: text[start..<at])
            return .number(String(source))
        }

        /// Returns nil for an invalid text, and a nil text for one with half of a surrogate pair.
        private mutating func string() -> String?? {
            at += 1
            var units: [UInt16] = []
            while at < text.count {
                let scalar = text[at]
                at += 1
                if scalar == "\"" {
                    let decoded = String(decoding: units, as: UTF16.self)
                    return .some(Array(decoded.utf16) == units ? decoded : nil)
                }
                if scalar.value < 0x20 { return nil }
                guard scalar == "\\" else {
                    units += String(scalar).utf16
                    continue
                }
                guard at < text.count else { return nil }
                let escape = text[at]
                at += 1
                switch escape {
                case "\"", "\\", "/": units += String(escape).utf16
                case "b": units.append(8)
                case "f": units.append(12)
                case "n": units.append(10)
                case "r": units.append(13)
                case "t": units.append(9)
                case "u":
                    guard at + 4 <= text.count, text[at..<(at + 4)].allSatisfy({ $0.properties.isASCIIHexDigit }),
                        let unit = UInt16(text[at..<(at + 4)].map { String($0) }.joined(), radix: 16)
                    else { return nil }
                    at += 4
                    units.append(unit)
                default: return nil
                }
            }
            return nil
        }
    }
}
