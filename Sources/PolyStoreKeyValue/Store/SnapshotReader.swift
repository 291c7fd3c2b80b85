import PolyStoreBackend
import PolyStoreQuery

/// The reads common to both kinds of transaction: records, counts and index states, over one snapshot of the engine.
final class SnapshotReader {
    let layout: StoreLayout
    let snapshot: any EngineSnapshot
    let decoder: StoredRecordDecoder
    let isWritten: Bool
    /// The full-text indexes of the store; nil if it has none.
    let search: SearchIndexSet?
    private let keys = KeyWriter()
    // Used by one thread; each access is a single load or store.
    /// The states of indexes, by index number.
    @exclusivity(unchecked) private var states: [UInt32: IndexState] = [:]
    @exclusivity(unchecked) private(set) var isEnded = false
    /// The change of each entity's record count since the statistics were written, which happens only at the end of a transaction.
    @exclusivity(unchecked) private(set) var growth: [Int: Int64] = [:]
    /// The cache of the previous writer, to which this writer may add. It describes the store at the beginning of this transaction.
    @exclusivity(unchecked) private(set) var cache: WriterCache?
    /// The number of rows of related objects read so far for the request that is being explained; nil if none is.
    @exclusivity(unchecked) private var relatedRows: Int?
    /// Checked while a request examines rows.
    @exclusivity(unchecked) var interruption: Interruption?
    /// The number of rows and entries examined since the last check.
    @exclusivity(unchecked) private var unchecked = 0
    /// The bounds of the change log, once a writer has read them.
    @exclusivity(unchecked) var knownLogBounds: LogBounds?

    /// - Parameters:
    ///   - isWritten: Whether the snapshot is a writer, so that its contents can change between two steps of a scan.
    ///   - cache: The cache of the previous writer.
    init(_ layout: StoreLayout, _ snapshot: any EngineSnapshot, isWritten: Bool, cache: WriterCache? = nil) {
        self.isWritten = isWritten
        self.layout = layout
        self.snapshot = snapshot
        self.cache = cache
        decoder = StoredRecordDecoder(layout)
        search =
            layout.searchIndexes.isEmpty
            ? nil
            : SearchIndexSet(
                layout.searchIndexes, KeyValueSearchStorage(layout: layout, snapshot: snapshot, isWritten: isWritten),
                location: layout.location)
        if let cache {
            states = cache.indexStates
            knownLogBounds = cache.logBounds
        }
    }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        guard layout.process.isCurrent else {
            // The snapshot belongs to the parent process. A child must not touch the engine, not even by releasing the snapshot.
            _ = Unmanaged.passRetained(snapshot as AnyObject)
            return
        }
        snapshot.end()
    }

    @inline(__always)
    func check() throws {
        if isEnded { throw ended }
        try layout.process.check(layout.location)
    }

    /// Called for rows and index entries that a request examines. Throws an error if the request was interrupted.
    @inline(__always)
    func examine(_ count: Int = 1) throws {
        if interruption != nil { try checkInterruption(after: count) }
    }

    @inline(never)
    private func checkInterruption(after count: Int) throws {
        unchecked += count
        guard unchecked >= Self.rowsPerCheck else { return }
        unchecked = 0
        try interruption?.check()
    }

    private static let rowsPerCheck = 1000

    private var ended: StoreError {
        @inline(never) get { StoreError(.closed, "The transaction has ended.", location: layout.location) }
    }

    /// Returns the number of commits up to this snapshot.
    func version() throws -> UInt64 {
        if let version = cache?.version { return version }
        guard let value = try snapshot.get(Keyspace.Metadata.commitVersion.key()) else { return 0 }
        // No store reaches this number of commits, and a greater one could not be incremented.
        guard let version: UInt64 = BigEndianInteger.read(value), version < 1 << 63 else { throw corrupt("the commit version") }
        return version
    }

    func corrupt(_ what: String) -> StoreError {
        StoreError(.corrupt, "\(layout.location) is damaged: \(what) cannot be read.", location: layout.location)
    }

    /// Returns the number of an entity's records.
    func recordCount(_ entity: Entity) throws -> Int64 {
        try writtenCount(entity) + growth[entity.index, default: 0]
    }

    /// Returns the record count of the stored statistics.
    private func writtenCount(_ entity: Entity) throws -> Int64 {
        if let count = cache?.recordCounts[layout.number(of: entity)] { return count }
        guard let value = try snapshot.get(Keyspace.Metadata.statistics.key(layout.number(of: entity))) else { return 0 }
        guard let count: Int64 = BigEndianInteger.read(value), (0..<1 << 62).contains(count) else {
            throw corrupt("the number of \(entity.name) records")
        }
        return count
    }

    /// Updates the record count after records were written or removed.
    func grow(_ entity: Int, by count: Int64) { growth[entity, default: 0] += count }

    /// Returns the first row id that was never reserved.
    func nextID(_ entity: Entity) throws -> Int64 {
        guard let value = try snapshot.get(Keyspace.Metadata.sequence.key(layout.number(of: entity))) else { return 1 }
        guard let next: UInt64 = BigEndianInteger.read(value), next > 0, next <= Int64.max else {
            throw corrupt("the next id of \(entity.name)")
        }
        return Int64(next)
    }

    /// Returns the state of an entity's index, by its position.
    func state(_ entity: Entity, _ position: Int) throws -> IndexState {
        let index = layout.indexes[entity.index][position]
        if let known = states[index.number] { return known }
        if index.number == Catalog.missingIndex {
            var state = IndexState(entity: layout.number(of: entity), isUnique: false, name: IndexState.name(index.index, entity))
            state.phase = .writeOnly
            return state
        }
        guard let value = try snapshot.get(Keyspace.Metadata.indexState.key(index.number)), let state = IndexState(value) else {
            throw corrupt("the state of the index \(index.index.name)")
        }
        states[index.number] = state
        cache?.indexStates[index.number] = state
        return state
    }

    /// Clears the cached states after a state was written.
    func forgetStates() {
        states = [:]
        cache?.indexStates = [:]
    }

    /// Returns a record, which is valid until the next read; `nil` if there is none.
    func record(_ entity: Entity, _ id: Int64) throws -> RecordView? {
        let key = keys.record(layout.number(of: entity), id)
        guard let stored = try snapshot.get(key) else { return nil }
        return try decoder.decode(found: stored, entity, id, key: key, snapshot)
    }

    /// Returns whether a record exists, without reading it.
    func exists(_ entity: Entity, _ id: Int64) throws -> Bool {
        try snapshot.get(keys.record(layout.number(of: entity), id)) != nil
    }

    /// Returns the chunked fields of a record in an old layout, with their field indexes in that layout; `nil` for a record in the current layout.
    func oldChunks(_ entity: Entity, _ id: Int64) throws -> [StoredRecord.Chunked]? {
        guard let stored = try snapshot.get(keys.record(layout.number(of: entity), id)),
            let old = try decoder.oldLayout(of: stored, entity, id)
        else { return nil }
        let body = StoredRecord.body(stored, layout.traits)
        guard StoredRecord.isChunked(body) else { return [] }
        guard let chunked = StoredRecord.chunked(body, old.types) else {
            throw decoder.corrupt(entity, id, "its list of chunks cannot be")
        }
        return chunked.fields
    }

    // MARK: Relationships

    /// Adds rows of related objects to the count of the request that is being explained, if there is one.
    @inline(__always)
    func countRelatedRows(_ rows: @autoclosure () -> Int) { if let count = relatedRows { relatedRows = count + rows() } }

    /// Runs a function and returns its result with the number of rows of related objects that it read.
    func countingRelatedRows<R>(_ body: () throws -> R) rethrows -> (result: R, rows: Int) {
        let outer = relatedRows
        relatedRows = 0
        defer { relatedRows = outer }
        let result = try body()
        return (result, relatedRows ?? 0)
    }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        guard interruption != nil else { return try targets(of: sources, relationship) }
        if sources.count > 1 {
            try interruption?.check()
            return try targets(of: sources, relationship)
        }
        // A property can need the list of one object.
        let interruption = self.interruption
        self.interruption = nil
        defer { self.interruption = interruption }
        return try targets(of: sources, relationship)
    }

    private func targets(of sources: [Int64], _ relationship: Relationship) throws -> RelatedIDs {
        var found = RelatedIDs()
        switch relationship.storage {
        case .foreignKey(let field):
            let entity = layout.schema.entities[relationship.source]
            for source in sources {
                try examine()
                if let record = try record(entity, source), !record.isNull(field) {
                    found.add(source: source, target: record.integer(field))
                }
            }
        case .inverse(let field):
            let entity = layout.schema.entities[relationship.destination]
            guard let index = layout.indexes[entity.index].first(where: { $0.index.fields == relationship.indexedFields }),
                try state(entity, entity.indexes.firstIndex(of: index.index) ?? 0).phase == .readable
            else { return try search(entity, field, relationship.positionField, sources) }
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            for source in sources {
                keys.begin(index.space, index.number)
                keys.append(.integer(source), type: .int64)
                try targets(source, cursor, keys.raw) { key, value in
                    guard let target = index.id(key, value) else { return false }
                    guard relationship.isOrdered else {
                        found.add(source: source, target: target)
                        return true
                    }
                    // The components of both fields have fixed length, so neither is ever truncated.
                    var components = KeyReader(key, from: 5)
                    guard case .value? = try? components.readComponent() else { return false }
                    switch try? components.readComponent() {
                    case .value(.integer(let position)): found.add(source: source, target: target, position: position)
                    case .value(.null): found.add(source: source, target: target, position: nil)
                    default: return false
                    }
                    return true
                }
            }
        case .link(let table, let isReversed):
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            for source in sources {
                let space: Keyspace = isReversed != layout.isLinkReversed(table) ? .linkInverse : .link
                let prefix = keys.link(space, layout.linkNumber(table), source)
                try targets(source, cursor, prefix) { key, value in
                    guard key.count == 21 else { return false }
                    guard relationship.isOrdered else {
                        found.add(source: source, target: key.id(at: 13))
                        return true
                    }
                    guard value.count == 8 else { return false }
                    found.add(source: source, target: key.id(at: 13), position: value.id(at: 0))
                    return true
                }
            }
            if relationship.isOrdered { found.sort() }
        }
        return found
    }

    /// - Parameter add: Receives an entry; returns `false` for one that cannot be read.
    private func targets(
        _ source: Int64, _ cursor: EngineCursor, _ prefix: UnsafeRawBufferPointer,
        _ add: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) throws {
        var more = try cursor.seek(prefix)
        try examine()
        while more, cursor.key.starts(with: prefix) {
            try examine()
            guard add(cursor.key, cursor.value) else { throw corrupt("an entry of a relationship") }
            more = try cursor.next()
        }
    }

    /// Finds the sources with a full scan, while the index is being built.
    private func search(_ entity: Entity, _ field: Int, _ position: Int?, _ sources: [Int64]) throws -> RelatedIDs {
        var found = RelatedIDs()
        let wanted = Set(sources)
        let cursor = try RecordCursorOverRange(self, entity, ids: nil)
        defer { cursor.close() }
        while try cursor.next() {
            guard !cursor.record.isNull(field), wanted.contains(cursor.record.integer(field)) else { continue }
            let source = cursor.record.integer(field)
            if let position {
                let stored = cursor.record.isNull(position) ? nil : cursor.record.integer(position)
                found.add(source: source, target: cursor.rowID, position: stored)
            } else {
                found.add(source: source, target: cursor.rowID)
            }
        }
        if position != nil { found.sort() }
        return found
    }
}
