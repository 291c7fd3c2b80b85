import Foundation
import PolyStoreFormats
import Testing

@Suite struct JSONNumberTests {
    struct Case: Sendable {
        var text: String
        var int64: Int64?
        var uint64: UInt64?
        var double: Double?
        var decimal: String?
    }

    static let cases: [Case] = [
        Case(text: "0", int64: 0, uint64: 0, double: 0, decimal: "0"),
        Case(text: "-0", int64: 0, uint64: 0, double: -0.0, decimal: "0"),
        Case(text: "-0.0", int64: 0, uint64: 0, double: -0.0, decimal: "0"),
        Case(text: "1E5", int64: 100_000, uint64: 100_000, double: 100_000, decimal: "100000"),
        Case(text: "1.0", int64: 1, uint64: 1, double: 1, decimal: "1"),
        Case(text: "1.50", double: 1.5, decimal: "1.5"),
        Case(text: "9223372036854775807", int64: .max, uint64: 9_223_372_036_854_775_807, double: 0x1p63, decimal: "9223372036854775807"),
        Case(text: "-9223372036854775808", int64: .min, double: -0x1p63, decimal: "-9223372036854775808"),
        Case(text: "-9223372036854775809", double: -0x1p63, decimal: "-9223372036854775809"),
        Case(text: "9223372036854775808", uint64: 9_223_372_036_854_775_808, double: 0x1p63, decimal: "9223372036854775808"),
        Case(text: "18446744073709551615", uint64: .max, double: 0x1p64, decimal: "18446744073709551615"),
        Case(text: "18446744073709551616", double: 0x1p64, decimal: "18446744073709551616"),
        Case(
            text: "12345678901234567890123456789012345678", double: 1.2345678901234568e37, decimal: "12345678901234567890123456789012345678"
        ),
        Case(text: "0.1", double: 0.1, decimal: "0.1"),
        Case(text: "123456789.123456", double: 123456789.123456, decimal: "123456789.123456"),
        Case(text: "0.00000000000000000000000000000000000001", double: 1e-38, decimal: "0.00000000000000000000000000000000000001"),
        Case(text: "1e400"), Case(text: "-1e400"), Case(text: "1e999999999999999999999999"),
        Case(text: "1e-999999999999999999999999", double: 0),
        Case(text: "1e-400", double: 0), Case(text: "5e-324", double: .leastNonzeroMagnitude),
        Case(text: "1.7976931348623157e308", double: .greatestFiniteMagnitude),
        Case(text: "0e999999999999999999999999", int64: 0, uint64: 0, double: 0, decimal: "0"),
        Case(text: "2.2250738585072011e-308", double: Double(bitPattern: 0x000f_ffff_ffff_ffff)),
    ]

    @Test(arguments: cases) func valuesAreExact(_ expected: Case) throws {
        let number = try #require(JSONNumber(text: expected.text))
        #expect(number.text == expected.text)
        #expect(number.int64 == expected.int64)
        #expect(number.uint64 == expected.uint64)
        #expect(number.double == expected.double)
        #expect(number.double?.sign == expected.double?.sign)
        #expect(number.decimal == expected.decimal.flatMap { Decimal(string: $0) })
        #expect(try JSONValue(parsing: "[\(expected.text)]")[0]?.number?.text == expected.text)
    }

    @Test func numbersAreEqualIfTheirValuesAre() throws {
        let groups = [
            ["1", "1.0", "10e-1", "0.1e1", "1e0"], ["100", "1e2", "1E+2"], ["0", "-0", "0.0", "0e5"], ["0.1", "1e-1"], ["1e400", "10e399"],
            ["-1.5", "-15e-1"],
        ]
        let numbers = try groups.map { try $0.map { try #require(JSONNumber(text: $0)) } }
        for (index, group) in numbers.enumerated() {
            for number in group {
                #expect(number == group[0])
                #expect(number.hashValue == group[0].hashValue)
                for (other, numbers) in numbers.enumerated() where other != index { #expect(number != numbers[0]) }
            }
        }
    }

    @Test func doublesReadBackEqual() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite else {
                #expect(JSONNumber(value) == nil)
                continue
            }
            let number = try #require(JSONNumber(value))
            #expect(number.double?.bitPattern == value.bitPattern)
            let text = try JSONValue(parsing: number.text).double
            #expect(text?.bitPattern == value.bitPattern, "\(value)")
            let single = Float(bitPattern: UInt32(truncatingIfNeeded: generator.next()))
            if single.isFinite { #expect(JSONNumber(single)?.float == single) }
        }
        for value in [0.0, -0.0, 1, -1, 1e15, 1e16, 1e22, 123456.789, 0.1, .leastNonzeroMagnitude] {
            #expect(JSONNumber(value)?.double?.bitPattern == value.bitPattern)
        }
    }

    @Test func decimalsReadBackEqual() throws {
        for text in [
            "0", "1.5", "-0.00001", "99999999999999999999999999999999999999", "1e127", "1e-127", "340282366920938463463374607431768211455",
        ] {
            let value = try #require(Decimal(string: text))
            #expect(JSONNumber(value)?.decimal == value, "\(text)")
        }
        #expect(JSONNumber(Decimal.nan) == nil)
    }
}
