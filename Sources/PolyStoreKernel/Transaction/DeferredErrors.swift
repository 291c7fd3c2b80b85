import PolyStoreBackend

/// The errors of invalid assignments to relationships, whose setters cannot throw. Each one rejects the commit until the relationship is assigned
/// correctly or its object is deleted. An error of a deletion that was made in part rejects the commit until the changes are discarded or undone.
struct DeferredErrors {
    private var found: [(key: RelationshipKey, error: StoreError)] = []
    /// The number of additions and removals.
    private(set) var changeCount = 0

    var isEmpty: Bool { found.isEmpty }
    var first: StoreError? { found.first?.error }

    mutating func add(_ error: StoreError, for key: RelationshipKey) {
        changeCount += 1
        found.removeAll { $0.key == key }
        found.append((key, error))
    }

    /// Adds the error of a change that was made in part, which nothing resolves.
    mutating func refuseCommit(_ error: StoreError) { add(error, for: RelationshipKey(entityIndex: -1, relationship: -1, rowID: 0)) }

    /// Called when a relationship was assigned correctly.
    mutating func resolve(_ key: RelationshipKey) { resolve { $0 == key } }

    /// Called when an object is deleted.
    mutating func resolve(_ object: RowReference) { resolve { $0.owner == object } }

    private mutating func resolve(_ isResolved: (RelationshipKey) -> Bool) {
        guard !found.isEmpty else { return }
        let before = found.count
        found.removeAll { isResolved($0.key) }
        if found.count != before { changeCount += 1 }
    }
}
