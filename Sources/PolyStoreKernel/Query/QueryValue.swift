public import Foundation
import PolyStoreBackend

/// A value in the result of a query, as in the dictionaries that `queryAttributes` returns.
///
///     row["age"]?.int
///     row["born"]?.as(Date.self)
///     row["average(age)"] == 35.5
///
/// Null values are absent from the dictionary. Numbers are equal if they have the same value, regardless of the case; a NaN equals a NaN.
public enum QueryValue: Sendable {
    /// A Boolean value.
    case bool(Bool)
    /// An integer of any type except `UInt64`.
    case integer(Int64)
    /// An integer of the type `UInt64`.
    case unsigned(UInt64)
    /// A floating-point number.
    case real(Double)
    /// A text.
    case text(String)
    /// A date.
    case date(Date)
    /// A sequence of bytes.
    case data(Data)
    /// A UUID.
    case uuid(UUID)
    /// A URL.
    case url(URL)
    /// A decimal number.
    case decimal(Decimal)
    /// The id of an object.
    case objectID(AnyObjectID)
}

/// The id of an object of any entity; the type-erased form of ``ObjectID``.
public struct AnyObjectID: Sendable, Hashable {
    package let entry: StoreEntity
    /// The row id, which is unique within an entity of a store.
    public let rowID: Int64

    package init(entry: StoreEntity, rowID: Int64) {
        self.entry = entry
        self.rowID = rowID
    }

    /// The name of the entity.
    public var entityName: String { entry.entity.name }

    /// Returns the typed id; nil if the object has another type.
    public func cast<T: Model>(to type: T.Type) -> ObjectID<T>? {
        entry.type == type || entry.hierarchy?.entityClass(type) != nil ? ObjectID(entry: entry, rowID: rowID) : nil
    }

    /// The URI of the object; see ``ObjectID/uri``.
    public var uri: String { entry.uri(rowID) }

    public static func == (left: AnyObjectID, right: AnyObjectID) -> Bool {
        left.rowID == right.rowID && left.entityName == right.entityName && left.entry.store.storeID == right.entry.store.storeID
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(rowID)
        hasher.combine(entityName)
    }
}

extension AnyObjectID: CustomStringConvertible {
    /// The name of the entity and the row id: `Person 7`.
    public var description: String { "\(entityName) \(rowID)" }
}

extension QueryValue {
    /// Returns the value as a type; nil if it does not fit: a text is not a number, 35.5 is not an `Int`, 300 is not an `Int8`. Floating-point types accept
    /// every number within their range, rounded.
    public func `as`<V: QueryResult>(_ type: V.Type) -> V? { V.decodeQueryValue(self) }

    /// The value as a `Bool`; nil for other values.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The value as an `Int`; nil for other values, numbers with a fraction and numbers outside its range.
    public var int: Int? { self.as(Int.self) }
    /// The value as an `Int64`; nil for other values, numbers with a fraction and numbers outside its range.
    public var int64: Int64? { self.as(Int64.self) }
    /// The value as a `UInt64`; nil if it is not a whole number in its range.
    public var uint64: UInt64? { self.as(UInt64.self) }
    /// The value as a `Double`, rounded; nil for values that are not numbers.
    public var double: Double? { self.as(Double.self) }
    /// The value as a `String`; nil for values that are not texts.
    public var string: String? { if case .text(let value) = self { value } else { nil } }
    /// The value as a `Date`; nil for other values.
    public var date: Date? { if case .date(let value) = self { value } else { nil } }
    /// The value as `Data`; nil for other values.
    public var data: Data? { if case .data(let value) = self { value } else { nil } }
    /// The value as a `UUID`; nil for other values.
    public var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }
    /// The value as a `URL`; nil for other values.
    public var url: URL? { if case .url(let value) = self { value } else { nil } }
    /// The value as a `Decimal`; nil for values that are not numbers.
    public var decimal: Decimal? { self.as(Decimal.self) }
    /// Returns the value as an object id; nil for other values and for ids of other types.
    public func objectID<T: Model>(of type: T.Type) -> ObjectID<T>? { if case .objectID(let id) = self { id.cast(to: type) } else { nil } }

    /// The value if it is a number without a fraction; otherwise nil.
    var whole: Int128? {
        switch self {
        case .integer(let value): Int128(value)
        case .unsigned(let value): Int128(value)
        case .real(let value): Int128(exactly: value)
        default: nil
        }
    }
}

extension QueryValue: Hashable {
    public static func == (left: QueryValue, right: QueryValue) -> Bool {
        if let first = left.whole, let second = right.whole { return first == second }
        return switch (left, right) {
        case (.bool(let first), .bool(let second)): first == second
        case (.real(let first), .real(let second)): first == second || first.isNaN && second.isNaN
        case (.text(let first), .text(let second)): first == second
        case (.date(let first), .date(let second)):
            QueryValue.real(first.timeIntervalSinceReferenceDate) == .real(second.timeIntervalSinceReferenceDate)
        case (.data(let first), .data(let second)): first == second
        case (.uuid(let first), .uuid(let second)): first == second
        case (.url(let first), .url(let second)): first == second
        case (.decimal(let first), .decimal(let second)): first == second
        case (.objectID(let first), .objectID(let second)): first == second
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        if let whole { return hasher.combine(whole) }
        switch self {
        case .bool(let value): hasher.combine(value)
        case .real(let value): hasher.combine(Value.normalized(value).bitPattern)
        case .text(let value): hasher.combine(value)
        case .date(let value): hasher.combine(Value.normalized(value.timeIntervalSinceReferenceDate).bitPattern)
        case .data(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .url(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(value)
        case .objectID(let value): hasher.combine(value)
        case .integer, .unsigned: break  // a whole number
        }
    }
}

extension QueryValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension QueryValue: CustomStringConvertible {
    /// The value as text.
    public var description: String {
        switch self {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let value): "\"\(value)\""
        case .date(let value): Value.real(value.timeIntervalSinceReferenceDate).described(.date)
        case .data(let value): "<\(value.count) bytes>"
        case .uuid(let value): "\(value)"
        case .url(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .objectID(let value): "\(value.entityName) \(value.rowID)"
        }
    }
}

extension QueryValue {
    /// Decodes a value of a store.
    /// - Returns: nil for null.
    /// - Throws: `corrupt` for bytes that do not encode a value of the type.
    package init?(_ value: Value, _ type: AttributeType) throws {
        switch (value, type) {
        case (.null, _): return nil
        case (.integer(let integer), .bool): self = .bool(integer != 0)
        case (.integer(let integer), .uint64): self = .unsigned(UInt64(bitPattern: integer))
        case (.integer(let integer), _): self = .integer(integer)
        case (.real(let real), .date): self = .date(Date(timeIntervalSinceReferenceDate: real))
        case (.real(let real), _): self = .real(real)
        case (.text(let text), .url):
            guard let url = URL(string: text) else { throw StoreError(.corrupt, "\"\(text)\" is no URL.") }
            self = .url(url)
        case (.text(let text), _): self = .text(text)
        case (.blob(let bytes), .uuid):
            guard bytes.count == 16 else { throw StoreError(.corrupt, "A UUID has 16 bytes, not \(bytes.count).") }
            self = .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case (.blob(let bytes), .decimal):
            guard let decimal = bytes.withUnsafeBytes({ Decimal(orderedBytes: $0) }) else {
                throw StoreError(.corrupt, "The bytes are not a decimal number.")
            }
            self = .decimal(decimal)
        case (.blob(let bytes), _): self = .data(Data(bytes))
        }
    }
}
