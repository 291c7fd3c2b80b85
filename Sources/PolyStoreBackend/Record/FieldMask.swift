/// A set of field indexes, such as the changed fields of a record. A fixed-size bit set that does not allocate.
public struct FieldMask: Sendable, Hashable {
    /// The maximum number of fields of an entity.
    public static let capacity = 256

    @usableFromInline var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// Creates an empty mask.
    @inlinable public init() {}

    /// Creates a mask of the first `count` field indexes.
    public init(first count: Int) { for fieldIndex in 0..<min(count, Self.capacity) { insert(fieldIndex) } }

    /// Adds a field index.
    @inlinable
    public mutating func insert(_ fieldIndex: Int) {
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: fieldIndex & 63)
        switch fieldIndex >> 6 {
        case 0: words.0 |= bit
        case 1: words.1 |= bit
        case 2: words.2 |= bit
        default: words.3 |= bit
        }
    }

    /// Returns whether the mask contains a field index.
    @inlinable
    public func contains(_ fieldIndex: Int) -> Bool {
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: fieldIndex & 63)
        switch fieldIndex >> 6 {
        case 0: return words.0 & bit != 0
        case 1: return words.1 & bit != 0
        case 2: return words.2 & bit != 0
        default: return words.3 & bit != 0
        }
    }

    /// A Boolean value that indicates whether the mask contains no field index.
    @inlinable public var isEmpty: Bool { words.0 | words.1 | words.2 | words.3 == 0 }

    /// The field indexes, in ascending order.
    public var indexes: [Int] { (0..<Self.capacity).filter(contains) }

    /// Removes a field index.
    public mutating func remove(_ fieldIndex: Int) {
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: fieldIndex & 63)
        switch fieldIndex >> 6 {
        case 0: words.0 &= ~bit
        case 1: words.1 &= ~bit
        case 2: words.2 &= ~bit
        default: words.3 &= ~bit
        }
    }

    /// Adds the field indexes of another mask.
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
    /// Returns the field indexes that both masks contain.
    public func intersection(_ other: FieldMask) -> FieldMask {
        var result = FieldMask()
        result.words = (words.0 & other.words.0, words.1 & other.words.1, words.2 & other.words.2, words.3 & other.words.3)
        return result
    }

    /// Returns whether no field index is in both masks.
    public func isDisjoint(with other: FieldMask) -> Bool {
        (words.0 & other.words.0) | (words.1 & other.words.1) | (words.2 & other.words.2) | (words.3 & other.words.3) == 0
    }
}
