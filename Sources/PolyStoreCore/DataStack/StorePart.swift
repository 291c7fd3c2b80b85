import PolyStoreBackend

/// What a group of transactions does to one store.
final class StorePart {
    let store: PersistentStore
    // Whoever has the group has it too, and no access lasts longer than a line.
    @exclusivity(unchecked) private(set) var writer: any WriteTransaction
    /// The strongest that was asked for; nil as long as nothing was changed.
    @exclusivity(unchecked) private(set) var durability: Durability?
    /// Kept to be written again, should a transaction that fails take the write transaction with it.
    @exclusivity(unchecked) private var applied: [ChangeSet] = []
    @exclusivity(unchecked) private var blocks: [IDBlock?]

    /// Ids in hand for one entity.
    private struct IDBlock {
        var next: Int64
        var last: Int64
        /// What the write transaction has reserved: gone if it does not commit.
        var reserved: ClosedRange<Int64>?
        var size: Int
    }

    /// Whose transactions it serves.
    private let lane: WriterLane
    /// nil where no history is recorded.
    private let recorder: HistoryRecorder?

    init(_ store: PersistentStore, _ writer: any WriteTransaction, _ lane: WriterLane) {
        self.store = store
        self.lane = lane
        self.writer = writer
        recorder = store.history.map { HistoryRecorder(store, $0, version: writer.version) }
        blocks = Array(repeating: nil, count: store.schema.entities.count)
    }

    var isChanged: Bool { durability != nil }

    func didApply(_ changes: ChangeSet, _ wanted: Durability?) {
        applied.append(changes)
        recorder?.didApply()
        durability = durability == .full ? .full : wanted ?? store.configuration.durability
    }

    /// A reservation is to be committed; it need not be safe before something is that uses it, and what is safe later is safe after it.
    func didReserve() { durability = durability ?? .relaxed }

    /// Puts another write transaction in the place of one that can no longer be used, with everything that was applied.
    /// - Throws: `conflict` if another process came in between.
    func beginAgain() throws {
        let version = writer.version
        writer.rollback()
        store.writers.end(lane)
        writer = try store.writers.begin(store, lane)
        var isSame = writer.version == version
        for (entity, block) in zip(store.schema.entities, blocks) {
            guard let range = block?.reserved else { continue }
            isSame = try writer.reserveIDs(entity, count: range.count) == range.lowerBound && isSame
        }
        guard isSame else { throw store.interrupted }
        for changes in applied { try writer.apply(changes) }
    }

    // MARK: History

    /// Adds the entry of a transaction to its change set, if the store's history is recorded.
    func record(_ changes: ChangeSet, _ transaction: Transaction) throws { try recorder?.record(changes, transaction, writer) }

    /// Commits what was applied.
    /// - Returns: the new version.
    func commit() throws -> UInt64 {
        if let recorder, applied.isEmpty {
            // Of reserved ids: each version has an entry, so that whoever follows the history sees that none is missing.
            let changes = ChangeSet(store.schema, capacity: 64)
            try recorder.recordNothing(changes, writer)
            try writer.apply(changes)
            recorder.didApply()
        }
        let version = try writer.commit(durability ?? store.configuration.durability)
        recorder?.didCommit(version)
        return version
    }

    // MARK: Ids

    /// A new id: final from now on. Nobody gets it again once something is committed.
    func newKey(_ entity: Entity) throws -> Int64 {
        guard blocks.indices.contains(entity.index) else {
            throw StoreError(.closed, "The transaction has ended.", entity: entity.name, url: store.url)
        }
        if let block = blocks[entity.index], block.next <= block.last {
            blocks[entity.index]?.next += 1
            return block.next
        }
        return try firstKey(ofNextBlockFor: entity)
    }

    private func firstKey(ofNextBlockFor entity: Entity) throws -> Int64 {
        let last = blocks[entity.index]
        if last == nil, let left = store.sequences.withLock({ $0[entity.index].take() }) {
            blocks[entity.index] = IDBlock(next: left.lowerBound + 1, last: left.upperBound, reserved: nil, size: 16)
            return left.lowerBound
        }
        // Blocks grow with the group, so that a bulk load asks seldom and a small commit wastes little.
        let size = min((last?.size ?? 16) * 2, 4096)
        let first = try writer.reserveIDs(entity, count: size)
        let end = first + Int64(size) - 1
        blocks[entity.index] = IDBlock(next: first + 1, last: end, reserved: (last?.reserved?.lowerBound ?? first)...end, size: size)
        return first
    }

    /// Keeps the ids that are left for the next group, unless their reservation was undone.
    func returnIDs(committed: Bool) {
        store.sequences.withLock { sequences in
            for (index, block) in blocks.enumerated() {
                guard let block, block.next <= block.last else { continue }
                if committed || block.reserved == nil { sequences[index] = block.next...block.last }
            }
        }
        blocks = []
    }
}
