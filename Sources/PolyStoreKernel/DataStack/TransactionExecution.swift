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
        var written = Written()
        let outcome: TransactionOutcome
        do {
            try body(transaction)
            written = try write(transaction)
            outcome = .committed(hadChanges: !written.changes.isEmpty)
        } catch {
            outcome = .failed(error)
        }
        conclude(transaction, written, outcome, receiver)
    }

    /// Runs a transaction that is committed explicitly by its body.
    func run(_ transaction: Transaction, _ commit: ExplicitCommit, _ receiver: any OutcomeReceiver, _ body: () throws -> Void) {
        var written = Written()
        transaction.adopt(options)
        commit.write = { [unowned transaction] in
            written = try write(transaction)
            // Otherwise they are still pending, so that the body reads them.
            if written.isApplied { transaction.didWrite() }
            return !written.changes.isEmpty
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
        conclude(transaction, written, outcome, receiver)
    }

    /// The changes of a transaction.
    private struct Written {
        var changes: [StoreChanges] = []
        /// A Boolean value that indicates whether the stores have accepted them. Otherwise the transaction goes back to the front of the write queue.
        var isApplied = true
    }

    /// Validates, encodes and applies the changes of a transaction.
    private func write(_ transaction: Transaction) throws -> Written {
        let changes = try transaction.changeSets()
        if options.isDryRun { try group.applyAndRevert(changes) }
        return Written(changes: changes, isApplied: try group.apply(changes, options.durability))
    }

    /// Ends a transaction and schedules its acknowledgement.
    private func conclude(_ transaction: Transaction, _ written: Written, _ outcome: TransactionOutcome, _ receiver: any OutcomeReceiver) {
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
        guard group.hasChanges(in: stores) || !written.isApplied else { return receiver.receive(outcome) }
        let member = GroupMember(
            changes: written.changes, durability: options.durability, relationshipChanges: published.relationshipChanges,
            deletedKinds: published.deletedKinds, stores: stores, isIndependent: isIndependent, origin: transaction.origin, site: site,
            outcome, receiver)
        if written.isApplied { group.add(member) } else { core.writeQueue.returnToFront(member) }
    }
}
