import PolyStoreBackend
import SeededRandom

/// Values of every type: few, so that they repeat, and with boundary values among them.
enum OracleValues {
    private static let longPrefix = String(repeating: "prefix-", count: 75)
    private static let huge = String(repeating: "0123456789abcde\u{0}", count: 4480)

    private static let texts: [String] = [
        "", "a", "A", "ab", "abc", "b", "\u{0}", "a\u{0}", "a\u{0}b", "é", "e\u{301}", "\u{301}", "😀", "👩‍👩‍👧", "%", "_", "a%b", "'", "\"",
        "\\",
        " ", "\u{ffff}", "\u{10ffff}", "\u{e000}", "zz", "10", "9", "1e3", "nan", longPrefix, longPrefix + "a", longPrefix + "b",
        longPrefix + "\u{0}", "É", "E\u{301}", "İ", "Σ", "ς", "ß", "SS", "aba", "aab", "a*b", "a?", "a\nb", "bb",
    ]
    private static let urls = [
        "", "https://example.org", "https://example.org/", "https://example.org/%20a?b=c#d", "file:///data/a", "mailto:a@example.org",
        "https://example.org/" + longPrefix,
    ]
    private static let jsons = ["null", "1", "\"a\"", "[]", "[1,2]", "{\"a\":1}", "{\"a\":1,\"b\":[true]}", "{\"a\":\"\(longPrefix)\"}"]
    private static let longBytes = [UInt8](repeating: 7, count: 520)
    private static let blobs: [[UInt8]] = [
        [], [0], [0, 0], [0, 1], [0, 255], [1], [1, 0], [1, 2, 3], [127], [128], [255], [255, 255], [97, 98], longBytes, longBytes + [0],
        longBytes + [1],
    ]
    /// The encodings of the decimals 0, 1, 1.5, 2, 100, 10^100, −1, −1.5, NaN, 0.07, 10^38 − 1.
    private static let decimals: [[UInt8]] = [
        [0x80], [0x81, 0x80, 1, 2, 0], [0x81, 0x80, 1, 2, 51, 0], [0x81, 0x80, 1, 3, 0], [0x81, 0x80, 2, 2, 0], [0x81, 0x80, 51, 2, 0],
        [0x7f, 0x7f, 254, 253, 255], [0x7f, 0x7f, 254, 253, 204, 255], [0x7e],
        [0x81, 0x80, 0, 8, 0], [0x81, 0x80, 19] + [UInt8](repeating: 100, count: 19) + [0],
    ]
    private static let uuids: [[UInt8]] = [
        [UInt8](repeating: 0, count: 16), [UInt8](repeating: 255, count: 16), [UInt8](repeating: 0, count: 15) + [1], Array(0..<16),
        [128] + [UInt8](repeating: 0, count: 15),
    ]
    private static let doubles: [Double] = [
        -.infinity, -.greatestFiniteMagnitude, -1e18, -1e18, -2, -1.5, -1, -.leastNonzeroMagnitude, -0.0, 0, .leastNonzeroMagnitude, 0.1,
        0.5, 1,
        1.5,
        2, 7, 9_007_199_254_740_992, 1e18, 1e18, 1e300, .greatestFiniteMagnitude, .infinity, .nan,
        Double(bitPattern: 0xfff8_0000_0000_beef),
    ]
    private static let dates: [Double] =
        doubles + [
            -0.25, 86_399.75, 5_097_600, 978_307_200, -978_307_200.5, 631_411_140, 757_209_600, -26_524_800, -63_145_526_401,
            252_423_993_600,
            9_007_199_254_740_992, -9_007_199_254_740_992,
        ]
    private static let floats: [Float] = [
        -.infinity, -.greatestFiniteMagnitude, -1.5, -0.0, 0, .leastNonzeroMagnitude, 0.1, 0.5, 1, 2, 16_777_216, .greatestFiniteMagnitude,
        .infinity, .nan,
    ]

    /// Returns a value that an attribute of the type can have. −0 and non-canonical NaNs are included: a store converts them to 0 and the canonical NaN.
    static func value(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
        switch type {
        case .bool: .integer(Int64(random.below(2)))
        case .int64: .integer(random.pick([.min, .min + 1, -1000, -3, -2, -1, 0, 1, 2, 3, 5, 9, 1 << 53, .max - 1, .max]))
        case .uint64: .integer(random.pick([0, 1, 2, 3, 9, 1 << 40, .max, .min, .min + 1, -2, -1]))
        case .int8, .int16, .int32, .uint8, .uint16, .uint32: small(type.integerBounds ?? 0...1, &random)
        case .float: .real(Double(random.pick(floats)))
        case .double: .real(random.pick(doubles))
        case .date: .real(random.pick(dates))
        case .decimal: .blob(random.pick(decimals))
        case .string: .text(random.once(in: 150) ? huge : random.pick(texts))
        case .url: .text(random.pick(urls))
        case .json: .text(random.once(in: 3) ? random.pick(jsons) : OracleJSON.text(&random))
        case .data: .blob(random.once(in: 150) ? [UInt8](huge.utf8) : random.pick(blobs))
        case .uuid: .blob(random.pick(uuids))
        }
    }

    private static func small(_ bounds: ClosedRange<Int64>, _ random: inout SplitMix64) -> Value {
        let pool = [bounds.lowerBound, bounds.upperBound, -2, -1, 0, 1, 2, 3, 5, 9, 100, bounds.upperBound - 1]
        return .integer(min(max(random.pick(pool), bounds.lowerBound), bounds.upperBound))
    }

    /// Returns one of many values, for unique fields.
    static func scarce(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
        let number = random.below(1000)
        switch type {
        case .bool: return value(type, &random)
        case .int8, .uint8: return .integer(Int64(number % 128))
        case .int16, .int32, .int64, .uint16, .uint32, .uint64: return .integer(Int64(number))
        case .float, .double, .date: return .real(Double(number) / 4)
        case .decimal:
            // The digits of a decimal do not end with zeros.
            let rest = number % 100
            return .blob([0x81, 0x80, 2, UInt8(number / 100 + 2)] + (rest == 0 ? [] : [UInt8(rest + 1)]) + [0])
        case .string: return .text(random.once(in: 2) ? "\(number)" : longPrefix + "\(number)")
        case .url: return .text("https://example.org/\(number)")
        case .json: return .text("{\"a\":\(number)}")
        case .data: return .blob((random.once(in: 2) ? [] : longBytes) + [UInt8(number / 256), UInt8(number % 256)])
        case .uuid: return .blob([UInt8(number / 256), UInt8(number % 256)] + [UInt8](repeating: 0, count: 14))
        }
    }

    /// Returns a pattern for a text operator.
    static func pattern(_ random: inout SplitMix64) -> String {
        if random.once(in: 8) { return String(longPrefix.dropFirst(random.below(8))) + random.pick(["", "a", "x"]) }
        return random.pick([
            "", "a", "b", "ab", "A", "\u{0}", "\u{301}", "é", "e", "😀", "\u{200d}", "%", "_", "*", "'", "\"", "\\", "prefix", "1",
        ])
    }

    /// Returns the stored form of a value.
    static func kept(_ value: Value) -> Value {
        guard case .real(let number) = value else { return value }
        if number.isNaN { return .real(.nan) }
        return .real(number == 0 ? 0.0 : number)
    }

    /// Compares two values that are not null. Returns a negative number, 0 or a positive one.
    static func compare(_ left: Value, _ right: Value, unsigned: Bool) -> Int {
        switch (left, right) {
        case (.integer(let left), .integer(let right)):
            if left == right { return 0 }
            // If the signs differ, the negative one is greater as an unsigned number.
            return ((left < right) != (unsigned && (left < 0) != (right < 0))) ? -1 : 1
        case (.real(let left), .real(let right)):
            if left.isNaN || right.isNaN { return left.isNaN && right.isNaN ? 0 : (left.isNaN ? -1 : 1) }
            return left == right ? 0 : (left < right ? -1 : 1)
        case (.text(let left), .text(let right)): return compare(left.utf8, right.utf8)
        case (.blob(let left), .blob(let right)): return compare(left, right)
        default: return 0
        }
    }

    private static func compare<Bytes: Collection>(_ left: Bytes, _ right: Bytes) -> Int where Bytes.Element == UInt8 {
        if left.count == right.count, left.elementsEqual(right) { return 0 }
        return left.lexicographicallyPrecedes(right) ? -1 : 1
    }

    /// Returns the most frequent of values that are not null, counting each one in turn.
    static func mode(_ values: [Value], unsigned: Bool) -> Value {
        var mode = Value.null
        var most = 0
        for value in values {
            let count = values.filter { same($0, value) }.count
            if count > most || count == most && compare(value, mode, unsigned: unsigned) < 0 { (mode, most) = (value, count) }
        }
        return mode
    }

    /// Returns whether a value equals its stored form: null as null, numbers bit for bit.
    static func same(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.text(let left), .text(let right)): compare(left.utf8, right.utf8) == 0
        case (.blob(let left), .blob(let right)): left == right
        default: false
        }
    }
}
