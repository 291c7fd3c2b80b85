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
        recorder = store.historyOptions.map { [version = transaction.version] in HistoryRecorder(store, $0, version: version) }
    }

    var isChanged: Bool { durability != nil }

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

    /// A change set that a store did not accept.
    typealias Refused = (changes: ChangeSet, error: any Error)

    /// Defers a change set, if a call for several costs less.
    /// - Returns: false if it must be applied.
    func deferring(_ changes: ChangeSet, _ requested: Durability?) -> Bool {
        guard store.waitsForServer, recorder == nil else { return false }
        deferred.append(changes)
        require(requested)
        return true
    }

    /// Applies the deferred change sets.
    /// - Throws: errors that end the group.
    func applyDeferred() throws -> [Refused] {
        let sets = deferred
        deferred = []
        if sets.isEmpty { return [] }
        do { return didApply(sets, try transaction.apply(sets, committing: nil)) } catch { return try applyOneByOne(sets, after: error) }
    }

    private func didApply(_ sets: [ChangeSet], _ results: AppliedChangeSets) -> [Refused] {
        var refused: [Refused] = []
        for (changes, error) in zip(sets, results.errors) {
            if let error { refused.append((changes, error)) } else { applied.append(changes) }
        }
        if applied.isEmpty, !hasReserved { durability = nil }
        return refused
    }

    /// Applies change sets in a new write transaction, after an error that may concern one of them.
    private func applyOneByOne(_ sets: [ChangeSet], after error: any Error) throws -> [Refused] {
        try beginAgain()
        var errors: [StoreError?] = []
        for changes in sets {
            do {
                // A single one has failed already.
                if sets.count == 1 { throw error }
                try transaction.apply(changes)
                errors.append(nil)
                applied.append(changes)
            } catch {
                var failure = StoreError(wrapping: error)
                if !failure.refusesChanges {
                    // It may have failed only because the group was too large.
                    if sets.count > 1 || !applied.isEmpty { failure.recovery = .retryable }
                    try beginAgain()
                }
                errors.append(failure)
            }
        }
        if applied.isEmpty, !hasReserved { durability = nil }
        return zip(sets, errors).compactMap { changes, error in error.map { (changes, $0) } }
    }

    /// A reservation must be committed but need not be durable: objects that use the row ids become durable with it or later.
    func didReserve() { (durability, hasReserved) = (durability ?? .relaxed, true) }

    /// Replaces a failed write transaction by a new one and applies all change sets again.
    /// - Throws: `conflict` if another process has committed in the meantime.
    func beginAgain() throws {
        let version = transaction.version
        transaction.rollback()
        store.writeAccess.end(owner)
        transaction = try store.writeAccess.begin(store, owner)
        var isSame = transaction.version == version
        for (entity, range) in reservations.sorted(by: { $0.key < $1.key }) {
            let entity = store.schema.entities[entity]
            isSame = try transaction.reserveIDs(entity, count: range.count) == range.lowerBound && isSame
        }
        guard isSame else { throw store.interrupted }
        for changes in applied { try transaction.apply(changes) }
    }

    // MARK: The end

    /// Commits the applied change sets and ends the write access. A writer whose commit fails is rolled back.
    /// - Parameter limits: Contain the pauses before the store is asked again for the outcome of the commit.
    /// - Returns: the new version, nil if no change set was accepted; and the deferred change sets that were not.
    func commit(_ limits: Protected<GroupLimits>) throws -> (version: UInt64?, refused: [Refused]) {
        if let recorder, applied.isEmpty {
            // The group only reserved row ids. Each version has a history entry, so that readers of the history can detect missing ones.
            let changes = ChangeSet(store.schema, capacity: 64)
            try recorder.recordNothing(changes, transaction)
            try transaction.apply(changes)
            recorder.didApply()
        }
        let began = store.slowOperations.start(.commit)
        let recordsVersions = store.recordsVersions.load(ordering: .relaxed)
        let (requested, backOff) = (durability ?? store.configuration.durability, limits.withLock { $0.backOff })
        let (known, refused): (UInt64?, [Refused]) =
            recordsVersions || deferred.isEmpty ? (nil, try applyDeferred()) : try commitDeferred(requested, backOff)
        guard isChanged else {
            rollBack()
            return (nil, refused)
        }
        if recordsVersions { try store.recordVersions(transaction) }
        let version = try known ?? transaction.commit(requested, backOff: backOff)
        if recordsVersions { store.recordsVersions.store(false, ordering: .relaxed) }
        recorder?.didCommit(version)
        store.slowOperations.end(.commit, began, .framework, "commit", "A commit") {
            var details = ChangeCounts(applied).details([store.location])
            details.text += ", transactions: \(applied.count)"
            details.metadata[.transactions] = .count(applied.count)
            return details
        }
        end(wasCommitted: true)
        return (version, refused)
    }

    /// Applies the deferred change sets and commits with one call, unless one of them is not accepted.
    private func commitDeferred(_ durability: Durability, _ backOff: BackOff) throws -> (UInt64?, [Refused]) {
        let sets = deferred
        deferred = []
        do {
            let results = try transaction.apply(sets, committing: durability, backOff: backOff)
            return (results.version, didApply(sets, results))
        } catch let error as StoreError where !error.canEndTransaction { return (nil, try applyOneByOne(sets, after: error)) }
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
