import Dispatch
import PolyStoreBackend

/// The state shared by a stack and its contexts. Contexts retain the core rather than the stack, so that a released stack is closed.
final class StackCore: Sendable {
    let schema: Schema
    /// The schema versions that stores are migrated from and to.
    let schemaHistory: SchemaHistory
    /// The result of ``Schema/resolved()``.
    private let resolved: [(configuration: String?, schema: ResolvedSchema)]
    /// Detects use in a forked child process, in which dispatch queues have no threads and locks may be held forever. Every operation checks it
    /// first.
    let process = OwningProcess()
    let table = Protected(StoreTable())
    let lane = WriterLane()
    let groupLimits = Protected(GroupLimits())
    let hub = CommitHub()
    /// Tracks commits of other processes and stacks to the stores.
    let external: ExternalCommits
    let snapshots = SnapshotLedger()
    let slowQueries = SlowQueryLimit()
    /// The main-actor contexts that are subscribed to commits.
    let views = ViewList()
    /// The handlers that end the sequences which retain a view of the stack. Called when the stack is released.
    let sequenceEnds = HandlerList()
    /// The handlers called after a store is added.
    let storeAdditions = HandlerList()
    let steps = StepwiseList()
    private let loggerBox: Protected<any StoreLogger>
    /// A dispatch queue, because a backend may block and must not block Swift's cooperative threads.
    private let readerQueue = DispatchQueue(label: "polystore.readers", attributes: .concurrent)

    /// A separate queue, so that batches waiting for the write queue do not block readers.
    private let batchQueue = DispatchQueue(label: "polystore.batches", qos: .utility, attributes: .concurrent)

    init(
        schema: Schema, history: SchemaHistory, resolved: [(configuration: String?, schema: ResolvedSchema)], logger: any StoreLogger
    ) {
        self.schema = schema
        schemaHistory = history
        self.resolved = resolved
        loggerBox = Protected(logger)
        external = ExternalCommits(hub: hub, table: table, views: views, logger: loggerBox)
    }

    deinit {
        guard process.isCurrent else { return external.leaveToParent() }
        external.stop()
        hub.finish()
        for store in table.withLock({ $0.openStores }) {
            do { try store.backend.close() } catch { logger.write(.error, "Closing \(store.url): \(error)") }
        }
    }

    /// Returns the entities of a configuration and their classes.
    /// - Throws: `storeNotFound` if the schema does not contain the configuration.
    func configuration(_ name: String?) throws -> (schema: ResolvedSchema, models: [any Model.Type]) {
        let models = try schema.models(of: name)
        let known = resolved.first { $0.configuration == name }?.schema
        return (try known ?? ResolvedSchema(schema.description(of: models)), models)
    }

    var logger: any StoreLogger {
        get { loggerBox.withLock { $0 } }
        set { loggerBox.withLock { $0 = newValue } }
    }

    func onBatchThread(_ work: @escaping @Sendable () -> Void) { batchQueue.async(execute: work) }

    func onReaderThread(_ work: @escaping @Sendable () -> Void) { readerQueue.async(execute: work) }

    func readNow<T: Sendable>(_ site: CallSite, _ body: (SnapshotContext) throws -> T) throws -> T {
        try process.check("This stack")
        let context = SnapshotContext(core: self, table: table.withLock { $0 }, site)
        defer { context.end() }
        do {
            return try body(context)
        } catch {
            logger.writeFailure(error, site)
            throw error
        }
    }

    // MARK: Views

    /// Updates the main-actor contexts to the latest commit.
    func catchUpViews() async {
        guard hub.isActive else { return }
        await MainActor.run { views.catchUp(logger) }
    }

    /// Notifies subscribed contexts that a store was added or removed.
    func storesDidChange() {
        storeAdditions.call()
        wakeFollowers()
    }

    /// Makes every subscribed context check whether it shows the newest version.
    func wakeFollowers() {
        hub.wakeFollowers()
        catchUpViewsSoon(isOnMain: false)
    }

    /// Updates the main-actor contexts: synchronously on the main actor, otherwise asynchronously.
    func catchUpViewsSoon(isOnMain: Bool) {
        guard hub.isActive else { return }
        if isOnMain {
            MainActor.assumeIsolated { views.catchUp(logger) }
        } else {
            views.catchUpSoon(logger)
        }
    }
}

extension DataStack {
    /// The number of queued transactions; for tests.
    package var transactionsInLine: Int { core.lane.count }

    /// The limits of commit groups; for tests.
    package var groupLimits: GroupLimits {
        get { core.groupLimits.withLock { $0 } }
        set { core.groupLimits.withLock { $0 = newValue } }
    }
}

extension StackCore {
    /// Runs a transaction on the write queue. It is not run if the calling task is cancelled before its turn.
    func transact<T: Sendable>(_ order: TransactionOrder, _ body: @escaping @Sendable (Transaction) throws -> T) async throws -> T {
        try process.check("This stack")
        let ticket = Ticket()
        var ticketed = order
        ticketed.ticket = ticket
        return try await withTaskCancellationHandler { [ticketed] in
            try await withCheckedThrowingContinuation { continuation in
                transact(ticketed, body) { continuation.resume(with: $0) }
            }
        } onCancel: {
            ticket.cancel()
            lane.withdraw(ticket)
        }
    }

    /// Runs a transaction on the write queue and calls back on an arbitrary thread.
    func transact<T: Sendable>(
        _ order: TransactionOrder, _ body: @escaping @Sendable (Transaction) throws -> T,
        done: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        let job = WriterLane.Job(durability: order.durability, ticket: order.ticket) { group in
            guard let group else { return done(.failure(Ticket.error)) }
            var value: T?
            group.run(order, { value = try body($0) }) { error in done(Result { try Self.outcome(value, error) }) }
        }
        lane.enqueue(job, self)
    }

    /// Runs a transaction on the caller's thread.
    /// - Parameter isPatient: see ``WriterLane/leave(_:isPatient:)``.
    func transactAndWait<T>(_ order: TransactionOrder, isPatient: Bool, _ body: (Transaction) throws -> T) throws -> T {
        let receipt = Receipt()
        var value: T?
        let group = try lane.enter(order.durability, self)
        group.run(order, { value = try body($0) }, done: { receipt.arrive($0) })
        lane.leave(group, isPatient: isPatient)
        return try Self.outcome(value, receipt.wait())
    }

    func beginAsynchronous(_ order: TransactionOrder, _ body: @escaping @Sendable (AsynchronousTransaction) throws -> Void) {
        let job = WriterLane.Job(durability: order.durability, ticket: nil) { [self] group in
            guard let group else { return }
            let transaction = AsynchronousTransaction(core: self, table: table.withLock { $0 }, group: group, order.site)
            group.runExplicit(order, transaction, { try body(transaction) }) { [self, transaction] result in
                guard let result else { return }
                transaction.report(result)
                catchUpViewsSoon(isOnMain: false)
            }
        }
        lane.enqueue(job, self)
    }

    func beginSynchronous(
        _ order: TransactionOrder, isPatient: Bool, _ body: (SynchronousTransaction) throws -> Void
    ) throws -> Bool? {
        let receipt = Receipt()
        var outcome: Bool?
        let group = try lane.enter(order.durability, self)
        let transaction = SynchronousTransaction(core: self, table: table.withLock { $0 }, group: group, order.site)
        let done: (Result<Bool, any Error>?) -> Void = { result in
            switch result {
            case .success(let hadChanges):
                outcome = hadChanges
                receipt.arrive(nil)
            case .failure(let error): receipt.arrive(error)
            case nil: receipt.arrive(nil)
            }
        }
        group.runExplicit(order, transaction, { try body(transaction) }, done: done)
        lane.leave(group, isPatient: isPatient)
        if let error = receipt.wait() { throw error }
        return outcome
    }

    /// Reserves row ids permanently for an unqueued transaction.
    func reserveKeys(_ entry: StoreEntity, _ count: Int) throws -> [Int64] {
        let receipt = Receipt()
        var keys: [Int64] = []
        let group = try lane.enter(.relaxed, self)
        group.reserve(count, entry) { result in
            keys = (try? result.get()) ?? []
            if case .failure(let error) = result { receipt.arrive(error) } else { receipt.arrive(nil) }
        }
        lane.leave(group, isPatient: false)
        if let error = receipt.wait() { throw error }
        return keys
    }

    private static func outcome<T>(_ value: T?, _ error: (any Error)?) throws -> T {
        if let error { throw error }
        guard let value else { throw StoreError(.closed, "The transaction has ended without a result.") }
        return value
    }
}

/// The outcome of a transaction, which may be delivered by another thread.
private final class Receipt: @unchecked Sendable {  // the error is written before the signal and read after it
    private let arrival = DispatchSemaphore(value: 0)
    private var error: (any Error)?

    func arrive(_ error: (any Error)?) {
        self.error = error
        arrival.signal()
    }

    func wait() -> (any Error)? {
        arrival.wait()
        return error
    }
}
