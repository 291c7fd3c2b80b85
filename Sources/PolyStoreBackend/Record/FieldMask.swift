/// A set of field ordinals: which fields of a record changed. Plain bits, no allocation.
public struct FieldMask: Sendable, Hashable {
    /// The greatest number of fields of an entity.
    public static let capacity = 256

    @usableFromInline var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    @inlinable public init() {}

    /// The first `count` ordinals.
    public init(first count: Int) { for ordinal in 0..<min(count, Self.capacity) { insert(ordinal) } }

    @inlinable
    public mutating func insert(_ ordinal: Int) {
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: ordinal & 63)
        switch ordinal >> 6 {
        case 0: words.0 |= bit
        case 1: words.1 |= bit
        case 2: words.2 |= bit
        default: words.3 |= bit
        }
    }

    @inlinable
    public func contains(_ ordinal: Int) -> Bool {
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: ordinal & 63)
        switch ordinal >> 6 {
        case 0: return words.0 & bit != 0
        case 1: return words.1 & bit != 0
        case 2: return words.2 & bit != 0
        default: return words.3 & bit != 0
        }
    }

    @inlinable public var isEmpty: Bool { words.0 | words.1 | words.2 | words.3 == 0 }

    /// The ordinals, ascending.
    public var ordinals: [Int] { (0..<Self.capacity).filter(contains) }

    public mutating func remove(_ ordinal: Int) {
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: ordinal & 63)
        switch ordinal >> 6 {
        case 0: words.0 &= ~bit
        case 1: words.1 &= ~bit
        case 2: words.2 &= ~bit
        default: words.3 &= ~bit
        }
    }

    public mutating func formUnion(_ other: FieldMask) {
        words.0 |= other.words.0
        words.1 |= other.words.1
        words.2 |= other.words.2
        words.3 |= other.words.3
    }

    public static func == (left: FieldMask, right: FieldMask) -> Bool { left.words == right.words }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

extension FieldMask {
    /// The ordinals that are in both.
    public func intersection(_ other: FieldMask) -> FieldMask {
        var result = FieldMask()
        result.words = (words.0 & other.words.0, words.1 & other.words.1, words.2 & other.words.2, words.3 & other.words.3)
        return result
    }

    /// Whether no ordinal is in both.
    public func isDisjoint(with other: FieldMask) -> Bool {
        (words.0 & other.words.0) | (words.1 & other.words.1) | (words.2 & other.words.2) | (words.3 & other.words.3) == 0
    }
}
