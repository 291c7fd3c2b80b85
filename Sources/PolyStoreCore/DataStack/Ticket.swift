import PolyStoreBackend
import Synchronization

/// A cancellation token of a transaction, usable from any thread.
final class Ticket: Sendable {
    private let cancelled = Atomic(false)

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() { cancelled.store(true, ordering: .releasing) }

    static var error: StoreError { StoreError(.cancelled, "The task was cancelled before the transaction's commit; nothing was written.") }
}

/// The options of a transaction.
struct TransactionOrder: Sendable {
    /// The durability of the commit; nil uses the durability of the store.
    var durability: Durability?
    let origin: CommitOrigin?
    var ticket: Ticket?
    /// The source location of the call that began the transaction.
    let site: CallSite
    /// A Boolean value that indicates whether the changes are validated and applied, and then reverted; see ``Rehearsal``.
    var isRehearsal = false

    init(
        durability: Durability? = nil, source: (any Hashable & Sendable)? = nil, ticket: Ticket? = nil, site: CallSite = .framework,
        isRehearsal: Bool = false
    ) {
        self.durability = durability
        origin = CommitOrigin(source, [:])
        self.ticket = ticket
        self.site = site
        self.isRehearsal = isRehearsal
    }
}

/// The metadata that a transaction passes to observers of its commit. A single object, because copying an existential takes hundreds of instructions
/// and most transactions have no metadata.
final class CommitOrigin: Sendable {
    let source: (any Hashable & Sendable)?
    let userInfo: [String: any Sendable]

    /// - Returns: nil without metadata.
    init?(_ source: (any Hashable & Sendable)?, _ userInfo: [String: any Sendable]) {
        if source == nil, userInfo.isEmpty { return nil }
        self.source = source
        self.userInfo = userInfo
    }
}

/// The error that ends a rehearsal whose changes the stores would have accepted.
struct Rehearsal: Error {}
