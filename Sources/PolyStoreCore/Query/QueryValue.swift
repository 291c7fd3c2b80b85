public import Foundation
import PolyStoreBackend

/// A value that a query found or worked out: an entry of the dictionaries that `queryAttributes` gives.
///
///     row["age"]?.int
///     row["born"]?.as(Date.self)
///     row["average(age)"] == 35.5
///
/// There is none for null: the dictionary then has no such entry. Numbers are equal if they are the same number, whatever the case; a NaN equals a NaN.
public enum QueryValue: Sendable {
    case bool(Bool)
    /// Of every integer type but `UInt64`.
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)
    case text(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    case url(URL)
    case decimal(Decimal)
    case objectID(AnyObjectID)
}

/// The identity of an object of any entity; ``ObjectID`` is that of one whose type is known.
public struct AnyObjectID: Sendable, Hashable {
    let entry: StoreEntity
    /// Unique within entity and store.
    public let key: Int64

    public var entityName: String { entry.entity.name }

    /// The id with its type; nil if it is another's.
    public func of<T: Model>(_ type: T.Type) -> ObjectID<T>? {
        entry.type == type || entry.family?.kind(type) != nil ? ObjectID(entry: entry, key: key) : nil
    }

    public static func == (left: AnyObjectID, right: AnyObjectID) -> Bool {
        left.key == right.key && left.entityName == right.entityName && left.entry.store.storeID == right.entry.store.storeID
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(entityName)
    }
}

extension QueryValue {
    /// As a type; nil if it does not fit: a text is no number, 35.5 no `Int`, 300 no `Int8`. A floating-point type takes every number, rounded,
    /// that is not too great for it.
    public func `as`<V: QueryResult>(_ type: V.Type) -> V? { V.decodeQueryValue(self) }

    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var int: Int? { self.as(Int.self) }
    public var int64: Int64? { self.as(Int64.self) }
    public var double: Double? { self.as(Double.self) }
    public var string: String? { if case .text(let value) = self { value } else { nil } }
    public var date: Date? { if case .date(let value) = self { value } else { nil } }
    public var data: Data? { if case .data(let value) = self { value } else { nil } }
    public var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }
    public var url: URL? { if case .url(let value) = self { value } else { nil } }
    public var decimal: Decimal? { self.as(Decimal.self) }
    public func objectID<T: Model>(of type: T.Type) -> ObjectID<T>? { if case .objectID(let id) = self { id.of(type) } else { nil } }

    /// A number without fraction; nil for other values.
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
        case .integer, .unsigned: break  // whole
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
        case .objectID(let value): "\(value.entityName) \(value.key)"
        }
    }
}

extension QueryValue {
    /// From what a store gave.
    /// - Returns: nil for null.
    /// - Throws: `corrupt` for bytes that are no such value.
    init?(_ value: Value, _ type: AttributeType) throws {
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
                throw StoreError(.corrupt, "The bytes are no decimal number.")
            }
            self = .decimal(decimal)
        case (.blob(let bytes), _): self = .data(Data(bytes))
        }
    }
}
