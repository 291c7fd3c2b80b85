import PolyStoreBackend

extension DataStack {
    /// Runs a transaction. Commits its changes when the body returns and discards them when it throws.
    ///
    /// Transactions run one after another in FIFO order. When this method returns, the changes are committed and visible in the view context. Queued
    /// transactions may be committed as one group with a single flush, so the body must not wait for another transaction to be acknowledged.
    ///
    /// If the calling task is cancelled or the time limit ends before the body returns, nothing is written: a transaction that is still queued is removed from the write
    /// queue, and a fetch or query that a store executes ends. Afterwards neither has an effect, and the caller receives the outcome of the commit.
    ///
    /// After an error with the recovery `retryable`, the whole transaction is run again, alone in its commit group and with new objects. The pauses before the five
    /// repetitions grow and take at most 310 ms in all. Set `retries` to 0 for a body that must not run twice.
    /// - Parameters:
    ///   - durability: The durability of the commit; nil uses the durability of the store.
    ///   - sourceIdentifier: Passed to observers of the commit; see ``Commit/sourceIdentifier``.
    ///   - retries: The number of times that the transaction may be run again; 0 if its body must not run twice.
    ///   - timeLimit: The time from the call on after which the transaction is not run any more, and its requests throw `timedOut`; nil for no limit.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    ///   - body: Runs on a thread of the stack. Its result is Sendable and therefore cannot contain objects; return `objectID`s instead.
    /// - Throws: the error of the body or of the commit: `constraint` with all violations, `cancelled`, `timedOut`, `full`, `io`, ….
    @discardableResult
    public func perform<T: Sendable>(
        durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5, timeLimit: Duration? = nil,
        file: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws -> T {
        try await core.transact(
            TransactionOptions(durability, sourceIdentifier, retries: retries, timeLimit: timeLimit, file: file, line: line), body)
    }

    /// Runs a transaction on one object: `try await stack.perform(editing: id) { transaction, jane in jane.age += 1 }`.
    /// - Throws: `notFound` if the object does not exist, and the errors of ``perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T``.
    @discardableResult
    public func perform<M: Model, T: Sendable>(
        editing id: ObjectID<M>, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5,
        timeLimit: Duration? = nil,
        file: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable (Transaction, M) throws -> T
    ) async throws -> T {
        try await perform(
            durability: durability, sourceIdentifier: sourceIdentifier, retries: retries, timeLimit: timeLimit, file: file, line: line
        ) { transaction in
            try body(transaction, try transaction.edit(id))
        }
    }

    /// Runs a transaction on the caller's thread after waiting for its turn in the write queue.
    ///
    /// Outside of actors and of the main thread it may be committed in a group with other queued transactions, like
    /// ``perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T``. When called on the main actor, the view context shows the changes when this method returns;
    /// otherwise shortly afterwards.
    /// - Throws: `misuse` if called in the body of another transaction of this stack, and the errors of ``perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T``.
    @inlinable
    @discardableResult
    public func performAndWait<T: Sendable>(
        durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, retries: Int = 5, timeLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
        _ body: @Sendable (Transaction) throws -> T
    ) throws -> T {
        let options = TransactionOptions(durability, sourceIdentifier, retries: retries, timeLimit: timeLimit, file: file, line: line)
        var result: T?
        try core.runAndWait(options, WaitingCaller(isolation), { result = try body($0) })
        guard let result else { throw Self.withoutResult }
        return result
    }

    @usableFromInline static var withoutResult: StoreError {
        @inline(never) get { StoreError(.closed, "The transaction has ended without a result.") }
    }

    // MARK: Explicit commits

    /// Enqueues a transaction and returns immediately. The body commits explicitly with ``AsynchronousTransaction/commit(_:)``; otherwise all changes
    /// are discarded.
    ///
    ///     stack.beginAsynchronous { transaction in
    ///         let person = try transaction.create(Into<Person>())
    ///         person.name = "John Smith"
    ///         transaction.commit { result in print(result) }
    ///     }
    ///
    /// The form for code without `async` whose bodies commit explicitly, as in CoreStore. ``perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T`` commits when its body
    /// returns, so that no commit can be forgotten. An error thrown by the body is logged.
    public func beginAsynchronous(
        durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (AsynchronousTransaction) throws -> Void
    ) {
        core.beginAsynchronous(
            TransactionOptions(durability, sourceIdentifier, file: file, line: line), body)
    }

    /// Runs a transaction on the caller's thread after waiting for its turn in the write queue, and returns when its commit is durable. The body
    /// commits explicitly with ``SynchronousTransaction/commit()``; otherwise all changes are discarded.
    ///
    /// The form for bodies that commit explicitly, as in CoreStore. ``performAndWait(durability:sourceIdentifier:retries:timeLimit:isolation:file:line:_:)->T`` commits when its body returns.
    /// - Returns: whether the commit contained changes; nil if the body did not commit.
    /// - Throws: the error of the body, unless it was thrown after the commit; the error of the commit; `misuse` inside the body of another
    ///   transaction.
    @discardableResult
    public func beginSynchronous(
        durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID, line: UInt = #line, _ body: @Sendable (SynchronousTransaction) throws -> Void
    ) throws -> Bool? {
        let options = TransactionOptions(durability, sourceIdentifier, file: file, line: line)
        return try core.beginSynchronous(options, WaitingCaller(isolation), body)
    }

    // MARK: Unqueued transactions

    /// Begins an unqueued transaction, which lives until its owner releases it. Use it on one thread, task or actor at a time.
    /// - Parameters:
    ///   - supportsUndo: Whether its steps can be undone and redone. Recording them takes memory.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    public func beginUnsafe(supportsUndo: Bool = false, file: StaticString = #fileID, line: UInt = #line) -> UnsafeTransaction {
        UnsafeTransaction(
            core: core, table: core.table.withLock { $0 }, parent: nil,
            CallSite("unsafe transaction", file: file, line: line), supportsUndo: supportsUndo)
    }

    // MARK: Reading

    /// Reads one consistent snapshot on the caller's thread, concurrently with any writer. Only a time limit ends its requests: the cancellation of a task does not.
    ///
    /// If a server ends the connection or the read with a retryable error, the body is run again with a new snapshot, at most five times. A body that catches the error
    /// itself is not run again.
    /// - Parameters:
    ///   - timeLimit: The time from the call on after which requests throw `timedOut`; nil for no limit.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    ///   - body: Reads the snapshot. Its result is Sendable and therefore cannot contain objects.
    public func readAndWait<T: Sendable>(
        timeLimit: Duration? = nil, file: StaticString = #fileID, line: UInt = #line, _ body: @Sendable (SnapshotContext) throws -> T
    ) throws -> T {
        try core.readNow(CallSite("read", file: file, line: line), timeLimit.map { Interruption(timeLimit: $0) }, body)
    }

    /// Reads one consistent snapshot on a thread of the stack, concurrently with any writer and other readers.
    ///
    /// Up to ``maximumConcurrentReads`` reads run concurrently; others wait in FIFO order. The body may block its thread. If the calling task is cancelled, a fetch or query that
    /// a store executes ends. The body is run again after the errors of servers that ``readAndWait(timeLimit:file:line:_:)`` lists.
    /// - Parameters:
    ///   - timeLimit: The time from the call on after which the read does not begin any more, and its requests throw `timedOut`; nil for no limit.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    ///   - body: Reads the snapshot. Its result is Sendable and therefore cannot contain objects.
    /// - Throws: `cancelled` or `timedOut` if the task is cancelled or the limit ends before the body begins, and the errors of the body.
    public func read<T: Sendable>(
        timeLimit: Duration? = nil, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (SnapshotContext) throws -> T
    ) async throws -> T {
        let interruption = Interruption(timeLimit: timeLimit)
        return try await core.awaitingReaderThread(interruption) { [core] in
            try core.readNow(CallSite("read", file: file, line: line), interruption, body)
        }
    }
}

extension Transaction {
    /// Begins a child transaction. It sees the pending changes of this transaction, and its commit moves its changes into this one. Releasing it or
    /// rolling it back leaves this transaction unchanged.
    /// - Parameters:
    ///   - supportsUndo: Whether its steps can be undone and redone. Recording them takes memory.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    public final func beginUnsafe(supportsUndo: Bool = false, file: StaticString = #fileID, line: UInt = #line) -> UnsafeTransaction {
        UnsafeTransaction(
            core: core, table: table, parent: self, CallSite("child transaction", file: file, line: line),
            supportsUndo: supportsUndo)
    }
}
