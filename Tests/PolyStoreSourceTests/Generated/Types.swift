// swift-format-ignore-file
import Foundation
import PolyStore

enum Types {
    @Model
    final class Everything {
        var boolRequired: Bool
        var boolOptional: Bool?
        var boolDefault0: Bool = true
        var boolDefault1: Bool? = false
        var int8Required: Int8
        var int8Optional: Int8?
        var int8Default0: Int8 = -128
        var int16Required: Int16
        var int16Optional: Int16?
        var int16Default0: Int16 = 32767
        var int32Required: Int32
        var int32Optional: Int32?
        var int32Default0: Int32 = -7
        var int64Required: Int
        var int64Optional: Int?
        var int64Default0: Int = -9223372036854775808
        var int64Default1: Int? = 9223372036854775807
        var uint8Required: UInt8
        var uint8Optional: UInt8?
        var uint8Default0: UInt8 = 255
        var uint16Required: UInt16
        var uint16Optional: UInt16?
        var uint16Default0: UInt16 = 1
        var uint32Required: UInt32
        var uint32Optional: UInt32?
        var uint32Default0: UInt32 = 4294967295
        var uint64Required: UInt64
        var uint64Optional: UInt64?
        var uint64Default0: UInt64 = 18446744073709551615
        var floatRequired: Float
        var floatOptional: Float?
        var floatDefault0: Float = 0.1
        var floatDefault1: Float? = -Float.infinity
        var floatDefault2: Float = Float.nan
        var doubleRequired: Double
        var doubleOptional: Double?
        var doubleDefault0: Double = 0.1
        var doubleDefault1: Double? = -1e+300
        var doubleDefault2: Double = Double.infinity
        var doubleDefault3: Double? = Double.nan
        var dateRequired: Date
        var dateOptional: Date?
        var dateDefault0: Date = Date(timeIntervalSinceReferenceDate: 0.0)
        var dateDefault1: Date? = Date(timeIntervalSinceReferenceDate: -86400.125)
        var decimalRequired: Decimal
        var decimalOptional: Decimal?
        var decimalDefault0: Decimal = 5
        var decimalDefault1: Decimal? = Decimal(string: "-12.345") ?? 0
        var stringRequired: String
        var stringOptional: String?
        var stringDefault0: String = ""
        var stringDefault1: String? = "it's \"quoted\" \\(1)\n\t\u{0}\u{2028}é€"
        var urlRequired: URL
        var urlOptional: URL?
        var urlDefault0: URL = URL(string: "https://example.com/a?b=c%20d")!
        // The schema does not contain the Swift type of the Codable value, so the property has its JSON.
        var jsonRequired: RawJSON
        // The schema does not contain the Swift type of the Codable value, so the property has its JSON.
        var jsonOptional: RawJSON?
        // The schema does not contain the Swift type of the Codable value, so the property has its JSON.
        var jsonDefault0: RawJSON = "[\"a\",1]"
        // The schema does not contain the Swift type of the Codable value, so the property has its JSON.
        var jsonDefault1: RawJSON? = "{\"a\":{\"b\":null}}"
        var dataRequired: Data
        var dataOptional: Data?
        var dataDefault0: Data = Data()
        var dataDefault1: Data? = Data([0, 255])
        var uuidRequired: UUID
        var uuidOptional: UUID?
        var uuidDefault0: UUID = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
    }

    @Model
    final class Expressions {
        @Attribute(.unique) var id: UUID = UUID()
        var made: Date? = Date()
    }

    @Model
    final class Rules {
        @Attribute(.range(0...150)) var whole: Int
        @Attribute(.range((-3)...)) var open: Int?
        @Attribute(.range(..<Int16(7))) var below: Int16
        @Attribute(.range(UInt64(1)...UInt64(18446744073709551615))) var unsigned: UInt64
        @Attribute(.range(0.5...1.5)) var half: Int
        @Attribute(.range(Float(-1.0)..<Float(1.0))) var ratio: Float
        @Attribute(.range(Decimal(0)...), .range(...(Decimal(string: "9.5") ?? 0))) var price: Decimal
        @Attribute(.range(Date(timeIntervalSinceReferenceDate: -1.5)...)) var day: Date?
        @Attribute(.length(1...50), .matches("[A-Z\\d]+\"")) var name: String
        @Attribute(.length(2...)) var bytes: Data
    }

    static let schema = Schema("Types 1", Everything.self, Expressions.self, Rules.self)
}
