import PolyStoreBackend

/// What becomes of an object that was changed in two places at once: in a transaction outside of the line, or in a child of another one, and
/// meanwhile in the store, or in the parent.
///
/// | | both changed it | deleted in the store | deleted here, changed there |
/// |---|---|---|---|
/// | ``error`` | `conflict` | `conflict` | `conflict` |
/// | ``storeWins`` | as in the store | stays deleted | stays |
/// | ``mineWins`` | as here, all attributes | is there again | deleted |
/// | ``attributesStoreWins`` | both; what both changed as in the store | stays deleted | stays |
/// | ``attributesMineWins`` | both; what both changed as here | is there again | deleted |
///
/// An object that stays all the same goes with one whose deletion stands, if that cascades. Changed are attributes and to-one relationships. To-many relationships never conflict: what was added is added, and what was removed is removed.
/// A relationship that was made to lead to an object which is no longer there is a `conflict`, or with any other policy leads nowhere.
public struct MergePolicy: Sendable, Hashable {
    enum Winner: Sendable { case nobody, store, mine }

    let winner: Winner
    /// Whether attributes that only one side changed are taken from it.
    let isByAttribute: Bool

    /// Nothing is written, and the error names every object.
    public static let error = MergePolicy(winner: .nobody, isByAttribute: false)
    /// Who was first wins, object by object.
    public static let storeWins = MergePolicy(winner: .store, isByAttribute: false)
    /// Who comes last wins, object by object.
    public static let mineWins = MergePolicy(winner: .mine, isByAttribute: false)
    /// Attribute by attribute; who was first wins where both changed the same one.
    public static let attributesStoreWins = MergePolicy(winner: .store, isByAttribute: true)
    /// Attribute by attribute; who comes last wins where both changed the same one.
    public static let attributesMineWins = MergePolicy(winner: .mine, isByAttribute: true)
}
