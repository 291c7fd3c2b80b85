import PolyStoreBackend

/// The stores that a stack is opening. One thread at a time opens a store, so that concurrent additions of one store result in one store.
final class StoreOpenings: Sendable {
    /// The URLs of the stores that are being opened.
    private let urls = Protected<Set<String>>([])

    /// Runs a closure while other threads wait to open the same store. Other stores are not affected.
    func withAccess<T>(to store: StoreConfiguration, _ body: () throws -> T) rethrows -> T {
        guard store.isShared else { return try body() }
        let isFree: (Set<String>) -> Bool = { !$0.contains(store.url) }
        urls.wait(until: isFree) { _ = $0.insert(store.url) }
        defer { urls.signal { _ = $0.remove(store.url) } }
        return try body()
    }
}
