import PolyStoreBackend
import PolyStoreRuns

extension StackCore {
    /// Runs a transaction on the write queue. The views show its commit when the call returns. It is not run if the calling task is cancelled before its turn.
    ///
    /// Runs on the actor of the caller, which therefore continues before the callbacks of a view.
    /// - Parameters:
    ///   - error: The error of the first attempt, if the transaction is run again.
    ///   - ended: called after a commit, before the views show it.
    func transact<T: Sendable>(
        _ options: TransactionOptions, after error: StoreError? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable (Transaction) throws -> T,
        ended: () -> Void = {}
    ) async throws -> T {
        try process.check("This stack")
        var options = options
        let interruption = options.interruption ?? Interruption()
        options.interruption = interruption
        let result = try await withTaskCancellationHandler { [options] in
            try await BackOff.run(
                options.retries, after: error, within: interruption, willRepeat: { willRepeat(options, $0, $1) },
                attempt: { isRepeated in
                    try await withCheckedThrowingContinuation { continuation in
                        transact(options, isRepeated: isRepeated, body) { continuation.resume(with: $0) }
                    }
                })
        } onCancel: {
            interruption.cancel()
            writeQueue.remove(interruption)
        }
        ended()
        await views.awaitCommits()
        return result
    }

    /// Logs that a transaction is run again, and returns the pauses.
    private func willRepeat(_ options: TransactionOptions, _ error: StoreError, _ number: Int) -> BackOff {
        logger.write(.info, options.site, "A transaction is run again (\(number) of \(options.retries)): \(error)")
        return groupLimits.withLock { $0.backOff }
    }

    /// Runs a transaction on the write queue once and calls back on an arbitrary thread.
    func transact<T: Sendable>(
        _ options: TransactionOptions, isRepeated: Bool = false, _ body: @escaping @Sendable (Transaction) throws -> T,
        done: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        let began = slowOperations.start(.wait)
        let interruption = options.interruption
        if let error = interruption?.error { return done(.failure(error)) }
        // Released with the queued transaction.
        let timer = interruption.flatMap { interruption in interruption.atDeadline { [writeQueue] in writeQueue.remove(interruption) } }
        writeQueue.enqueue(
            QueuedTransaction(durability: options.durability, interruption: interruption) { [self] group in
                withExtendedLifetime(timer) {}
                let receiver = ResultReceiver(done)
                guard let group else { return receiver.receive(.failed(interruption?.error ?? Interruption.cancelled)) }
                didWait(began, options)
                Transaction(self, group, options).run(in: group, options, isRepeated: isRepeated, receiver) {
                    receiver.value = try body($0)
                }
            })
        // It may have been interrupted before it was in the queue.
        if let interruption, interruption.error != nil { writeQueue.remove(interruption) }
    }

    /// Runs a transaction on the caller's thread.
    /// - Parameter ended: called after a commit, before the views show it.
    package func transactAndWait<T>(
        _ options: TransactionOptions, _ caller: WaitingCaller, _ body: (Transaction) throws -> T, ended: (() -> Void)? = nil
    ) throws -> T {
        var value: T?
        try runAndWait(options, caller, { value = try body($0) }, ended: ended)
        guard let value else { throw DataStack.withoutResult }
        return value
    }

    /// Runs a transaction whose body stores its result; see ``transactAndWait(_:_:_:ended:)``. Not generic: the metadata of the result would be looked up in each
    /// transaction.
    @usableFromInline
    func runAndWait(
        _ options: TransactionOptions, _ caller: WaitingCaller, _ body: (Transaction) throws -> Void, ended: (() -> Void)? = nil
    ) throws {
        func attempt(isRepeated: Bool) throws {
            let outcome = AwaitedOutcome()
            let group = try enter(options)
            Transaction(self, group, options).run(in: group, options, isRepeated: isRepeated, outcome, body)
            writeQueue.leave(isPatient: caller == .thread)
            try outcome.wait()
        }
        do { try attempt(isRepeated: false) } catch let error as StoreError {
            try BackOff.run(
                options.retries, after: error, within: options.interruption, willRepeat: { willRepeat(options, $0, $1) },
                attempt: { try attempt(isRepeated: true) })
        }
        ended?()
        if caller == .mainActor { MainActor.assumeIsolated { views.showCommits() } }
    }

    /// Waits for the caller's turn in the write queue, and logs a long wait.
    private func enter(_ options: TransactionOptions) throws -> CommitGroup {
        let began = slowOperations.start(.wait)
        defer { didWait(began, options) }
        return try writeQueue.enter(options.durability, options.interruption)
    }

    private func didWait(_ began: UInt64, _ options: TransactionOptions) {
        slowOperations.end(.wait, began, options.site, "wait", "Waiting for the write queue")
    }

    func beginAsynchronous(_ options: TransactionOptions, _ body: @escaping @Sendable (AsynchronousTransaction) throws -> Void) {
        let began = slowOperations.start(.wait)
        writeQueue.enqueue(
            QueuedTransaction(durability: options.durability, interruption: nil) { [self] group in
                guard let group else { return }
                didWait(began, options)
                let transaction = AsynchronousTransaction(self, group, options)
                transaction.run(in: group, options, transaction.explicitCommit, transaction) { try body(transaction) }
            })
    }

    func beginSynchronous(
        _ options: TransactionOptions, _ caller: WaitingCaller, _ body: (SynchronousTransaction) throws -> Void
    ) throws -> Bool? {
        let outcome = AwaitedOutcome()
        let group = try enter(options)
        let transaction = SynchronousTransaction(self, group, options)
        transaction.run(in: group, options, transaction.explicitCommit, outcome) { try body(transaction) }
        writeQueue.leave(isPatient: caller == .thread)
        let hadChanges = try outcome.wait()
        if caller == .mainActor { MainActor.assumeIsolated { views.showCommits() } }
        return hadChanges
    }

    /// Reserves row ids permanently for an unqueued transaction.
    func reserveRowIDs(_ entry: StoreEntity, _ count: Int) throws -> [ClosedRange<Int64>] {
        let outcome = AwaitedOutcome()
        let group = try writeQueue.enter(.relaxed)
        let rowIDs = Result { try group.reserveRowIDs(count, entry, outcome) }
        writeQueue.leave(isPatient: false)
        guard case .success(let reserved) = rowIDs else { return try rowIDs.get() }
        try outcome.wait()
        return reserved
    }
}

/// Calls back with the result of a transaction that runs on the write queue.
private final class ResultReceiver<T: Sendable>: OutcomeReceiver {
    /// The result of the body.
    var value: T?
    private let done: @Sendable (Result<T, any Error>) -> Void

    init(_ done: @escaping @Sendable (Result<T, any Error>) -> Void) { self.done = done }

    func receive(_ outcome: TransactionOutcome) {
        if let error = outcome.error { return done(.failure(error)) }
        done(value.map { .success($0) } ?? .failure(DataStack.withoutResult))
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
