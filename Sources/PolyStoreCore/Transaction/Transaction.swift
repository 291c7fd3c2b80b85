import PolyStoreBackend

/// A unit of work: collects changes in memory, then writes them all or none.
///
/// Comes as the argument of ``DataStack/perform(durability:_:)`` and its like, and ends with their body. Its fetches see its own changes.
/// The bodies are `@Sendable` and what they return is Sendable, and a transaction and its objects are neither: the compiler refuses
/// every way in or out.
public final class Transaction: Context {
    /// The changed objects of one entity, kept alive until the end.
    struct Pending {
        var inserted: [any Model] = []
        var updated: [any Model] = []
        var deleted: [any Model] = []
        /// Made at the first fetch that looks through them.
        var records: PendingRecords?

        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    }

    private enum Phase { case open, ended }

    let durability: Durability?
    // A transaction is used by one thread at a time, and none of its methods hands out one of these in place.
    @exclusivity(unchecked) var pending: [Pending]
    @exclusivity(unchecked) var memberLog = MemberLog()
    /// Relationships with the delete rule `deny` of deleted objects, judged at commit.
    var denials: [MemberKey] = []
    /// Rules of the API that were broken where nothing could be thrown; thrown at commit.
    var deferredErrors: [StoreError] = []
    private var phase = Phase.open
    private var writers: [Int: any WriteTransaction] = [:]
    private var readers: [Int: any ReadTransaction] = [:]
    /// By slot.
    @exclusivity(unchecked) private var blocks: [IDBlock?]

    init(core: StackCore, table: StoreTable, durability: Durability?) {
        self.durability = durability
        pending = Array(repeating: Pending(), count: table.entries.count)
        blocks = Array(repeating: nil, count: table.entries.count)
        super.init(core: core, table: table)
    }

    // MARK: Storage

    override func storage(_ store: PersistentStore) throws -> any ReadTransaction {
        if store.configuration.isReadOnly {
            try checkOpen(store)
            if let reader = readers[store.index] { return reader }
            let reader = try store.backend.beginRead()
            readers[store.index] = reader
            return reader
        }
        return try writer(store)
    }

    /// The store's write transaction, begun at the first touch: from then on nobody else writes, so what is read here stays true.
    func writer(_ store: PersistentStore) throws -> any WriteTransaction {
        if let writer = writers[store.index] { return writer }
        try checkOpen(store)
        guard !store.configuration.isReadOnly else {
            throw StoreError(.readOnly, "The store \(store.url) was opened for reading only.", url: store.url)
        }
        let writer = try store.backend.beginWrite()
        writers[store.index] = writer
        return writer
    }

    private func checkOpen(_ store: PersistentStore) throws {
        guard phase == .open else {
            throw StoreError(.closed, "The transaction has ended; its objects can no longer read from the store.", url: store.url)
        }
    }

    /// Stores in which something is under way, in the order of the stack.
    var begunStores: [PersistentStore] { table.stores.filter { writers[$0.index] != nil } }

    /// Gives the transaction up: throws `cancelled`, which the caller of `perform` receives; nothing is written.
    public func cancel() throws -> Never { throw StoreError(.cancelled, "The transaction was cancelled.") }

    /// Ends: whatever is not committed is gone.
    func end() {
        phase = .ended
        for (index, writer) in writers {
            writer.rollback()
            returnIDs(table.stores[index], committed: false)
        }
        for reader in readers.values { reader.end() }
        writers = [:]
        readers = [:]
        pending = []
        memberLists = [:]
    }

    /// Called once a store's changes are committed.
    func didCommit(_ store: PersistentStore) {
        writers[store.index] = nil
        returnIDs(store, committed: true)
    }

    // MARK: What only a transaction may do; each is worked out in a file of its own

    override func beginEditing(_ object: any Model) -> EditState { startEditing(object) }

    override func retarget<T: Model>(_ object: any Model, _ relationship: Int, from old: ToOne, to new: T?) -> ToOne {
        moveToOne(object, relationship, from: old, to: new)
    }

    override func setMembers<T: Model>(of object: any Model, _ relationship: Int, to members: Set<T>) {
        replaceMembers(of: object, relationship, to: members)
    }

    override func pendingMembers(_ key: MemberKey) -> MemberChanges? { memberLog.changes(key) }

    override func rows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try mergedRows(entry, request, options)
    }

    override func count(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> Int {
        try mergedCount(entry, request, options)
    }

    // MARK: Ids

    /// Ids in hand for one entity.
    private struct IDBlock {
        var next: Int64
        var last: Int64
        /// Reserved by this transaction: gone if it does not commit.
        var isOwn: Bool
        var size: Int
    }

    /// A new id: final from now on, never given out again.
    func newKey(_ entry: StoreEntity) throws -> Int64 {
        let slot = Int(entry.slot)
        if let block = blocks[slot], block.next <= block.last {
            blocks[slot]?.next += 1
            return block.next
        }
        return try firstKey(ofNextBlockFor: entry)
    }

    private func firstKey(ofNextBlockFor entry: StoreEntity) throws -> Int64 {
        let slot = Int(entry.slot)
        if blocks[slot] == nil, let left = entry.store.sequences.withLock({ $0.removeValue(forKey: entry.entity.index) }) {
            blocks[slot] = IDBlock(next: left.lowerBound + 1, last: left.upperBound, isOwn: false, size: 16)
            return left.lowerBound
        }
        // Blocks grow with the transaction, so that a bulk load asks seldom and a small commit wastes little.
        let size = min((blocks[slot]?.size ?? 16) * 2, 4096)
        let first = try writer(entry.store).reserveIDs(entry.entity, count: size)
        blocks[slot] = IDBlock(next: first + 1, last: first + Int64(size) - 1, isOwn: true, size: size)
        return first
    }

    /// Keeps the ids that are left for the next transaction, unless their reservation was undone.
    private func returnIDs(_ store: PersistentStore, committed: Bool) {
        store.sequences.withLock { sequences in
            for entity in store.schema.entities {
                let slot = Int(store.firstSlot) + entity.index
                guard let block = blocks[slot] else { continue }
                blocks[slot] = nil
                if block.next <= block.last, committed || !block.isOwn { sequences[entity.index] = block.next...block.last }
            }
        }
    }
}
