import PolyStoreBackend

/// A migration in an ordered engine, in several transactions.
///
/// The target data is written beside the source data under separate numbers, which a journal lists, so readers of the source do not see it. Carried entities
/// keep their numbers and are not rewritten. One small transaction then replaces the schema and the names of the numbers. It marks obsolete data for removal,
/// which the background work of the next opening performs in batches.
final class KeyValueMigration: StoreMigration {
    private let handle: EngineHandle
    private let logger: any StoreLogger
    private let plan: KeyValueMigrationPlan
    private let identity: KeyValueStoreIdentity
    private let layout: StoreLayout
    private let overlay: MigrationOverlay
    /// Called at the end, with whether the migration was committed.
    private let onEnd: (Bool) -> Void
    private(set) var source: any ReadTransaction
    private let sourceLayout: StoreLayout
    private(set) var savedPosition: [UInt8]?
    private var current: KeyValueMigrationTarget?
    private var isEnded = false
    /// The size of the engine's files before the migration, in bytes.
    private let sizeBefore: Int

    /// The number of bytes that a batch can write before the engine must make room. Room is made between batches, while the migration has no snapshot, because
    /// an open snapshot would prevent it.
    private static let roomForBatch = 256 << 20

    /// Takes ownership of the handle, unless it throws.
    init(
        _ handle: EngineHandle, _ opened: StoreLayout, _ change: SchemaChange, _ logger: any StoreLogger, onEnd: @escaping (Bool) -> Void
    ) throws {
        self.handle = handle
        self.logger = logger
        self.onEnd = onEnd
        let location = opened.location
        sizeBefore = Self.size(handle)
        guard change.source.versionHash == opened.schema.versionHash else {
            throw StoreError(
                .misuse, "The migration \(change.identifier) starts from another schema than the one that \(location) was opened with.",
                location: location)
        }
        try handle.lockWriting(isMigration: true)
        var isLocked = false
        do {
            try handle.lockMigration()
            isLocked = true
            let resets = handle.resetCount
            let (plan, identity, position, overlay) = try handle.writeLocked { writer in
                try handle.check(opened, writer)
                return try Self.begin(change, writer, location)
            }
            handle.setHasJournal(true)
            (self.plan, self.identity, self.overlay) = (plan, identity, overlay)
            savedPosition = position
            func layout(_ schema: ResolvedSchema, _ catalog: Catalog) throws -> StoreLayout {
                try StoreLayout(
                    location: location, traits: opened.traits, schema: schema, catalog: catalog, identity: identity,
                    migration: opened.migration, resets: resets)
            }
            self.layout = try layout(change.target, plan.target)
            let source = try layout(change.source, plan.source)
            sourceLayout = source
            try Self.makeRoom(handle)
            self.source = try Self.read(handle, source)
        } catch {
            if isLocked { handle.engine.unlockMigration() }
            handle.unlockWriting()
            throw error
        }
    }

    /// Writes the journal, or resumes that of an interrupted attempt. Abandons an interrupted migration to another schema.
    private static func begin(_ change: SchemaChange, _ writer: any EngineWriter, _ location: String) throws -> (
        KeyValueMigrationPlan, KeyValueStoreIdentity, [UInt8]?, MigrationOverlay
    ) {
        var journal = try MigrationJournal.read(writer, location: location)
        if let found = journal, !found.isOf(change) {
            try MigrationJournal.abandon(writer, location: location)
            journal = nil
        }
        let format: UInt32? = try writer.get(Keyspace.Metadata.format.key()).flatMap { BigEndianInteger.read($0) }
        guard let format, let identity = try SealedValue.get(Keyspace.Metadata.identity.key(), writer).flatMap(KeyValueStoreIdentity.init)
        else {
            throw StoreError(.corrupt, "The store \(location) is damaged: its identity cannot be read.", location: location)
        }
        let catalog = try Catalog(reading: writer, format: format, journal: journal, location: location)
        let plan = try KeyValueMigrationPlan(change, resuming: journal, catalog, writer, location: location)
        if journal == nil { try plan.begin(writer) }
        let position = try SealedValue.get(MigrationJournal.positionKey, writer)
        return (plan, identity, position, try MigrationOverlay(writer, location: location))
    }

    deinit { rollback() }

    private static func read(_ handle: EngineHandle, _ layout: StoreLayout) throws -> any ReadTransaction {
        handle.retain()
        do { return try KeyValueReadTransaction(handle, layout) } catch {
            handle.release()
            throw error
        }
    }

    /// Makes room for a batch if the engine supports it.
    private static func makeRoom(_ handle: EngineHandle) throws {
        guard let engine = handle.engine as? any TransactionalEngine else { return }
        // A batch that needs more room than is available fails with its own error.
        while !engine.hasRoom(for: roomForBatch) {
            do { try engine.makeRoom() } catch let error as StoreError where error.code == .full { return }
        }
    }

    var target: any WriteTransaction {
        do { return try batch() } catch { return FailedTransaction(error) }
    }

    private func batch() throws -> KeyValueMigrationTarget {
        try check()
        if let current { return current }
        let batch = try KeyValueWriteTransaction(handle, layout, logger, isStaged: true)
        let target = KeyValueMigrationTarget(batch, plan.change, overlay, layout.traits)
        current = target
        return target
    }

    private func check() throws {
        if isEnded { throw StoreError(.closed, "The migration of \(layout.location) has ended.", location: layout.location) }
        try handle.process.check(layout.location)
    }

    func save(_ position: [UInt8]) throws {
        guard position.count <= NamedValue.longestValue else {
            throw StoreError(
                .invalidValue,
                "The position of a migration has \(position.count) bytes, and at most \(NamedValue.longestValue) are kept. Save a shorter one."
            )
        }
        let target = try batch()
        current = nil
        try target.batch.commitBatch { writer, _ in
            try overlay.save(writer, location: layout.location)
            try SealedValue.put(MigrationJournal.positionKey, position, writer)
        }
        overlay.didSave()
        savedPosition = position
        // No other transaction writes, so a new snapshot of the source is identical. The old one would prevent the engine from reusing the pages that each batch
        // replaces. These are several times as many as the migration needs.
        source.end()
        try Self.makeRoom(handle)
        source = try Self.read(handle, sourceLayout)
    }

    func commit() throws {
        try check()
        do {
            try buildIndexes()
            let batch = try batch().batch
            current = nil
            var identity = identity
            identity.schemaHash = plan.change.target.versionHash
            let version = batch.version + 1
            // Before the commit, so that later snapshots check the identity of the store.
            handle.countReset()
            try batch.commitBatch { writer, reader in
                try overlay.apply(writer, reader, plan.change.target, version: version)
                try plan.finish(writer, identity, version: version)
                try writer.put(Keyspace.Metadata.commitVersion.key(), BigEndianInteger.bytes(version))
            }
        } catch {
            rollback()
            throw error
        }
        handle.setHasJournal(false)
        source.end()
        finish(isCommitted: true)
    }

    /// Builds the new indexes of carried entities, the unique ones first, because they can fail.
    private func buildIndexes() throws {
        let builder = IndexBuilder(handle, layout, logger, holdsWriteLock: true)
        let new = try builder.unfinished()
        if new.isEmpty { return }
        // The changes of the last batch become visible with the commit of the migration.
        let applied = current?.batch.takeApplied()
        current = nil
        for index in new.filter(\.isUnique) + new.filter({ !$0.isUnique }) { try builder.build(index) }
        if let applied { try batch().batch.apply(applied) }
    }

    func rollback() {
        guard !isEnded else { return }
        guard handle.process.isCurrent else {
            isEnded = true
            return
        }
        current?.batch.rollback()
        current = nil
        source.end()
        do {
            try handle.writeLocked { try MigrationJournal.abandon($0, location: layout.location) }
            handle.setHasJournal(false)
        } catch {
            // The next write transaction finds the journal and removes the staged data.
            let error = StoreError(engine: error, "Rolling back a migration", location: layout.location)
            logger.log(
                error, "A migration of \(layout.location) could not be rolled back completely", file: #fileID, line: #line,
                function: #function
            )
        }
        finish(isCommitted: false)
    }

    private func finish(isCommitted: Bool) {
        isEnded = true
        handle.engine.unlockMigration()
        handle.unlockWriting()
        if !isCommitted { reclaimSpace() }
        onEnd(isCommitted)
        handle.release()
    }

    /// Removes what the migration has written, and returns the space to the file system, if the engine's file has grown and the engine can replace it while the store
    /// is in use. What remains after an error is removed in the background, and its pages are reused.
    private func reclaimSpace() {
        do {
            let count = handle.engine.traits.recordsOfIndexCommit
            while try handle.write({ writer in
                if try writer.get(MigrationJournal.key) != nil { return false }
                return try PendingRemoval.step(writer, layout.traits, count: count)
            }) {}
            guard handle.engine is any FileReplacingEngine, Self.size(handle) > sizeBefore else { return }
            try handle.compact()
        } catch {
            let error = StoreError(engine: error, "Reclaiming the space of a migration", location: layout.location)
            logger.write(
                .notice,
                "The store \(layout.location) keeps the size that a migration gave it, and later writes use the space: \(error)")
        }
    }

    private static func size(_ handle: EngineHandle) -> Int {
        handle.engine.commitFiles.reduce(0) { $0 + ((try? StorePath(path: $1).size()) ?? 0) }
    }
}

/// Replaces a transaction that could not begin: every call throws the error.
private final class FailedTransaction: WriteTransaction {
    private let error: any Error
    let version: UInt64 = 0

    init(_ error: any Error) { self.error = error }

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { throw error }
    func scan(_ request: FetchRequest) throws -> Scan { throw error }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { throw error }
    func value(named name: String) throws -> [UInt8]? { throw error }
    func valueNames(prefix: String) throws -> [String] { throw error }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { throw error }
    func logBounds() throws -> LogBounds { throw error }
    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 { throw error }
    func apply(_ changes: ChangeSet) throws { throw error }
    func commit(_ durability: Durability) throws -> UInt64 { throw error }
    func rollback() {}
}
