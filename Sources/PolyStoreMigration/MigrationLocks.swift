import PolyStoreBackend
import PolyStoreKernel

/// Ensures that one thread of the process at a time migrates a store.
enum MigrationLocks {
    private struct Entry {
        let lock = Lock()
        /// The number of threads that hold the lock or wait for it.
        var users = 0
    }

    private static let entries = Protected<[String: Entry]>([:])

    static func withLock<T>(_ store: StoreConfiguration, _ body: () throws -> T) throws -> T {
        let lock = entries.withLock { entries in
            entries[store.url, default: Entry()].users += 1
            return entries[store.url, default: Entry()].lock
        }
        defer {
            entries.withLock { entries in
                entries[store.url]?.users -= 1
                if entries[store.url]?.users == 0 { entries[store.url] = nil }
            }
        }
        return try lock.withLock(body)
    }
}
