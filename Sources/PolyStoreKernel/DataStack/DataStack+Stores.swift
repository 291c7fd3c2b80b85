import PolyStoreBackend

extension DataStack {
    /// The open stores, in the order in which they were added.
    public var stores: [PersistentStore] { core.table.withLock { $0.openStores } }

    /// Opens or creates a store. Never migrates.
    ///
    /// Adding a store again returns the open one. Blocks the caller's thread while the store is opened, which takes milliseconds. The name has no `AndWait`,
    /// because a program opens its stores before it does anything else. ``addStore(_:configuration:migrating:history:file:line:)`` does not block. The first
    /// opening for writing of a store that does not have the stack's versions in its list commits the list, and waits for a process that is writing.
    /// - Parameters:
    ///   - store: The engine and the location: `.sqlite(file: "company.sqlite")`, `.inMemory()`, …
    ///   - name: The schema configuration of the store; nil is the default one, with every entity.
    ///   - history: The history to record for commits of this stack; nil records none. See ``history(since:matching:limit:file:line:)``.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `storeNotFound` if the schema does not contain the configuration, `differentStoreAtURL` if another configuration of this stack uses
    ///   the location, `migrationRequired` for a store of another model, `notAStore` for a file of another format, `io`, `readOnly`, `corrupt`;
    ///   `unsupported` for a history in a store without a change log.
    @discardableResult
    public func addStore(
        _ store: StoreConfiguration, configuration name: String? = nil, history: HistoryOptions? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> PersistentStore {
        let site = CallSite("addStore", file: file, line: line)
        do { return try open(store, configuration: name, history: history, site) } catch {
            core.logger.writeFailure(error, site)
            throw error
        }
    }

    /// Opens or creates a store on a thread of the stack and calls back on the main actor.
    ///
    /// In `async` code, use ``addStore(_:configuration:migrating:history:file:line:)``, which can also migrate.
    public func addStore(
        _ store: StoreConfiguration, configuration name: String? = nil, history: HistoryOptions? = nil, file: StaticString = #fileID,
        line: UInt = #line, completion: @escaping @MainActor @Sendable (Result<PersistentStore, any Error>) -> Void
    ) {
        core.onBatchThread { [self] in
            let result = Result { try addStore(store, configuration: name, history: history, file: file, line: line) }
            Task { @MainActor in completion(result) }
        }
    }

    private func open(
        _ store: StoreConfiguration, configuration name: String?, history: HistoryOptions?, _ site: CallSite
    ) throws -> PersistentStore {
        let (opened, isNew) = try core.openings.withAccess(to: store) { try openOnce(store, configuration: name, history: history) }
        core.commitSequencer.didAdd(opened)
        guard isNew else { return opened }
        core.logger.write(.info, site, "Opened \(store.location) with \(opened.schema.entities.count) entities.")
        if opened.index > 0 { core.storesDidChange() }
        return opened
    }

    /// Returns the open store, or opens it. No lock is held while the backend opens, because it may wait for another process.
    /// - Returns: The store, and whether it was added to the table.
    private func openOnce(
        _ store: StoreConfiguration, configuration name: String?, history: HistoryOptions?
    ) throws -> (store: PersistentStore, isNew: Bool) {
        let (schema, models) = try core.configuration(name)
        if let same = openStore(same: store) {
            guard same.configurationName != name else { return (same, false) }
            func quoted(_ name: String?) -> String { name.map { "\"\($0)\"" } ?? "default" }
            throw StoreError(
                .differentStoreAtURL,
                "\(store.location) is open for the configuration \(quoted(same.configurationName)), so it cannot be that of \(quoted(name)) too.",
                location: store.location)
        }
        let backend = try store.open(schema: schema, configurationName: name, logger: core.currentLogger)
        guard history == nil || backend.capabilities.has(.changeLog) else {
            try? backend.close()
            throw LogBounds.unsupported(location: store.location)
        }
        let added = core.table.withLock { table in
            let added = PersistentStore(
                index: table.stores.count, firstEntityIndex: Int32(table.entries.count), configurationName: name, configuration: store,
                backend: backend, schema: schema, history: history, versions: core.versions,
                slowOperations: core.slowOperations, sessions: core.sessions)
            table.add(added, models: models)
            return added
        }
        added.recordVersionsAtOpening(core.currentLogger)
        return (added, true)
    }

    /// Opens or creates a store given by a URL, such as a value in a configuration file: `sqlite:company.sqlite`,
    /// `lmdb:company.lmdb?durability=relaxed`. See `StoreURL` for the syntax.
    /// - Parameters:
    ///   - url: The URL of the store.
    ///   - engines: The available engines; by default those registered with `StoreEngines.register(_:)`.
    ///   - name: The schema configuration of the store; nil is the default one, with every entity.
    ///   - history: The history to record for commits of this stack; nil records none.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `misuse` for an invalid URL, `unsupported` for an unavailable engine, and the errors of
    ///   ``addStore(_:configuration:history:file:line:)``.
    @discardableResult
    public func addStore(
        url: String, engines: StoreEngines = .registered, configuration name: String? = nil, history: HistoryOptions? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> PersistentStore {
        try addStore(engines.configuration(url), configuration: name, history: history, file: file, line: line)
    }
}

extension DataStack {
    /// Returns the open store that a configuration refers to; `nil` if there is none. The open stores keep the identities of their files, so only that of the
    /// configuration is read from the file system.
    package func openStore(same configuration: StoreConfiguration) -> PersistentStore? {
        guard configuration.isShared else { return nil }
        let open = stores
        guard !open.isEmpty else { return nil }
        let names = configuration.names
        return open.first { $0.isSame(as: configuration, names) }
    }
}

extension DataStack {
    /// Closes a store and removes it from the stack. Its files are not deleted.
    ///
    /// Waits until the queued transactions have ended, on a thread of the stack: the calling task does not block a thread. Objects of the store keep the values
    /// that were read; reading further ones throws `closed`. When this method returns, the view context shows the other stores; its monitors follow.
    /// - Parameters:
    ///   - store: A store of this stack.
    ///   - isForced: Whether to close the store even if contexts read from the stack. Their next read from the store then throws `closed`.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `busy` with the source locations of the open contexts, transactions and reads; `misuse` for a store of another stack.
    public func removeStore(
        _ store: PersistentStore, evenIfInUse isForced: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await changingStores { try $0.removeStoreAndWait(store, evenIfInUse: isForced, file: file, line: line) }
    }

    /// Closes a store and removes it from the stack, blocking the caller's thread until the queued transactions have ended; see
    /// ``removeStore(_:evenIfInUse:file:line:)``. The view context then shows the other stores.
    /// - Throws: `misuse` in the body of a transaction, and the errors of ``removeStore(_:evenIfInUse:file:line:)``.
    public func removeStoreAndWait(
        _ store: PersistentStore, evenIfInUse isForced: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        guard core.table.withLock({ $0.isOpen(store) }) else {
            throw StoreError(
                .misuse, "The store \(store.location) is not one of this stack, or was removed from it before.", location: store.location)
        }
        try core.close([store], isForced: isForced, CallSite("removeStore", file: file, line: line))
    }

    /// Closes all stores. Stores can be added again afterwards.
    ///
    /// Waits until the queued transactions have ended, on a thread of the stack: the calling task does not block a thread. A stack that is released also closes
    /// its stores, after its last context is released.
    /// - Parameters:
    ///   - isForced: Whether to close the stores even if contexts read from them. Their next read then throws `closed`.
    ///   - file: The source file of the caller, for errors.
    ///   - line: The line of the caller, for errors.
    /// - Throws: `busy` with the source locations of the open contexts, transactions and reads.
    public func close(evenIfInUse isForced: Bool = false, file: StaticString = #fileID, line: UInt = #line) async throws {
        try await changingStores { try $0.closeAndWait(evenIfInUse: isForced, file: file, line: line) }
    }

    /// Closes all stores, blocking the caller's thread until the queued transactions have ended; see ``close(evenIfInUse:file:line:)``.
    /// - Throws: `misuse` in the body of a transaction, and the errors of ``close(evenIfInUse:file:line:)``.
    public func closeAndWait(evenIfInUse isForced: Bool = false, file: StaticString = #fileID, line: UInt = #line) throws {
        try core.close(stores, isForced: isForced, CallSite("close", file: file, line: line))
    }

    /// Removes a store from the stack and deletes all its files.
    ///
    /// The store must not be open in another process or another stack. Waits like ``removeStore(_:evenIfInUse:file:line:)``, and for the deletion of the files.
    /// - Throws: `unsupported` for a backend that does not list its files, `io` for a file that cannot be deleted, and the errors of
    ///   ``removeStore(_:evenIfInUse:file:line:)``.
    public func eraseStore(
        _ store: PersistentStore, evenIfInUse isForced: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await changingStores { try $0.eraseStoreAndWait(store, evenIfInUse: isForced, file: file, line: line) }
    }

    /// Removes a store from the stack and deletes all its files, blocking the caller's thread until they are deleted; see
    /// ``eraseStore(_:evenIfInUse:file:line:)``.
    /// - Throws: `misuse` in the body of a transaction, and the errors of ``eraseStore(_:evenIfInUse:file:line:)``.
    public func eraseStoreAndWait(
        _ store: PersistentStore, evenIfInUse isForced: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        try store.configuration.checkErasable()
        guard !store.writeAccess.isShared else {
            throw StoreError(
                .busy, "The store \(store.location) is open in another stack of this process; close it there before it is erased.",
                location: store.location)
        }
        try removeStoreAndWait(store, evenIfInUse: isForced, file: file, line: line)
        // No other caller opens the files until they are deleted.
        try core.openings.withAccess(to: store.configuration) {
            guard !store.writeAccess.isOpen else {
                throw StoreError(
                    .busy, "The store \(store.location) was opened again before its files were deleted; close it before it is erased.",
                    location: store.location)
            }
            try store.configuration.erase()
        }
    }

    /// Removes stores on a thread of the stack, and updates the view context.
    private func changingStores(_ work: @escaping @Sendable (DataStack) throws -> Void) async throws {
        try await core.awaitingBatchThread { [self] in try work(self) }
    }
}

extension StackCore {
    /// Closes stores between two transactions.
    fileprivate func close(_ stores: [PersistentStore], isForced: Bool, _ site: CallSite) throws {
        guard !stores.isEmpty else { return }
        let group = try writeQueue.enter(nil)
        defer { writeQueue.leave(isPatient: false) }
        if group.isOpen { group.commit() }
        if !isForced { try checkNobodyReads() }
        var failure: (any Error)?
        for store in stores where table.withLock({ $0.remove(store) }) {
            commitSequencer.didRemove(store)
            store.writeAccess.didClose()
            do { try store.backend.close() } catch {
                logger.writeFailure(error, site)
                failure = failure ?? error
            }
            logger.write(.info, site, "Closed \(store.location).")
        }
        storesDidChange()
        if let failure { throw failure }
    }

    /// Checks that no context other than a view is open.
    /// - Throws: `busy` if one is.
    private func checkNobodyReads() throws {
        // Views and observed values detect the removal and move on.
        let readers = snapshots.all.filter { !["view", "snapshots", "changes", "values"].contains($0.kind) }
        guard !readers.isEmpty else { return }
        let named = readers.prefix(3).map { "\($0.kind) at \($0.origin)" }.joined(separator: ", ")
        let more = readers.count > 3 ? ", and \(readers.count - 3) more" : ""
        throw StoreError(
            .busy,
            "The stores cannot be closed while they are read: \(named)\(more). Let these end, or close with `evenIfInUse: true`.")
    }
}
