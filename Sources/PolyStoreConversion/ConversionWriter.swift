import PolyStoreBackend

/// Writes the contents of the source to the target in batches. Each is committed with the state of the conversion.
final class ConversionWriter {
    /// The bounds of a batch: bytes of records, changes, and bytes of log entries.
    static let limits = (bytes: 8 << 20, changes: 65_536)

    private let backend: any StorageBackend
    private let schema: ResolvedSchema
    private let location: String
    private let interruption: Interruption
    /// The state that the target has; nil before the first batch.
    private var written: ConversionState?
    @exclusivity(unchecked) private var state: ConversionState
    /// The state at the interruption of an earlier conversion, until the units that it includes have passed.
    @exclusivity(unchecked) private var resumed: ConversionState?
    private let sum: () -> ContentHash
    private let bounds: LogBounds
    private var lastSum = ContentHash()
    private var part = 0
    private var kind = StorePart.values
    private var valueCount: Int64 = 0
    @exclusivity(unchecked) private var changes: ChangeSet
    @exclusivity(unchecked) private var changeCount = 0
    private var entries: [LogEntry] = []
    @exclusivity(unchecked) private var pendingBytes = 0
    /// The position up to which entries were removed from the log of the source, until it is written.
    private var removedThrough: Int64?
    /// The fields of the entity whose records are added.
    @exclusivity(unchecked) var fields: [UnitHashes.RecordField] = []
    /// The row id of the last record of the entity.
    @exclusivity(unchecked) private var lastRowID: Int64 = 0
    /// The greatest row id of each entity.
    private(set) var lastRowIDs: [Int: Int64] = [:]

    /// - Parameters:
    ///   - state: The state of a conversion of this version of the source.
    ///   - resumed: The state that the target has; nil for an empty target.
    ///   - bounds: The bounds of the change log of the source.
    ///   - sum: Returns the sum of the hashes of all units up to the current one.
    init(
        _ backend: any StorageBackend, _ schema: ResolvedSchema, _ state: ConversionState, resumed: ConversionState?, location: String,
        bounds: LogBounds, interruption: Interruption, sum: @escaping () -> ContentHash
    ) {
        self.backend = backend
        self.schema = schema
        self.location = location
        self.interruption = interruption
        self.state = state
        self.sum = sum
        self.bounds = bounds
        written = resumed
        self.resumed = resumed
        changes = ChangeSet(schema, capacity: 1 << 16)
    }

    func begin(_ index: Int, _ part: StorePart) throws {
        try interruption.check()
        // The units of a part are in batches of their own, because the log is written in another way than changes.
        try endPart()
        self.part = index
        self.kind = part
        lastRowID = 0
        state.part = index
        state.last = nil
        if part == .log, bounds.removedThrough > 0, resumed.map({ !$0.includes(index, bounds.removedThrough) }) ?? true {
            removedThrough = bounds.removedThrough
        }
    }

    private func endPart() throws {
        if case .records(let entity) = kind { lastRowIDs[entity] = lastRowID }
        try flush()
    }

    /// Returns whether a unit is in the target already. Checks at the first one that is not whether the source still is what was copied.
    private func isWritten(_ position: Int64) throws -> Bool {
        guard let resumed else { return false }
        if resumed.includes(part, position) {
            lastSum = sum()
            return true
        }
        try checkSame(resumed)
        return false
    }

    private func checkSame(_ resumed: ConversionState) throws {
        guard (lastSum.low, lastSum.high) == (resumed.low, resumed.high) else {
            throw StoreError(
                .conflict,
                "The conversion to \(location) cannot be resumed: the source is not what was copied before the interruption. Start over to copy it from the beginning.",
                location: location)
        }
        self.resumed = nil
    }

    func add(_ entity: Entity, _ rowID: Int64, _ record: RecordView) throws {
        lastRowID = rowID
        if resumed != nil, try isWritten(rowID) { return }
        try changes.insert(entity, rowID: rowID) { [fields] builder in for field in fields { field.copy(record, to: &builder) } }
        try didAdd(rowID, 1, byteCount: record.count)
    }

    func add(_ table: LinkTable, isReversed: Bool, _ source: Int64, _ targets: [Int64], _ positions: [Int64]) throws {
        if resumed != nil, try isWritten(source) { return }
        for (index, target) in targets.enumerated() {
            let position = index < positions.count ? positions[index] : nil
            changes.link(
                isReversed
                    ? ChangeSet.LinkChange(table: table.index, source: target, target: source, isAddition: true, sourcePosition: position)
                    : ChangeSet.LinkChange(table: table.index, source: source, target: target, isAddition: true, targetPosition: position))
            changeCount += 1
            // The pairs of this source that are written twice after an interruption are the same ones.
            if changeCount >= Self.limits.changes { try flush(isMidway: true) }
        }
        try didAdd(source, 0, byteCount: 0)
    }

    func add(_ entry: LogEntry) throws {
        if resumed != nil, try isWritten(entry.position) { return }
        entries.append(entry)
        try didAdd(entry.position, 1, byteCount: entry.bytes.count)
    }

    func add(_ bytes: [UInt8], named name: String) throws {
        valueCount += 1
        if resumed != nil, try isWritten(valueCount) { return }
        try changes.setValue(bytes, named: name)
        try didAdd(valueCount, 1, byteCount: name.utf8.count + bytes.count)
    }

    private func didAdd(_ position: Int64, _ count: Int, byteCount: Int) throws {
        changeCount += count
        pendingBytes += byteCount
        state.last = position
        guard changeCount >= Self.limits.changes || pendingBytes >= Self.limits.bytes else { return }
        try flush()
    }

    /// Commits what was added.
    /// - Parameter isMidway: Whether only some pairs of the current source were added. The state of the target then stays, and a resumed conversion writes them again.
    private func flush(isMidway: Bool = false) throws {
        guard changeCount > 0 else { return }
        try interruption.check()
        var next = written ?? ConversionState(source: state.source, version: state.version)
        if !isMidway {
            let total = sum()
            (state.low, state.high) = (total.low, total.high)
            next = state
        }
        try commit(.relaxed) { writer in
            try changes.setValue(next.bytes, named: StoreContents.stateName)
            try writer.apply(changes)
            if entries.isEmpty { return }
            if let removedThrough { try Self.restoring(writer, location).restoreLogRemoval(through: removedThrough) }
            try Self.restoring(writer, location).restoreLog(entries)
        }
        if !entries.isEmpty { removedThrough = nil }
        written = next
        changes = ChangeSet(schema, capacity: 1 << 16)
        entries.removeAll(keepingCapacity: true)
        (changeCount, pendingBytes) = (0, 0)
    }

    /// Runs a transaction if no other conversion has written to the target.
    private func commit(_ durability: Durability, _ body: (any WriteTransaction) throws -> Void) throws {
        let writer = try backend.beginWrite()
        do {
            guard try ConversionState(writer.value(named: StoreContents.stateName), location: location) == written else {
                throw ConversionTarget.busyError(location)
            }
            try body(writer)
        } catch {
            writer.rollback()
            throw error
        }
        _ = try writer.commit(durability)
    }

    /// Returns a transaction that can restore a log and a version.
    /// - Throws: `unsupported` for a backend outside of this package that has none.
    static func restoring(_ writer: any WriteTransaction, _ location: String) throws -> any RestoringTransaction {
        if let writer = writer as? any RestoringTransaction { return writer }
        throw StoreError(
            .unsupported,
            "A store cannot be converted to \(location), because its backend cannot continue the history of another store. Export the objects and import them there.",
            location: location)
    }

    // MARK: End

    /// Writes what is left of the batches.
    func finishBatches() throws {
        try endPart()
        guard let resumed else { return }
        lastSum = sum()
        try checkSame(resumed)
    }

    /// Makes the target a complete store, with a durable commit.
    /// - Parameters:
    ///   - nextRowIDs: The first row id of each entity that the source never reserved, by entity index.
    ///   - bounds: The bounds of the change log of the source.
    func complete(nextRowIDs: [Int64], bounds: LogBounds, configurationName: String?) throws {
        try commit(.full) { writer in
            let restoring = try Self.restoring(writer, location)
            for (entity, next) in zip(schema.entities, nextRowIDs) {
                let first = try restoring.nextRowID(entity)
                if next > first { _ = try writer.reserveIDs(entity, count: Int(next - first)) }
            }
            if let removedThrough { try restoring.restoreLogRemoval(through: removedThrough) }
            let found = backend.capabilities.has(.changeLog) ? try writer.logBounds() : bounds
            guard found == bounds else {
                throw StoreError(
                    .corrupt,
                    "The history in \(location) has the positions \(found.removedThrough) to \(found.last), and that of the source has \(bounds.removedThrough) to \(bounds.last). The target stays incomplete: start the conversion over.",
                    location: location)
            }
            let last = ChangeSet(schema, capacity: 64)
            try last.setValue(nil, named: StoreContents.stateName)
            try writer.apply(last)
            try restoring.completeRestoration(version: state.version, configurationName: configurationName)
        }
    }
}
