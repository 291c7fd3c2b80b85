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
/// only read may have changed meanwhile, so two that each read what the other writes can both commit; ``DataStack/perform(durability:source:_:)`` rules
/// that out.
///
/// Not Sendable: unsafe is only that nothing ends it for you. As long as it lives, its version of the stores does; see ``DataStack/openSnapshots``.
/// One that is let go is discarded; objects of it that are still held keep their values and can no longer be changed.
public final class UnsafeTransaction: Transaction {
    /// Of which it is a child; nil: of the stores.
    private let parent: Transaction?
    private let origin: SnapshotContext.Origin
    @exclusivity(unchecked) private var readers: [(any ReadTransaction)?] = []
    @exclusivity(unchecked) private var ledgerID: Int?
    /// Ids in hand, by slot.
    @exclusivity(unchecked) private var keys: [Int: ArraySlice<Int64>] = [:]
    /// How many ids were asked for last.
    @exclusivity(unchecked) private var stock: [Int: Int] = [:]
    /// What the changed and deleted objects were like when they were read.
    @exclusivity(unchecked) private var bases: [ObjectKey: RecordedChanges.Place] = [:]
    @exclusivity(unchecked) private var baseArena = RecordArena()
    /// Objects that it holds, and that therefore do not hold it: else it would never go.
    @exclusivity(unchecked) private var owned: [any Model] = []
    @exclusivity(unchecked) private var observers: [(id: Int, tell: (PendingChanges) -> Void)] = []
    /// Objects that were touched since the observers were told last.
    @exclusivity(unchecked) private var news: [ObjectKey: any Model] = [:]
    /// How many changes of to-many relationships they were told of.
    @exclusivity(unchecked) private var toldLinks = 0
    /// Whether a commit has failed that may have written something.
    @exclusivity(unchecked) private var mayBeThere = false
    /// Whether the last of its steps can be taken back.
    public let supportsUndo: Bool

    init(core: StackCore, table: StoreTable, parent: Transaction?, _ origin: SnapshotContext.Origin, supportsUndo: Bool) {
        self.parent = parent
        self.origin = origin
        self.supportsUndo = supportsUndo
        super.init(core: core, table: table, group: nil)
        if supportsUndo { history = UndoHistory(self) }
    }

    deinit {
        release()
        returnKeys()
        if !owned.isEmpty { leaveObjects() }
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
        if ledgerID == nil { ledgerID = core.snapshots.open(origin.kind, origin.file, origin.line) }
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

    private func release() {
        for reader in readers { reader?.end() }
        readers = []
        if let ledgerID { core.snapshots.close(ledgerID) }
        ledgerID = nil
    }

    // MARK: Ids

    override func newKey(_ entry: StoreEntity) throws -> Int64 {
        if let parent { return try parent.newKey(entry) }
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

    override func didCreate(_ object: any Model) {
        super.didCreate(object)
        own(object)
        if !observers.isEmpty { news[object.place] = object }
    }

    override func willTouch(_ object: any Model) {
        super.willTouch(object)
        own(object)
        keepBase(of: object)
        if !observers.isEmpty { news[object.place] = object }
    }

    override func keep(_ objects: [any Model]) { for object in objects { own(object) } }

    private func own(_ object: any Model) {
        guard !object._$state.flags.contains(.owned) else { return }
        object._$state.flags.insert(.owned)
        owned.append(object)
        object._$state.unretainedMap._withUnsafeGuaranteedRef { $0.letGo() }
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

    // MARK: Commits

    /// What was changed, free of the objects.
    private func recorded() throws -> RecordedChanges {
        if let error = deferredErrors.first { throw error }
        let changes = RecordedChanges(mayBeThere: mayBeThere)
        for (slot, own) in pending.enumerated() {
            let entry = table.entries[slot]
            if own.isEmpty { continue }
            try touch(entry.store)
            for object in own.inserted where !object.isDeleted {
                try describing(entry, object) { try changes.insert(object, entry) }
            }
            for object in own.updated where !object.isDeleted {
                guard !object._$state.flags.contains(.missing), let base = bases[object.place] else { throw changed(object, entry) }
                try describing(entry, object) { try changes.update(object, entry, base: baseArena.bytes(base.offset, base.count)) }
            }
            for object in own.deleted {
                changes.delete(object, base: bases[object.place].map { baseArena.bytes($0.offset, $0.count) })
            }
        }
        for (key, net) in memberLog.all(where: { _ in true }) {
            // What is deleted takes its links with it.
            if isDoomed(key) { continue }
            if !net.order.isEmpty { changes.arrange(key, net.order) }
            guard case .link(_, let isReversed) = entry(key.slot).entity.relationships[Int(key.relationship)].storage, !isReversed else {
                continue
            }
            changes.link(key, net)
        }
        return changes
    }

    private func isDoomed(_ key: MemberKey) -> Bool {
        func open<T: Model>(_ type: T.Type) -> Bool { living(type, key.slot, key.key)?.isDeleted ?? false }
        return open(entry(key.slot).type)
    }

    private func prepare() throws -> RecordedChanges {
        try checkMutable()
        return try recorded()
    }

    /// Writes what was changed, and goes on with the newest version. Waits for its turn on the caller's thread; of a child, hands it to the
    /// parent, without any waiting.
    /// - Parameters:
    ///   - mergePolicy: what becomes of objects that others have changed since they were read here.
    ///   - durability: what the commit survives; nil is what the store says.
    /// - Returns: whether there was anything to write.
    /// - Throws: `conflict` with all ``StoreError/conflicts``; `constraint` with all violations; `misuse` in the body of another transaction. Nothing is
    ///   written then, and no change is lost: mend it and commit again, or roll back. What was not changed here is read in the newest version then too.
    ///   After `io`, `full` and the like something may be written, of several stores in some of them: committing again ends what was begun.
    @discardableResult
    public func commit(
        mergePolicy: MergePolicy = .error, durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation
    ) throws -> Bool {
        let changes = try prepare()
        guard !changes.isEmpty else { return false }
        if let parent {
            try hand(changes, to: parent, mergePolicy)
        } else {
            let userInfo = userInfo
            // Somebody before it in line may need the room of an old version.
            refresh()
            do {
                try core.transactAndWait(order(durability), isPatient: isolation == nil) {
                    try Self.replay(changes, on: $0, mergePolicy, userInfo)
                }
            } catch {
                throw noted(error)
            }
            core.catchUpViewsSoon(isOnMain: isolation === MainActor.shared)
        }
        didCommit()
        return true
    }

    /// The same without holding up the caller's thread. Until it returns nothing may be changed here: what is, is lost, and an error is logged.
    @discardableResult
    public func commit(
        mergePolicy: MergePolicy = .error, durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Bool {
        let changes = try prepare()
        guard !changes.isEmpty else { return false }
        if let parent {
            try hand(changes, to: parent, mergePolicy)
        } else {
            let userInfo = userInfo
            refresh()
            close("is being committed")
            defer { reopen() }
            do {
                try await core.transact(order(durability)) { try Self.replay(changes, on: $0, mergePolicy, userInfo) }
            } catch {
                throw noted(error)
            }
            await core.catchUpViews()
        }
        didCommit()
        return true
    }

    /// Of several stores those before the one that failed are committed, and an engine may fail in the flush that follows the commit.
    private func noted(_ error: any Error) -> any Error {
        let isRefusal = [.conflict, .constraint, .misuse, .notFound, .invalidValue, .cancelled].contains((error as? StoreError)?.code)
        if !isRefusal { mayBeThere = true }
        return error
    }

    private func order(_ durability: Durability?) -> TransactionOrder { TransactionOrder(durability: durability, source: sourceIdentifier) }

    private static func replay(
        _ changes: RecordedChanges, on target: Transaction, _ policy: MergePolicy, _ userInfo: [String: any Sendable]
    ) throws {
        target.userInfo = userInfo
        try Replay(changes, on: target, policy).run()
    }

    private func hand(_ changes: RecordedChanges, to parent: Transaction, _ policy: MergePolicy) throws {
        try parent.checkMutable()
        try parent.atomically { try Replay(changes, on: parent, policy).run() }
    }

    private func didCommit() {
        tell()
        withExtendedLifetime(self) { startAgain() }
    }

    /// Forgets every change since the last commit, and goes on with the newest version. Objects that were made here say that they are deleted.
    public func rollback() {
        for object in owned {
            if object.isInserted {
                object._$state.flags.insert(.deleted)
            } else {
                object._$state.flags.subtract([.deleted, .missing])
            }
        }
        tell()
        withExtendedLifetime(self) { startAgain() }
    }

    override func giveUp() { rollback() }

    /// Nothing is changed any more, and everything is read anew when it is asked for.
    private func startAgain() {
        release()
        for slot in pending.indices { pending[slot] = Pending() }
        memberLog = MemberLog()
        memberLists = [:]
        denials = []
        unverified = []
        deferredErrors = []
        mayBeThere = false
        bases = [:]
        baseArena = RecordArena()
        fetchedAhead = []
        news = [:]
        toldLinks = 0
        history = nil
        for object in owned { object._$state.edit = nil }
        for map in maps {
            for case let object as any Model in map.objects where !object.isDeleted { object._$state.flags.insert(.fault) }
        }
        let released = owned
        owned = []
        for object in released {
            object._$state.flags.remove(.owned)
            object._$state.unretainedMap._withUnsafeGuaranteedRef { $0.willHold() }
        }
        if supportsUndo { history = UndoHistory(self) }
    }

    /// Moves to the newest version and keeps the changes: objects that were not changed here are read anew when they are asked for.
    public func refresh() {
        release()
        memberLists = [:]
        for map in maps {
            for case let object as any Model in map.objects where !object.isDeleted && object._$state.edit == nil {
                object._$state.flags.insert(.fault)
            }
        }
    }

    // MARK: Steps

    /// Ends a step: what was done since the last one is what ``undo()`` takes back. Those who observe this transaction are told of it.
    public func flush() {
        history?.endStep()
        tell()
    }

    /// Whether there is a step to take back.
    public var canUndo: Bool { history?.canUndo ?? false }
    /// Whether there is a step to do again.
    public var canRedo: Bool { history?.canRedo ?? false }

    /// Takes the last step back, the changes since the last ``flush()`` to begin with; nothing happens where there is none.
    /// - Throws: `misuse` where undo was not asked for when the transaction was begun.
    public func undo() throws {
        try undoHistory().undo()
        tell()
    }

    /// Does again what was taken back last, unless something was changed since.
    /// - Throws: `misuse` where undo was not asked for when the transaction was begun.
    public func redo() throws {
        try undoHistory().redo()
        tell()
    }

    private func undoHistory() throws -> UndoHistory {
        guard let history, supportsUndo else {
            throw StoreError(.misuse, "This transaction keeps no steps: begin it with supportsUndo: true.")
        }
        try checkMutable()
        return history
    }

    // MARK: Observers

    /// Calls a closure, on this thread, with what was changed here since the last call: at each ``flush()``, undo, redo, commit and rollback.
    /// - Returns: what to stop it by.
    @discardableResult
    public func observe(_ tell: @escaping (PendingChanges) -> Void) -> Int {
        let id = (observers.last?.id ?? 0) + 1
        observers.append((id, tell))
        return id
    }

    public func removeObserver(_ id: Int) { observers.removeAll { $0.id == id } }

    private func tell() {
        guard !observers.isEmpty else { return }
        for key in memberLog.touched(since: toldLinks) {
            let object = anyObject(key.slot, key.key)
            news[object.place] = object
        }
        toldLinks = memberLog.changeCount
        guard !news.isEmpty else { return }
        let changes = PendingChanges(Array(news.values))
        news = [:]
        for observer in observers { observer.tell(changes) }
    }

    // MARK: The end

    /// Objects that somebody still holds outlive the transaction: in a context that can do nothing.
    private func leaveObjects() {
        let ended = EndedContext(core: core, table: table)
        func move(_ object: any Model) {
            object._$state.flags.subtract([.owned, .hasMembers])
            object._$state.edit = nil
            let map = ended.maps[Int(object._$state.slot)]
            map.insert(object._$state.key, object)
            object._$state.move(to: map)
        }
        for map in maps {
            for case let object as any Model in map.objects {
                map.remove(object._$state.key)
                move(object)
            }
        }
        // Those that stand for missing ones are in no map.
        for object in owned where object._$state.flags.contains(.owned) { move(object) }
    }
}

/// Objects of an unsafe transaction, by what was done with them.
public struct PendingChanges {
    public let inserted: [any Model]
    public let updated: [any Model]
    public let deleted: [any Model]

    init(_ objects: [any Model]) {
        let objects = objects.sorted { ($0._$state.slot, $0._$state.key) < ($1._$state.slot, $1._$state.key) }
        deleted = objects.filter(\.isDeleted)
        inserted = objects.filter { $0.isInserted && !$0.isDeleted }
        updated = objects.filter { !$0.isInserted && !$0.isDeleted }
    }
}

/// Where objects are whose transaction has gone: they keep their values.
private final class EndedContext: Context {
    override func beginEditing(_ object: any Model) -> EditState {
        let name = entry(object._$state.slot).entity.name
        core.logger.write(.error, "A change of \(name) \(object._$state.key) is lost: its transaction was let go.")
        return object._$state.edit ?? EditState(isInsert: false)
    }
}

/// What a child transaction sees: its parent with everything that is pending there.
private final class ParentReader: ReadTransaction {
    private let parent: Transaction
    private let store: PersistentStore

    init(_ parent: Transaction, _ store: PersistentStore) {
        self.parent = parent
        self.store = store
    }

    private func entry(_ entity: Entity) -> StoreEntity { parent.entry(store.firstSlot + Int32(entity.index)) }

    private func related() throws -> PendingRelated { PendingRelated(parent, store, try parent.storage(store)) }

    var version: UInt64 { (try? parent.storage(store).version) ?? 0 }

    func record(_ entity: Entity, id: Int64) throws -> RecordView? { try related().record(entity, id: id) }

    func scan(_ request: FetchRequest) throws -> Scan { Scan(try parent.steadyRows(entry(request.entity), request, FetchOptions())) }

    func count(_ request: FetchRequest) throws -> Int { try parent.count(entry(request.entity), request, FetchOptions()) }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try related().related(relationship, of: sources)
    }

    func plan(_ request: FetchRequest) throws -> QueryPlan { try parent.storage(store).plan(request) }

    func end() {}
}
