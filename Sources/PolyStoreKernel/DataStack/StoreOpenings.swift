import PolyStoreBackend
import PolyStoreRuns

/// The stores that a stack is opening. One thread at a time opens a store, so that concurrent additions of one store result in one store.
final class StoreOpenings: Sendable {
    /// The names of the stores that are being opened.
    private let names = Protected<Set<StoreName>>([])

    /// Runs a closure while other threads wait to open the same store. Other stores are not affected.
    func withAccess<T>(to store: StoreConfiguration, _ body: () throws -> T) rethrows -> T {
        guard store.isShared else { return try body() }
        let own = store.names
        let isFree: (Set<StoreName>) -> Bool = { $0.isDisjoint(with: own) }
        names.wait(until: isFree) { $0.formUnion(own) }
        defer { names.signal { $0.subtract(own) } }
        return try body()
    }
}
