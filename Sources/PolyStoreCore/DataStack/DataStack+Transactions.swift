import PolyStoreBackend

extension DataStack {
    /// Runs a transaction: commits when the body returns, discards everything when it throws.
    ///
    /// Transactions run one after another, in the order in which they were asked for. When this returns, the change is committed and the view shows it.
    /// Those that are in line together may be committed together, with one flush; the body must not wait for another one to be acknowledged.
    ///
    /// Where the calling task is cancelled before the body has returned, nothing is written; a transaction that still waits for its turn is not
    /// run at all. Afterwards a cancellation comes too late and changes nothing.
    /// - Parameters:
    ///   - durability: what the commit survives; nil is what the store says.
    ///   - source: handed on to those who observe the commit; see ``Commit/sourceIdentifier``.
    ///   - body: runs on a thread of the stack's own. What it returns is Sendable, so no object can leave; return `objectID`s.
    /// - Throws: what the body throws, and what the commit throws: `constraint` with all violations, `cancelled`, `full`, `io`, ….
    @discardableResult
    public func perform<T: Sendable>(
        durability: Durability? = nil, source: (any Hashable & Sendable)? = nil, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws -> T {
        let result = try await core.transact(
            TransactionOrder(durability: durability, source: source, site: CallSite("transaction", file: file, line: line)), body)
        await core.catchUpViews()
        return result
    }

    /// A transaction on one object: `try await stack.perform(editing: id) { transaction, jane in jane.age += 1 }`.
    /// - Throws: `notFound` where the object is gone, and what ``perform(durability:source:file:line:_:)`` throws.
    @discardableResult
    public func perform<M: Model, T: Sendable>(
        editing id: ObjectID<M>, durability: Durability? = nil, source: (any Hashable & Sendable)? = nil,
        file: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable (Transaction, M) throws -> T
    ) async throws -> T {
        try await perform(durability: durability, source: source, file: file, line: line) { transaction in
            try body(transaction, try transaction.edit(id))
        }
    }

    /// Runs a transaction on the caller's thread, and waits for its turn.
    ///
    /// Outside of actors, and of the main thread, it is committed together with others in line, as ``perform(durability:source:file:line:_:)`` is. On the
    /// main actor the view shows the change when this returns; elsewhere soon after.
    /// - Throws: `misuse` when called in the body of another transaction of this stack, and what ``perform(durability:source:file:line:_:)`` throws.
    @discardableResult
    public func performAndWait<T: Sendable>(
        durability: Durability? = nil, source: (any Hashable & Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID, line: UInt = #line, _ body: @Sendable (Transaction) throws -> T
    ) throws -> T {
        let order = TransactionOrder(durability: durability, source: source, site: CallSite("transaction", file: file, line: line))
        // A caller who holds up an actor, or the main thread, does not wait for what comes after him.
        let result = try core.transactAndWait(order, isPatient: isolation == nil, body)
        core.catchUpViewsSoon(isOnMain: isolation === MainActor.shared)
        return result
    }

    // MARK: Explicit commits

    /// Puts a transaction in line and returns at once. The body says when it is to be committed: without ``AsynchronousTransaction/commit(_:)``
    /// everything is discarded.
    ///
    ///     stack.beginAsynchronous { transaction in
    ///         let person = try transaction.create(Into<Person>())
    ///         person.name = "John Smith"
    ///         transaction.commit { result in print(result) }
    ///     }
    ///
    /// Nobody waits for what the body throws, so it is logged as an error.
    public func beginAsynchronous(
        durability: Durability? = nil, source: (any Hashable & Sendable)? = nil, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (AsynchronousTransaction) throws -> Void
    ) {
        core.beginAsynchronous(
            TransactionOrder(durability: durability, source: source, site: CallSite("transaction", file: file, line: line)), body)
    }

    /// Runs a transaction on the caller's thread, waits for its turn, and returns when its commit is safe. The body says when it is to be committed:
    /// without ``SynchronousTransaction/commit()`` everything is discarded.
    /// - Returns: whether anything was changed; nil where there was no commit.
    /// - Throws: what the body throws, unless it has committed before; what the commit throws; `misuse` inside the body of another transaction.
    @discardableResult
    public func beginSynchronous(
        durability: Durability? = nil, source: (any Hashable & Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID, line: UInt = #line, _ body: @Sendable (SynchronousTransaction) throws -> Void
    ) throws -> Bool? {
        let order = TransactionOrder(durability: durability, source: source, site: CallSite("transaction", file: file, line: line))
        let result = try core.beginSynchronous(order, isPatient: isolation == nil, body)
        core.catchUpViewsSoon(isOnMain: isolation === MainActor.shared)
        return result
    }

    // MARK: Outside of the line

    /// A transaction that nothing ends but its owner: to be used by one thread, task or actor at a time.
    /// - Parameter supportsUndo: whether its steps can be taken back and done again; keeping them takes memory.
    public func beginUnsafe(supportsUndo: Bool = false, file: StaticString = #fileID, line: UInt = #line) -> UnsafeTransaction {
        UnsafeTransaction(
            core: core, table: core.table.withLock { $0 }, parent: nil,
            CallSite("unsafe transaction", file: file, line: line), supportsUndo: supportsUndo)
    }

    // MARK: Reading

    /// Reads one consistent snapshot on the caller's thread, beside any writer.
    /// - Parameter body: what it returns is Sendable, so no object can leave.
    public func readAndWait<T: Sendable>(
        file: StaticString = #fileID, line: UInt = #line, _ body: @Sendable (SnapshotContext) throws -> T
    ) throws -> T {
        try core.readNow(CallSite("read", file: file, line: line), body)
    }

    /// Reads one consistent snapshot on a thread of the stack's own, beside any writer and other readers.
    public func read<T: Sendable>(
        file: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable (SnapshotContext) throws -> T
    ) async throws -> T {
        let core = core
        return try await withCheckedThrowingContinuation { continuation in
            core.onReaderThread {
                let site = CallSite("read", file: file, line: line)
                continuation.resume(with: Result { try core.readNow(site, body) })
            }
        }
    }
}

extension Transaction {
    /// A child: sees what is pending here, and hands its changes over when it is committed. Letting it go, or rolling it back, leaves this one as it is.
    /// - Parameter supportsUndo: whether its steps can be taken back and done again; keeping them takes memory.
    public final func beginUnsafe(supportsUndo: Bool = false, file: StaticString = #fileID, line: UInt = #line) -> UnsafeTransaction {
        UnsafeTransaction(
            core: core, table: table, parent: self, CallSite("child transaction", file: file, line: line),
            supportsUndo: supportsUndo)
    }
}
