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
        durability = durability == .full ? .full : requested ?? store.configuration.durability
    }

    /// A reservation must be committed but need not be durable: objects that use the row ids become durable with it or later.
    func didReserve() { durability = durability ?? .relaxed }

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
    /// - Returns: the new version.
    func commit(_ limits: Protected<GroupLimits>) throws -> UInt64 {
        if let recorder, applied.isEmpty {
            // The group only reserved row ids. Each version has a history entry, so that readers of the history can detect missing ones.
            let changes = ChangeSet(store.schema, capacity: 64)
            try recorder.recordNothing(changes, transaction)
            try transaction.apply(changes)
            recorder.didApply()
        }
        let began = store.slowOperations.start(.commit)
        let recordsVersions = store.recordsVersions.load(ordering: .relaxed)
        if recordsVersions { try store.recordVersions(transaction) }
        let version = try transaction.commit(
            durability ?? store.configuration.durability, backOff: limits.withLock { $0.backOff })
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
