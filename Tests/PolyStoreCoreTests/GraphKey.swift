/// The identity of an object in ``GraphState``.
struct GraphKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of the store: 0 is A, 1 is B.
    let store: Int
    let family: GraphKind
    let rowID: Int64

    var description: String { "\(store == 0 ? "A" : "B").\(family) \(rowID)" }

    static func < (left: GraphKey, right: GraphKey) -> Bool {
        (left.store, left.family.rawValue, left.rowID) < (right.store, right.family.rawValue, right.rowID)
    }
}
