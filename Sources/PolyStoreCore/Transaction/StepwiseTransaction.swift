import Dispatch
import PolyStoreBackend
import Synchronization

/// One transaction in several steps, with whatever lies between them: a download, an `await`, a question to the user.
///
///     let transaction = stack.beginTransaction()
///     let id = try await transaction.perform { try $0.create(Into<Person>()).objectID }
///     let age = await server.age(of: id)
///     try await transaction.perform { step in
///         try step.edit(id).age = age
///         try step.commit()
///     }
///
/// Sendable: each step runs on a thread of the transaction's own, one after another in the order in which they were asked for, and all work on one
/// ``UnsafeTransaction``, whose rules about versions and conflicts hold. Nobody else waits meanwhile. A step that throws is undone as a whole.
/// What was not committed when the last reference goes is discarded.
public final class StepwiseTransaction: Awaited {
    private let queue = DispatchQueue(label: "polystore.steps", qos: .default)
    private let room: Room
    private let core: StackCore
    /// The thread that runs a step.
    private let running = Atomic<UInt>(0)

    var owner: UInt { running.load(ordering: .acquiring) }

    /// What only the queue may enter.
    private final class Room: @unchecked Sendable {  // entered by one block of the serial queue at a time
        let transaction: UnsafeTransaction

        init(_ transaction: UnsafeTransaction) { self.transaction = transaction }
    }

    init(_ core: StackCore, _ site: CallSite, supportsUndo: Bool) {
        self.core = core
        room = Room(
            UnsafeTransaction(core: core, table: core.table.withLock { $0 }, parent: nil, site, supportsUndo: supportsUndo))
    }

    /// A step; returns when it has run.
    /// - Throws: what the body throws; what it had changed is undone then.
    @discardableResult
    public func perform<T: Sendable>(_ body: @escaping @Sendable (UnsafeTransaction) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Result { try step(body) }) }
        }
    }

    /// A step that nobody waits for. What it throws is logged, and thrown by every commit until a rollback, so that nothing is committed without it.
    ///
    /// Where one can await, one must: else a step that returns an object, which the other form refuses, would be taken for one of this form.
    @available(*, noasync, message: "Await the step, and return what is Sendable: an objectID, not an object.")
    public func perform(_ body: @escaping @Sendable (UnsafeTransaction) throws -> Void) {
        queue.async { [self] in
            do {
                try step(body)
            } catch {
                room.transaction.log(.error, "A step of a transaction has failed: \(error)")
                room.transaction.failedSteps.append(StoreError(wrapping: error))
            }
        }
    }

    /// A step on a thread of the transaction's own, while the caller's waits for it.
    /// - Throws: what the body throws; what it had changed is undone then. `misuse` inside another step, or where the steps before wait for the caller.
    @discardableResult
    public func performAndWait<T: Sendable>(_ body: @Sendable (UnsafeTransaction) throws -> T) throws -> T { try wait { try step(body) } }

    private func wait<T>(_ work: () throws -> T) throws -> T {
        try LaneWaits.shared.begin(self)
        return try queue.sync {
            LaneWaits.shared.end()
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

    /// Commits what the steps so far have changed; see ``UnsafeTransaction/commit(mergePolicy:durability:isolation:)``.
    @discardableResult
    public func commit(mergePolicy: MergePolicy = .error, durability: Durability? = nil) async throws -> Bool {
        let result = try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try commitNow(mergePolicy, durability) })
            }
        }
        await core.catchUpViews()
        return result
    }

    private func commitNow(_ mergePolicy: MergePolicy, _ durability: Durability?) throws -> Bool {
        try occupied { try room.transaction.commit(mergePolicy: mergePolicy, durability: durability, isolation: nil) }
    }

    /// Forgets what the steps so far have changed and not committed.
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

/// The transactions in steps that have not gone.
final class StepwiseList: Sendable {
    private struct Place {
        weak var transaction: StepwiseTransaction?
    }

    private let places = Protected<[Place]>([])

    func add(_ transaction: StepwiseTransaction) {
        places.withLock { places in
            places.removeAll { $0.transaction == nil }
            places.append(Place(transaction: transaction))
        }
    }

    var living: [StepwiseTransaction] { places.withLock { $0.compactMap(\.transaction) } }
}

extension DataStack {
    /// Begins a transaction of several steps.
    /// - Parameter supportsUndo: whether its steps can be taken back and done again.
    public func beginTransaction(
        supportsUndo: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) -> StepwiseTransaction {
        let transaction = StepwiseTransaction(
            core, CallSite("transaction in steps", file: file, line: line), supportsUndo: supportsUndo)
        core.steps.add(transaction)
        return transaction
    }

    /// A long piece of work that writes now and then: on a thread of its own and outside of the line, so that others can write in between.
    ///
    ///     try await stack.performBatch { batch in
    ///         for (number, source) in sources.enumerated() {
    ///             try batch.create(Into<Person>()).name = source
    ///             if number % 1000 == 999 { try batch.commit() }      // written, and let go
    ///         }
    ///     }
    ///
    /// What is left at the end is committed. What the body throws discards what was not committed yet, and nothing else.
    /// - Parameters:
    ///   - mergePolicy: of the commit at the end; those in the body say their own.
    ///   - body: runs on a thread of the stack's own. If the calling task is cancelled, ``Transaction/isCancelled`` says so, and there is no commit at the end.
    @discardableResult
    public func performBatch<T: Sendable>(
        mergePolicy: MergePolicy = .error, durability: Durability? = nil, source: (any Hashable & Sendable)? = nil,
        file: StaticString = #fileID,
        line: UInt = #line, _ body: @escaping @Sendable (UnsafeTransaction) throws -> T
    ) async throws -> T {
        let core = core
        let site = CallSite("batch", file: file, line: line)
        let ticket = Ticket()
        let result = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                core.onBatchThread {
                    continuation.resume(
                        with: Result {
                            let batch = UnsafeTransaction(
                                core: core, table: core.table.withLock { $0 }, parent: nil, site, supportsUndo: false)
                            batch.take(TransactionOrder(durability: durability, source: source, ticket: ticket, site: site))
                            let result = try body(batch)
                            try batch.checkCancellation()
                            try batch.commit(mergePolicy: mergePolicy, durability: durability, isolation: nil)
                            return result
                        })
                }
            }
        } onCancel: {
            ticket.cancel()
        }
        await core.catchUpViews()
        return result
    }

    /// Commits every transaction in steps that has not gone, and returns when nothing is in line any more: before the program ends. Unsafe
    /// transactions are their owners' to commit.
    /// - Throws: the first error of a commit; all of them are tried.
    public func saveAll() async throws {
        var failure: (any Error)?
        for transaction in core.steps.living {
            do { try await transaction.commit() } catch { failure = failure ?? error }
        }
        try await core.transact(TransactionOrder()) { $0.waitForOthers() }
        if let failure { throw failure }
    }

    /// ``saveAll()`` for a caller who cannot await, such as a handler of a signal or of the end of an app.
    public func saveAllAndWait() throws {
        var failure: (any Error)?
        for transaction in core.steps.living {
            do { try transaction.commitAndWait() } catch { failure = failure ?? error }
        }
        try core.transactAndWait(TransactionOrder(), isPatient: false) { _ in }
        if let failure { throw failure }
    }
}
