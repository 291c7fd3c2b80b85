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
    /// Not generic, because generic metadata would be looked up in each transaction. The body stores its result, which is not read before `done` is
    /// called.
    /// - Parameter done: receives the error, if any: immediately if the outcome does not depend on uncommitted changes, otherwise after the commit.
    func run(_ body: (Transaction) throws -> Void, done: @escaping ((any Error)?) -> Void) {
        if let cancellation = options.cancellation, cancellation.isCancelled { return done(CancellationToken.error) }
        let transaction = Transaction(core: core, table: core.table.withLock { $0 }, writers: group.writers, options.site)
        transaction.adopt(options)
        var failure: (any Error)?
        var changes: [StoreChanges] = []
        do {
            try body(transaction)
            changes = try write(transaction)
        } catch {
            failure = error
        }
        conclude(transaction, changes, failure, done)
    }

    /// Runs a transaction that is committed explicitly by its body.
    /// - Parameter done: receives nil if the body did not commit.
    func run(
        _ transaction: Transaction, _ commit: ExplicitCommit, _ body: () throws -> Void, done: @escaping (Result<Bool, any Error>?) -> Void
    ) {
        var changes: [StoreChanges] = []
        transaction.adopt(options)
        commit.write = { [unowned transaction] in
            changes = try write(transaction)
            return !changes.isEmpty
        }
        var failure: (any Error)?
        do { try body() } catch { failure = error }
        commit.write = nil
        let outcome = commit.outcome
        switch outcome {
        case .failure(let error): failure = error
        case .success:
            if let failure {
                core.logger.write(.error, options.site, "A transaction threw after its commit, which stands: \(failure)")
            }
            failure = nil
        case nil: break
        }
        conclude(transaction, changes, failure) { error in
            done(error.map { .failure($0) } ?? outcome)
        }
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
        _ transaction: Transaction, _ changes: [StoreChanges], _ failure: (any Error)?, _ done: @escaping ((any Error)?) -> Void
    ) {
        // A transaction that used no store waits for all its predecessors, so that a caller can wait for them with an empty transaction. It does not
        // fail if they fail.
        let usedStores = transaction.usedStores
        let isEmpty = usedStores.isEmpty
        let stores = isEmpty ? Array(group.writers.all.indices) : usedStores
        let published = transaction.published
        let site = transaction.site
        transaction.end()
        if let failure { core.logger.writeFailure(failure, site) }
        group.didRun()
        // Results and errors that may depend on uncommitted changes are held back until those are committed.
        guard group.hasChanges(in: stores) else { return done(failure) }
        group.add(
            AppliedTransaction(
                changes: changes, relationshipChanges: published.relationshipChanges, deletedKinds: published.deletedKinds, stores: stores,
                origin: transaction.origin, site: site
            ) { [failure] error in done(failure ?? (isEmpty ? nil : error)) })
    }
}
