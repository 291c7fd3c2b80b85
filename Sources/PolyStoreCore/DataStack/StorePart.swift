import PolyStoreBackend

/// The changes of a commit group in one store.
final class StorePart {
    let store: PersistentStore
    // Access is exclusive to the owner of the write queue and never spans more than one statement.
    @exclusivity(unchecked) private(set) var writer: any WriteTransaction
    /// The strongest requested durability; nil if nothing was changed.
    @exclusivity(unchecked) private(set) var durability: Durability?
    /// The applied change sets, retained in case a failing transaction invalidates the write transaction and they must be applied again.
    @exclusivity(unchecked) private var applied: [ChangeSet] = []
    @exclusivity(unchecked) private var blocks: [IDBlock?]

    /// A block of reserved row ids for one entity.
    private struct IDBlock {
        var next: Int64
        var last: Int64
        /// The row ids reserved in the current write transaction. The reservation is lost if it does not commit.
        var reserved: ClosedRange<Int64>?
        var size: Int
    }

    /// The write queue whose transactions use the store.
    private let lane: WriterLane
    /// Records the history; nil if it is disabled.
    private let recorder: HistoryRecorder?

    init(_ store: PersistentStore, _ writer: any WriteTransaction, _ lane: WriterLane) {
        self.store = store
        self.lane = lane
        self.writer = writer
        recorder = store.historyOptions.map { HistoryRecorder(store, $0, version: writer.version) }
        blocks = Array(repeating: nil, count: store.schema.entities.count)
    }

    var isChanged: Bool { durability != nil }

    func didApply(_ changes: ChangeSet, _ wanted: Durability?) {
        applied.append(changes)
        recorder?.didApply()
        durability = durability == .full ? .full : wanted ?? store.configuration.durability
    }

    /// A reservation must be committed but need not be durable: objects that use the row ids become durable with it or later.
    func didReserve() { durability = durability ?? .relaxed }

    /// Replaces a failed write transaction by a new one and applies all change sets again.
    /// - Throws: `conflict` if another process has committed in the meantime.
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

    /// Adds a history entry for a transaction to its change set, if the store's history is recorded.
    func record(_ changes: ChangeSet, _ transaction: Transaction) throws { try recorder?.record(changes, transaction, writer) }

    /// Commits the applied change sets.
    /// - Returns: the new version.
    func commit() throws -> UInt64 {
        if let recorder, applied.isEmpty {
            // The group only reserved row ids. Each version has a history entry, so that readers of the history can detect missing ones.
            let changes = ChangeSet(store.schema, capacity: 64)
            try recorder.recordNothing(changes, writer)
            try writer.apply(changes)
            recorder.didApply()
        }
        let version = try writer.commit(durability ?? store.configuration.durability)
        recorder?.didCommit(version)
        return version
    }

    // MARK: Row ids

    /// Returns a new row id. After any commit it is never assigned again.
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
        // The block size doubles each time, so that a bulk load makes few reservations and a small commit wastes few row ids.
        let size = min((last?.size ?? 16) * 2, 4096)
        let first = try writer.reserveIDs(entity, count: size)
        let end = first + Int64(size) - 1
        blocks[entity.index] = IDBlock(next: first + 1, last: end, reserved: (last?.reserved?.lowerBound ?? first)...end, size: size)
        return first
    }

    /// Keeps the remaining row ids for the next group, unless their reservation was rolled back.
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
