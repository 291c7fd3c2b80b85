import PolyStoreBackend

/// The source that a context reads from.
///
/// An enumeration instead of a protocol: all sources are known, so a read selects its source without dynamic dispatch.
enum ReadSource {
    /// No store. The context resolves key paths or checks classes.
    case noStore
    /// No store any more. The context has adopted the objects of a released transaction.
    case released
    /// One snapshot of each store.
    case snapshots(HeldSnapshots)
    /// Snapshots that the context moves to newer versions.
    case moving(MovingSnapshots)
    case transaction(TransactionSource)

    /// Returns the read transaction for a store.
    /// - Throws: `closed` if the source has ended or reads no store.
    func reader(_ store: PersistentStore, for context: Context) throws -> any ReadTransaction {
        switch self {
        case .transaction(let source): try source.reader(store, for: context)
        case .moving(let snapshots): try snapshots.reader(of: store, for: context)
        case .snapshots(let snapshots): try snapshots.reader(of: store, for: context)
        case .noStore, .released: throw StoreError(.closed, "This context has ended.", location: store.location)
        }
    }

    /// Returns the current stores of the stack; nil if the context cannot adopt new ones because it has already read a snapshot of the others.
    func newerTable(_ core: StackCore) -> StoreTable? {
        switch self {
        case .transaction(let source): source.newerTable(core)
        case .moving(let snapshots): snapshots.held.areToBeOpened ? core.table.withLock { $0 } : nil
        case .snapshots(let snapshots): snapshots.areToBeOpened ? core.table.withLock { $0 } : nil
        case .noStore, .released: nil
        }
    }

    /// A Boolean value that indicates whether the source can move to newer versions. A queued transaction reads what it writes to.
    var movesToVersions: Bool {
        switch self {
        case .moving, .transaction(.unqueued), .transaction(.parent): true
        case .transaction(.group), .snapshots, .noStore, .released: false
        }
    }

    /// The transaction whose pending changes the source includes; nil for other sources.
    var parent: Transaction? { if case .transaction(.parent(let source)) = self { source.parent } else { nil } }
}

/// The source that a transaction reads from and reserves row ids in.
enum TransactionSource {
    /// The write transactions of the commit group, for a queued transaction.
    case group(GroupSource)
    /// Snapshots, for an unqueued transaction.
    case unqueued(UnqueuedSource)
    /// The pending state of the parent, for a child transaction.
    case parent(ParentSource)

    func reader(_ store: PersistentStore, for context: Context) throws -> any ReadTransaction {
        switch self {
        case .group(let source): try source.reader(store)
        case .unqueued(let source): try source.snapshots.reader(of: store, for: context)
        case .parent(let source): try source.reader(store)
        }
    }

    func newerTable(_ core: StackCore) -> StoreTable? {
        switch self {
        case .group: nil
        case .unqueued: core.table.withLock { $0 }
        case .parent(let source): source.newerTable
        }
    }

    /// Checks that the transaction, or the one that it is a child of, has not ended.
    /// - Throws: `closed` if it has.
    func checkOpen(_ store: PersistentStore) throws {
        switch self {
        case .group(let source): try source.checkOpen(store)
        case .unqueued: break
        case .parent(let source): try source.parent.access.checkOpen(store)
        }
    }

    /// Prepares a store for changes. In a queued transaction, its write transaction begins.
    /// - Throws: `readOnly` if it was opened for reading only.
    func touch(_ store: PersistentStore) throws {
        if case .group(let source) = self {
            _ = try source.writer(of: store)
        } else if store.configuration.isReadOnly {
            throw store.openedReadOnly
        }
    }

    /// Returns a new row id, which is never assigned again.
    func newRowID(_ entry: StoreEntity) throws -> Int64 {
        switch self {
        case .group(let source): return try source.writer(of: entry.store).newRowID(entry.entity)
        case .unqueued(let source): return try source.newRowID(entry)
        case .parent(let source):
            try source.parent.checkMutable()
            return try source.parent.newRowID(entry)
        }
    }

    /// Ends the snapshots. A transaction that can be read further begins new ones with its next read.
    func endReaders() {
        switch self {
        case .group(let source): source.end()
        case .unqueued(let source): source.snapshots.end()
        case .parent(let source): source.endReaders()
        }
    }
}

extension PersistentStore {
    /// The error for a change of a store that was opened for reading only.
    fileprivate var openedReadOnly: StoreError {
        StoreError(.readOnly, "The store \(location) was opened for reading only.", location: location)
    }
}

/// The stores of a queued transaction: the writers of its commit group, and snapshots of stores that are opened for reading only.
final class GroupSource {
    private let writers: GroupWriters
    /// The writers of the used stores by store index; nil for the others.
    @exclusivity(unchecked) private var usedWriters: [StoreWriter?] = []
    /// The snapshots of read-only stores, by store index.
    @exclusivity(unchecked) private var readers: [Int: any ReadTransaction] = [:]
    @exclusivity(unchecked) private var hasEnded = false

    init(_ writers: GroupWriters) { self.writers = writers }

    func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        guard store.configuration.isReadOnly else { return try writer(of: store).transaction }
        try checkOpen(store)
        if let reader = readers[store.index] { return reader }
        let reader = try store.backend.beginRead()
        readers[store.index] = reader
        return reader
    }

    /// Returns the commit group's writer for the store, and begins its write transaction on first use.
    func writer(of store: PersistentStore) throws -> StoreWriter {
        if store.index < usedWriters.count, let writer = usedWriters[store.index] { return writer }
        try checkOpen(store)
        guard !store.configuration.isReadOnly else { throw store.openedReadOnly }
        let writer = try writers.writer(of: store)
        while usedWriters.count <= store.index { usedWriters.append(nil) }
        usedWriters[store.index] = writer
        return writer
    }

    func checkOpen(_ store: PersistentStore) throws {
        if hasEnded {
            throw StoreError(.closed, "The transaction has ended; its objects can no longer read from the store.", location: store.location)
        }
    }

    /// The indexes of the stores that the transaction read or will write.
    var usedStores: [Int] { usedWriters.indices.filter { usedWriters[$0] != nil } }

    /// Makes the transaction depend on all preceding transactions that are not yet committed.
    func waitForPredecessors() { usedWriters = writers.all }

    /// Ends the source. It can no longer be read.
    func end() {
        hasEnded = true
        for reader in readers.values { reader.end() }
        usedWriters = []
        readers = [:]
    }
}

/// The snapshots of an unqueued transaction, and the row ids that it has reserved.
final class UnqueuedSource {
    private let core: StackCore
    let snapshots: HeldSnapshots
    /// Reserved row ids, by entity index.
    @exclusivity(unchecked) private var rowIDs: [Int: RowIDBlock] = [:]

    init(_ core: StackCore) {
        self.core = core
        snapshots = HeldSnapshots(core)
    }

    func newRowID(_ entry: StoreEntity) throws -> Int64 {
        let entityIndex = Int(entry.entityIndex)
        if let rowID = rowIDs[entityIndex]?.take() { return rowID }
        guard !entry.store.configuration.isReadOnly else { throw entry.store.openedReadOnly }
        let count = RowIDBlock.size(after: rowIDs[entityIndex])
        let block = RowIDBlock(try core.reserveRowIDs(entry, count), size: count)
        defer { rowIDs[entityIndex] = block }
        guard let rowID = block.take() else { throw StoreError(.closed, "The transaction has ended.", location: entry.store.location) }
        return rowID
    }

    /// Returns unused row ids to the stores that have no other reserved ids.
    func returnRowIDs(_ table: StoreTable) {
        for (entityIndex, block) in rowIDs {
            guard let left = block.left else { continue }
            let entry = table.entries[entityIndex]
            entry.store.spareRowIDs.giveBack(left, entry.entity.index)
        }
        rowIDs = [:]
    }
}

/// The parent of a child transaction, read with its pending changes.
final class ParentSource {
    let parent: Transaction
    /// The readers of the parent by store index; nil for stores that were not read.
    @exclusivity(unchecked) private var readers: [ParentReader?] = []

    init(_ parent: Transaction) { self.parent = parent }

    func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        if readers.indices.contains(store.index), let reader = readers[store.index] { return reader }
        try parent.access.checkOpen(store)
        while readers.count <= store.index { readers.append(nil) }
        let reader = ParentReader(parent, store)
        readers[store.index] = reader
        return reader
    }

    func endReaders() { readers = [] }

    /// The stores of the parent, after it has adopted the current ones of the stack if it can.
    var newerTable: StoreTable {
        if let newer = parent.newerTable { parent.update(newer) }
        return parent.table
    }
}
