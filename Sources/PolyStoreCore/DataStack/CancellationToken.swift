import PolyStoreBackend
import Synchronization

/// A cancellation flag of a transaction or another operation, usable from any thread.
final class CancellationToken: Sendable {
    private let cancelled = Atomic(false)

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() { cancelled.store(true, ordering: .releasing) }

    static var error: StoreError { StoreError(.cancelled, "The task was cancelled before the transaction's commit; nothing was written.") }
}
