import Foundation
import PolyStoreBackend

/// The JSON text of a `Codable` value whose Swift type is unknown, as an attribute.
///
/// Classes that are generated from the schema of a store have it where the store keeps a `Codable` value, because the schema does not contain the type. Replace it by the type if you have
/// it: the stored form is the same.
///
///     var address: RawJSON?
///     let city = try person.address.map { try $0.decoded(as: Address.self).city }
public struct RawJSON: Hashable, Sendable, CustomStringConvertible {
    /// The text, which is valid JSON.
    public let text: String

    private init(valid text: String) { self.text = text }

    /// Creates a value of a text.
    /// - Throws: `invalidValue` if the text is not JSON.
    public init(text: String) throws {
        guard Self.isValid(text) else { throw StoreError(.invalidValue, "This text is not JSON: \(text.prefix(100))") }
        self.init(valid: text)
    }

    /// Creates the JSON of a value.
    /// - Throws: `invalidValue` if the value cannot be encoded.
    public init(encoding value: some Codable) throws {
        func text<T: Codable>(_ value: T) throws -> String { String(decoding: try JSONCoding<T>.json(value), as: UTF8.self) }
        self.init(valid: try text(value))
    }

    /// Returns the value of the JSON.
    /// - Throws: The error of the decoder.
    public func decoded<T: Decodable>(as type: T.Type) throws -> T { try JSONDecoder().decode(type, from: Data(text.utf8)) }

    public var description: String { text }

    private static func isValid(_ text: String) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
    }
}

extension RawJSON: ExpressibleByStringLiteral {
    /// Creates a value of a literal: `"[]"`. A literal that is not JSON becomes a string of JSON.
    public init(stringLiteral text: String) {
        let string = Self.isValid(text) ? nil : try? JSONEncoder().encode(text)
        self.init(valid: string.map { String(decoding: $0, as: UTF8.self) } ?? text)
    }
}

extension RawJSON: AttributeValue {
    public static var attributeType: AttributeType { .json }
    /// The JSON `null`.
    public static var emptyAttribute: RawJSON { RawJSON(valid: "null") }
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> RawJSON {
        guard !record.isNull(field) else { throw missingValue(field) }
        return RawJSON(valid: record.string(field))
    }
    public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) { builder.setText(field, text) }
    public var attributeValue: Value { .text(text) }
}
