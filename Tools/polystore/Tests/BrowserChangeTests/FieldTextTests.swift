import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import Testing

/// The texts of values in forms.
@Suite struct FieldTextTests {
    static let values: [(AttributeType, String, QueryValue)] = [
        (.bool, "true", .bool(true)), (.bool, " no ", .bool(false)), (.int8, "-128", .integer(-128)),
        (.int16, "+7", .integer(7)), (.int64, "9223372036854775807", .integer(.max)), (.uint64, "18446744073709551615", .unsigned(.max)),
        (.uint32, "4294967295", .integer(4_294_967_295)), (.double, "1e3", .real(1000)), (.float, "NaN", .real(.nan)),
        (.double, "-Infinity", .real(-.infinity)), (.string, " a ", .text(" a ")), (.string, "", .text("")),
        (.data, "hex:00 fF", .data(Data([0, 255]))), (.data, "base64:AP8=", .data(Data([0, 255]))), (.data, "", .data(Data())),
        (.date, "2001-01-01T00:00:01Z", .date(Date(timeIntervalSinceReferenceDate: 1))), (.json, " [1, \"a\"] ", .text("[1, \"a\"]")),
        (.uuid, "01020304-0506-0708-090a-0b0c0d0e0f10", .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))),
    ]

    @Test(arguments: values)
    func textsAreValues(_ type: AttributeType, _ text: String, _ value: QueryValue) throws {
        #expect(try FieldText(type).value(text) == value)
    }

    static let mistakes: [(AttributeType, String)] = [
        (.bool, "maybe"), (.int8, "128"), (.int8, "1.5"), (.uint8, "-1"), (.int64, "9223372036854775808"), (.uint64, "-1"),
        (.double, "1,5"), (.float, "1e39"), (.decimal, "1.2.3"), (.decimal, "1e400"), (.date, "31.1.2026"), (.date, "2026-02-30"),
        (.json, "[1,"), (.data, "00ff"), (.data, "hex:0"), (.data, "hex:0g"), (.data, "base64:A"), (.uuid, "1"), (.int32, "\u{0}"),
        (.int32, String(repeating: "9", count: 10_000)), (.int16, "א"),
    ]

    @Test(arguments: mistakes)
    func textsThatAreNoValuesAreMistakes(_ type: AttributeType, _ text: String) {
        #expect { try FieldText(type).value(text) } throws: { error in
            guard let mistake = error as? FieldText.Mistake else { return false }
            return mistake.message.hasSuffix(".") && mistake.message.utf8.count < 300 && !mistake.message.contains("\u{0}")
        }
    }

    @Test(arguments: [AttributeType.int16, .double, .decimal, .date, .json, .uuid, .url, .bool])
    func emptyTextIsNull(_ type: AttributeType) throws { #expect(try FieldText(type).value("  ") == nil) }

    static let shown: [(AttributeType, QueryValue)] = [
        (.double, .real(0.1)), (.float, .real(Double(Float(0.1)))), (.double, .real(.infinity)),
        (.decimal, .decimal(Decimal(string: "12345678901234567890.123456789") ?? 0)), (.decimal, .decimal(.nan)), (.int64, .integer(.min)),
        (.uint64, .unsigned(.max)), (.date, .date(Date(timeIntervalSinceReferenceDate: -1_000_000_000.125))), (.bool, .bool(false)),
        (.data, .data(Data([1, 2, 255]))), (.data, .data(Data(repeating: 7, count: 100))), (.string, .text("שלום 👩‍👩‍👧\n\t\\")),
    ]

    @Test(arguments: shown)
    func textOfAValueIsReadBack(_ type: AttributeType, _ value: QueryValue) throws {
        let (text, isEscaped) = FieldText(type).text(value)
        #expect(!isEscaped)
        #expect(try FieldText(type).value(text) == value)
    }

    @Test(arguments: ["a\u{0}b", "line\r\nline", "\r", "\u{fffe}", "\u{1b}[0m\\", "\u{85}", "\\u{0}\u{0}"])
    func textsThatFormsChangeAreEscaped(_ text: String) {
        let (escaped, isEscaped) = FieldText(.string).text(.text(text))
        #expect(isEscaped)
        #expect(
            escaped.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0.value != 0xfffe && !(0x7f..<0xa0).contains($0.value) })
        #expect(FieldText.unescaped(escaped).map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test(arguments: ["\\", "\\x", "\\u", "\\u{", "\\u{}", "\\u{d800}", "\\u{110000}", "\\u{-1}"])
    func invalidEscapesAreRefused(_ text: String) { #expect(FieldText.unescaped(text) == nil) }

    @Test func postedNamesBecomeEntries() {
        let input = FormInput(posted: [
            ("value:name", "a\r\nb\rc"), ("value:motto", "x"), ("null:motto", "on"), ("escaped:code", "\\u{0}"),
            ("add:songs", "One\r\n\r\n Two"),
            ("remove:songs", "3"), ("remove:songs", "4"), ("order:list", "3, 1\n2"), ("token", "x"), ("value:", "empty"),
        ])
        #expect(
            input.entries == [
                "name": .text("a\nb\nc"), "motto": .null, "code": .escaped("\\u{0}"),
                "songs": .members(.init(added: ["One", "Two"], removed: ["3", "4"])), "list": .members(.init(order: ["3", "1", "2"])),
                "": .text("empty"),
            ])
    }
}
