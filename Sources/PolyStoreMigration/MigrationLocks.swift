import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

/// Ensures that one thread of the process at a time migrates a store.
enum MigrationLocks {
    private struct Entry {
        let lock = Lock(.migration)
        /// The number of threads that hold the lock or wait for it.
        var users = 0
        /// The thread that migrates the store, or 0.
        var owner: UInt = 0
    }

    private static let entries = Protected<[String: Entry]>([:])

    /// Runs a migration while other threads wait to migrate the same store.
    /// - Throws: `misuse` if the calling thread is migrating the store, so that it would wait for itself.
    static func withLock<T>(_ store: StoreConfiguration, _ body: () throws -> T) throws -> T {
        let caller = currentThreadNumber()
        let lock = try entries.withLock { entries in
            guard entries[store.url]?.owner != caller else {
                throw StoreError(
                    .misuse,
                    "The store \(store.location) is migrated inside of its own migration, which would wait for itself: a deadlock. "
                        + "Read the old objects through the mapping instead.", location: store.location)
            }
            entries[store.url, default: Entry()].users += 1
            return entries[store.url, default: Entry()].lock
        }
        defer {
            entries.withLock { entries in
                entries[store.url]?.users -= 1
                if entries[store.url]?.users == 0 { entries[store.url] = nil }
            }
        }
        return try lock.withLock {
            entries.withLock { $0[store.url]?.owner = caller }
            defer { entries.withLock { $0[store.url]?.owner = 0 } }
            return try body()
        }
    }
}
