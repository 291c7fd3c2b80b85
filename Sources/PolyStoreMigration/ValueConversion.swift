import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// Conversions of values between attribute types for migrations.
enum ValueConversion {
    /// Returns whether every value of a type can be converted to another type without loss.
    static func isLossless(from old: AttributeType, to new: AttributeType) -> Bool {
        new.contains(valuesOf: old) || new == .string || isWidening(old, new)
    }

    /// Returns whether the conversion is from integers to a floating-point or decimal type that represents each of them exactly.
    private static func isWidening(_ old: AttributeType, _ new: AttributeType) -> Bool {
        guard old != .bool, let bounds = old.integerBounds else { return new == .decimal && old.physical == .integer && old != .bool }
        let largest = max(abs(bounds.lowerBound), bounds.upperBound)
        return switch new {
        case .decimal: true
        case .double: largest <= 1 << 53
        case .float: largest <= 1 << 24
        case .uint64: bounds.lowerBound >= 0
        default: false
        }
    }

    /// Converts a value of an attribute.
    ///
    /// - Throws: `invalidValue` for a value that the new type cannot represent.
    static func convert(_ value: Value, from old: AttributeType, to new: AttributeType) throws -> Value {
        if value.isNull || new.contains(valuesOf: old) { return value }
        // The shortest text of a Float is shorter than that of the stored Double.
        if case .real(let real) = value, old == .float, new == .string { return .text("\(Float(real))") }
        guard let plain = try QueryValue(value, old), let converted = self.value(plain, as: new) else {
            throw StoreError(
                .invalidValue, "The value \(value) of type \(old.rawValue) cannot be converted to \(new.rawValue).")
        }
        return converted
    }

    /// Returns the value of a type that represents a value of another type, and whether it is the same value; a floating-point number is rounded. Texts are read as the
    /// conversion to text writes them.
    /// - Returns: `nil` if no value of the type represents it.
    static func fitting(_ value: Value, from old: AttributeType, to new: AttributeType) -> (value: Value, isExact: Bool)? {
        if new.contains(valuesOf: old) { return (value, true) }
        guard let plain = try? QueryValue(value, old) else { return nil }
        guard let converted = self.value([.string, .decimal].contains(old) ? read(plain, as: new) : plain, as: new) else { return nil }
        if case .real(let real) = converted, !real.isFinite, case .real(let before) = value, before.isFinite { return nil }
        let back = try? convert(converted, from: new, to: old)
        if back == value { return (converted, true) }
        if case .real(let real) = converted, real.isNaN, case .real(let before) = value, before.isNaN { return (converted, true) }
        return new.physical == .real && old.physical == .real ? (converted, false) : nil
    }

    /// Returns a text or a decimal number as a value that can be converted to an attribute type.
    private static func read(_ value: QueryValue, as type: AttributeType) -> QueryValue {
        let text = text(value)
        let found: QueryValue? =
            switch type {
            case .bool: Bool(text).map { .bool($0) }
            case .uint64: UInt64(text).map { .unsigned($0) }
            case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: Int64(text).map { .integer($0) }
            case .float: Float(text).map { .real(Double($0)) }
            case .double: Double(text).map { .real($0) }
            case .decimal: Decimal(string: text).map { .decimal($0) }
            case .date: date(text).map { .date($0) }
            case .data: Data(base64Encoded: text).map { .data($0) }
            case .string, .json, .url, .uuid: nil
            }
        return found ?? value
    }

    private static func date(_ text: String) -> Date? {
        if let seconds = Double(text) { return Date(timeIntervalSinceReferenceDate: seconds) }
        return (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    /// Returns the stored form of a value for an attribute type; `nil` if the type cannot represent it.
    static func value(_ value: QueryValue, as type: AttributeType) -> Value? {
        switch type {
        case .bool: value.bool.map { .integer($0 ? 1 : 0) }
        case .uint64: value.as(UInt64.self).map { .integer(Int64(bitPattern: $0)) }
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
            value.as(Int64.self).flatMap { integer in
                (type.integerBounds ?? Int64.min...Int64.max).contains(integer) ? .integer(integer) : nil
            }
        case .float: value.as(Float.self).map { .real(Value.normalized(Double($0))) }
        case .double: value.as(Double.self).map { .real(Value.normalized($0)) }
        case .date: value.date.map { .real(Value.normalized($0.timeIntervalSinceReferenceDate)) }
        case .decimal: value.decimal.map(\.attributeValue)
        case .string: .text(text(value))
        case .json: value.string.map { .text($0) }
        case .url: (value.url?.absoluteString ?? value.string.flatMap { URL(string: $0)?.absoluteString }).map { .text($0) }
        case .data: value.data.map { .blob(Array($0)) }
        case .uuid: (value.uuid ?? value.string.flatMap { UUID(uuidString: $0) }).map(\.attributeValue)
        }
    }

    /// Returns a value as text: numbers in decimal notation, dates in ISO 8601 in UTC, data in Base64.
    static func text(_ value: QueryValue) -> String {
        switch value {
        case .text(let text): text
        case .date(let date): self.text(date)
        case .data(let data): data.base64EncodedString()
        case .url(let url): url.absoluteString
        case .uuid(let uuid): uuid.uuidString
        default: value.description
        }
    }

    private static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        // Foundation's calendar supports only finite dates within several thousand years.
        guard seconds.magnitude < 1e11 else { return "\(seconds)" }
        let isWhole = seconds == seconds.rounded(.down)
        return date.formatted(isWhole ? .iso8601 : Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
