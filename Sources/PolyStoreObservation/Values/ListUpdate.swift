import PolyStoreKernel

/// A state of an observed list and its difference from the previous one.
public struct ListUpdate<T: Model>: Sendable, Equatable {
    /// The list after the change.
    public let snapshot: ListSnapshot<T>
    /// The change; nil for the first state, which is the whole list.
    public let changes: ListChanges<T>?
}
