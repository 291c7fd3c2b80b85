#if canImport(Darwin)
    public import Darwin
#elseif canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#endif

/// One physical value, for constants of queries, defaults and results. Rows do not use it: they are records.
public enum Value: Sendable, Codable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    public var isNull: Bool { if case .null = self { true } else { false } }
}

extension Value: Hashable {
    /// Text is compared by its UTF-8 bytes, not by canonical equivalence; a NaN equals a NaN.
    public static func == (left: Value, right: Value) -> Bool { left.order(to: right, unsigned: false) == 0 }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(Value.normalized(value).bitPattern)
        case .text(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .blob(let value): hasher.combine(value)
        }
    }
}

extension Value {
    /// The one order that every backend keeps: null, then integers, reals, text, blobs; within text and blobs by bytes.
    /// - Returns: negative, 0 or positive.
    public func order(to other: Value, unsigned: Bool) -> Int {
        switch (self, other) {
        case (.integer(let left), .integer(let right)):
            unsigned ? Order.of(UInt64(bitPattern: left), UInt64(bitPattern: right)) : Order.of(left, right)
        case (.real(let left), .real(let right)): Order.of(left, right)
        case (.text(let left), .text(let right)): Order.of(left, right)
        case (.blob(let left), .blob(let right)): left.withUnsafeBytes { left in right.withUnsafeBytes { Order.of(left, $0) } }
        default: Order.of(rank, other.rank)
        }
    }

    private var rank: Int64 {
        switch self {
        case .null: 0
        case .integer: 1
        case .real: 2
        case .text: 3
        case .blob: 4
        }
    }

    /// −0 becomes 0 and every NaN the one quiet NaN: what a store keeps.
    @inlinable
    public static func normalized(_ value: Double) -> Double {
        if value == 0 { return 0 }
        return value.isNaN ? .nan : value
    }
}

/// Comparisons with the semantics of `docs/semantics.md`. Negative, 0 or positive.
public enum Order {
    @inlinable
    public static func of(_ left: Int64, _ right: Int64) -> Int { left < right ? -1 : (left == right ? 0 : 1) }

    @inlinable
    public static func of(_ left: UInt64, _ right: UInt64) -> Int { left < right ? -1 : (left == right ? 0 : 1) }

    /// A total order: NaN equals NaN and comes before every other number, −0 equals 0.
    @inlinable
    public static func of(_ left: Double, _ right: Double) -> Int {
        if left < right { return -1 }
        if left > right { return 1 }
        if left == right { return 0 }
        return left.isNaN ? (right.isNaN ? 0 : -1) : 1
    }

    /// By UTF-8 bytes.
    public static func of(_ left: String, _ right: String) -> Int {
        var left = left
        var right = right
        return left.withUTF8 { left in right.withUTF8 { of(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0)) } }
    }

    @inlinable
    public static func of(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let first = left.baseAddress, let second = right.baseAddress {
            let order = memcmp(first, second, common)
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }
}
