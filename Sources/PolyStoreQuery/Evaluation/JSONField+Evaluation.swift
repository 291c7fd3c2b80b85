import Foundation
import PolyStoreBackend

/// Reads a field from JSON text: for the shared executor, and for the SQL function of the SQLite backend, so that both return the same value.
package struct JSONFieldReader: Sendable {
    private let keys: [[UInt8]]
    private let result: JSONField.Result

    /// Creates a reader of a field.
    package init(_ field: JSONField) {
        keys = field.keys.map { [UInt8]($0.utf8) }
        result = field.result
    }

    /// Returns the value of the field in JSON text.
    package func value(in json: UnsafeRawBufferPointer) -> Value {
        guard let member = JSONScanner.member(keys, in: json) else { return .null }
        switch result {
        case .value(let type): return Self.value(member, type, json)
        case .contains(let wanted, let type):
            let isFound = JSONScanner.containsElement(of: member, in: json) { Self.value($0, type, json) == wanted }
            return isFound.map { .integer($0 ? 1 : 0) } ?? .null
        }
    }

    /// Reads a valid value of JSON as a type.
    private static func value(_ range: Range<Int>, _ type: AttributeType, _ bytes: UnsafeRawBufferPointer) -> Value {
        let first = bytes[range.lowerBound]
        switch type {
        case .bool: return first == UInt8(ascii: "t") ? .integer(1) : first == UInt8(ascii: "f") ? .integer(0) : .null
        case .json:
            if first == UInt8(ascii: "n") { return .null }
            return String(validating: bytes[range], as: UTF8.self).map { .text($0) } ?? .null
        case .string, .url, .uuid, .data:
            guard first == UInt8(ascii: "\""),
                let text = JSONScanner.text(range, in: bytes).flatMap({ String(validating: $0, as: UTF8.self) })
            else { return .null }
            if type == .uuid { return UUID(uuidString: text).map { .blob(withUnsafeBytes(of: $0.uuid, Array.init)) } ?? .null }
            if type == .data { return Data(base64Encoded: text).map { .blob([UInt8]($0)) } ?? .null }
            return .text(text)
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64:
            guard let (magnitude, isNegative) = integer(range, bytes) else { return .null }
            if type == .uint64 { return isNegative && magnitude > 0 ? .null : .integer(Int64(bitPattern: magnitude)) }
            let number = isNegative ? -Int128(magnitude) : Int128(magnitude)
            return Int64(exactly: number).map { .integer($0) } ?? .null
        case .float, .double, .date, .decimal:
            guard first == UInt8(ascii: "-") || first &- 0x30 < 10 else { return .null }
            let text = String(decoding: bytes[range], as: UTF8.self)
            if type == .decimal {
                return Decimal(string: text).map { $0.isNaN ? .null : .blob($0.orderedBytes) } ?? .null
            }
            guard var real = Double(text) else { return .null }
            if type == .float { real = Double(Float(real)) }
            return real.isFinite ? .real(Value.normalized(real)) : .null
        }
    }

    /// Returns the value of a number that is an integer; nil for a fraction, for an integer of more than 64 bits, and for a value that is not a number.
    private static func integer(_ range: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> (magnitude: UInt64, isNegative: Bool)? {
        var at = range.lowerBound
        let isNegative = bytes[at] == UInt8(ascii: "-")
        if isNegative { at += 1 }
        guard bytes[at] &- 0x30 < 10 else { return nil }
        var magnitude: UInt64 = 0
        // The zeros since the last other digit, and the digits of the fraction.
        var (zeros, fraction, isInFraction) = (0, 0, false)
        func multiply(_ power: Int) -> Bool {
            if magnitude == 0 { return true }
            for _ in 0..<power {
                let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
                if overflow { return false }
                magnitude = product
            }
            return true
        }
        loop: while at < range.upperBound {
            switch bytes[at] {
            case UInt8(ascii: "."): isInFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): break loop
            case let byte:
                if isInFraction { fraction += 1 }
                if byte == 0x30 {
                    zeros += 1
                } else {
                    guard multiply(zeros + 1) else { return nil }
                    let (sum, overflow) = magnitude.addingReportingOverflow(UInt64(byte - 0x30))
                    if overflow { return nil }
                    magnitude = sum
                    zeros = 0
                }
            }
            at += 1
        }
        if magnitude == 0 { return (0, isNegative) }
        var exponent = 0
        if at < range.upperBound {
            at += 1
            let isBelow = bytes[at] == UInt8(ascii: "-")
            if isBelow || bytes[at] == UInt8(ascii: "+") { at += 1 }
            while at < range.upperBound {
                // An exponent beyond this has the same result as this one, because texts are shorter.
                if exponent < Int.max / 16 { exponent = exponent * 10 + Int(bytes[at] - 0x30) }
                at += 1
            }
            if isBelow { exponent = -exponent }
        }
        let power = exponent - fraction + zeros
        guard power >= 0, multiply(power) else { return nil }
        return (magnitude, isNegative)
    }
}

/// A value within a JSON attribute.
final class JSONFieldNode: ExpressionNode {
    private let reader: JSONFieldReader
    private let attribute: ExpressionNode
    /// The attribute, if it is a field of the object itself.
    private let field: FieldReference?

    init(_ field: JSONField, _ attribute: QueryExpression, _ lookup: RelatedLookup) {
        reader = JSONFieldReader(field)
        self.attribute = .make(attribute, lookup)
        self.field = attribute.asField
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        if let field { return record.isNull(field.index) ? .null : reader.value(in: record.bytes(field.index)) }
        guard case .text(var text) = try attribute.value(id, record) else { return .null }
        return text.withUTF8 { reader.value(in: UnsafeRawBufferPointer($0)) }
    }
}
