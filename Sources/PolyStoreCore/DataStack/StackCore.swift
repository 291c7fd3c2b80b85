import Dispatch
import PolyStoreBackend

/// What a stack and its contexts share. Contexts hold this, never the stack, so that a dropped stack ends.
final class StackCore: Sendable {
    let schema: Schema
    /// ``Schema/resolved()``.
    private let resolved: [(configuration: String?, schema: ResolvedSchema)]
    /// In a child that was forked there are no threads of queues, and perhaps locks that nobody gives back: who begins anything asks before all else.
    let process = OwningProcess()
    let table = Protected(StoreTable())
    let lane = WriterLane()
    let groupLimits = Protected(GroupLimits())
    let hub = CommitHub()
    /// What others commit to the stores.
    let external: ExternalCommits
    let snapshots = SnapshotLedger()
    let slowQueries = SlowQueryLimit()
    /// The main actor's contexts that follow the commits.
    let views = ViewList()
    /// What ends the sequences that keep a view of the stack alive. Called when the stack is released.
    let sequenceEnds = HandlerList()
    /// Called when a store was added.
    let storeAdditions = HandlerList()
    let steps = StepwiseList()
    private let loggerBox: Protected<any StoreLogger>
    /// Dispatch's threads, as a backend may block and Swift's cooperative ones must not.
    private let readerQueue = DispatchQueue(label: "polystore.readers", attributes: .concurrent)

    /// Their own, so that batches which wait for their turn hold up no reader.
    private let batchQueue = DispatchQueue(label: "polystore.batches", qos: .utility, attributes: .concurrent)

    init(schema: Schema, resolved: [(configuration: String?, schema: ResolvedSchema)], logger: any StoreLogger) {
        self.schema = schema
        self.resolved = resolved
        loggerBox = Protected(logger)
        external = ExternalCommits(hub: hub, table: table, views: views, logger: loggerBox)
    }

    deinit {
        guard process.isCurrent else { return external.leaveToParent() }
        external.stop()
        hub.finish()
        for store in table.withLock({ $0.stores }) {
            do { try store.backend.close() } catch { logger.write(.error, "Closing \(store.url): \(error)") }
        }
    }

    /// A configuration's entities and their classes.
    /// - Throws: `storeNotFound` for a configuration that the schema does not have.
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

    /// Shows the main actor's contexts what was committed.
    func catchUpViews() async {
        guard hub.isActive else { return }
        await MainActor.run { views.catchUp(logger) }
    }

    /// Lets contexts that follow commits know of a store that was added.
    func storesDidChange() {
        hub.storesDidChange()
        storeAdditions.call()
        catchUpViewsSoon(isOnMain: false)
    }

    /// Shows them without waiting, except on the main actor itself.
    func catchUpViewsSoon(isOnMain: Bool) {
        guard hub.isActive else { return }
        if isOnMain {
            MainActor.assumeIsolated { views.catchUp(logger) }
        } else {
            Task { @MainActor in views.catchUp(logger) }
        }
    }
}

extension DataStack {
    /// How many transactions wait for their turn; for tests.
    package var transactionsInLine: Int { core.lane.count }

    /// When a group of transactions takes no more; for tests.
    package var groupLimits: GroupLimits {
        get { core.groupLimits.withLock { $0 } }
        set { core.groupLimits.withLock { $0 = newValue } }
    }
}

extension StackCore {
    /// A transaction on the lane's queue. Where the task that asked for it is cancelled before its turn has come, it is never run.
    func transact<T: Sendable>(_ order: TransactionOrder, _ body: @escaping @Sendable (Transaction) throws -> T) async throws -> T {
        try process.check("This stack")
        let ticket = Ticket()
        var ticketed = order
        ticketed.ticket = ticket
        return try await withTaskCancellationHandler { [ticketed] in
            try await withCheckedThrowingContinuation { continuation in
                let job = WriterLane.Job(durability: order.durability, ticket: ticket) { group in
                    guard let group else { return continuation.resume(throwing: Ticket.error) }
                    var value: T?
                    group.run(ticketed, { value = try body($0) }) { error in
                        continuation.resume(with: Result { try Self.outcome(value, error) })
                    }
                }
                lane.enqueue(job, self)
            }
        } onCancel: {
            ticket.cancel()
            lane.withdraw(ticket)
        }
    }

    /// A transaction on the caller's thread.
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

    /// Takes ids out of a sequence for good, for somebody outside of the line.
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

/// The end of a transaction, which another thread may bring.
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
