import Foundation
import PolyStoreFormats
import Testing

@Suite struct ConversionTests {
    enum Color: String, ConvertibleFromSource, ConvertibleToSource { case red, green }
    enum Level: Int, ConvertibleFromSource {
        case low = 1
        case high
    }

    static let integers: [(JSONValue, Int8?, UInt16?, Int?)] = [
        (1, 1, 1, 1), (-1, -1, nil, -1), (127, 127, 127, 127), (128, nil, 128, 128), (65536, nil, nil, 65536), (1.0, 1, 1, 1),
        (1.5, nil, nil, nil),
        ("12", 12, 12, 12), ("+7", 7, 7, 7), ("007", 7, 7, 7), ("-3", -3, nil, -3), ("1e2", 100, 100, 100), ("2.0", 2, 2, 2),
        ("2.5", nil, nil, nil),
        ("", nil, nil, nil), ("x", nil, nil, nil), ("1 ", nil, nil, nil), (true, nil, nil, nil), (nil, nil, nil, nil), ([1], nil, nil, nil),
        ("9223372036854775808", nil, nil, nil), (.number(JSONNumber(text: "1e400")!), nil, nil, nil),
    ]

    @Test(arguments: integers.indices) func integersAreCheckedForTheirRange(index: Int) {
        let (value, small, unsigned, int) = Self.integers[index]
        let record: JSONObject = ["x": value]
        #expect((try? record.require("x", as: Int8.self)) == small)
        #expect((try? record.require("x", as: UInt16.self)) == unsigned)
        #expect((try? record.require("x", as: Int.self)) == int)
    }

    static let errors: [(JSONValue, any ConvertibleFromSource.Type, RecordError.Code, String)] = [
        ("many", Int.self, .wrongType, #"field x: expected an integer, found the text "many""#),
        (300, UInt8.self, .outOfRange, "field x: the number 300 is out of the range of UInt8"),
        (1.5, Int.self, .wrongType, "field x: expected an integer, found the number 1.5"),
        (nil, Int.self, .nullValue, "field x: expected an integer, found null"),
        (1, String.self, .wrongType, "field x: expected text, found the number 1"),
        ("maybe", Bool.self, .wrongType, #"field x: expected true or false, found the text "maybe""#),
        (.number(JSONNumber(text: "1e400")!), Double.self, .outOfRange, "field x: the number 1e400 is out of the range of Double"),
        (.number(JSONNumber(text: "1e400")!), Decimal.self, .outOfRange, "field x: the number 1e400 is out of the range of Decimal"),
        ("31.01.2024", Date.self, .wrongType, #"field x: expected a date (ISO 8601), found the text "31.01.2024""#),
        ("%", Data.self, .wrongType, #"field x: expected data in base64, found the text "%""#),
        ("1", UUID.self, .wrongType, #"field x: expected a UUID, found the text "1""#),
        ("blue", Color.self, .outOfRange, #"field x: the text "blue" is not a value of Color"#),
        ([1, "a"], [Int].self, .wrongType, #"field x[1]: expected an integer, found the text "a""#),
        (["k": ["a", nil]], [String: [String]].self, .nullValue, "field x.k[1]: expected text, found null"),
        (
            JSONValue(String(repeating: "long ", count: 20)), Int.self, .wrongType,
            "field x: expected an integer, found the text \"long long long long long long long lo…\""
        ),
    ]

    @Test(arguments: errors.indices) func errorsNameTheFieldAndTheValue(index: Int) {
        let (value, type, code, text) = Self.errors[index]
        func attempt<T: ConvertibleFromSource>(_ type: T.Type) -> RecordError? {
            do {
                _ = try (["x": value] as JSONObject).require("x", as: type)
                return nil
            } catch {
                return error as? RecordError
            }
        }
        let error = attempt(type)
        #expect(error?.code == code)
        #expect(error?.description == text)
    }

    @Test func typesOfEveryKindAreConverted() throws {
        let uuid = UUID()
        let source: [String: JSONValue] = [
            "bool": "Yes", "one": 1, "float": 0.1, "double": "1.25", "huge": "NaN", "decimal": "12345678901234567890.12", "data": "AQID",
            "lines": "AQ\nID",
            "uuid": JSONValue(uuid.uuidString), "url": "https://example.com/a?b=c", "color": "green", "level": "2", "null": nil,
            "tags": ["a", "b", "a"],
            "counts": ["a": 1, "b": nil], "nested": ["list": [["name": "x"]]], "text": #"["a", "b"]"#, "a.b": 7,
        ]
        #expect(try source.require("bool", as: Bool.self))
        #expect(try source.require("one", as: Bool.self))
        #expect(try source.require("float", as: Float.self) == 0.1)
        #expect(try source.require("double", as: Double.self) == 1.25)
        #expect(try source.require("huge", as: Double.self).isNaN)
        #expect(try source.require("decimal", as: Decimal.self) == Decimal(string: "12345678901234567890.12"))
        #expect(try source.require("data", as: Data.self) == Data([1, 2, 3]))
        #expect(try source.require("lines", as: Data.self) == Data([1, 2, 3]))
        #expect(try source.require("uuid", as: UUID.self) == uuid)
        #expect(try source.require("url", as: URL.self).query == "b=c")
        #expect(try source.require("color", as: Color.self) == .green)
        #expect(try source.require("level", as: Level.self) == .high)
        #expect(try source.require("null", as: Int?.self) == nil)
        #expect(try source.optional("null", as: Int.self) == nil)
        #expect(try source.optional("missing", as: Int.self) == nil)
        #expect(try source.require("tags", as: [String].self) == ["a", "b", "a"])
        #expect(try source.require("tags", as: Set<String>.self) == ["a", "b"])
        #expect(try source.require("counts", as: [String: Int?].self) == ["a": 1, "b": nil])
        #expect(try source.require("nested.list.0.name", as: String.self) == "x")
        #expect(try source.require("text", as: [String].self) == ["a", "b"])
        #expect(try source.require("a.b", as: Int.self) == 7)
        let level: Int = try source.require("level")
        #expect(level == 2)
        #expect(throws: RecordError.self) { try source.optional("color", as: Int.self) }
        let missing = #expect(throws: RecordError.self) { try source.require("nested.none", as: Int.self) }
        #expect(missing?.description == "field nested.none: the field is missing")
    }

    @Test func errorsOfARecordHaveItsPosition() throws {
        let reader = try RecordSource.text("name,population\nParis,many\n", format: .csv, name: "cities.csv").makeReader()
        let record = try #require(try reader.next())
        let error = #expect(throws: RecordError.self) { try record.require("population", as: Int.self) }
        #expect(error?.description == #"cities.csv, record 1 (line 2), field population: expected an integer, found the text "many""#)
    }
}
