import PolyStoreBackend

/// The change set of one transaction for one store.
struct StoreChanges {
    let store: PersistentStore
    let changes: ChangeSet
}
