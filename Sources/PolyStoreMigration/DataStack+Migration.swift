import Foundation
import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

extension DataStack {
    /// Creates a stack with the current version of a schema history.
    ///
    /// - Throws: `invalidSchema` for a history whose chain, versions or mappings are inconsistent, and errors of ``init(_:logger:)-(Schema,_)``.
    public convenience init(_ history: SchemaHistory, logger: any StoreLogger = StandardErrorLogger()) throws {
        try self.init(try history.current(), versions: history, logger: logger)
    }

    /// The versions that stores are migrated from and to.
    public var schemaHistory: SchemaHistory { (core.versions as? SchemaHistory) ?? SchemaHistory(schema) }

    /// Opens or creates a store after migrating it to the current schema version. Does not block a thread.
    ///
    /// - Parameters:
    ///   - store: The engine and the location: `.sqlite(file: "company.sqlite")`.
    ///   - name: The configuration of the schema that the store contains; `nil` for the default one.
    ///   - policy: The migrations that may be performed.
    ///   - history: The history that this stack records for its commits to the store; `nil` records none.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `incompatibleSchema` if no path leads to the current version; `constraint` with entity, attribute and row id if objects violate a constraint
    ///   of the new version; `unsupported` for a backend that cannot migrate; `busy` if another process migrates the store for too long; `cancelled`; `full`;
    ///   and errors of ``addStore(_:configuration:history:file:line:)``. The store is then in the state before the step that failed.
    @discardableResult
    public func addStore(
        _ store: StoreConfiguration, configuration name: String? = nil, migrating policy: MigrationPolicy, history: HistoryOptions? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) async throws -> PersistentStore {
        let run = startAddingStore(store, configuration: name, migrating: policy, history: history, file: file, line: line)
        return try await withTaskCancellationHandler(operation: { try await run.value }, onCancel: { run.cancel() })
    }

    /// Starts to open a store after migrating it to the current schema version, and returns a handle with its progress.
    ///
    /// See ``addStore(_:configuration:migrating:history:file:line:)``.
    public func startAddingStore(
        _ store: StoreConfiguration, configuration name: String? = nil, migrating policy: MigrationPolicy, history: HistoryOptions? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) -> MigrationRun {
        let run = MigrationRun("Migrating \(store.location)", MigrationProgress())
        core.onBatchThread { [self] in
            let progress = MigrationMonitor(run)
            let result = Result {
                if policy.erases {
                    try progress.checkCancellation()
                    guard policy.copyLocation == nil else {
                        throw StoreError(
                            .misuse, "The policy eraseOnMismatch keeps no copy of \(store.location). Copy the store before, or migrate it.",
                            location: store.location)
                    }
                    let erased = store.resettingOnModelMismatch()
                    return try self.addStore(erased, configuration: name, history: history, file: file, line: line)
                }
                if self.openStore(same: store) == nil {
                    let report = try self.migrator(store, name, policy, progress).migrate()
                    run.reported.withLock { $0 = report }
                }
                return try self.addStore(store, configuration: name, history: history, file: file, line: line)
            }
            if case .failure(let error) = result {
                self.core.logger.writeFailure(error, CallSite("addStore", file: file, line: line))
            }
            run.finish(result, last: progress.last(isComplete: (try? result.get()) != nil))
        }
        return run
    }

    /// Returns the migrations that a store needs before this stack can open it; empty if it needs none or does not exist.
    ///
    /// No migration is performed. Opens the store on a thread of the stack. The calling task waits for it without blocking a thread.
    /// - Throws: `incompatibleSchema` if no path leads to the current version, and errors of opening the store.
    public func requiredMigrations(
        for store: StoreConfiguration, configuration name: String? = nil, migrating policy: MigrationPolicy = .chain
    ) async throws -> [MigrationType] {
        try await core.awaitingBatchThread { [self] in try requiredMigrationsAndWait(for: store, configuration: name, migrating: policy) }
    }

    /// Returns the migrations that a store needs, blocking the caller's thread while the store is opened; see
    /// ``requiredMigrations(for:configuration:migrating:)``.
    public func requiredMigrationsAndWait(
        for store: StoreConfiguration, configuration name: String? = nil, migrating policy: MigrationPolicy = .chain
    ) throws -> [MigrationType] {
        try migrator(store, name, policy, nil).steps().map(\.type)
    }

    /// Migrates a store to the current schema version without adding it to the stack.
    ///
    /// - Returns: The report of the migration, without steps if the store has the current version or does not exist.
    /// - Throws: The errors of ``addStore(_:configuration:migrating:history:file:line:)``.
    @discardableResult
    public func upgradeStoreIfNeeded(
        _ store: StoreConfiguration, configuration name: String? = nil, migrating policy: MigrationPolicy = .chain
    ) async throws -> MigrationReport {
        try await onBatchThread { try self.migrator(store, name, policy, $0).migrate() }
    }

    /// Migrates a store to the current schema version, blocking the caller's thread; see ``upgradeStoreIfNeeded(_:configuration:migrating:)``.
    @discardableResult
    public func upgradeStoreIfNeededAndWait(
        _ store: StoreConfiguration, configuration name: String? = nil, migrating policy: MigrationPolicy = .chain
    ) throws -> MigrationReport {
        try migrator(store, name, policy, nil).migrate()
    }

    /// Performs the steps of a migration without changing the store, and returns what the migration would change, lose and refuse.
    ///
    /// A single step is performed in the store and undone. Several steps are performed in a copy beside the store, which is deleted afterwards; closures of
    /// mappings run for every object. After a step that is refused, only the schemas of the later steps are examined, because their objects do not exist; the
    /// same applies to later steps of a backend that cannot copy its stores (``MigrationReport/Step/isRehearsed``).
    /// - Throws: `incompatibleSchema` if no path leads to the current version; `full` if the disk has no room for the copy; and errors of opening the store.
    public func rehearseMigration(
        of store: StoreConfiguration, configuration name: String? = nil, migrating policy: MigrationPolicy = .chain
    ) async throws -> MigrationReport {
        try await onBatchThread { try self.migrator(store, name, policy, $0).rehearse() }
    }

    /// Rehearses a migration, blocking the caller's thread; see ``rehearseMigration(of:configuration:migrating:)``.
    public func rehearseMigrationAndWait(
        of store: StoreConfiguration, configuration name: String? = nil, migrating policy: MigrationPolicy = .chain
    ) throws -> MigrationReport {
        try migrator(store, name, policy, nil).rehearse()
    }

    private func migrator(
        _ store: StoreConfiguration, _ name: String?, _ policy: MigrationPolicy, _ monitor: MigrationMonitor?
    ) throws -> StoreMigrator {
        guard !policy.erases else {
            throw StoreError(
                .misuse,
                "The policy eraseOnMismatch migrates nothing. Pass it to addStore, which empties \(store.location) if it has another version.",
                location: store.location)
        }
        return StoreMigrator(
            store: store, configurationName: name, history: schemaHistory, current: schema, policy: policy, logger: core.currentLogger,
            monitor: monitor)
    }

    /// Runs blocking work on a thread of the stack and ends it if the task is cancelled.
    private func onBatchThread<T: Sendable>(_ work: @escaping @Sendable (MigrationMonitor) throws -> T) async throws -> T {
        let run = MigrationRun("", MigrationProgress())
        return try await withTaskCancellationHandler {
            try await core.awaitingBatchThread { try work(MigrationMonitor(run)) }
        } onCancel: {
            run.cancel()
        }
    }
}
