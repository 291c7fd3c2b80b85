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
    let origin: CommitOrigin?
    var ticket: Ticket?
    /// The place in the user's code that asked for the transaction.
    let site: CallSite
    /// Whether the changes are checked and applied, and then undone; see ``Rehearsal``.
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

/// What a transaction tells the observers of its commit. One object, as copying an existential takes hundreds of instructions, and most transactions tell nothing.
final class CommitOrigin: Sendable {
    let source: (any Hashable & Sendable)?
    let userInfo: [String: any Sendable]

    /// - Returns: nil where there is nothing to tell.
    init?(_ source: (any Hashable & Sendable)?, _ userInfo: [String: any Sendable]) {
        if source == nil, userInfo.isEmpty { return nil }
        self.source = source
        self.userInfo = userInfo
    }
}

/// Ends a transaction whose changes would have been committed, had it not been a rehearsal.
struct Rehearsal: Error {}
