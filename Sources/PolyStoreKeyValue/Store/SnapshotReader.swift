import PolyStoreBackend

/// What both kinds of transaction do to read: records, counts, states of indexes, over one snapshot of the engine.
final class SnapshotReader {
    let layout: StoreLayout
    let snapshot: any EngineSnapshot
    let decoder: RecordDecoder
    let isWritten: Bool
    private let keys = KeyWriter()
    // Of one thread, read and written in one step each.
    /// By the index's number.
    @exclusivity(unchecked) private var states: [UInt32: IndexState] = [:]
    @exclusivity(unchecked) private(set) var isEnded = false
    /// By entity: records more, or fewer, than the statistics say, as those are written at the end of a transaction only.
    @exclusivity(unchecked) private(set) var growth: [Int: Int64] = [:]
    /// What the writer before has left, and what this one may add to it: true of the store as it was when this one began.
    @exclusivity(unchecked) private(set) var notes: WriterNotes?
    /// Of a writer, once known.
    @exclusivity(unchecked) var knownLogBounds: LogBounds?

    /// - Parameters:
    ///   - isWritten: the snapshot is a writer, so that what it shows can change from one step of a walk to the next.
    ///   - notes: of the writer before.
    init(_ layout: StoreLayout, _ snapshot: any EngineSnapshot, isWritten: Bool, notes: WriterNotes? = nil) {
        self.isWritten = isWritten
        self.layout = layout
        self.snapshot = snapshot
        self.notes = notes
        decoder = RecordDecoder(layout)
        if let notes {
            states = notes.indexStates
            knownLogBounds = notes.logBounds
        }
    }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        guard layout.process.isCurrent else {
            // It is still the parent's: nothing of the engine may be touched in a child, not even by the end of the snapshot.
            _ = Unmanaged.passRetained(snapshot as AnyObject)
            return
        }
        snapshot.end()
    }

    func check() throws {
        if isEnded { throw StoreError(.closed, "The transaction has ended.", url: layout.place) }
        try layout.process.check(layout.place)
    }

    /// The commits up to this snapshot.
    func version() throws -> UInt64 {
        if let version = notes?.version { return version }
        guard let value = try snapshot.get(Keyspace.Metadata.commitVersion.key()) else { return 0 }
        // Nobody commits so often; a greater number could not be counted on.
        guard let version: UInt64 = Number.read(value), version < 1 << 63 else { throw corrupt("the commit version") }
        return version
    }

    func corrupt(_ what: String) -> StoreError {
        StoreError(.corrupt, "\(layout.place) is damaged: \(what) cannot be read.", url: layout.place)
    }

    /// The number of an entity's records.
    func recordCount(_ entity: Entity) throws -> Int64 {
        try writtenCount(entity) + growth[entity.index, default: 0]
    }

    /// As the statistics have it.
    private func writtenCount(_ entity: Entity) throws -> Int64 {
        if let count = notes?.recordCounts[layout.number(of: entity)] { return count }
        guard let value = try snapshot.get(Keyspace.Metadata.statistics.key(layout.number(of: entity))) else { return 0 }
        guard let count: Int64 = Number.read(value), (0..<1 << 62).contains(count) else {
            throw corrupt("the number of \(entity.name) records")
        }
        return count
    }

    /// To be called after records were written or removed.
    func grow(_ entity: Int, by count: Int64) { growth[entity, default: 0] += count }

    /// The first id that was never given out.
    func nextID(_ entity: Entity) throws -> Int64 {
        guard let value = try snapshot.get(Keyspace.Metadata.sequence.key(layout.number(of: entity))) else { return 1 }
        guard let next: UInt64 = Number.read(value), next > 0, next <= Int64.max else { throw corrupt("the next id of \(entity.name)") }
        return Int64(next)
    }

    /// The state of one of an entity's indexes, by its position.
    func state(_ entity: Entity, _ position: Int) throws -> IndexState {
        let index = layout.indexes[entity.index][position]
        if let known = states[index.number] { return known }
        guard let value = try snapshot.get(Keyspace.Metadata.indexState.key(index.number)), let state = IndexState(value) else {
            throw corrupt("the state of the index \(index.index.name)")
        }
        states[index.number] = state
        notes?.indexStates[index.number] = state
        return state
    }

    /// To be called after a state was written.
    func forgetStates() {
        states = [:]
        notes?.indexStates = [:]
    }

    /// One record; nil where there is none. Valid until the next call that reads.
    func record(_ entity: Entity, _ id: Int64) throws -> RecordView? {
        let key = keys.record(layout.number(of: entity), id)
        guard let stored = try snapshot.get(key) else { return nil }
        return try decoder.decode(found: stored, entity, id, key: key, snapshot)
    }

    /// Whether there is a record, without reading it.
    func exists(_ entity: Entity, _ id: Int64) throws -> Bool {
        try snapshot.get(keys.record(layout.number(of: entity), id)) != nil
    }

    // MARK: Relationships

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        var found = RelatedIDs()
        switch relationship.storage {
        case .foreignKey(let field):
            let entity = layout.schema.entities[relationship.source]
            for source in sources {
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
                    // The components of both fields are of fixed length, so neither is ever cut.
                    var rest = KeyReader(key, from: 5)
                    guard case .value? = try? rest.readComponent() else { return false }
                    switch try? rest.readComponent() {
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
                let prefix = keys.link(isReversed ? .linkInverse : .link, layout.linkNumber(table), source)
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

    /// - Parameter add: takes an entry; false for one that cannot be read.
    private func targets(
        _ source: Int64, _ cursor: EngineCursor, _ prefix: UnsafeRawBufferPointer,
        _ add: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) throws {
        var more = try cursor.seek(prefix)
        while more, cursor.key.starts(with: prefix) {
            guard add(cursor.key, cursor.value) else { throw corrupt("an entry of a relationship") }
            more = try cursor.next()
        }
    }

    /// Without an index: while it is being built.
    private func search(_ entity: Entity, _ field: Int, _ position: Int?, _ sources: [Int64]) throws -> RelatedIDs {
        var found = RelatedIDs()
        let wanted = Set(sources)
        let cursor = try RecordCursorOverRange(self, entity, ids: nil)
        defer { cursor.close() }
        while try cursor.next() {
            guard !cursor.record.isNull(field), wanted.contains(cursor.record.integer(field)) else { continue }
            let source = cursor.record.integer(field)
            if let position {
                let place = cursor.record.isNull(position) ? nil : cursor.record.integer(position)
                found.add(source: source, target: cursor.id, position: place)
            } else {
                found.add(source: source, target: cursor.id)
            }
        }
        if position != nil { found.sort() }
        return found
    }
}
