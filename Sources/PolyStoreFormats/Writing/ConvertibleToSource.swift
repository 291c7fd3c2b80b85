import Foundation

/// A type that is written as a value of a record. ``ConvertibleFromSource`` reads an equal value from it.
public protocol ConvertibleToSource {
    /// Returns the value to write.
    ///
    /// - Throws: ``RecordError`` for a value that the format cannot represent, such as NaN.
    func sourceValue(options: OutputOptions) throws -> JSONValue
}

/// Options for writing values.
public struct OutputOptions: Sendable, Hashable {
    /// The handling of NaN and infinity, which JSON numbers cannot represent.
    public enum NonFiniteNumber: Sendable, Hashable {
        /// The value is an error.
        case error
        /// The value is written as the text `NaN`, `Infinity` or `-Infinity`, which can be read as a `Double` or `Float`.
        case text
    }

    /// The handling of NaN and infinity. The default is an error.
    public var nonFiniteNumbers: NonFiniteNumber

    /// Creates options.
    public init(nonFiniteNumbers: NonFiniteNumber = .error) { self.nonFiniteNumbers = nonFiniteNumbers }

    /// The default options: NaN and infinity are errors.
    public static let `default` = OutputOptions()
}

extension JSONValue: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) -> JSONValue { self }
}

extension JSONObject: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) -> JSONValue { .object(self) }
}

extension Bool: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) -> JSONValue { .bool(self) }
}

extension String: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) -> JSONValue { .string(self) }
}

extension ConvertibleToSource where Self: BinaryInteger {
    public func sourceValue(options: OutputOptions) -> JSONValue { .number(JSONNumber(self)) }
}

extension Int: ConvertibleToSource {}
extension Int8: ConvertibleToSource {}
extension Int16: ConvertibleToSource {}
extension Int32: ConvertibleToSource {}
extension Int64: ConvertibleToSource {}
extension UInt: ConvertibleToSource {}
extension UInt8: ConvertibleToSource {}
extension UInt16: ConvertibleToSource {}
extension UInt32: ConvertibleToSource {}
extension UInt64: ConvertibleToSource {}

extension Double: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) throws -> JSONValue {
        try JSONNumber(self).map { .number($0) } ?? .nonFinite(isNaN ? "NaN" : self < 0 ? "-Infinity" : "Infinity", options)
    }
}

extension Float: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) throws -> JSONValue {
        try JSONNumber(self).map { .number($0) } ?? .nonFinite(isNaN ? "NaN" : self < 0 ? "-Infinity" : "Infinity", options)
    }
}

extension Decimal: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) throws -> JSONValue {
        guard let number = JSONNumber(self) else { throw RecordError(.outOfRange, "NaN cannot be written as a Decimal") }
        return .number(number)
    }
}

extension Date: ConvertibleToSource {
    /// Returns ISO 8601 text in UTC with the digits that are needed to read back an equal date.
    public func sourceValue(options: OutputOptions) throws -> JSONValue {
        guard let text = ISODate.text(self) else {
            throw RecordError(.outOfRange, "a date \(timeIntervalSinceReferenceDate) seconds from 2001 cannot be written in ISO 8601")
        }
        return .string(text)
    }
}

extension Data: ConvertibleToSource {
    /// Returns base64 text.
    public func sourceValue(options: OutputOptions) -> JSONValue { .string(base64EncodedString()) }
}

extension UUID: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) -> JSONValue { .string(uuidString) }
}

extension URL: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) -> JSONValue { .string(absoluteString) }
}

extension ConvertibleToSource where Self: RawRepresentable, RawValue: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) throws -> JSONValue { try rawValue.sourceValue(options: options) }
}

extension Optional: ConvertibleToSource where Wrapped: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) throws -> JSONValue { try self?.sourceValue(options: options) ?? .null }
}

extension Array: ConvertibleToSource where Element: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) throws -> JSONValue { .array(try map { try $0.sourceValue(options: options) }) }
}

extension Set: ConvertibleToSource where Element: ConvertibleToSource {
    public func sourceValue(options: OutputOptions) throws -> JSONValue { .array(try map { try $0.sourceValue(options: options) }) }
}

extension Dictionary: ConvertibleToSource where Key == String, Value: ConvertibleToSource {
    /// Returns an object, sorted by name.
    public func sourceValue(options: OutputOptions) throws -> JSONValue {
        .object(JSONObject(try mapValues { try $0.sourceValue(options: options) }))
    }
}

extension JSONValue {
    fileprivate static func nonFinite(_ text: String, _ options: OutputOptions) throws -> JSONValue {
        guard options.nonFiniteNumbers == .text else {
            throw RecordError(
                .outOfRange, "\(text) is not a JSON number; write it as text with OutputOptions(nonFiniteNumbers: .text), or null")
        }
        return .string(text)
    }
}
