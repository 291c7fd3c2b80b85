import PolyStoreBackend
import PolyStoreRuns

/// The options of a transaction.
@usableFromInline
package struct TransactionOptions: Sendable {
    /// The durability of the commit; nil uses the durability of the store.
    var durability: Durability?
    let origin: CommitOrigin?
    /// The interruption of the transaction before its commit; nil for none.
    var interruption: Interruption?
    /// The source location of the call that began the transaction.
    let site: CallSite
    /// A Boolean value that indicates whether the changes are validated and applied, and then reverted; see ``DryRunCompleted``.
    package var isDryRun = false
    /// The number of times that the transaction may be run again.
    package var retries = 0

    package init(
        durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, interruption: Interruption? = nil,
        site: CallSite = .framework, isDryRun: Bool = false
    ) {
        self.durability = durability
        origin = CommitOrigin.make(sourceIdentifier, [:])
        self.interruption = interruption
        self.site = site
        self.isDryRun = isDryRun
    }

    /// Creates the options of a transaction that a method of the stack begins.
    @usableFromInline
    init(
        _ durability: Durability?, _ sourceIdentifier: (any Hashable & Sendable)?, retries: Int = 0, timeLimit: Duration? = nil,
        file: StaticString, line: UInt
    ) {
        self.init(
            durability: durability, sourceIdentifier: sourceIdentifier, interruption: timeLimit.map { Interruption(timeLimit: $0) },
            site: CallSite("transaction", file: file, line: line))
        self.retries = retries
    }
}
