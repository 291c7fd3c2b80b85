import PolyStoreBackend

/// The word after ``QueryShape/Operation/related``: the relationship, the quantifier, and whether only truth matters.
struct RelatedWord {
    let relationship: Int
    let quantifier: Quantifier
    /// A Boolean value that indicates whether false and unknown are equivalent, because neither selects a row.
    let isTruthEnough: Bool
    /// A Boolean value that indicates whether the destinations that satisfy the condition are listed first, so that the condition is evaluated once for each of
    /// them, and the rows are tested against the list.
    let listsDestinations: Bool

    private static let quantifiers: [Quantifier] = [.one, .any, .all]

    init(_ relationship: Int, _ quantifier: Quantifier, isTruthEnough: Bool, listsDestinations: Bool = false) {
        self.relationship = relationship
        self.quantifier = quantifier
        self.isTruthEnough = isTruthEnough
        self.listsDestinations = listsDestinations
    }

    init(_ bits: UInt32) {
        self.init(
            Int(bits >> 8), Self.quantifiers[min(Int(bits & 3), 2)], isTruthEnough: bits & 4 != 0, listsDestinations: bits & 8 != 0)
    }

    var bits: UInt32 {
        UInt32(truncatingIfNeeded: relationship) << 8 | (isTruthEnough ? 4 : 0) | (listsDestinations ? 8 : 0)
            | UInt32(truncatingIfNeeded: Self.quantifiers.firstIndex(of: quantifier) ?? 0)
    }
}
