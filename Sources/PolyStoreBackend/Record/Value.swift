public import PolyStorePlatform

/// A physical value, used for query constants, defaults and results. Rows are records instead.
public enum Value: Sendable, Codable {
    /// No value.
    case null
    /// A signed integer. An unsigned integer of 64 bits is stored with its bit pattern.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A text.
    case text(String)
    /// A sequence of bytes.
    case blob([UInt8])

    /// A Boolean value that indicates whether the value is null.
    public var isNull: Bool { if case .null = self { true } else { false } }
}

extension Value: Hashable {
    /// Compares text by its UTF-8 bytes, not by canonical equivalence. NaN equals NaN.
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
    /// Returns how the value compares with another one in the order of every backend: null, integers, reals, text, blobs; text and blobs are compared bytewise.
    /// - Returns: A negative number, 0 or a positive number.
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

    /// Returns the stored form of a real: 0 for −0, and one quiet NaN for every NaN.
    @inlinable
    public static func normalized(_ value: Double) -> Double {
        if value == 0 { return 0 }
        return value.isNaN ? .nan : value
    }
}

/// Comparisons as defined in `docs/semantics.md`. They return a negative number, 0 or a positive number.
public enum Order {
    /// Compares two signed integers.
    @inlinable
    public static func of(_ left: Int64, _ right: Int64) -> Int { left < right ? -1 : (left == right ? 0 : 1) }

    @inlinable
    public static func of(_ left: UInt64, _ right: UInt64) -> Int { left < right ? -1 : (left == right ? 0 : 1) }

    /// Compares two reals in a total order: NaN equals NaN and precedes every other number, −0 equals 0.
    @inlinable
    public static func of(_ left: Double, _ right: Double) -> Int {
        if left < right { return -1 }
        if left > right { return 1 }
        if left == right { return 0 }
        return left.isNaN ? (right.isNaN ? 0 : -1) : 1
    }

    /// Compares two texts by their UTF-8 bytes.
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
