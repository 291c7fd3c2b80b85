import PolyStoreBackend

/// The changes of one transaction in one store.
package struct CommittedChanges: @unchecked Sendable {  // the change set is complete and no longer mutated
    package let store: PersistentStore
    let version: UInt64
    package let changes: ChangeSet
    /// The to-many relationships whose member list changed.
    package let relationships: [RelationshipKey]
    /// The entities of deleted objects in class hierarchies.
    var deletedKinds: [RowReference: String] = [:]
}
