import PolyStoreBackend

/// The resolution of conflicting changes to one object: by an unqueued transaction and the store, or by a child transaction and its parent.
///
/// | | both changed it | deleted in the store | deleted here, changed there |
/// |---|---|---|---|
/// | ``error`` | `conflict` | `conflict` | `conflict` |
/// | ``storeWins`` | the store's values | remains deleted | not deleted |
/// | ``mineWins`` | the transaction's values, all attributes | inserted again | deleted |
/// | ``attributesStoreWins`` | merged; the store's values if both changed an attribute | remains deleted | not deleted |
/// | ``attributesMineWins`` | merged; the transaction's values if both changed an attribute | inserted again | deleted |
///
/// An object that is not deleted because of a conflict is still deleted if a cascade from another deletion reaches it. Attributes and to-one
/// relationships can conflict. To-many relationships never conflict: additions and removals of both sides are applied. A relationship set to an
/// object that no longer exists is a `conflict` with ``error``; the other policies nullify it.
public struct MergePolicy: Sendable, Hashable {
    enum Winner: Sendable { case nobody, store, mine }

    let winner: Winner
    /// A Boolean value that indicates whether values are merged attribute by attribute.
    let isByAttribute: Bool

    /// Writes nothing and throws an error that lists all conflicting objects.
    public static let error = MergePolicy(winner: .nobody, isByAttribute: false)
    /// Keeps the values of the store for each conflicting object.
    public static let storeWins = MergePolicy(winner: .store, isByAttribute: false)
    /// Writes the values of the transaction for each conflicting object.
    public static let mineWins = MergePolicy(winner: .mine, isByAttribute: false)
    /// Merges attributes and keeps the store's value of an attribute that both sides changed.
    public static let attributesStoreWins = MergePolicy(winner: .store, isByAttribute: true)
    /// Merges attributes and writes the transaction's value of an attribute that both sides changed.
    public static let attributesMineWins = MergePolicy(winner: .mine, isByAttribute: true)
}

extension MergePolicy: CustomStringConvertible {
    /// The name of the policy: `error`, `storeWins`, `mineWins`, `attributesStoreWins` or `attributesMineWins`.
    public var description: String {
        switch (winner, isByAttribute) {
        case (.nobody, _): "error"
        case (.store, false): "storeWins"
        case (.store, true): "attributesStoreWins"
        case (.mine, false): "mineWins"
        case (.mine, true): "attributesMineWins"
        }
    }
}
