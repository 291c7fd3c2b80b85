import PolyStoreBackend

/// An observer of the requests that a context sends to stores.
package protocol ReadWatcher: AnyObject {
    /// Returns the transaction to read through instead.
    func watched(_ transaction: any ReadTransaction, of store: PersistentStore) -> any ReadTransaction
}
