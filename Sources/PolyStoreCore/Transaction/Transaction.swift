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

    private let group: CommitGroup
    // A transaction is used by one thread at a time, and none of its methods hands out one of these in place.
    @exclusivity(unchecked) var pending: [Pending]
    @exclusivity(unchecked) var memberLog = MemberLog()
    /// Relationships with the delete rule `deny` of deleted objects, judged at commit.
    @exclusivity(unchecked) var denials: [MemberKey] = []
    /// The objects that relationships were made to lead to without a look into the store, each once; looked up at commit.
    @exclusivity(unchecked) var unverified: [(slot: Int32, key: Int64)] = []
    /// Rules of the API that were broken where nothing could be thrown; thrown at commit.
    @exclusivity(unchecked) var deferredErrors: [StoreError] = []
    @exclusivity(unchecked) private var phase = Phase.open
    /// By store; nil where it was not touched.
    @exclusivity(unchecked) private var parts: [StorePart?] = []
    @exclusivity(unchecked) private var readers: [Int: any ReadTransaction] = [:]

    init(core: StackCore, table: StoreTable, group: CommitGroup) {
        self.group = group
        pending = Array(repeating: Pending(), count: table.entries.count)
        super.init(core: core, table: table)
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
        let part = try group.part(store)
        while parts.count <= store.index { parts.append(nil) }
        parts[store.index] = part
        return part
    }

    private func checkOpen(_ store: PersistentStore) throws {
        guard phase == .open else {
            throw StoreError(.closed, "The transaction has ended; its objects can no longer read from the store.", url: store.url)
        }
    }

    /// The stores that it read or will write, by index.
    var touchedStores: [Int] { parts.indices.filter { parts[$0] != nil } }

    /// Gives the transaction up: throws `cancelled`, which the caller of `perform` receives; nothing is written.
    public func cancel() throws -> Never { throw StoreError(.cancelled, "The transaction was cancelled.") }

    /// Ends: nothing can be read through it any more.
    func end() {
        phase = .ended
        for reader in readers.values { reader.end() }
        parts = []
        readers = [:]
        pending = []
        memberLists = [:]
        fetchedAhead = []
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
