/// How much the planner prefers an access path before it counts entries: the greatest is taken, unless another search finds far fewer entries.
///
/// A sum of weights. They are chosen so that each fixed field outweighs every other property, a list of values is slightly worse than a fixed value, and order
/// and covering only decide among paths that select rows equally well.
struct PathPreference: Comparable {
    private var weight: Int

    private init(_ weight: Int) { self.weight = weight }

    /// The preference of an index search by the fields that it fixes or bounds.
    init(_ search: IndexSearch) {
        if search.isUniqueMatch {
            self = .uniqueMatch
            return
        }
        weight = search.fixedFields * Self.oneFixedField.weight + (search.pointFields - search.fixedFields) * Self.listedField.weight
        if search.hasRange {
            let isBoundedTwice = search.conditions.count - search.pointFields > 1
            weight += (isBoundedTwice ? Self.boundedRange : Self.openRange).weight
        }
    }

    /// At most one row matches: all fields of a unique index have a fixed value.
    static let uniqueMatch = PathPreference(1000)
    /// A leading field with one value.
    static let oneFixedField = PathPreference(100)
    /// A leading field with one of several values.
    private static let listedField = PathPreference(95)
    /// A union of paths for the parts of an OR.
    static let union = PathPreference(90)
    /// A field with a lower and an upper bound.
    private static let boundedRange = PathPreference(75)
    /// A field with one bound.
    private static let openRange = PathPreference(65)
    /// A scan of a range of row ids.
    static let rangeOfIDs = PathPreference(60)
    /// The path provides the requested order.
    static let order = PathPreference(20)
    /// The index entries contain all needed values.
    static let covering = PathPreference(10)
    /// The path provides the order of the first sort keys.
    static let partOfOrder = PathPreference(5)
    static let fullScan = PathPreference(0)

    static func += (left: inout PathPreference, right: PathPreference) { left.weight += right.weight }
    static func < (left: PathPreference, right: PathPreference) -> Bool { left.weight < right.weight }
}
