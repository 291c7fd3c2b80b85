import Dispatch
import PolyStoreBackend
import PolyStoreRuns
import Synchronization

/// A transaction of several steps, between which other work can happen: a download, an `await`, a question to the user.
///
///     let transaction = stack.beginTransaction()
///     let id = try await transaction.perform { try $0.create(Into<Person>()).objectID }
///     let age = await server.age(of: id)
///     try await transaction.perform { step in
///         try step.edit(id).age = age
///         try step.commit()
///     }
///
/// It is Sendable. The steps run in FIFO order on a serial queue of the transaction and share one ``UnsafeTransaction``, whose rules for snapshots
/// and conflicts apply. It does not block other transactions. If a step throws, all of its changes are undone. Uncommitted changes are discarded when
/// the last reference is released.
public final class StepwiseTransaction: AwaitedResource {
    private let queue = DispatchQueue(label: "polystore.steps", qos: .default)
    private let room: Room
    private let core: StackCore
    /// The thread that runs a step, or 0.
    private let running = Atomic<UInt>(0)

    /// The thread that runs a step; 0 if no step runs.
    package var owner: UInt { running.load(ordering: .acquiring) }

    /// State that is accessed only on the queue.
    private final class Room: @unchecked Sendable {  // accessed by one block of the serial queue at a time
        let transaction: UnsafeTransaction

        init(_ transaction: UnsafeTransaction) { self.transaction = transaction }
    }

    init(_ core: StackCore, _ site: CallSite, supportsUndo: Bool) {
        self.core = core
        room = Room(
            UnsafeTransaction(core: core, table: core.table.withLock { $0 }, parent: nil, site, supportsUndo: supportsUndo))
    }

    /// Runs a step and returns when it has finished.
    /// - Throws: the error of the body. The changes of the step are then undone.
    @discardableResult
    public func perform<T: Sendable>(_ body: @escaping @Sendable (UnsafeTransaction) throws -> T) async throws -> T {
        try await queue.awaiting { [self] in try step(body) }
    }

    /// Runs a step without waiting for it. An error that it throws is logged, and every commit throws it until a rollback, so that the other steps
    /// are not committed without this one.
    ///
    /// The form for code without `async`; ``performLater(_:)`` is its name in `async` functions, where a step that returns an object, which the awaited form
    /// rejects, would resolve to this overload.
    @available(*, noasync, message: "Await the step, and return what is Sendable: an objectID, not an object.")
    public func perform(_ body: @escaping @Sendable (UnsafeTransaction) throws -> Void) { performLater(body) }

    /// Runs a step without waiting for it, under a name that `async` functions can call. An error that it throws is logged, and every commit throws
    /// it until a rollback.
    public func performLater(_ body: @escaping @Sendable (UnsafeTransaction) throws -> Void) {
        queue.async { [self] in
            do {
                try step(body)
            } catch {
                room.transaction.log(.error, "A step of a transaction has failed: \(error)")
                room.transaction.failedSteps.append(StoreError(wrapping: error))
            }
        }
    }

    /// Runs a step on the transaction's queue and blocks the caller's thread until it has finished.
    /// - Throws: the error of the body; the changes of the step are then undone. `misuse` if waiting would deadlock: inside another step, or if a
    ///   preceding step waits for the caller.
    @discardableResult
    public func performAndWait<T: Sendable>(_ body: @Sendable (UnsafeTransaction) throws -> T) throws -> T { try wait { try step(body) } }

    private func wait<T>(_ work: () throws -> T) throws -> T {
        try WaitForGraph.shared.beginWaiting(for: self)
        return try queue.sync {
            WaitForGraph.shared.endWaiting()
            return try work()
        }
    }

    private func occupied<T>(_ work: () throws -> T) rethrows -> T {
        running.store(currentThreadNumber(), ordering: .releasing)
        defer { running.store(0, ordering: .releasing) }
        return try work()
    }

    private func step<T>(_ body: (UnsafeTransaction) throws -> T) throws -> T { try occupied { try perform(step: body) } }

    private func perform<T>(step body: (UnsafeTransaction) throws -> T) throws -> T {
        var value: T?
        try room.transaction.atomically(endsStep: true) { value = try body(room.transaction) }
        guard let value else { throw StoreError(.closed, "The step has ended without a result.") }
        return value
    }

    /// Commits the changes of the preceding steps; see `UnsafeTransaction.commit(mergePolicy:durability:isolation:)`.
    @discardableResult
    public func commit(mergePolicy: MergePolicy = .error, durability: Durability? = nil) async throws -> Bool {
        let result = try await queue.awaiting { [self] in try commitNow(mergePolicy, durability) }
        await core.awaitViews()
        return result
    }

    private func commitNow(_ mergePolicy: MergePolicy, _ durability: Durability?) throws -> Bool {
        try occupied { try room.transaction.commit(mergePolicy: mergePolicy, durability: durability, isolation: nil) }
    }

    /// Discards the uncommitted changes of the preceding steps.
    public func rollback() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                room.transaction.rollback()
                continuation.resume()
            }
        }
    }

    fileprivate func commitAndWait() throws { _ = try wait { try commitNow(.error, nil) } }
}

extension DataStack {
    /// Begins a transaction of several steps.
    /// - Parameters:
    ///   - supportsUndo: Whether its steps can be undone and redone.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    public func beginTransaction(
        supportsUndo: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) -> StepwiseTransaction {
        let transaction = StepwiseTransaction(
            core, CallSite("transaction in steps", file: file, line: line), supportsUndo: supportsUndo)
        core.steps.add(transaction)
        return transaction
    }

    /// Runs a long unqueued transaction that commits periodically, on a thread of the stack. Other transactions can write in between.
    ///
    ///     try await stack.performBatch { batch in
    ///         for (number, name) in names.enumerated() {
    ///             try batch.create(Into<Person>()).name = name
    ///             if number % 1000 == 999 { try batch.commit() }      // written, and its memory released
    ///         }
    ///     }
    ///
    /// Remaining changes are committed at the end. If the body throws, only the uncommitted changes are discarded.
    /// - Parameters:
    ///   - mergePolicy: The policy of the final commit; commits in the body specify their own.
    ///   - durability: The durability of the commit; nil uses the durability of the store.
    ///   - sourceIdentifier: A value that is passed to observers of the commit; see ``Commit/sourceIdentifier``.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    ///   - body: Runs on a thread of the stack. If the calling task is cancelled, ``Transaction/isCancelled`` is true and the final commit is
    ///     skipped.
    @discardableResult
    public func performBatch<T: Sendable>(
        mergePolicy: MergePolicy = .error, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil,
        file: StaticString = #fileID,
        line: UInt = #line, _ body: @escaping @Sendable (UnsafeTransaction) throws -> T
    ) async throws -> T {
        let core = core
        let interruption = Interruption()
        let options = TransactionOptions(
            durability: durability, sourceIdentifier: sourceIdentifier, interruption: interruption,
            site: CallSite("batch", file: file, line: line))
        return try await withTaskCancellationHandler {
            try await core.awaitingBatchThread { try core.performBatch(options, mergePolicy, isolation: nil, body) }
        } onCancel: {
            interruption.cancel()
        }
    }

    /// Runs a long unqueued transaction that commits periodically, on the caller's thread; see
    /// ``performBatch(mergePolicy:durability:sourceIdentifier:file:line:_:)``. Another transaction can write between its commits. When called on the main
    /// actor, the view context shows the changes when this method returns.
    @discardableResult
    public func performBatchAndWait<T: Sendable>(
        mergePolicy: MergePolicy = .error, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @Sendable (UnsafeTransaction) throws -> T
    ) throws -> T {
        let options = TransactionOptions(
            durability: durability, sourceIdentifier: sourceIdentifier, site: CallSite("batch", file: file, line: line))
        return try core.performBatch(options, mergePolicy, isolation: isolation, body)
    }

    /// Commits every stepwise transaction and returns when all transactions queued before have finished. Call it before the program exits. Other
    /// unqueued transactions are committed by their owners.
    /// - Throws: the first error of a commit; all commits are attempted.
    public func saveAll() async throws {
        var failure: (any Error)?
        for transaction in core.steps.living {
            do { try await transaction.commit() } catch { failure = failure ?? error }
        }
        do { try await core.transact(TransactionOptions()) { $0.waitForPredecessors() } } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    /// Does the same as ``saveAll()`` for callers that cannot await, such as an app termination handler. Not for a signal handler,
    /// which may interrupt a thread that holds a lock: let a `DispatchSource` of the signal call it. When called on the main
    /// actor, the view context shows the changes when this method returns.
    public func saveAllAndWait(isolation: isolated (any Actor)? = #isolation) throws {
        var failure: (any Error)?
        for transaction in core.steps.living {
            do { try transaction.commitAndWait() } catch { failure = failure ?? error }
        }
        do {
            // It does not wait for later transactions.
            try core.transactAndWait(TransactionOptions(), isolation === MainActor.shared ? .mainActor : .actor) { _ in }
        } catch { failure = failure ?? error }
        if let failure { throw failure }
    }
}

extension StackCore {
    /// Runs a body on an unqueued transaction and commits its remaining changes.
    fileprivate func performBatch<T>(
        _ options: TransactionOptions, _ mergePolicy: MergePolicy, isolation: isolated (any Actor)?, _ body: (UnsafeTransaction) throws -> T
    ) throws -> T {
        let batch = UnsafeTransaction(core: self, table: table.withLock { $0 }, parent: nil, options.site, supportsUndo: false)
        batch.adopt(options)
        let result = try body(batch)
        try batch.checkCancellation()
        try batch.commit(mergePolicy: mergePolicy, durability: options.durability, isolation: isolation)
        return result
    }
}
