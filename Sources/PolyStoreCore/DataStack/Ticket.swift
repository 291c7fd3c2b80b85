import PolyStoreBackend
import Synchronization

/// By which a transaction that was asked for can be called off, from any thread.
final class Ticket: Sendable {
    private let cancelled = Atomic(false)

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() { cancelled.store(true, ordering: .releasing) }

    static var error: StoreError { StoreError(.cancelled, "The task was cancelled before the transaction's commit; nothing was written.") }
}

/// What is asked for beside a transaction's body.
struct TransactionOrder: Sendable {
    /// nil is what the store says.
    var durability: Durability?
    var source: (any Hashable & Sendable)?
    var ticket: Ticket?
    /// The place in the user's code that asked for the transaction.
    var site: CallSite = .framework
    /// Whether the changes are checked and applied, and then undone; see ``Rehearsal``.
    var isRehearsal = false
}

/// Ends a transaction whose changes would have been committed, had it not been a rehearsal.
struct Rehearsal: Error {}
