import Foundation
import PolyStoreAttributes
import PolyStoreBackend

/// Values as expressions of Swift.
enum SwiftLiterals {
    /// Returns a literal of a text, with escapes where needed.
    static func text(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: append(scalar, to: &result)
            }
        }
        return result + "\""
    }

    /// Returns a text without characters that would end a comment.
    static func oneLine(_ text: String) -> String { text.unicodeScalars.reduce(into: "") { append($1, to: &$0) } }

    /// Appends a character, with an escape if it is a control character or separates lines.
    private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
        let isVisible = scalar.value >= 0x20 && scalar.value != 0x7f && !scalar.properties.isPatternWhitespace || scalar == " "
        if isVisible { text.unicodeScalars.append(scalar) } else { text += "\\u{\(String(scalar.value, radix: 16))}" }
    }

    /// Returns a value of an attribute as an expression; nil if it is not a value of the type.
    /// - Parameter isOptional: Whether the expression is that of an optional attribute.
    static func value(_ value: Value, _ type: AttributeType, isOptional: Bool) -> String? {
        switch (type, value) {
        case (.bool, .integer(let integer)): integer == 0 ? "false" : "true"
        case (.uint64, .integer(let integer)): "\(UInt64(bitPattern: integer))"
        case (_, .integer(let integer)) where type.physical == .integer: "\(integer)"
        case (.float, .real(let real)): number(Float(real), "Float")
        case (.double, .real(let real)): number(real, "Double")
        case (.date, .real(let real)): date(real)
        case (.decimal, .blob(let bytes)): bytes.withUnsafeBytes { Decimal(orderedBytes: $0) }.flatMap(decimal)
        case (.string, .text(let text)), (.json, .text(let text)): self.text(text)
        case (.url, .text(let text)): URL(string: text).map { _ in "URL(string: \(self.text(text)))" + (isOptional ? "" : "!") }
        case (.data, .blob(let bytes)): "Data(\(bytes.isEmpty ? "" : "[\(list(bytes))]"))"
        case (.uuid, .blob(let bytes)): bytes.count == 16 ? "UUID(uuid: (\(list(bytes))))" : nil
        default: nil
        }
    }

    /// Returns the bound of a range as an expression whose type is that of the bound.
    static func bound(_ bound: AttributeRule.Bound) -> String? {
        guard let value = value(bound.value, bound.type, isOptional: false) else { return nil }
        switch bound.type {
        case .int8, .int16, .int32, .uint8, .uint16, .uint32, .uint64, .float: return "\(swiftType(bound.type))(\(value))"
        case .decimal: return Int64(value) == nil ? "(\(value))" : "Decimal(\(value))"
        case .int64, .double: return value.hasPrefix("-") ? "(\(value))" : value
        default: return value
        }
    }

    /// The type of an attribute that is not optional.
    static func swiftType(_ type: AttributeType) -> String {
        switch type {
        case .bool: "Bool"
        case .int8: "Int8"
        case .int16: "Int16"
        case .int32: "Int32"
        case .int64: "Int"
        case .uint8: "UInt8"
        case .uint16: "UInt16"
        case .uint32: "UInt32"
        case .uint64: "UInt64"
        case .float: "Float"
        case .double: "Double"
        case .date: "Date"
        case .decimal: "Decimal"
        case .string: "String"
        case .url: "URL"
        case .json: "RawJSON"
        case .data: "Data"
        case .uuid: "UUID"
        }
    }

    private static func number<T: BinaryFloatingPoint>(_ value: T, _ type: String) -> String {
        if value.isNaN { return "\(type).nan" }
        if value.isInfinite { return value < 0 ? "-\(type).infinity" : "\(type).infinity" }
        return "\(value)"
    }

    private static func date(_ seconds: Double) -> String { "Date(timeIntervalSinceReferenceDate: \(number(seconds, "Double")))" }

    private static func decimal(_ value: Decimal) -> String? {
        guard !value.isNaN else { return nil }
        let text = value.description
        return Int64(text) == nil ? "Decimal(string: \"\(text)\") ?? 0" : text
    }

    private static func list(_ bytes: [UInt8]) -> String { bytes.map { "\($0)" }.joined(separator: ", ") }
}
