import PolyStoreBackend

/// Ensures that one thread of the process at a time migrates a store.
enum MigrationLocks {
    private struct Place {
        let lock = Lock()
        /// The number of threads that hold the lock or wait for it.
        var users = 0
    }

    private static let places = Protected<[String: Place]>([:])

    static func withLock<T>(_ store: StoreConfiguration, _ body: () throws -> T) throws -> T {
        let lock = places.withLock { places in
            places[store.url, default: Place()].users += 1
            return places[store.url, default: Place()].lock
        }
        defer {
            places.withLock { places in
                places[store.url]?.users -= 1
                if places[store.url]?.users == 0 { places[store.url] = nil }
            }
        }
        return try lock.withLock(body)
    }
}
