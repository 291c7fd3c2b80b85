import PolyStoreBackend
import PolyStoreRuns

/// The options of a transaction.
@usableFromInline
package struct TransactionOptions: Sendable {
    /// The durability of the commit; nil uses the durability of the store.
    var durability: Durability?
    let origin: CommitOrigin?
    var cancellation: CancellationToken?
    /// The source location of the call that began the transaction.
    let site: CallSite
    /// A Boolean value that indicates whether the changes are validated and applied, and then reverted; see ``DryRunCompleted``.
    package var isDryRun = false
    /// The number of times that the transaction may be run again.
    var retries = 0

    package init(
        durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, cancellation: CancellationToken? = nil,
        site: CallSite = .framework, isDryRun: Bool = false
    ) {
        self.durability = durability
        origin = CommitOrigin.make(sourceIdentifier, [:])
        self.cancellation = cancellation
        self.site = site
        self.isDryRun = isDryRun
    }

    /// Creates the options of a transaction that a method of the stack begins.
    @usableFromInline
    init(
        _ durability: Durability?, _ sourceIdentifier: (any Hashable & Sendable)?, retries: Int = 0, file: StaticString, line: UInt
    ) {
        self.init(durability: durability, sourceIdentifier: sourceIdentifier, site: CallSite("transaction", file: file, line: line))
        self.retries = retries
    }
}
