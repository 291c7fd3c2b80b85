import PolyStoreBackend
import PolyStoreRuns

/// A unit of work that collects changes in memory and writes all of them or none. Its fetches see its pending changes.
///
/// A transaction is the argument of the body passed to ``DataStack/perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T`` and similar methods, and ends when the
/// body returns. The bodies are `@Sendable` and their results are Sendable. Transactions and their objects are not, so the compiler rejects every use
/// of them outside of the body.
///
/// All kinds of transactions share the same methods. Queued transactions run one at a time on the write queue and read the state that they write to:
/// those of `perform`, ``AsynchronousTransaction`` and ``SynchronousTransaction``. An ``UnsafeTransaction`` is unqueued and detects conflicts when it
/// commits.
public class Transaction: Context {
    /// The pending changes.
    package final let buffer: ChangeBuffer
    /// The source of reads and row ids.
    @exclusivity(unchecked) final var access: TransactionSource
    /// The interruption of the transaction before its commit, also if it does not interrupt the requests of its body; nil for none.
    final var cancellation: Interruption?

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

    /// - Parameters:
    ///   - tracker: Tracks the changed objects of an unqueued transaction.
    ///   - graph: The objects.
    init(
        core: StackCore, table: StoreTable, access: TransactionSource, tracker: ChangeTracker?, _ site: CallSite, graph: ObjectGraph? = nil
    ) {
        let buffer = ChangeBuffer(tracker: tracker)
        self.buffer = buffer
        self.access = access
        super.init(
            core: core, table: table, site, source: .transaction(access), changeBuffer: buffer, graph: graph)
    }

    /// Creates a queued transaction.
    init(_ core: StackCore, _ group: CommitGroup, _ options: TransactionOptions) {
        let table = core.table.withLock { $0 }
        let buffer = ChangeBuffer(tracker: nil)
        let access = TransactionSource.group(group)
        self.buffer = buffer
        self.access = access
        super.init(core: core, table: table, options.site, source: .transaction(access), changeBuffer: buffer)
        adopt(options)
        interruption = cancellation
    }

    /// Takes the interruption and the origin from options.
    final func adopt(_ options: TransactionOptions) {
        cancellation = options.interruption
        origin = options.origin
    }

    /// Changes the objects, and reads them including pending changes.
    final var editing: Editor { Editor(context: self, buffer: buffer) }

    // MARK: Phases

    /// Prepares a store for changes. In a queued transaction, its write transaction begins.
    /// - Throws: `readOnly`, `closed`.
    package final func touch(_ store: PersistentStore) throws { try access.touch(store) }

    /// Clears the pending changes after they were applied. The transaction now reads them from the stores.
    final func didWrite() {
        buffer.didWrite(table)
        graph.rowsAhead = nil
    }

    /// The changes of to-many relationships and the entities of deleted objects that a commit publishes.
    final var published: (relationshipChanges: RelationshipChanges, deletedKinds: [RowReference: String]) { buffer.published(table) }

    /// Rejects further changes but keeps the transaction readable.
    final func close(_ why: String) { buffer.close(why) }

    final func reopen() { buffer.reopen() }

    /// Checks that the transaction accepts changes.
    /// - Throws: `closed` if it does not.
    package final func checkMutable() throws { try buffer.checkMutable() }

    package final func resolveImports() throws { try buffer.imports?.resolveAll() }

    /// A Boolean value that indicates whether the transaction can see stores that are added after its beginning. A queued one that runs cannot.
    final var mayAdoptStores: Bool { if case .group = access { false } else { true } }

    /// Makes a queued transaction depend on all preceding transactions that are not yet committed.
    final func waitForPredecessors() { if case .group(let group) = access { group.useAllStores() } }

    // MARK: Cancellation

    /// The interruption of all requests of the body and of child transactions; nil for none. One request can have a limit of its own.
    final var requestInterruption: Interruption? {
        switch access {
        case .group: cancellation
        case .parent(let source): source.parent.requestInterruption
        case .unqueued, .ended: nil
        }
    }

    /// A Boolean value that indicates whether the task that waits for the transaction was cancelled. If it is cancelled before the body returns,
    /// nothing is written and the task receives `cancelled`. A long-running body can check this value and throw. The fetches and queries of a body that
    /// `perform` runs throw `cancelled` themselves.
    public final var isCancelled: Bool { cancellation?.isCancelled ?? false }

    /// Checks whether the task that waits for the transaction was cancelled, and whether the time limit of the transaction has ended.
    /// - Throws: `cancelled` or `timedOut` if so.
    public final func checkCancellation() throws { try cancellation?.check() }

    /// Cancels the transaction by throwing `cancelled`, which the caller of `perform` receives. Nothing is written.
    public final func cancel() throws -> Never { throw StoreError(.cancelled, "The transaction was cancelled.") }
}
