import PolyStoreBackend

/// A query without its constants, as a short program of 32-bit words. SQL is generated from the shape alone, so equal shapes have equal SQL, and it never
/// contains a constant.
///
/// The words are the entity and flags, the conditions in prefix form, the fields, and the sort keys. ``QueryCompiler`` writes them and ``ShapeSQL`` reads them.
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

    /// Compares the hashes first, which differ for nearly all unequal shapes.
    static func == (left: QueryShape, right: QueryShape) -> Bool { left.hash == right.hash && left.words == right.words }

    /// The properties of the request.
    struct Flags: OptionSet {
        let rawValue: UInt32
        static let onlyIDs = Flags(rawValue: 1)
        static let limit = Flags(rawValue: 2)
        static let offset = Flags(rawValue: 4)
        static let count = Flags(rawValue: 8)
        /// Only some fields are fetched: their number and list follow the conditions.
        static let fields = Flags(rawValue: 16)
        static let ignoresIndexes = Flags(rawValue: 32)
        /// Reports every row that is examined; see ``RowCounter``.
        static let countsRows = Flags(rawValue: 64)
    }

    /// The kinds of conditions, stored in the low byte of a word.
    enum Operation: UInt32 {
        /// Always false, true or unknown.
        case never, always, unknown
        /// False, or true, but unknown for null.
        case neverUnlessNull, alwaysUnlessNull
        /// A comparison with a constant; the variant specifies how.
        case compare
        /// A comparison with NaN.
        case isNaN, isNotNaN
        /// A comparison of two fields; a second word contains the other field.
        case compareFields
        case isNull
        /// A list of values; a second word contains their number.
        case oneOf
        /// A list of values in one JSON array.
        case oneOfList
        case inRange, contains, endsWith
        /// A comparison of a part of a date with a constant, and a test of the part for null; a second word contains the part.
        case compareDatePart, datePartIsNull
        /// A list of values of a part of a date; a second word contains the part, a third one their number.
        case datePartOneOf
        /// A test of a value within a JSON attribute; a second word contains the number of the field, and the test follows.
        case jsonField
        /// A second word contains the number of parts that follow.
        case and, or
        case not
        /// A condition on related objects: a ``RelatedWord`` and the condition follow.
        case related
        /// A count of related objects: a ``RelatedWord``, the condition, and the comparison of the count follow.
        case countRelated
    }

    /// The special values that a comparison must handle.
    enum Variant: UInt32 {
        case plain, unsignedLow, unsignedHigh, nan
    }
}
