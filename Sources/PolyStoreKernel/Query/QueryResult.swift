public import Foundation
import PolyStoreBackend

/// A type that a query can return: `Select<Int>("age")`.
///
/// The attribute types of the standard library and of Foundation conform, and so does ``ObjectID``. An enum with raw values only needs to declare
/// the conformance.
public protocol QueryResult {
    /// Decodes a value.
    /// - Returns: nil if the value does not fit the type.
    static func decodeQueryValue(_ value: QueryValue) -> Self?
}

extension QueryResult where Self: FixedWidthInteger {
    public static func decodeQueryValue(_ value: QueryValue) -> Self? { value.whole.flatMap { Self(exactly: $0) } }
}

extension QueryResult where Self: BinaryFloatingPoint {
    public static func decodeQueryValue(_ value: QueryValue) -> Self? {
        switch value {
        case .integer(let integer): return Self(integer)
        case .unsigned(let integer): return Self(integer)
        case .real(let real):
            let rounded = Self(real)
            return rounded.isFinite == real.isFinite ? rounded : nil
        case .decimal(let decimal): return decodeQueryValue(.real(Double(truncating: decimal as NSDecimalNumber)))
        default: return nil
        }
    }
}

extension QueryResult where Self: RawRepresentable, RawValue: QueryResult {
    public static func decodeQueryValue(_ value: QueryValue) -> Self? { RawValue.decodeQueryValue(value).flatMap(Self.init(rawValue:)) }
}

extension Int: QueryResult {}
extension Int8: QueryResult {}
extension Int16: QueryResult {}
extension Int32: QueryResult {}
extension Int64: QueryResult {}
extension UInt: QueryResult {}
extension UInt8: QueryResult {}
extension UInt16: QueryResult {}
extension UInt32: QueryResult {}
extension UInt64: QueryResult {}
extension Double: QueryResult {}
extension Float: QueryResult {}

extension Bool: QueryResult { public static func decodeQueryValue(_ value: QueryValue) -> Bool? { value.bool } }
extension String: QueryResult { public static func decodeQueryValue(_ value: QueryValue) -> String? { value.string } }
extension Date: QueryResult { public static func decodeQueryValue(_ value: QueryValue) -> Date? { value.date } }
extension Data: QueryResult { public static func decodeQueryValue(_ value: QueryValue) -> Data? { value.data } }
extension UUID: QueryResult { public static func decodeQueryValue(_ value: QueryValue) -> UUID? { value.uuid } }
extension URL: QueryResult { public static func decodeQueryValue(_ value: QueryValue) -> URL? { value.url } }

extension Decimal: QueryResult {
    public static func decodeQueryValue(_ value: QueryValue) -> Decimal? {
        switch value {
        case .decimal(let decimal): decimal
        case .integer(let integer): Decimal(integer)
        case .unsigned(let integer): Decimal(integer)
        case .real(let real) where real.isFinite && real.magnitude < 1e127: Decimal(real)
        default: nil
        }
    }
}

extension ObjectID: QueryResult {
    public static func decodeQueryValue(_ value: QueryValue) -> ObjectID? { value.objectID(of: T.self) }
}

/// Returns the value unchanged.
extension QueryValue: QueryResult { public static func decodeQueryValue(_ value: QueryValue) -> QueryValue? { value } }
