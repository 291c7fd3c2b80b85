import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch

/// The write transaction of an engine. At most one is open at a time.
final class KeyValueWriteTransaction: WriteTransaction, OrdersByIndexedJSON {
    let version: UInt64
    private let handle: EngineHandle
    let layout: StoreLayout
    private let logger: any StoreLogger
    // Used by one thread; each access is a single load or store.
    @exclusivity(unchecked) private var writer: any EngineWriter
    @exclusivity(unchecked) private var reader: SnapshotReader
    @exclusivity(unchecked) private var isEnded = false
    /// The error of the engine after which the transaction can only be ended.
    @exclusivity(unchecked) private var failure: StoreError?
    /// The next row id of each entity for which row ids were reserved.
    @exclusivity(unchecked) private var sequences: [Int: Int64] = [:]
    /// The change sets applied so far, which are repeated if the engine needs more room.
    @exclusivity(unchecked) private var applied: [ChangeSet] = []
    /// The writes of a conversion outside of change sets, which are repeated too.
    @exclusivity(unchecked) private var restorations: [Restoration] = []
    /// The version that the commit gets; see ``RestoringTransaction``.
    @exclusivity(unchecked) private(set) var nextVersion: UInt64

    /// A Boolean value that indicates whether this is a batch of a migration, which holds the write lock and the handle: the transaction writes no named
    /// values, no change log and no version.
    private let isStaged: Bool

    /// Takes ownership of a retained handle, unless it throws.
    /// - Throws: ``UnfinishedMigration``, unless the transaction is a batch of that migration.
    init(_ handle: EngineHandle, _ layout: StoreLayout, _ logger: any StoreLogger, isStaged: Bool = false) throws {
        self.handle = handle
        self.layout = layout
        self.logger = logger
        self.isStaged = isStaged
        if !isStaged { try handle.lockWriting() }
        var begun: (any EngineWriter)?
        do {
            let writer = try handle.beginEngineWrite()
            begun = writer
            if isStaged { try handle.check(layout, writer) } else { try handle.checkMayWrite(layout, writer) }
            self.writer = writer
            reader = SnapshotReader(layout, writer, isWritten: true, cache: isStaged ? nil : handle.takeCache())
            version = try reader.version()
            nextVersion = version + 1
        } catch {
            begun?.end()
            if !isStaged { handle.unlockWriting() }
            throw error
        }
    }

    deinit { rollback() }

    // MARK: Reading

    private func check() throws {
        if isEnded { throw StoreError(.closed, "The transaction has ended.", location: layout.location) }
        try layout.process.check(layout.location)
        if let failure { throw failure }
    }

    private func reading(_ entity: Entity) throws -> SnapshotReader {
        try check()
        try layout.check(entity)
        return reader
    }

    /// Writes with an engine's writer; again if the engine needs more room.
    typealias Restoration = (SnapshotReader, any EngineWriter) throws -> Void

    /// Runs a write of a conversion.
    func restore(_ body: @escaping Restoration) throws {
        try check()
        do { try body(reader, writer) } catch is EngineOutOfRoom {
            try again()
            try restore(body)
            return
        } catch { throw failed(error) }
        restorations.append(body)
    }

    /// Lets the commit have a version.
    func setNextVersion(_ version: UInt64) { nextVersion = version }

    func nextRowID(_ entity: Entity) throws -> Int64 {
        let reader = try reading(entity)
        return try sequences[entity.index] ?? reader.nextID(entity)
    }

    var interruption: Interruption? {
        get { reader.interruption }
        set { reader.interruption = newValue }
    }

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try reading(entity).record(entity, rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try reading(request.entity).scan(request) }
    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? { try reading(request.entity).scanGroups(request) }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try reading(request.entity).plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try reading(request.entity).explain(request) }

    func count(_ request: FetchRequest) throws -> Int { try reading(request.entity).count(request) }

    func search(_ request: SearchRequest) throws -> SearchHits? {
        try flushed(request.condition.entity) { try $0.search(request) }
    }

    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        try flushed(condition.entity) { try $0.searchStatistics(condition) }
    }

    /// Calls a closure with the reader when the full-text indexes contain the changes of the transaction.
    private func flushed<Result>(_ entity: Entity, _ body: (SnapshotReader) throws -> Result) throws -> Result {
        let found = try reading(entity)
        do { try found.search?.flush() } catch is EngineOutOfRoom {
            try again()
            return try flushed(entity, body)
        } catch { throw failed(error) }
        return try body(found)
    }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try check()
        try layout.check(relationship)
        return try reader.related(relationship, of: sources)
    }

    func value(named name: String) throws -> [UInt8]? {
        try check()
        return try reader.value(named: name)
    }

    func valueNames(prefix: String) throws -> [String] {
        try check()
        return try reader.valueNames(prefix: prefix)
    }

    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        try check()
        return try reader.logEntries(after: position, limit: limit)
    }

    func logBounds() throws -> LogBounds {
        try check()
        return try reader.logBounds()
    }

    // MARK: Writing

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 {
        let reader = try reading(entity)
        guard count > 0 else { throw StoreError(.misuse, "\(count) ids of \(entity.name) were asked for.", entity: entity.name) }
        let first = try sequences[entity.index] ?? reader.nextID(entity)
        let (after, isTooFar) = first.addingReportingOverflow(Int64(count))
        guard !isTooFar else { throw StoreError(.full, "There are not \(count) ids of \(entity.name) left.", entity: entity.name) }
        sequences[entity.index] = after
        return first
    }

    func apply(_ changes: ChangeSet) throws {
        try check()
        try layout.check(changes)
        if changes.isEmpty { return }
        let interruption = interruption
        self.interruption = nil
        defer { self.interruption = interruption }
        // All checks precede all writes, so a rejected change set has no effect.
        let plan = WritePlan(reader)
        try plan.add(changes)
        if isStaged { plan.dropValues() }
        try plan.check()
        let savepoint = (writer as? OverlayTransaction)?.savepoint()
        var indexing = false
        do {
            try plan.write(to: writer)
            if changes.changesLog, !isStaged { try reader.writeLog(changes, version: version + 1, to: writer) }
            indexing = true
            try reader.search?.add(plan.searchChanges)
        } catch is EngineOutOfRoom {
            try again(with: changes)
            return
        } catch {
            // Pages of full-text indexes that were written cannot be taken back alone.
            if !indexing, let savepoint, let writer = writer as? OverlayTransaction {
                writer.rollBack(to: savepoint)
                throw error
            }
            throw failed(error)
        }
        if plan.changesIndexStates { reader.forgetStates() }
        for (entity, count) in plan.growth where count != 0 { reader.grow(entity, by: count) }
        applied.append(changes)
    }

    /// Stores the error, with which all later calls fail.
    private func failed(_ error: any Error) -> StoreError {
        let found = StoreError(engine: error, "Writing", location: layout.location)
        failure = found
        return found
    }

    /// Makes room and repeats all writes.
    private func again(with changes: ChangeSet? = nil) throws {
        guard let engine = handle.engine as? any TransactionalEngine else { return }
        do {
            writer.end()
            logger.write(.info, "The engine of \(layout.location) is out of room; it grows, and the transaction is applied again.")
            try engine.makeRoom()
            writer = try engine.beginWrite()
            reader = SnapshotReader(layout, writer, isWritten: true)
            if isStaged { try handle.check(layout, writer) } else { try handle.checkMayWrite(layout, writer) }
            guard try reader.version() == version else {
                throw StoreError(
                    .conflict, "While room was made in \(layout.location), another process wrote to it. Run the transaction again.",
                    location: layout.location)
            }
            let earlier = applied + (changes.map { [$0] } ?? [])
            applied = []
            for changes in earlier { try apply(changes) }
            for restoration in restorations { try restoration(reader, writer) }
        } catch {
            throw failed(error)
        }
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        try check()
        do { try handle.engine.checkFiles() } catch {
            rollback()
            throw error
        }
        while true {
            do {
                let cache = try writeNumbers()
                try writer.commit(durability)
                finish(cache)
                return nextVersion
            } catch is EngineOutOfRoom {
                try again()
            } catch {
                let error = failed(error)
                rollback()
                throw error
            }
        }
    }

    /// Commits a batch of a migration.
    /// - Parameter body: Writes the metadata of the batch. It runs again if the engine has to make room.
    func commitBatch(_ body: (any EngineWriter, SnapshotReader) throws -> Void) throws {
        try check()
        do {
            try handle.engine.checkFiles()
            while true {
                do {
                    _ = try writeNumbers()
                    try body(writer, reader)
                    try writer.commit(.full)
                    return finish()
                } catch is EngineOutOfRoom {
                    try again()
                }
            }
        } catch {
            let error = failed(error)
            rollback()
            throw error
        }
    }

    /// Ends the transaction and returns the applied changes, for another transaction.
    func takeApplied() -> AppliedChanges {
        let taken = AppliedChanges(changes: applied, sequences: sequences)
        rollback()
        return taken
    }

    /// The changes of a transaction that another transaction repeats.
    struct AppliedChanges {
        fileprivate let changes: [ChangeSet]
        fileprivate let sequences: [Int: Int64]
    }

    /// Applies the changes of another transaction.
    func apply(_ taken: AppliedChanges) throws {
        for changes in taken.changes { try apply(changes) }
        sequences = taken.sequences
    }

    /// Writes the version, the sequences and the statistics.
    /// - Returns: the values that the next writer need not look up.
    private func writeNumbers() throws -> WriterCache? {
        try reader.search?.flush()
        var cache = reader.cache
        cache?.version = nextVersion
        cache?.logBounds = reader.knownLogBounds
        if !isStaged { try writer.put(Keyspace.Metadata.commitVersion.key(), BigEndianInteger.bytes(nextVersion)) }
        for (index, next) in sequences {
            try writer.put(
                Keyspace.Metadata.sequence.key(layout.number(of: layout.schema.entities[index])), BigEndianInteger.bytes(UInt64(next)))
        }
        for (entity, growth) in reader.growth where growth != 0 {
            let entity = layout.schema.entities[entity]
            let count = try reader.recordCount(entity)
            try writer.put(Keyspace.Metadata.statistics.key(layout.number(of: entity)), BigEndianInteger.bytes(count))
            cache?.recordCounts[layout.number(of: entity)] = count
        }
        return cache
    }

    func rollback() {
        guard !isEnded else { return }
        guard layout.process.isCurrent else {
            // The parent process continues the transaction. A child must not touch the engine, not even by releasing these objects.
            isEnded = true
            _ = Unmanaged.passRetained(writer as AnyObject)
            return
        }
        writer.end()
        finish()
    }

    private func finish(_ cache: WriterCache? = nil) {
        isEnded = true
        reader.end()
        (applied, restorations) = ([], [])
        if isStaged { return }
        handle.unlockWriting(cache)
        handle.release()
    }
}
