import PolyStoreBackend
import PolyStoreQuery
import Synchronization

/// A snapshot that a context holds. All views of a stack share the one of a commit: they read it on the main actor, and the last of them ends it.
final class SharedSnapshot: @unchecked Sendable {  // the users read on one thread at a time, and only their number is shared otherwise
    let reader: any ReadTransaction
    /// The session of the snapshot on a server, which can be given back; nil for other stores.
    let session: SnapshotSession?
    /// The number of contexts and feeds that hold the snapshot.
    private let users: Atomic<Int>

    /// - Parameters:
    ///   - store: The store in which the snapshot begins. The caller keeps its session.
    ///   - mayWait: Whether the snapshot can wait until readers give their sessions back.
    init(of store: PersistentStore, users: Int = 1, mayWait: Bool = true) throws {
        reader = try mayWait ? store.backend.beginRead() : store.backend.beginReadWithoutWaiting()
        session = store.hasShortSnapshots ? (reader as? ServerSnapshot)?.session : nil
        self.users = Atomic(users)
    }

    /// The version that the snapshot shows; nil if it cannot be read.
    var version: UInt64? { session?.version ?? (try? reader.version) }

    /// Called once by each user. The last one ends the snapshot.
    func release() { if users.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { reader.end() } }
}
