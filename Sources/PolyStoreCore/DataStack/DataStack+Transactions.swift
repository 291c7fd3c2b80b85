import PolyStoreBackend

extension DataStack {
    /// Runs a transaction: commits when the body returns, discards everything when it throws.
    ///
    /// Transactions run one after another, in the order in which they were asked for. When this returns, the change is committed and the view shows it.
    /// Those that are in line together may be committed together, with one flush; the body must not wait for another one to be acknowledged.
    /// - Parameters:
    ///   - durability: what the commit survives; nil is what the store says.
    ///   - body: runs on a thread of the stack's own. What it returns is Sendable, so no object can leave; return `objectID`s.
    /// - Throws: what the body throws, and what the commit throws: `constraint` with all violations, `full`, `io`, ….
    @discardableResult
    public func perform<T: Sendable>(
        durability: Durability? = nil, _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws -> T {
        let result = try await core.transact(durability, body)
        if core.hub.isActive { await catchUpView() }
        return result
    }

    /// A transaction on one object: `try await stack.perform(editing: id) { transaction, jane in jane.age += 1 }`.
    /// - Throws: `notFound` where the object is gone, and what ``perform(durability:_:)`` throws.
    @discardableResult
    public func perform<M: Model, T: Sendable>(
        editing id: ObjectID<M>, durability: Durability? = nil, _ body: @escaping @Sendable (Transaction, M) throws -> T
    ) async throws -> T {
        try await perform(durability: durability) { transaction in try body(transaction, try transaction.edit(id)) }
    }

    /// Runs a transaction on the caller's thread, and waits for its turn.
    ///
    /// Outside of actors, and of the main thread, it is committed together with others in line, as ``perform(durability:_:)`` is. On the main actor the view shows the change when this returns; elsewhere soon after.
    /// - Throws: `misuse` when called in the body of another transaction of this stack, and what ``perform(durability:_:)`` throws.
    @discardableResult
    public func performAndWait<T: Sendable>(
        durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation, _ body: @Sendable (Transaction) throws -> T
    ) throws -> T {
        // A caller who holds up an actor, or the main thread, does not wait for what comes after him.
        let result = try core.transactAndWait(durability, isPatient: isolation == nil, body)
        if core.hub.isActive {
            if isolation === MainActor.shared {
                MainActor.assumeIsolated { catchUpView() }
            } else {
                Task { @MainActor in catchUpView() }
            }
        }
        return result
    }

    /// Reads one consistent snapshot on the caller's thread, beside any writer.
    /// - Parameter body: what it returns is Sendable, so no object can leave.
    public func readAndWait<T: Sendable>(_ body: @Sendable (SnapshotContext) throws -> T) throws -> T {
        let context = SnapshotContext(core: core, table: core.table.withLock { $0 })
        defer { context.end() }
        return try body(context)
    }

    /// Reads one consistent snapshot on a thread of the stack's own, beside any writer and other readers.
    public func read<T: Sendable>(_ body: @escaping @Sendable (SnapshotContext) throws -> T) async throws -> T {
        let core = core
        return try await withCheckedThrowingContinuation { continuation in
            core.read {
                continuation.resume(
                    with: Result {
                        let context = SnapshotContext(core: core, table: core.table.withLock { $0 })
                        defer { context.end() }
                        return try body(context)
                    })
            }
        }
    }
}
