import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreCollections
import PolyStoreRuns

/// The write transaction of a commit group in one store, with the change sets applied to it.
final class StoreWriter {
    let store: PersistentStore
    // Access is exclusive to the owner of the write queue and never spans more than one statement.
    @exclusivity(unchecked) private(set) var transaction: any WriteTransaction
    /// The strongest requested durability; nil if nothing was changed.
    @exclusivity(unchecked) private(set) var durability: Durability?
    /// The applied change sets, retained in case a failing transaction invalidates the write transaction and they must be applied again.
    @exclusivity(unchecked) private var applied: [ChangeSet] = []
    /// The change sets that are sent to the server before the next read, or with the commit.
    @exclusivity(unchecked) private var deferred: [ChangeSet] = []
    /// A Boolean value that indicates whether row ids were reserved for an unqueued transaction.
    @exclusivity(unchecked) private var hasReserved = false
    /// The row ids to assign, by the entity's index.
    @exclusivity(unchecked) private var blocks = SparseArray<RowIDBlock>()
    /// The row ids reserved in the current write transaction. The reservation is lost if it does not commit.
    @exclusivity(unchecked) private var reservations: [Int: ClosedRange<Int64>] = [:]

    /// The owner of the write queue whose transactions use the store.
    private let owner: OwningThread
    /// Records the history; nil if it is disabled.
    private let recorder: HistoryRecorder?

    /// - Parameter transaction: The write transaction. No other writer can commit as long as it is open, so values read in it remain current.
    init(_ store: PersistentStore, _ owner: OwningThread, _ transaction: any WriteTransaction) {
        self.store = store
        self.owner = owner
        self.transaction = transaction
        recorder = store.historyOptions.map { HistoryRecorder(store, $0, version: (try? transaction.version) ?? .max) }
    }

    var isChanged: Bool { durability != nil }
    /// The version that the write transaction reads; nil if nothing was read, one that no store has if it cannot be read.
    private var version: UInt64? { do { return try transaction.knownVersion } catch { return .max } }
    /// Adds the store with that version, unless nothing was read.
    func addVersion(to versions: inout [(store: PersistentStore, version: UInt64)]) { if let version { versions.append((store, version)) } }

    // MARK: Changes

    /// Adds a history entry for a transaction to its change set, if the store's history is recorded.
    func recordHistory(_ changes: ChangeSet, of source: Transaction) throws { try recorder?.record(changes, source, transaction) }

    /// Called after the change sets of a transaction were applied in the write transactions of all stores.
    func didApply(_ changes: ChangeSet, _ requested: Durability?) {
        applied.append(changes)
        recorder?.didApply()
        require(requested)
    }

    private func require(_ requested: Durability?) {
        durability = durability == .full ? .full : requested ?? store.configuration.durability
    }

    /// The change sets that the store did not accept, with their errors, until the group takes them.
    @exclusivity(unchecked) private var refused: [(changes: ChangeSet, error: any Error)] = []

    /// Returns the change sets that the store did not accept since the last call.
    func takeRefused() -> [(changes: ChangeSet, error: any Error)] {
        if refused.isEmpty { return [] }
        defer { refused = [] }
        return refused
    }

    /// Defers a change set, if a call for several costs less.
    /// - Returns: false if it must be applied.
    func deferring(_ changes: ChangeSet, _ requested: Durability?) -> Bool {
        guard store.waitsForServer, recorder == nil else { return false }
        deferred.append(changes)
        require(requested)
        return true
    }

    var hasDeferred: Bool { !deferred.isEmpty }

    /// Applies the deferred change sets.
    /// - Throws: errors that end the group.
    func applyDeferred() throws {
        guard hasDeferred else { return }
        let sets = deferred
        deferred = []
        do { didApply(sets, try transaction.apply(sets, committing: nil).checked(sets.count)) } catch {
            try applyOneByOne(sets, after: error)
        }
    }

    private func didApply(_ sets: [ChangeSet], _ results: AppliedChangeSets) {
        for (changes, error) in zip(sets, results.errors) {
            if let error { refused.append((changes, error)) } else { applied.append(changes) }
        }
        if applied.isEmpty, !hasReserved { durability = nil }
    }

    /// Applies change sets in a new write transaction, after an error that may concern one of them.
    /// - Parameter sent: The error of a commit that was sent with them.
    private func applyOneByOne(_ sets: [ChangeSet], after error: any Error, sent: StoreError? = nil) throws {
        defer { if applied.isEmpty, !hasReserved { durability = nil } }
        // The write transaction could not begin in time.
        if (error as? StoreError)?.recovery == .timedOut, version == nil { throw error }
        if sets.count == 1 {
            // It has failed already.
            let hasBegun = (error as? StoreError)?.recovery != .connectionLost || version != nil
            refuse(sets[0], error, isAlone: applied.isEmpty && hasBegun)
            // Otherwise the transaction is rolled back next.
            if sent == nil || !applied.isEmpty || hasReserved { try beginAgain(after: sent) }
            return
        }
        try beginAgain(after: sent)
        for changes in sets {
            do {
                try transaction.apply(changes)
                applied.append(changes)
            } catch {
                if !refuse(changes, error) { try beginAgain() }
            }
        }
    }

    /// - Returns: false if the write transaction cannot continue.
    @discardableResult
    private func refuse(_ changes: ChangeSet, _ error: any Error, isAlone: Bool = false) -> Bool {
        let failure = StoreError(wrapping: error)
        // It may have failed only because the group was too large.
        refused.append((changes, failure.refusesChanges || isAlone ? failure : failure.withRecovery(.retryable)))
        return failure.refusesChanges
    }

    /// A reservation must be committed but need not be durable: objects that use the row ids become durable with it or later.
    func didReserve() { (durability, hasReserved) = (durability ?? .relaxed, true) }

    /// Replaces a failed write transaction by a new one and applies all change sets again.
    /// - Parameter sent: The error of a commit that was sent in the failed transaction.
    /// - Throws: `conflict` if another process has committed in the meantime; `sent` with an unknown outcome if it may have been this one.
    func beginAgain(after sent: StoreError? = nil) throws {
        // Without a known version nothing was read, and nothing can have been committed.
        let version = try transaction.knownVersion
        transaction.rollback()
        store.writeAccess.end(owner)
        transaction = try store.writeAccess.begin(store, owner)
        guard try transaction.version == version ?? transaction.version else {
            throw sent?.withRecovery(.commitOutcomeUnknown) ?? store.interrupted
        }
        for (entity, range) in reservations.sorted(by: { $0.key < $1.key }) {
            // The sequence of a server can outlive the rollback.
            let entity = store.schema.entities[entity]
            let last = try transaction.reserveIDs(entity, count: range.count) + Int64(range.count) - 1
            if last < range.upperBound { _ = try transaction.reserveIDs(entity, count: Int(range.upperBound - last)) }
        }
        for changes in applied { try transaction.apply(changes) }
    }

    // MARK: The end

    /// Commits the applied change sets and ends the write access. A writer whose commit fails is rolled back.
    /// - Parameter limits: Contain the pauses between the requests for the outcome of the commit.
    /// - Returns: the new version, nil if no change set was accepted.
    func commit(_ limits: Protected<GroupLimits>) throws -> UInt64? {
        if let recorder, applied.isEmpty {
            // The group only reserved row ids. Each version has a history entry, so that readers of the history can detect missing ones.
            let changes = ChangeSet(store.schema, capacity: 64)
            try recorder.recordNothing(changes, transaction)
            try transaction.apply(changes)
            recorder.didApply()
        }
        let began = store.slowOperations.start(.commit)
        let recordsVersions = store.recordsVersions.load(ordering: .relaxed)
        let requested = durability ?? store.configuration.durability
        var known: UInt64?
        if recordsVersions || deferred.isEmpty {
            try applyDeferred()
        } else {
            known = try commitDeferred(requested, limits.withLock { $0.backOff })
        }
        guard isChanged else {
            rollBack()
            return nil
        }
        if recordsVersions { try store.recordVersions(transaction) }
        let version = try known ?? transaction.commit(requested, backOff: limits.withLock { $0.backOff })
        if recordsVersions { store.recordsVersions.store(false, ordering: .relaxed) }
        recorder?.didCommit(version)
        store.slowOperations.end(.commit, began, .framework, "commit", "A commit") {
            var details = ChangeCounts(applied).details([store.location])
            details.text += ", transactions: \(applied.count)"
            details.metadata[.transactions] = .count(applied.count)
            return details
        }
        end(wasCommitted: true)
        return version
    }

    /// Applies the deferred change sets and commits with one call, unless one of them is not accepted.
    /// - Returns: the new version, nil if the changes are still to be committed.
    private func commitDeferred(_ durability: Durability, _ backOff: BackOff) throws -> UInt64? {
        let sets = deferred
        deferred = []
        do {
            let results = try transaction.apply(sets, committing: durability, backOff: backOff)
            didApply(sets, results)
            return results.version
        } catch let error as StoreError where !error.canEndTransaction {
            try applyOneByOne(sets, after: error, sent: error)
            return nil
        }
    }

    /// Discards all changes and ends the write access.
    func rollBack() {
        transaction.rollback()
        end(wasCommitted: false)
    }

    /// Ends the write access and keeps the remaining row ids for the next group, unless their reservation was rolled back.
    private func end(wasCommitted: Bool) {
        store.writeAccess.end(owner)
        blocks.forEachInAnyOrder { entity, block in
            guard let left = block.left else { return }
            if wasCommitted || reservations[entity] == nil { store.spareRowIDs.keep(left, entity) }
        }
    }

    // MARK: Row ids

    /// Returns a new row id. After any commit it is never assigned again.
    func newRowID(_ entity: Entity) throws -> Int64 {
        if let rowID = blocks[entity.index]?.take() { return rowID }
        return try firstRowID(ofNextBlockFor: entity)
    }

    /// Reserves the row ids of inserted objects again, so that they are not assigned to others.
    func reserveRowIDs(of changes: ChangeSet) throws {
        var highest: [Int: Int64] = [:]
        for change in changes.changes where change.kind == .insert {
            highest[change.entity] = max(highest[change.entity] ?? 0, change.rowID)
        }
        for (index, rowID) in highest.sorted(by: { $0.key < $1.key }) {
            let entity = store.schema.entities[index]
            let next = try transaction.reserveIDs(entity, count: 1)
            if next < rowID { _ = try transaction.reserveIDs(entity, count: Int(rowID - next)) }
        }
    }

    private func firstRowID(ofNextBlockFor entity: Entity) throws -> Int64 {
        let block: RowIDBlock
        if blocks[entity.index] == nil, let left = store.spareRowIDs.take(entity.index) {
            block = RowIDBlock([left])
        } else {
            let size = RowIDBlock.size(after: blocks[entity.index], in: store)
            let first = try transaction.reserveIDs(entity, count: size)
            let range = first...(first + Int64(size) - 1)
            reservations[entity.index] = (reservations[entity.index]?.lowerBound ?? first)...range.upperBound
            block = RowIDBlock([range], size: size)
        }
        blocks.set(block, at: entity.index)
        return block.take() ?? 0  // a new block is not empty
    }
}
