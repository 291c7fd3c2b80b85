import Dispatch
import PolyStoreBackend
import PolyStoreRuns
import Synchronization

extension StackCore {
    /// Runs a transaction on the write queue. It is not run if the calling task is cancelled before its turn.
    func transact<T: Sendable>(_ options: TransactionOptions, _ body: @escaping @Sendable (Transaction) throws -> T) async throws -> T {
        try process.check("This stack")
        let cancellation = CancellationToken()
        var cancellable = options
        cancellable.cancellation = cancellation
        return try await withTaskCancellationHandler { [cancellable] in
            try await withCheckedThrowingContinuation { continuation in
                transact(cancellable, body) { continuation.resume(with: $0) }
            }
        } onCancel: {
            cancellation.cancel()
            writeQueue.remove(cancellation)
        }
    }

    /// Runs a transaction on the write queue and calls back on an arbitrary thread.
    func transact<T: Sendable>(
        _ options: TransactionOptions, _ body: @escaping @Sendable (Transaction) throws -> T,
        done: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        writeQueue.enqueue(
            QueuedTransaction(durability: options.durability, cancellation: options.cancellation) { [self] group in
                guard let group else { return done(.failure(CancellationToken.error)) }
                var value: T?
                TransactionExecution(core: self, options: options, group: group).run {
                    value = try body($0)
                } done: { error in
                    done(Result { try Self.outcome(value, error) })
                }
            })
    }

    /// Runs a transaction on the caller's thread.
    /// - Parameter isPatient: whether the transaction may wait for later ones to join its commit group; see ``WriteQueue/leave(isPatient:)``.
    package func transactAndWait<T>(_ options: TransactionOptions, isPatient: Bool, _ body: (Transaction) throws -> T) throws -> T {
        var value: T?
        try runAndWait(options, isPatient: isPatient) { value = try body($0) }
        return try Self.outcome(value, nil)
    }

    /// Runs a transaction whose body stores its result; see ``transactAndWait(_:isPatient:_:)``.
    func runAndWait(_ options: TransactionOptions, isPatient: Bool, _ body: (Transaction) throws -> Void) throws {
        let outcome = AwaitedOutcome()
        let group = try writeQueue.enter(options.durability)
        TransactionExecution(core: self, options: options, group: group).run(body) { outcome.set($0) }
        writeQueue.leave(isPatient: isPatient)
        if let error = outcome.wait() { throw error }
    }

    func beginAsynchronous(_ options: TransactionOptions, _ body: @escaping @Sendable (AsynchronousTransaction) throws -> Void) {
        writeQueue.enqueue(
            QueuedTransaction(durability: options.durability, cancellation: nil) { [self] group in
                guard let group else { return }
                let transaction = AsynchronousTransaction(
                    core: self, table: table.withLock { $0 }, writers: group.writers, options.site)
                TransactionExecution(core: self, options: options, group: group).run(transaction, transaction.explicitCommit) {
                    try body(transaction)
                } done: { [self, transaction] result in
                    guard let result else { return }
                    transaction.report(result)
                    catchUpViewsSoon(isOnMain: false)
                }
            })
    }

    func beginSynchronous(
        _ options: TransactionOptions, isPatient: Bool, _ body: (SynchronousTransaction) throws -> Void
    ) throws -> Bool? {
        let outcome = AwaitedOutcome()
        var hadChanges: Bool?
        let group = try writeQueue.enter(options.durability)
        let transaction = SynchronousTransaction(core: self, table: table.withLock { $0 }, writers: group.writers, options.site)
        TransactionExecution(core: self, options: options, group: group).run(transaction, transaction.explicitCommit) {
            try body(transaction)
        } done: { result in
            switch result {
            case .success(let found):
                hadChanges = found
                outcome.set(nil)
            case .failure(let error): outcome.set(error)
            case nil: outcome.set(nil)
            }
        }
        writeQueue.leave(isPatient: isPatient)
        if let error = outcome.wait() { throw error }
        return hadChanges
    }

    /// Reserves row ids permanently for an unqueued transaction.
    func reserveRowIDs(_ entry: StoreEntity, _ count: Int) throws -> [ClosedRange<Int64>] {
        let outcome = AwaitedOutcome()
        var rowIDs: [ClosedRange<Int64>] = []
        let group = try writeQueue.enter(.relaxed)
        group.reserveRowIDs(count, entry) { result in
            rowIDs = (try? result.get()) ?? []
            if case .failure(let error) = result { outcome.set(error) } else { outcome.set(nil) }
        }
        writeQueue.leave(isPatient: false)
        if let error = outcome.wait() { throw error }
        return rowIDs
    }

    private static func outcome<T>(_ value: T?, _ error: (any Error)?) throws -> T {
        if let error { throw error }
        guard let value else { throw DataStack.withoutResult }
        return value
    }
}

/// The outcome of a transaction, which may be delivered by another thread.
private final class AwaitedOutcome: @unchecked Sendable {  // the properties are written before `phase`, and read after it
    private enum Phase {
        static let pending = 0, isWaiting = 1, isSet = 2
    }

    private let phase = Atomic<Int>(Phase.pending)
    private var error: (any Error)?
    /// Created only if the outcome is awaited before it is set.
    private var signal: DispatchSemaphore?

    func set(_ error: (any Error)?) {
        self.error = error
        if phase.exchange(Phase.isSet, ordering: .acquiringAndReleasing) == Phase.isWaiting { signal?.signal() }
    }

    func wait() -> (any Error)? {
        if phase.load(ordering: .acquiring) == Phase.isSet { return error }
        let signal = DispatchSemaphore(value: 0)
        self.signal = signal
        let (isWaiting, _) = phase.compareExchange(
            expected: Phase.pending, desired: Phase.isWaiting, ordering: .acquiringAndReleasing)
        if isWaiting { signal.wait() }
        return error
    }
}

extension DataStack {
    /// The number of queued transactions; for tests.
    package var queuedTransactionCount: Int { core.writeQueue.count }

    /// The limits of commit groups; for tests.
    package var groupLimits: GroupLimits {
        get { core.groupLimits.withLock { $0 } }
        set { core.groupLimits.withLock { $0 = newValue } }
    }
}
