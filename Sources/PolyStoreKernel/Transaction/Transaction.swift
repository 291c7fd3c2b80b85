import PolyStoreBackend
import PolyStoreRuns

/// A unit of work that collects changes in memory and writes all of them or none. Its fetches see its pending changes.
///
/// A transaction is the argument of the body passed to ``DataStack/perform(durability:sourceIdentifier:file:line:_:)->T`` and similar methods, and ends when the
/// body returns. The bodies are `@Sendable` and their results are Sendable. Transactions and their objects are not, so the compiler rejects every use
/// of them outside of the body.
///
/// All kinds of transactions share the same methods. Queued transactions run one at a time on the write queue and read the state that they write to:
/// those of `perform`, ``AsynchronousTransaction`` and ``SynchronousTransaction``. An ``UnsafeTransaction`` is unqueued and detects conflicts when it
/// commits.
public class Transaction: Context {
    /// The changed objects of one entity, retained until the transaction ends.
    struct EntityChanges {
        var inserted: [any Model] = []
        var updated: [any Model] = []
        var deleted: [any Model] = []
        /// Created by the first fetch that includes pending changes.
        var records: PendingRecords?

        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    }

    private enum Phase {
        case open
        /// The validation methods of the models run. Changes are refused.
        case validating(ValidationRun)
        /// Changes are rejected, with the given reason.
        case closed(String)
        case ended
    }

    /// The write transactions of the commit group; nil in an unqueued transaction.
    private let writers: GroupWriters?
    /// The token with which the waiting task cancels the transaction.
    final var cancellation: CancellationToken?
    // A transaction is used by one thread at a time, and none of its methods exposes these properties for in-place mutation.
    @exclusivity(unchecked) final var pending: [EntityChanges]
    @exclusivity(unchecked) package final var relationshipChanges = RelationshipChanges()
    /// Relationships with the delete rule `deny` whose objects were deleted; validated at commit.
    @exclusivity(unchecked) final var denials: [RelationshipKey] = []
    /// Target objects of relationships that were set without reading the store, without duplicates; their existence is validated at commit.
    @exclusivity(unchecked) final var unverified: [RowReference] = []
    /// The named values that the transaction sets, by store index and UTF-8 bytes of the name.
    @exclusivity(unchecked) final var storeValues: [Int: [[UInt8]: ChangeSet.ValueChange]] = [:]
    /// The position up to which the transaction deletes history entries, by store index.
    @exclusivity(unchecked) package final var historyRemovals: [Int: Int64] = [:]
    /// Errors of calls that cannot throw; thrown at commit.
    @exclusivity(unchecked) final var deferredErrors = DeferredErrors()
    /// Changes written by a commit in the body: no longer pending, but not yet published.
    @exclusivity(unchecked) private(set) final var written:
        (relationshipChanges: RelationshipChanges, deletedKinds: [RowReference: String])?
    @exclusivity(unchecked) private var phase = Phase.open
    /// The entry of the class of the last object created without an explicit configuration.
    @exclusivity(unchecked) final var createdEntry: (type: ObjectIdentifier, entry: StoreEntity)?

    /// The origin of the changes, passed to observers of the commit so that they can recognize their own changes.
    ///
    /// Initially the argument `sourceIdentifier` of the method that began the transaction. Assign another value if it is known only inside of the body.
    public final var sourceIdentifier: (any Hashable & Sendable)? {
        get { origin?.sourceIdentifier }
        set { origin = CommitOrigin.make(newValue, userInfo) }
    }
    /// Additional information for observers of the commit.
    public final var userInfo: [String: any Sendable] {
        get { origin?.userInfo ?? [:] }
        set { origin = CommitOrigin.make(sourceIdentifier, newValue) }
    }
    @exclusivity(unchecked) private(set) final var origin: CommitOrigin?

    /// The writers of the used stores by store index; nil for the others.
    @exclusivity(unchecked) private var usedWriters: [StoreWriter?] = []
    @exclusivity(unchecked) private var readers: [Int: any ReadTransaction] = [:]

    /// Tracks the changed objects of an unqueued transaction; nil in a queued one, which needs no conflict detection and has no observers.
    final let changeTracker: ChangeTracker?

    init(
        core: StackCore, table: StoreTable, writers: GroupWriters?, changeTracker: ChangeTracker? = nil, _ site: CallSite,
        isKeptByObjects: Bool = true, readsPending: Bool = false
    ) {
        self.writers = writers
        self.changeTracker = changeTracker
        pending = Self.emptyChanges(table.entries.count)
        super.init(core: core, table: table, site, isKeptByObjects: isKeptByObjects, readsPending: readsPending)
        editor = self
    }

    /// Returns an empty element for each entity. `Array(repeating:count:)` looks up the metadata of its storage class in each call.
    private static func emptyChanges(_ count: Int) -> [EntityChanges] {
        var changes: [EntityChanges] = []
        changes.reserveCapacity(count)
        for _ in 0..<count { changes.append(EntityChanges()) }
        return changes
    }

    override func update(_ table: StoreTable) {
        guard table.generation > self.table.generation else { return }
        super.update(table)
        createdEntry = nil
        while pending.count < table.entries.count { pending.append(EntityChanges()) }
    }

    /// Takes the cancellation token and the origin from options.
    final func adopt(_ options: TransactionOptions) {
        cancellation = options.cancellation
        origin = options.origin
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
        return try writer(of: store).transaction
    }

    /// Begins the store's write transaction if it has not begun yet.
    package func touch(_ store: PersistentStore) throws { _ = try writer(of: store) }

    /// Returns the commit group's writer for the store.
    final func writer(of store: PersistentStore) throws -> StoreWriter {
        if store.index < usedWriters.count, let writer = usedWriters[store.index] { return writer }
        try checkOpen(store)
        guard !store.configuration.isReadOnly else {
            throw StoreError(.readOnly, "The store \(store.location) was opened for reading only.", location: store.location)
        }
        guard let writers else { throw StoreError(.closed, "The transaction has ended.", location: store.location) }
        let writer = try writers.writer(of: store)
        while usedWriters.count <= store.index { usedWriters.append(nil) }
        usedWriters[store.index] = writer
        return writer
    }

    final func checkOpen(_ store: PersistentStore) throws {
        if case .ended = phase {
            throw StoreError(.closed, "The transaction has ended; its objects can no longer read from the store.", location: store.location)
        }
    }

    /// The run of the validation methods, while they run.
    final var validation: ValidationRun? { if case .validating(let run) = phase { run } else { nil } }

    /// A Boolean value that indicates whether the transaction accepts changes.
    final var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Clears the pending changes after they were applied. The transaction now reads them from the stores.
    final func didWrite() {
        written = (relationshipChanges, deletedKinds)
        for entityChanges in pending {
            for object in [entityChanges.inserted, entityChanges.updated].joined() { object._$state.edit = nil }
        }
        pending = Self.emptyChanges(pending.count)
        relationshipChanges = RelationshipChanges()
        denials = []
        unverified = []
        storeValues = [:]
        historyRemovals = [:]
        rowsAhead = nil
    }

    /// The changes of to-many relationships and the entities of deleted objects that a commit publishes.
    final var published: (relationshipChanges: RelationshipChanges, deletedKinds: [RowReference: String]) {
        written ?? (relationshipChanges, deletedKinds)
    }

    /// Rejects further changes but keeps the transaction readable.
    final func close(_ why: String) {
        phase = .closed(why)
        detectChangesOfChangedObjects()
    }
    final func reopen() { phase = .open }

    /// Refuses changes while the validation methods of the models run in a closure.
    /// - Throws: the errors of the closure; `misuse` if a method attempted to change something.
    final func refusingChanges(_ body: (ValidationRun) throws -> Void) throws {
        let run = ValidationRun()
        phase = .validating(run)
        defer { phase = .open }
        detectChangesOfChangedObjects()
        try body(run)
        if let error = run.error { throw error }
    }

    private func detectChangesOfChangedObjects() {
        for entityChanges in pending {
            for object in entityChanges.inserted { object._$state.edit?.isRecorded = true }
            for object in entityChanges.updated { object._$state.edit?.isRecorded = true }
        }
    }

    /// Checks that the transaction accepts changes.
    /// - Throws: `closed` if it does not.
    package final func checkMutable() throws {
        if case .validating(let run) = phase { run.refuse(nil) }
        if let error = immutability { throw error }
    }

    /// The reason why changes are rejected; nil if the transaction accepts changes.
    final var immutability: StoreError? {
        switch phase {
        case .open: nil
        case .validating:
            StoreError(.misuse, "A validation method must not change anything: make the change before the transaction commits.")
        case .closed(let why): StoreError(.closed, "The transaction \(why), so nothing more can be changed in it.")
        case .ended: StoreError(.closed, "The transaction has ended, so nothing can be changed in it.")
        }
    }

    /// The indexes of the stores that the transaction read or will write.
    final var usedStores: [Int] { usedWriters.indices.filter { usedWriters[$0] != nil } }

    /// A Boolean value that indicates whether the task that waits for the transaction was cancelled. If it is cancelled before the body returns,
    /// nothing is written and the task receives `cancelled`. A long-running body can check this value and throw.
    public final var isCancelled: Bool { cancellation?.isCancelled ?? false }

    /// Checks whether the task that waits for the transaction was cancelled.
    /// - Throws: `cancelled` if it was.
    public final func checkCancellation() throws { if isCancelled { throw CancellationToken.error } }

    /// Cancels the transaction by throwing `cancelled`, which the caller of `perform` receives. Nothing is written.
    public final func cancel() throws -> Never { throw StoreError(.cancelled, "The transaction was cancelled.") }

    /// The recorded changes for undo, redo and savepoints.
    package final var history: UndoHistory?

    /// The imports of this transaction; nil before the first one.
    package final var imports: (any PendingImports)?

    /// Called after an object was created.
    final func didCreate(_ object: any Model) {
        history?.recordCreation(object)
        changeTracker?.didCreate(object)
    }

    /// Called before the first change or deletion of an object, and before the first one after recording was requested.
    final func willChange(_ object: any Model) {
        history?.recordChange(object)
        changeTracker?.willChange(object, in: self)
    }

    /// The relationship whose cached member list the current in-place mutation updates itself.
    @exclusivity(unchecked) final var mutatedRelationship: RelationshipKey?

    /// A Boolean value that indicates whether the transaction reads the same version of the stores until it is refreshed explicitly. A parent may be changed
    /// at any time.
    final var showsOneVersion: Bool { !readsPending }

    /// Makes the transaction depend on all preceding transactions that are not yet committed.
    final func waitForPredecessors() { usedWriters = writers?.all ?? [] }

    /// Ends the transaction. It can no longer be read.
    func end() {
        phase = .ended
        for reader in readers.values { reader.end() }
        usedWriters = []
        readers = [:]
        pending = []
        imports = nil
        storeValues = [:]
        forgetAllMembers()
        rowsAhead = nil
    }

    /// The entities of deleted objects in class hierarchies. They cannot be determined after the commit.
    final var deletedKinds: [RowReference: String] {
        guard pending.contains(where: { !$0.deleted.isEmpty }) else { return [:] }
        var kinds: [RowReference: String] = [:]
        for (entityIndex, entityChanges) in pending.enumerated() where !entityChanges.deleted.isEmpty {
            guard let hierarchy = table.entries[entityIndex].hierarchy else { continue }
            for object in entityChanges.deleted { kinds[object.rowReference] = hierarchy.entityClass(of: object).name }
        }
        return kinds
    }

    // MARK: Operations of transactions, implemented in separate files

    override func pendingMembers(_ key: RelationshipKey) -> MemberChanges? {
        settleMembers()
        return relationshipChanges.changes(key)
    }

    package override func rows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try mergedRows(entry, request, options)
    }

    override func steadyRows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try mergedRows(entry, request, options, isSteady: true)
    }

    override func count(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> Int {
        try mergedCount(entry, request, options)
    }

    package override func related(_ store: PersistentStore, _ options: FetchOptions) throws -> any RelatedRecords {
        try relatedRecords(store, options)
    }

    // MARK: Row ids

    /// Returns a new row id, which is never assigned again.
    func newRowID(_ entry: StoreEntity) throws -> Int64 { try writer(of: entry.store).newRowID(entry.entity) }
}

/// What imports keep in a transaction until the references between their records are resolved.
package protocol PendingImports: AnyObject {
    /// Called before the first change of an object, and before the first one after recording was requested.
    func willEdit(_ object: any Model)
    /// Resolves the references that are left, before the transaction is committed.
    /// - Throws: `notFound` with the references that cannot be resolved; errors of the imports of nested sources.
    func resolveAll() throws
}

extension Transaction {
    package final func resolveImports() throws { try imports?.resolveAll() }
}
