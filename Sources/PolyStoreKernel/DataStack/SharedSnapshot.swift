import PolyStoreBackend
import Synchronization

/// A snapshot that a context holds. All views of a stack share the one of a commit: they read it on the main actor, and the last of them ends it.
final class SharedSnapshot: @unchecked Sendable {  // the users read on one thread at a time, and only their number is shared otherwise
    let reader: any ReadTransaction
    /// The number of contexts and feeds that hold the snapshot.
    private let users: Atomic<Int>

    init(_ reader: any ReadTransaction, users: Int = 1) {
        self.reader = reader
        self.users = Atomic(users)
    }

    /// Called once by each user. The last one ends the snapshot.
    func release() { if users.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { reader.end() } }
}
