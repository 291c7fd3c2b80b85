import PolyStoreBackend

/// A unit of work: collects changes in memory, then writes them all or none. Its fetches see its own changes.
///
/// Comes as the argument of ``DataStack/perform(durability:source:file:line:_:)`` and its like, and ends with their body. The bodies are `@Sendable` and what
/// they return is Sendable, and a transaction and its objects are neither: the compiler refuses every way in or out.
///
/// There are several kinds, all with the same verbs. Those in the line of the stack, one at a time, read what they will write to:
/// `perform`'s, ``AsynchronousTransaction`` and ``SynchronousTransaction``. An ``UnsafeTransaction`` stands outside of it, and finds out at its
/// commits whether others changed the same objects.
public class Transaction: Context {
    /// The changed objects of one entity, kept alive until the end.
    struct Pending {
        var inserted: [any Model] = []
        var updated: [any Model] = []
        var deleted: [any Model] = []
        /// Made at the first fetch that looks through them.
        var records: PendingRecords?

        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    }

    private enum Phase {
        case open
        /// Nothing more can be changed, for a reason.
        case closed(String)
        case ended
    }

    /// nil outside of the line.
    private let group: CommitGroup?
    /// By which the task that waits can call it off.
    final var ticket: Ticket?
    // A transaction is used by one thread at a time, and none of its methods hands out one of these in place.
    @exclusivity(unchecked) final var pending: [Pending]
    @exclusivity(unchecked) final var memberLog = MemberLog()
    /// Relationships with the delete rule `deny` of deleted objects, judged at commit.
    @exclusivity(unchecked) final var denials: [MemberKey] = []
    /// The objects that relationships were made to lead to without a look into the store, each once; looked up at commit.
    @exclusivity(unchecked) final var unverified: [(slot: Int32, key: Int64)] = []
    /// The named values that it sets, by store and by the bytes of their names.
    @exclusivity(unchecked) final var storeValues: [Int: [[UInt8]: ChangeSet.ValueChange]] = [:]
    /// The entries of the history that it deletes: up to which position, by store.
    @exclusivity(unchecked) final var historyRemovals: [Int: Int64] = [:]
    /// Rules of the API that were broken where nothing could be thrown; thrown at commit.
    @exclusivity(unchecked) final var refusals = Refusals()
    /// What was written by a commit in the body: it is no longer pending, and still to be published.
    @exclusivity(unchecked) private(set) final var written: (log: MemberLog, deletedKinds: [ObjectKey: String])?
    @exclusivity(unchecked) private var phase = Phase.open
    /// The entry of the class of which an object was last created, where no configuration was named.
    @exclusivity(unchecked) final var createdEntry: (type: ObjectIdentifier, entry: StoreEntity)?

    /// Who makes the changes: handed on to all who observe the commit, so that somebody can tell his own changes from those of others.
    public final var sourceIdentifier: (any Hashable & Sendable)? {
        get { origin?.source }
        set { origin = CommitOrigin(newValue, userInfo) }
    }
    /// Anything else that those who observe the commit are to know.
    public final var userInfo: [String: any Sendable] {
        get { origin?.userInfo ?? [:] }
        set { origin = CommitOrigin(sourceIdentifier, newValue) }
    }
    @exclusivity(unchecked) private(set) final var origin: CommitOrigin?

    /// By store; nil where it was not touched.
    @exclusivity(unchecked) private var parts: [StorePart?] = []
    @exclusivity(unchecked) private var readers: [Int: any ReadTransaction] = [:]

    init(core: StackCore, table: StoreTable, group: CommitGroup?, _ site: CallSite) {
        self.group = group
        pending = Array(repeating: Pending(), count: table.entries.count)
        super.init(core: core, table: table, site)
    }

    override func didGrow() {
        createdEntry = nil
        while pending.count < table.entries.count { pending.append(Pending()) }
    }

    final func take(_ order: TransactionOrder) {
        ticket = order.ticket
        origin = order.origin
    }

    // MARK: Storage

    override func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        if store.configuration.isReadOnly {
            try checkOpen(store)
            if let reader = readers[store.index] { return reader }
            let reader = try store.backend.beginRead()
            readers[store.index] = reader
            return reader
        }
        return try part(store).writer
    }

    /// Begins the store's write transaction, unless that was done already.
    func touch(_ store: PersistentStore) throws { _ = try part(store) }

    /// What the group does to the store.
    private func part(_ store: PersistentStore) throws -> StorePart {
        if store.index < parts.count, let part = parts[store.index] { return part }
        try checkOpen(store)
        guard !store.configuration.isReadOnly else {
            throw StoreError(.readOnly, "The store \(store.url) was opened for reading only.", url: store.url)
        }
        guard let group else { throw StoreError(.closed, "The transaction has ended.", url: store.url) }
        let part = try group.part(store)
        while parts.count <= store.index { parts.append(nil) }
        parts[store.index] = part
        return part
    }

    final func checkOpen(_ store: PersistentStore) throws {
        if case .ended = phase {
            throw StoreError(.closed, "The transaction has ended; its objects can no longer read from the store.", url: store.url)
        }
    }

    /// Whether something may still be changed.
    final var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Called when what is pending was applied to the stores, through which the transaction reads on: there everything is found from now on.
    final func didWrite() {
        written = (memberLog, deletedKinds)
        for own in pending {
            for object in [own.inserted, own.updated].joined() { object._$state.edit = nil }
        }
        pending = Array(repeating: Pending(), count: pending.count)
        memberLog = MemberLog()
        denials = []
        unverified = []
        storeValues = [:]
        historyRemovals = [:]
        rowsAhead = nil
    }

    /// The changes of to-many relationships, and the entities of deleted objects, that a commit has to publish.
    final var published: (log: MemberLog, deletedKinds: [ObjectKey: String]) { written ?? (memberLog, deletedKinds) }

    /// Takes no more changes, but can still be read through.
    final func close(_ why: String) {
        phase = .closed(why)
        // So that a change of an object that was changed before is heard of too.
        for own in pending {
            for object in [own.inserted, own.updated].joined() { object._$state.edit?.isRecorded = true }
        }
    }
    final func reopen() { phase = .open }

    /// - Throws: `closed` where nothing can be changed any more.
    final func checkMutable() throws { if let error = immutability { throw error } }

    /// Why nothing can be changed any more; nil where it can.
    final var immutability: StoreError? {
        switch phase {
        case .open: nil
        case .closed(let why): StoreError(.closed, "The transaction \(why), so nothing more can be changed in it.")
        case .ended: StoreError(.closed, "The transaction has ended, so nothing can be changed in it.")
        }
    }

    /// The stores that it read or will write, by index.
    final var touchedStores: [Int] { parts.indices.filter { parts[$0] != nil } }

    /// Whether the task that waits for the transaction was cancelled. If it was before the body returns, nothing is written and the task gets
    /// `cancelled`; a body that takes long may look at this and throw.
    public final var isCancelled: Bool { ticket?.isCancelled ?? false }

    /// - Throws: `cancelled` where the task that waits for the transaction was cancelled.
    public final func checkCancellation() throws { if isCancelled { throw Ticket.error } }

    /// Gives the transaction up: throws `cancelled`, which the caller of `perform` receives; nothing is written.
    public final func cancel() throws -> Never { throw StoreError(.cancelled, "The transaction was cancelled.") }

    /// What was done since a point to which one may want to go back.
    final var history: UndoHistory?

    /// The imports of this transaction; nil before the first.
    final var imports: ImportState?

    /// Called when an object was made.
    func didCreate(_ object: any Model) { history?.noteCreated(object) }
    /// Called before an object is changed or deleted, for the first time, or for the first time after somebody wanted to know.
    func willTouch(_ object: any Model) { history?.note(object) }

    /// Called when an object was changed although nothing can be changed.
    func didLoseChange(of object: any Model) {}

    /// The relationship whose list is brought up to date by who changes it.
    @exclusivity(unchecked) final var settled: MemberKey?

    /// Whether the stores show it the same version until somebody says otherwise.
    var showsOneVersion: Bool { true }

    /// Forgets every change.
    func giveUp() {}
    /// Called before an object is given back a state in which it was changed or deleted.
    func willRestore(_ object: any Model) {}
    /// Called when a changed object is one that was not changed again.
    func didForget(_ object: any Model) {}
    /// Called when objects were given back an earlier state, or a later one, and their to-many relationships too.
    func didRestore(_ objects: [any Model], _ relationships: Set<MemberKey>) {}
    /// Makes the transaction depend on everything that is to be committed before it.
    final func waitForOthers() { parts = group?.parts ?? [] }

    /// Ends: nothing can be read through it any more.
    func end() {
        phase = .ended
        for reader in readers.values { reader.end() }
        parts = []
        readers = [:]
        pending = []
        imports = nil
        storeValues = [:]
        forgetAllMembers()
        rowsAhead = nil
    }

    /// The entities of deleted objects of hierarchies: nothing of them will be left to tell.
    final var deletedKinds: [ObjectKey: String] {
        guard pending.contains(where: { !$0.deleted.isEmpty }) else { return [:] }
        var kinds: [ObjectKey: String] = [:]
        for (slot, own) in pending.enumerated() where !own.deleted.isEmpty {
            guard let family = table.entries[slot].family else { continue }
            for object in own.deleted { kinds[object.place] = family.kind(of: object).name }
        }
        return kinds
    }

    // MARK: What only a transaction may do; each is worked out in a file of its own

    override func beginEditing(_ object: any Model) -> EditState { startEditing(object) }

    override func retarget<T: Model>(_ object: any Model, _ relationship: Int, from old: ToOne, to new: T?) -> ToOne {
        moveToOne(object, relationship, from: old, to: new)
    }

    override func setMembers<T: Model>(of object: any Model, _ relationship: Int, to members: Set<T>) {
        replaceMembers(of: object, relationship, to: members)
    }

    override func setMembers<T: Model>(of object: any Model, _ relationship: Int, to members: [T]) {
        replaceList(of: object, relationship, to: members)
    }

    override func lend<T: Model>(_ object: any Model, _ relationship: Int) -> MemberLoan<Set<T>> { lendSet(object, relationship) }

    override func takeBack<T: Model>(_ loan: inout MemberLoan<Set<T>>, _ object: any Model, _ relationship: Int) {
        takeBackSet(&loan, object, relationship)
    }

    override func lend<T: Model>(_ object: any Model, _ relationship: Int) -> MemberLoan<[T]> { lendList(object, relationship) }

    override func takeBack<T: Model>(_ loan: inout MemberLoan<[T]>, _ object: any Model, _ relationship: Int) {
        takeBackList(&loan, object, relationship)
    }

    override func pendingMembers(_ key: MemberKey) -> MemberChanges? { memberLog.changes(key) }

    override func rows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try mergedRows(entry, request, options)
    }

    override func steadyRows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try mergedRows(entry, request, options, isSteady: true)
    }

    override func count(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> Int {
        try mergedCount(entry, request, options)
    }

    override func related(_ store: PersistentStore, _ options: FetchOptions) throws -> any RelatedRecords {
        try relatedRecords(store, options)
    }

    // MARK: Ids

    /// A new id: final from now on, never given out again.
    func newKey(_ entry: StoreEntity) throws -> Int64 { try part(entry.store).newKey(entry.entity) }
}
