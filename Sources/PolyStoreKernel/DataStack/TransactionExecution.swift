import PolyStoreBackend
import PolyStoreRuns

/// The execution of one transaction that has reached the head of the write queue: runs its body, validates and encodes its changes, applies them, and
/// adds the transaction to the commit group.
struct TransactionExecution {
    let core: StackCore
    let options: TransactionOptions
    let group: CommitGroup

    /// Runs a transaction that is committed when its body returns.
    ///
    /// Not generic, because generic metadata would be looked up in each transaction. The body stores its result, which is not read before the outcome is
    /// received.
    func run(_ receiver: any OutcomeReceiver, _ body: (Transaction) throws -> Void) {
        if let cancellation = options.cancellation, cancellation.isCancelled { return receiver.receive(.failed(CancellationToken.error)) }
        let transaction = Transaction(core: core, table: core.table.withLock { $0 }, writers: group.writers, options.site)
        transaction.adopt(options)
        var changes: [StoreChanges] = []
        let outcome: TransactionOutcome
        do {
            try body(transaction)
            changes = try write(transaction)
            outcome = .committed(hadChanges: !changes.isEmpty)
        } catch {
            outcome = .failed(error)
        }
        conclude(transaction, changes, outcome, receiver)
    }

    /// Runs a transaction that is committed explicitly by its body.
    func run(_ transaction: Transaction, _ commit: ExplicitCommit, _ receiver: any OutcomeReceiver, _ body: () throws -> Void) {
        var changes: [StoreChanges] = []
        transaction.adopt(options)
        commit.write = { [unowned transaction] in
            changes = try write(transaction)
            return !changes.isEmpty
        }
        var failure: (any Error)?
        do { try body() } catch { failure = error }
        commit.write = nil
        let outcome: TransactionOutcome
        switch commit.outcome {
        case .success(let hadChanges):
            outcome = .committed(hadChanges: hadChanges)
            if let failure {
                core.logger.write(.error, options.site, "A transaction threw after its commit, which stands: \(failure)")
            }
        case .failure(let error): outcome = .failed(error)
        case nil: outcome = failure.map { .failed($0) } ?? .discarded
        }
        conclude(transaction, changes, outcome, receiver)
    }

    /// Validates, encodes and applies the changes of a transaction.
    private func write(_ transaction: Transaction) throws -> [StoreChanges] {
        let changes = try transaction.changeSets()
        if options.isDryRun { try group.applyAndRevert(changes) }
        try group.apply(changes, options.durability, transaction.usedStores)
        return changes
    }

    /// Ends a transaction and schedules its acknowledgement.
    private func conclude(
        _ transaction: Transaction, _ changes: [StoreChanges], _ outcome: TransactionOutcome, _ receiver: any OutcomeReceiver
    ) {
        // A transaction that used no store waits for all its predecessors, so that a caller can wait for them with an empty transaction. It does not
        // fail if they fail.
        let usedStores = transaction.usedStores
        let isIndependent = usedStores.isEmpty
        let stores = isIndependent ? Array(group.writers.all.indices) : usedStores
        let published = transaction.published
        let site = transaction.site
        transaction.end()
        if let failure = outcome.error { core.logger.writeFailure(failure, site) }
        group.didRun()
        // Results and errors that may depend on uncommitted changes are held back until those are committed.
        guard group.hasChanges(in: stores) else { return receiver.receive(outcome) }
        group.add(
            AppliedTransaction(
                changes: changes, relationshipChanges: published.relationshipChanges, deletedKinds: published.deletedKinds, stores: stores,
                isIndependent: isIndependent, origin: transaction.origin, site: site, outcome, receiver))
    }
}
