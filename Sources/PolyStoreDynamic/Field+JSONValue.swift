import Foundation
import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel

extension Field {
    /// Returns a value of a record as one of the attribute's type.
    /// - Parameters:
    ///   - source: A value that is not null.
    ///   - isUntyped: Whether the record is of a format in which every value is text.
    /// - Throws: `RecordError` for a value of another type.
    func queryValue(_ source: JSONValue, isUntyped: Bool, _ options: ConversionOptions) throws -> QueryValue {
        switch type {
        case .bool: .bool(try Bool(source: source, options: options))
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: .integer(try Int64(source: source, options: options))
        case .uint64: .unsigned(try UInt64(source: source, options: options))
        case .float: .real(Double(try Float(source: source, options: options)))
        case .double: .real(try Double(source: source, options: options))
        case .decimal: .decimal(try decimal(source, options))
        case .date: .date(try Date(source: source, options: options))
        case .string: .text(try String(source: source, options: options))
        case .url: .url(try URL(source: source, options: options))
        case .data: .data(try Data(source: source, options: options))
        case .uuid: .uuid(try UUID(source: source, options: options))
        case .json: .text(Self.json(source, isUntyped: isUntyped))
        }
    }

    /// An export writes a decimal that is not a number as text, because JSON has no such number.
    private func decimal(_ source: JSONValue, _ options: ConversionOptions) throws -> Decimal {
        source == .string("NaN") ? .nan : try Decimal(source: source, options: options)
    }

    /// Returns a value as JSON text. A text of an untyped record is the value that it contains as JSON, or else itself.
    private static func json(_ source: JSONValue, isUntyped: Bool) -> String {
        guard isUntyped, case .string(let text) = source, let value = try? JSONValue(parsing: text) else { return source.description }
        return value.description
    }
}
