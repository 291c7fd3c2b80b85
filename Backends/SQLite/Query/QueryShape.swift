import PolyStoreBackend

/// A query without its constants, as a short program in 32-bit words. SQL is made from the shape alone, so equal shapes have equal
/// SQL, and no constant can ever get into it.
///
/// The words: entity and flags; conditions in prefix form; fields; sort keys. See ``QueryCompiler`` (writes) and ``ShapeSQL`` (reads).
struct QueryShape: Equatable {
    let words: ContiguousArray<UInt32>
    let hash: UInt64

    init() {
        words = []
        hash = 0
    }

    init(_ words: ContiguousArray<UInt32>) {
        self.words = words
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for word in words { hash = (hash ^ UInt64(word)) &* 0x9e37_79b9_7f4a_7c15 }
        self.hash = hash
    }

    /// The hash sorts out nearly all others, the words decide.
    static func == (left: QueryShape, right: QueryShape) -> Bool { left.hash == right.hash && left.words == right.words }

    /// What is asked for.
    struct Flags: OptionSet {
        let rawValue: UInt32
        static let onlyIDs = Flags(rawValue: 1)
        static let limit = Flags(rawValue: 2)
        static let offset = Flags(rawValue: 4)
        static let count = Flags(rawValue: 8)
        /// Only some fields: how many, and which, follow the conditions.
        static let fields = Flags(rawValue: 16)
        static let ignoresIndexes = Flags(rawValue: 32)
        /// Tells of every row that is looked at; see ``RowCounter``.
        static let countsRows = Flags(rawValue: 64)
    }

    /// The kinds of conditions: the low byte of a word.
    enum Operation: UInt32 {
        /// Always false, true or unknown.
        case never, always, unknown
        /// False, or true, but unknown for null.
        case neverUnlessNull, alwaysUnlessNull
        /// With a constant; the variant tells how.
        case compare
        /// With NaN.
        case isNaN, isNotNaN
        /// A second word holds the other field.
        case compareFields
        case isNull
        /// A second word holds how many values there are.
        case oneOf
        /// The values in one JSON array.
        case oneOfList
        case inRange, contains, endsWith
        /// A second word holds how many parts follow.
        case and, or
        case not
        /// Of other objects: see ``RelatedWord``; the condition follows.
        case related
        /// How many other objects there are: the same, then the condition, then what the number is compared with.
        case countRelated
    }

    /// What a comparison has to mind.
    enum Variant: UInt32 {
        case plain, unsignedLow, unsignedHigh, nan
    }
}

/// A word of a condition: operation, comparison, variant, field.
struct ShapeWord {
    let operation: QueryShape.Operation
    let comparison: Int
    let variant: QueryShape.Variant
    /// -1 is the id.
    let ordinal: Int

    init(_ operation: QueryShape.Operation, ordinal: Int = -1, comparison: Int = 0, variant: QueryShape.Variant = .plain) {
        self.operation = operation
        self.comparison = comparison
        self.variant = variant
        self.ordinal = ordinal
    }

    /// - Returns: nil for bits that no word has.
    init?(_ bits: UInt32) {
        guard let operation = QueryShape.Operation(rawValue: bits & 0xff), let variant = QueryShape.Variant(rawValue: bits >> 12 & 0xf)
        else {
            return nil
        }
        self.init(operation, ordinal: Int(bits >> 16) - 1, comparison: Int(bits >> 8 & 0xf), variant: variant)
    }

    var bits: UInt32 {
        operation.rawValue | UInt32(truncatingIfNeeded: comparison) << 8 | variant.rawValue << 12 | UInt32(truncatingIfNeeded: ordinal + 1)
            << 16
    }
}

/// The word behind ``QueryShape/Operation/related``: relationship, quantifier, and whether only truth matters.
struct RelatedWord {
    let relationship: Int
    let quantifier: Quantifier
    /// Neither false nor unknown selects a row: the answer may be either.
    let isTruthEnough: Bool

    private static let quantifiers: [Quantifier] = [.one, .any, .all]

    init(_ relationship: Int, _ quantifier: Quantifier, isTruthEnough: Bool) {
        self.relationship = relationship
        self.quantifier = quantifier
        self.isTruthEnough = isTruthEnough
    }

    init(_ bits: UInt32) {
        self.init(Int(bits >> 8), Self.quantifiers[min(Int(bits & 3), 2)], isTruthEnough: bits & 4 != 0)
    }

    var bits: UInt32 {
        UInt32(truncatingIfNeeded: relationship) << 8 | (isTruthEnough ? 4 : 0)
            | UInt32(truncatingIfNeeded: Self.quantifiers.firstIndex(of: quantifier) ?? 0)
    }
}
