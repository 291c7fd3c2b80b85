import PolyStoreBackend

/// The run of a queued transaction, from its body to the commit group that takes its changes.
extension Transaction {
    /// Runs a transaction that is committed when its body returns.
    ///
    /// Not generic, because generic metadata would be looked up in each transaction. The body stores its result, which is not read before the outcome is
    /// received.
    /// - Parameter isRepeated: Whether the transaction is run again. It is then alone in its group, so that no other one fails with it again.
    final func run(
        in group: CommitGroup, _ options: TransactionOptions, isRepeated: Bool = false, _ receiver: any OutcomeReceiver,
        _ body: (Transaction) throws -> Void
    ) {
        if let error = cancellation?.error {
            interruption = nil
            return receiver.receive(.failed(error))
        }
        if isRepeated, group.isOpen { group.commit() }
        defer { if isRepeated, group.isOpen { group.commit() } }
        let began = core.slowOperations.start(.transaction)
        var written = Written()
        let outcome: TransactionOutcome
        do {
            try body(self)
            // One that is refused for the sake of others is run again.
            written = try write(to: group, options, defers: options.retries > 0)
            outcome = .committed(hadChanges: !written.changes.isEmpty)
        } catch {
            outcome = .failed(error)
        }
        join(group, written, options, outcome, receiver, began)
    }

    /// Runs a transaction that is committed explicitly by its body.
    final func run(
        in group: CommitGroup, _ options: TransactionOptions, _ commit: ExplicitCommit, _ receiver: any OutcomeReceiver,
        _ body: () throws -> Void
    ) {
        let began = core.slowOperations.start(.transaction)
        var written = Written()
        commit.write = { [unowned self] in
            written = try write(to: group, options)
            // Otherwise they are still pending, so that the body reads them.
            if written.isApplied { didWrite() }
            return !written.changes.isEmpty
        }
        var failure: (any Error)?
        do { try body() } catch { failure = error }
        commit.write = nil
        let outcome: TransactionOutcome
        switch commit.outcome {
        case .success(let hadChanges):
            outcome = .committed(hadChanges: hadChanges)
            if let failure { log(.error, "A transaction threw after its commit, which stands: \(failure)") }
        case .failure(let error): outcome = .failed(error)
        case nil: outcome = failure.map { .failed($0) } ?? .discarded
        }
        join(group, written, options, outcome, receiver, began, after: failure)
    }

    /// The changes of a transaction.
    private struct Written {
        var changes: [StoreChanges] = []
        /// A Boolean value that indicates whether the stores have accepted them. Otherwise they are applied again after the others of the group are committed.
        var isApplied = true
    }

    /// Validates, encodes and applies the pending changes. Once they are encoded, the transaction can no longer be cancelled.
    /// - Parameter defers: Whether a store may refuse them after the body has ended.
    /// - Throws: `constraint` with all violations.
    private func write(to group: CommitGroup, _ options: TransactionOptions, defers: Bool = false) throws -> Written {
        try group.checkReads()
        try resolveImports()
        settleMembers()
        if let error = buffer.deferredErrors.first { throw error }
        try validate()
        var changes: [StoreChanges] = []
        for store in table.stores {
            guard let set = try changeSet(store), !set.isEmpty else { continue }
            _ = try group.writer(of: store)
            changes.append(StoreChanges(store: store, changes: set))
        }
        try checkCancellation()
        for set in changes where set.store.historyOptions != nil {
            try group.writer(of: set.store).recordHistory(set.changes, of: self)
        }
        if options.isDryRun { try group.applyAndRevert(changes) }
        return Written(changes: changes, isApplied: try group.apply(changes, options.durability, defers: defers))
    }

    /// Ends the transaction, which can no longer be read. Its outcome is received after the commit of the group if it may depend on uncommitted changes, otherwise
    /// immediately.
    /// - Parameter failure: The error of the body after its commit; nil for none.
    private func join(
        _ group: CommitGroup, _ written: Written, _ options: TransactionOptions, _ outcome: TransactionOutcome,
        _ receiver: any OutcomeReceiver, _ began: UInt64, after failure: (any Error)? = nil
    ) {
        core.slowOperations.end(.transaction, began, site, "transaction", "A transaction") {
            ChangeCounts(written.changes.map(\.changes)).details(written.changes.map(\.store.location))
        }
        let published = published
        let wasInterrupted = interruption?.error != nil
        interruption = nil
        access = .ended
        buffer.end()
        forgetAllMembers()
        graph.rowsAhead = nil
        if let failure = outcome.error { core.logger.writeFailure(failure, site) }
        if let failure = outcome.error ?? failure { group.restore(after: failure, wasInterrupted: wasInterrupted) }
        var (written, outcome) = (written, outcome)
        if let loss = group.loss, case .committed = outcome { (written, outcome) = (Written(), .failed(loss)) }
        let (stores, isIndependent) = group.didRun()
        guard group.hasChanges(in: stores) || !written.isApplied else { return receiver.receive(outcome) }
        let member = GroupMember(
            changes: written.changes, durability: options.durability, relationshipChanges: published.relationshipChanges,
            deletedKinds: published.deletedKinds, stores: stores, isIndependent: isIndependent, origin: origin, site: site, outcome,
            receiver)
        if written.isApplied { group.add(member) } else { group.applyAlone(member) }
    }
}
