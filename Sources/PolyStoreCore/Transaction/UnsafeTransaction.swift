import PolyStoreBackend

/// A transaction outside of any closure and of the line of the others: it may last, take many commits, be taken back, and have children.
///
///     let draft = stack.beginUnsafe()
///     let jane = try draft.edit(id)
///     jane.name = "Jane"                     // seen by nobody else
///     try draft.commit()                     // or draft.rollback(), or just let it go
///
/// It reads one version of the stores, that of its first look, and moves to the newest one with each commit, also one that is refused, with
/// ``rollback()`` and with ``refresh()``.
/// Nobody waits for it: others go on writing, and a commit finds out whether they changed the same objects; see ``MergePolicy``. What it has
/// only read may have changed meanwhile, so two that each read what the other writes can both commit; ``DataStack/perform(durability:source:file:line:_:)`` rules
/// that out.
///
/// Not Sendable: unsafe is only that nothing ends it for you. As long as it lives, its version of the stores does; see ``DataStack/openSnapshots``.
/// When its last reference goes it is discarded and its version released, whatever objects of it are still held: those keep their values, read nothing more and
/// can no longer be changed.
public final class UnsafeTransaction: Transaction {
    /// Of which it is a child; nil: of the stores.
    let parent: Transaction?
    @exclusivity(unchecked) var readers: [(any ReadTransaction)?] = []
    @exclusivity(unchecked) var ledgerID: Int?
    /// Ids in hand, by slot.
    @exclusivity(unchecked) private var keys: [Int: ArraySlice<Int64>] = [:]
    /// How many ids were asked for last.
    @exclusivity(unchecked) private var stock: [Int: Int] = [:]
    /// What the changed and deleted objects were like when they were read.
    @exclusivity(unchecked) var bases: [ObjectKey: RecordedChanges.Place] = [:]
    @exclusivity(unchecked) var baseArena = RecordArena()
    /// The changed objects, kept alive until they are committed.
    @exclusivity(unchecked) var owned: [any Model] = []
    @exclusivity(unchecked) var pendingObservers: [(id: Int, tell: (PendingChanges) -> Void)] = []
    /// Objects that were touched since the observers were told last.
    @exclusivity(unchecked) var news: [ObjectKey: any Model] = [:]
    /// Objects that were changed during a commit.
    @exclusivity(unchecked) var lostEdits: [ObjectKey: any Model] = [:]
    /// How many changes of to-many relationships they were told of.
    @exclusivity(unchecked) var toldLinks = 0
    /// What steps have thrown that nobody waits for.
    @exclusivity(unchecked) var failedSteps: [StoreError] = []
    /// How many changes of to-many relationships the monitors know of.
    @exclusivity(unchecked) var monitoredLinks = 0
    /// A Boolean value that indicates whether monitors are being notified.
    @exclusivity(unchecked) var isNotifyingMonitors = false
    /// Whether a commit has failed that may have written something.
    @exclusivity(unchecked) var mayBeThere = false
    /// Whether the last of its steps can be taken back.
    public let supportsUndo: Bool

    init(core: StackCore, table: StoreTable, parent: Transaction?, _ site: CallSite, supportsUndo: Bool) {
        self.parent = parent
        self.supportsUndo = supportsUndo
        super.init(core: core, table: table, group: nil, site)
        if supportsUndo { history = UndoHistory(self) }
    }

    deinit {
        release()
        returnKeys()
        leaveObjects()
    }

    /// It ends with its last reference, not with its last object.
    override var isKeptByObjects: Bool { false }
    override var readsPending: Bool { parent != nil }

    override var newerTable: StoreTable? {
        guard let parent else { return core.table.withLock { $0 } }
        if let newer = parent.newerTable { parent.update(newer) }
        return parent.table
    }

    // MARK: Storage

    override func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        if let reader = readers.indices.contains(store.index) ? readers[store.index] : nil { return reader }
        try checkOpen(store)
        while readers.count < table.stores.count { readers.append(nil) }
        if let parent {
            try parent.checkOpen(store)
            let reader = ParentReader(parent, store)
            readers[store.index] = reader
            return reader
        }
        try core.process.check("This stack")
        if ledgerID == nil { ledgerID = core.snapshots.open(site) }
        // All at once, so that what is read belongs together.
        for store in table.stores where readers[store.index] == nil { readers[store.index] = try store.backend.beginRead() }
        guard let reader = readers[store.index] else { throw StoreError(.closed, "The store is closed.", url: store.url) }
        return reader
    }

    override func touch(_ store: PersistentStore) throws {
        guard !store.configuration.isReadOnly else {
            throw StoreError(.readOnly, "The store \(store.url) was opened for reading only.", url: store.url)
        }
    }

    func release() {
        for reader in readers { reader?.end() }
        readers = []
        if let ledgerID { core.snapshots.close(ledgerID) }
        ledgerID = nil
    }

    // MARK: Ids

    override func newKey(_ entry: StoreEntity) throws -> Int64 {
        if let parent {
            try parent.checkMutable()
            return try parent.newKey(entry)
        }
        let slot = Int(entry.slot)
        if let key = keys[slot]?.popFirst() { return key }
        try touch(entry.store)
        // More each time, so that a bulk load asks seldom.
        let count = min((stock[slot] ?? 16) * 2, 4096)
        stock[slot] = count
        var more = try core.reserveKeys(entry, count)[...]
        let key = more.removeFirst()
        keys[slot] = more
        return key
    }

    /// Gives back what is left, as far as there is room for it.
    private func returnKeys() {
        for (slot, left) in keys {
            guard let first = left.first, let last = left.last, last - first == Int64(left.count - 1) else { continue }
            let entry = table.entries[slot]
            entry.store.sequences.withLock { sequences in
                if sequences[entry.entity.index] == nil { sequences[entry.entity.index] = first...last }
            }
        }
        keys = [:]
    }

    // MARK: Changes

    override func giveUp() { rollback() }

    override func didLoseChange(of object: any Model) { lostEdits[object.place] = object }

    /// The parent may be changed at any time.
    override var showsOneVersion: Bool { parent == nil }

    override func didCreate(_ object: any Model) {
        super.didCreate(object)
        own(object)
        if !pendingObservers.isEmpty { news[object.place] = object }
    }

    override func willTouch(_ object: any Model) {
        super.willTouch(object)
        own(object)
        keepBase(of: object)
        if !pendingObservers.isEmpty { news[object.place] = object }
    }

    override func willRestore(_ object: any Model) {
        guard !object.isInserted, bases[object.place] == nil else { return }
        if object._$state.isFault { fire(object) }
        keepBase(of: object)
    }

    override func didForget(_ object: any Model) { bases[object.place] = nil }

    override func didRestore(_ objects: [any Model], _ relationships: Set<MemberKey>) {
        guard !pendingObservers.isEmpty else { return }
        for object in objects { news[object.place] = object }
        for key in relationships {
            let object = anyObject(key.slot, key.key)
            news[object.place] = object
        }
        toldLinks = memberLog.changeCount
    }

    private func own(_ object: any Model) {
        guard !object._$state.flags.contains(.owned) else { return }
        object._$state.flags.insert(.owned)
        owned.append(object)
    }

    /// Remembers what an object was like, to find out later whether somebody else has changed it.
    private func keepBase(of object: any Model) {
        let place = object.place
        guard !object.isInserted, bases[place] == nil else { return }
        let entry = entry(place.slot)
        let view: RecordView?
        if object._$state.isFault {
            view = try? record(entry, place.key)
            guard let view else { return }
            bases[place] = RecordedChanges.Place(offset: baseArena.append(view.bytes), count: view.count)
        } else if let view = try? baseArena.encode(object, entry) {
            bases[place] = RecordedChanges.Place(offset: baseArena.count - view.count, count: view.count)
        }
    }

    // MARK: The end

    /// Objects that are still held outlive the transaction: in a context that can do nothing. They may be in use on another thread at this moment, so nothing
    /// of them is changed but what is atomic.
    private func leaveObjects() {
        for own in pending {
            // So that a change of an object that was changed before is noticed too.
            for object in [own.inserted, own.updated].joined() { object._$state.edit?.isRecorded = true }
        }
        let all = maps + strays.values
        guard all.contains(where: \.isHeld) else { return }
        let ended = EndedContext(core: core, table: table, taking: maps, strays, site)
        for map in all { map.leave(to: ended) }
    }
}
