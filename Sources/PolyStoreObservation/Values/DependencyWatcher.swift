import PolyStoreBackend
import PolyStoreKernel

/// Records the dependencies of the requests of a context.
final class DependencyWatcher: ReadWatcher {
    private(set) var dependencies = RequestDependencies()
    private let outer: (any ReadWatcher)?

    /// - Parameter outer: The previous watcher of the context.
    init(_ outer: (any ReadWatcher)?) { self.outer = outer }

    func watched(_ transaction: any ReadTransaction, of store: PersistentStore) -> any ReadTransaction {
        WatchedTransaction(outer?.watched(transaction, of: store) ?? transaction) { [self] request, _ in
            dependencies.add(request, in: store)
        }
    }
}
