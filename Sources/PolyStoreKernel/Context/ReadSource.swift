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
        case .transaction, .snapshots, .noStore, .released: false
        }
    }

    /// Assigns an interruption to the open readers.
    func interrupt(with interruption: Interruption?) {
        switch self {
        case .moving(let snapshots): snapshots.held.interrupt(with: interruption)
        case .snapshots(let snapshots): snapshots.interrupt(with: interruption)
        case .transaction(.unqueued(let source)): source.snapshots.interrupt(with: interruption)
        case .transaction(.group(let group)): group.interrupt(with: interruption)
        case .transaction(.parent(let source)): source.parent.interruption = interruption
        case .transaction(.ended), .noStore, .released: break
        }
    }

    /// The transaction whose pending changes the source includes; nil for other sources.
    var parent: Transaction? { if case .transaction(.parent(let source)) = self { source.parent } else { nil } }
}

/// The source that a transaction reads from and reserves row ids in.
enum TransactionSource {
    /// The write transactions of the commit group, for a queued transaction that runs.
    case group(CommitGroup)
    /// No store any more, for a queued transaction that has ended.
    case ended
    /// Snapshots, for an unqueued transaction.
    case unqueued(UnqueuedSource)
    /// The pending state of the parent, for a child transaction.
    case parent(ParentSource)

    func reader(_ store: PersistentStore, for context: Context) throws -> any ReadTransaction {
        switch self {
        case .group(let group):
            // The source of reads of a context is constant, so it is the group after the end, too.
            if context.changeBuffer?.hasEnded ?? false { throw store.transactionEnded }
            return try group.reader(of: store)
        case .ended: throw store.transactionEnded
        case .unqueued(let source): return try source.snapshots.reader(of: store, for: context)
        case .parent(let source): return try source.reader(store)
        }
    }

    func newerTable(_ core: StackCore) -> StoreTable? {
        switch self {
        case .group, .ended: nil
        case .unqueued: core.table.withLock { $0 }
        case .parent(let source): source.newerTable
        }
    }

    /// Checks that the transaction, or the one that it is a child of, has not ended.
    /// - Throws: `closed` if it has.
    func checkOpen(_ store: PersistentStore) throws {
        switch self {
        case .group, .unqueued: break
        case .ended: throw store.transactionEnded
        case .parent(let source): try source.parent.access.checkOpen(store)
        }
    }

    /// Prepares a store for changes. In a queued transaction, its write transaction begins.
    /// - Throws: `readOnly` if it was opened for reading only; `closed` if the transaction has ended.
    func touch(_ store: PersistentStore) throws {
        switch self {
        case .group(let group): _ = try group.writer(of: store)
        case .ended: throw store.transactionEnded
        case .unqueued, .parent: if store.configuration.isReadOnly { throw store.openedReadOnly }
        }
    }

    /// Returns a new row id, which is never assigned again.
    func newRowID(_ entry: StoreEntity) throws -> Int64 {
        switch self {
        case .group(let group): return try group.writer(of: entry.store).newRowID(entry.entity)
        case .ended: throw entry.store.transactionEnded
        case .unqueued(let source): return try source.newRowID(entry)
        case .parent(let source):
            try source.parent.checkMutable()
            return try source.parent.access.newRowID(entry)
        }
    }

    /// Ends the snapshots. A transaction that can be read further begins new ones with its next read. Those of a queued transaction belong to its group.
    func endReaders() {
        switch self {
        case .group, .ended: break
        case .unqueued(let source): source.snapshots.end()
        case .parent(let source): source.endReaders()
        }
    }
}

extension PersistentStore {
    /// The error for a change of a store that was opened for reading only.
    var openedReadOnly: StoreError {
        StoreError(.readOnly, "The store \(location) was opened for reading only.", location: location)
    }

    /// The error for a use of the store by a queued transaction that has ended.
    fileprivate var transactionEnded: StoreError {
        StoreError(.closed, "The transaction has ended; its objects can no longer read from the store.", location: location)
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
        let count = RowIDBlock.size(after: rowIDs[entityIndex], in: entry.store)
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
