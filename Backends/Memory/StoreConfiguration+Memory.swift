import PolyStoreBackend

extension StoreConfiguration {
    /// A store in memory: it starts empty and goes with its stack. Two of them are never the same store.
    public static func inMemory() -> StoreConfiguration {
        StoreConfiguration(engine: "memory", location: places.next(), isShared: false) { try MemoryBackend($0) }
    }

    /// So that messages tell one store in memory from another.
    private static let places = PlaceNumbers()
}

private final class PlaceNumbers: @unchecked Sendable {  // the number is touched under the lock only
    private let lock = Lock()
    private var last = 0

    func next() -> String {
        lock.withLock {
            last += 1
            return String(last)
        }
    }
}
