import PolyStoreBackend
import Synchronization

/// A cancellation flag of a transaction or another operation, usable from any thread.
package final class CancellationToken: Sendable {
    private let cancelled = Atomic(false)

    package init() {}

    package var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    package func cancel() { cancelled.store(true, ordering: .releasing) }

    package static var error: StoreError {
        StoreError(.cancelled, "The task was cancelled before the transaction's commit; nothing was written.")
    }
}
