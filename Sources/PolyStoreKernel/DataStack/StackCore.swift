import PolyStoreBackend
import PolyStoreQuery
import PolyStoreRuns

/// The state shared by a stack and its contexts. Contexts retain the core and not the stack: a stack can be released while contexts of it exist. The stores are
/// closed when the stack, its contexts and its transactions are released.
@usableFromInline
package final class StackCore: Sendable {
    let schema: Schema
    /// The schema versions that stores are migrated from and to.
    package let versions: any KnownVersions
    /// The result of ``Schema/resolved()``.
    private let resolved: [(configuration: String?, schema: ResolvedSchema)]
    /// Detects use in a forked child process, in which dispatch queues have no threads and locks may be held forever. Every operation checks it
    /// first.
    package let process = OwningProcess()
    package let table = Protected(StoreTable(), .table)
    let openings = StoreOpenings()
    let writeQueue: WriteQueue
    let groupLimits = Protected(GroupLimits())
    package let publisher: CommitPublisher
    /// Puts the commits of the stack in order with those of other processes and stacks, and publishes them.
    package let commitSequencer: CommitSequencer
    let snapshots = SnapshotRegistry()
    /// The sessions of the snapshots on servers.
    package let sessions = SnapshotSessions()
    package let slowOperations: SlowOperations
    /// The main-actor contexts that are subscribed to commits.
    let views: ViewList
    /// The handlers that end the sequences which retain a view of the stack. Called when the stack is released.
    package let sequenceEnds = HandlerList()
    /// The handlers called after a store is added or removed.
    package let storeAdditions = HandlerList()
    let steps = StepwiseList()
    private let loggerBox: Protected<any StoreLogger>
    /// The threads of reads. A backend may block and must not block Swift's cooperative threads.
    package let readerThreads = BlockingThreads()
    /// Separate threads, so that batches waiting for the write queue do not block readers.
    private let batchThreads = BlockingThreads()

    init(
        schema: Schema, versions: any KnownVersions, resolved: [(configuration: String?, schema: ResolvedSchema)], logger: any StoreLogger
    ) {
        self.schema = schema
        self.versions = versions
        self.resolved = resolved
        loggerBox = Protected(logger)
        slowOperations = SlowOperations(loggerBox)
        views = ViewList(logger: loggerBox)
        publisher = CommitPublisher(views: views)
        commitSequencer = CommitSequencer(publisher, table: table, logger: loggerBox)
        let group = CommitGroup(
            table: table, limits: groupLimits, logger: loggerBox, openSnapshots: snapshots, sequencer: commitSequencer, publisher: publisher
        )
        writeQueue = WriteQueue(group, process)
    }

    deinit {
        guard process.isCurrent else { return commitSequencer.leaveToParent() }
        commitSequencer.stop()
        publisher.finish()
        readerThreads.finish()
        batchThreads.finish()
        // The stores are removed before they are closed: a check for commits of others that is still running reports no error of a removed store. It cannot
        // be awaited, because it can be what released the last reference.
        let stores = table.withLock { table in table.openStores.filter { table.remove($0) } }
        for store in stores {
            do { try store.backend.close() } catch { logger.write(.error, "Closing \(store.location): \(error)") }
            store.writeAccess.didClose()
        }
    }

    /// Returns the resolved schema of a configuration (nil: the default one) and its model classes, in the order of the entities.
    /// - Throws: `storeNotFound` if the schema does not contain the configuration.
    func configuration(_ name: String?) throws -> (schema: ResolvedSchema, models: [any Model.Type]) {
        let models = try schema.models(of: name)
        let known = resolved.first { $0.configuration == name }?.schema
        return (try known ?? ResolvedSchema(schema.description(of: models)), models)
    }

    package var logger: any StoreLogger {
        get { loggerBox.withLock { $0 } }
        set { loggerBox.exchange(newValue) }
    }

    /// A logger that forwards to the current one, for stores and work that outlive a change of ``logger``.
    package var currentLogger: any StoreLogger { CurrentLogger(loggerBox) }

    package func onBatchThread(_ work: @escaping @Sendable () -> Void) { batchThreads.run(work) }

    package func onReaderThread(_ work: @escaping @Sendable () -> Void) { readerThreads.run(work) }

    /// Runs work that can commit on a batch thread, and awaits its result. The views then show its commits.
    package func awaitingBatchThread<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        let result = try await batchThreads.awaiting(work)
        await awaitViews()
        return result
    }

    /// Runs work on a reader thread and awaits its result.
    /// - Parameter interruption: Cancelled with the calling task.
    /// - Throws: `cancelled` or `timedOut` if the work is interrupted before it begins; `misuse` in a forked child process.
    package func awaitingReaderThread<T: Sendable>(
        _ interruption: Interruption = Interruption(), _ work: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try process.check("This stack")
        return try await readerThreads.awaiting(interruption, work)
    }

    /// Reads one snapshot. After the loss of the connection to a server or a retryable error, the body is run again with a new one, because nothing of the first one was
    /// handed out.
    /// - Parameter retries: The number of times that the body may be run again.
    package func readNow<T: Sendable>(
        _ site: CallSite, _ interruption: Interruption? = nil, retries: Int = BackOff.limit, _ body: (SnapshotContext) throws -> T
    ) throws -> T {
        try process.check("This stack")
        try interruption?.check()
        func attempt() throws -> T {
            let context = SnapshotContext(core: self, table: table.withLock { $0 }, site)
            if let interruption { context.interruption = interruption }
            defer { context.end() }
            return try body(context)
        }
        do {
            do { return try attempt() } catch let error as StoreError {
                return try BackOff.run(retries, after: error, within: interruption, repeatsAfterLoss: true) { error, number in
                    logger.write(.info, site, "A read is run again (\(number) of \(retries)): \(error)")
                    return groupLimits.withLock { $0.backOff }
                } attempt: {
                    try attempt()
                }
            }
        } catch {
            logger.writeFailure(error, site)
            throw error
        }
    }

    /// Returns whether a read failed because its store was removed from the stack meanwhile. Its observers follow the removal, which is notified after it.
    package func isCausedByRemoval(_ error: any Error) -> Bool {
        (error as? StoreError)?.code == .closed && table.withLock { $0.hasRemoved }
    }

    // MARK: Views

    /// Returns when the views show all commits that were acknowledged before the call. The functions that wait for a transaction call it; other commits are
    /// visible shortly afterwards.
    package func awaitViews() async { await views.awaitCommits() }

    /// Calls a completion on the main actor when the views show all commits that were acknowledged before.
    func callBack(_ completion: @escaping @MainActor @Sendable () -> Void) {
        Task { @MainActor in
            views.showCommits()
            completion()
        }
    }

    /// Notifies subscribed contexts that a store was added or removed.
    func storesDidChange() {
        storeAdditions.call()
        wakeSubscribers()
    }

    /// Makes every subscribed context check whether it shows the newest version.
    func wakeSubscribers() { publisher.wakeFeeds() }
}
