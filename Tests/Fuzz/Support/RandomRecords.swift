import PolyStoreFormats
import SeededRandom

/// Generates valid records and formats.
struct RandomRecords {
    static let names = [
        "a", "b", "name", "é", "x y", "", "\u{1F600}", "q\"q", "a.b", "long name of a field that exceeds the small strings",
    ]
    static let texts = [
        "", " ", "x", "1", "true", "null", "a,b", "a;b", "\"", "\"\"", "line\nend", "line\r\nend", "\r", "\t", "ü", "\u{0}", "\u{1}",
        "\u{FEFF}", "\u{2028}",
        "\u{1F600}", "e\u{301}", "\\", "\\u0041", "{}", "[", "#c", " padded ", String(repeating: "long text ", count: 20),
    ]
    static let numbers = [
        "0", "-0", "1", "-1", "1.5", "-1.50", "1e5", "1E+2", "1e-300", "1e400", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808",
        "18446744073709551615", "18446744073709551616", "0.1", "123456789012345678901234567890", "1e99999999999999999999", "0e0", "1.0",
    ]

    static func value(_ random: inout SplitMix64, depth: Int) -> JSONValue {
        switch random.below(depth > 0 ? 9 : 7) {
        case 0: .null
        case 1: .bool(random.once(in: 2))
        case 2, 3: .number(JSONNumber(text: random.pick(numbers)) ?? 0)
        case 4, 5, 6: .string(random.pick(texts))
        case 7: .array((0..<random.below(4)).map { _ in value(&random, depth: depth - 1) })
        default: .object(object(&random, depth: depth - 1))
        }
    }

    static func object(_ random: inout SplitMix64, depth: Int) -> JSONObject {
        var object = JSONObject()
        for _ in 0..<random.below(random.once(in: 8) ? 30 : 5) {
            object[random.once(in: 6) ? "n\(random.below(100))" : random.pick(names)] = value(&random, depth: depth)
        }
        return object
    }

    static func csvOptions(_ random: inout SplitMix64) -> CSVOptions {
        var options = CSVOptions()
        options.delimiter = random.pick([",", ",", ";", "\t", "|", " ", "x"])
        options.quote = random.pick(["\"", "\"", "\"", "'", nil])
        options.trimsSpaces = random.once(in: 3) && options.delimiter != " " && options.delimiter != "\t"
        options.emptyField = random.pick([.nullUnlessQuoted, .nullUnlessQuoted, .null, .text])
        options.commentPrefix = random.pick([nil, nil, "#", "//"])
        options.raggedRow = random.pick([.error, .pad])
        options.header = random.pick([.firstRow, .firstRow, .none, .names(["a", "b", "c"]), .names(["a", "b"], replacingFirstRow: true)])
        if random.once(in: 4) { options.longestField = random.below(40) }
        if random.once(in: 4) { options.longestRecord = random.below(100) }
        return options
    }
}
