import PolyStoreAttributes
import PolyStoreBackend

/// Reads external commits from the history of a store, in the form that a stack publishes. The changed objects are read from the store itself.
struct ExternalHistory {
    struct Part {
        /// A Boolean value that indicates whether unrecorded commits precede these.
        let followsUnknown: Bool
        let commits: [Commit]
    }

    private static let batch = 256

    private let store: PersistentStore
    private let table: StoreTable
    private let reader: any ReadTransaction
    private let entities: [String: StoreEntity]
    /// The version up to which the history was read.
    private(set) var version: UInt64
    private let end: UInt64
    /// The position of the last entry that was read, or of an earlier one; see ``begin()``.
    private(set) var position: Int64
    private var hasBegun = false

    /// - Parameters:
    ///   - version: The version up to which the store is known.
    ///   - end: The version up to which to read.
    ///   - position: The position of an entry of `version` or an earlier version; 0 if none is known.
    init(
        _ store: PersistentStore, _ table: StoreTable, _ reader: any ReadTransaction, after version: UInt64, through end: UInt64,
        position: Int64
    ) {
        self.store = store
        self.table = table
        self.reader = reader
        self.version = version
        self.end = end
        self.position = position
        entities = table.entriesByName(of: store)
    }

    /// Returns the next commits, which cover complete versions of the store.
    /// - Returns: `nil` at the end.
    mutating func next() throws -> Part? {
        guard version < end else { return nil }
        if !hasBegun { try begin() }
        hasBegun = true
        var commits: [Commit] = []
        for entry in try entries() {
            let record = try HistoryRecord(entry, location: store.location)
            if entry.version > version, record.head.base > version {
                // Returns the commits read so far; the current entry is read again.
                if !commits.isEmpty { return Part(followsUnknown: false, commits: commits) }
                version = record.head.base
                return Part(followsUnknown: true, commits: [])
            }
            if !record.head.isInternal { commits.append(try commit(entry, record)) }
            version = entry.version
            position = entry.position
        }
        if !commits.isEmpty { return Part(followsUnknown: false, commits: commits) }
        guard version < end else { return nil }
        // The remaining entries, if any, are internal.
        if try !entries().isEmpty { return try next() }
        version = end
        return Part(followsUnknown: true, commits: [])
    }

    /// Returns the next entries, all those of a version.
    private func entries() throws -> [LogEntry] {
        guard store.capabilities.has(.changeLog) else { return [] }
        var limit = Self.batch
        while true {
            let found = try reader.logEntries(after: position, limit: limit)
            var entries = found.filter { $0.version <= end }
            guard found.count == limit, let last = entries.last, last.version == found.last?.version else { return entries }
            entries.removeAll { $0.version == last.version }
            if !entries.isEmpty { return entries }
            limit *= 2
        }
    }

    /// Finds the last known entry, searching backward from the end because it is usually close to it.
    private mutating func begin() throws {
        guard store.capabilities.has(.changeLog) else { return }
        let bounds = try reader.logBounds()
        // Entries up to `low` are known; entries from `high` on are new.
        var low = max(position, bounds.removedThrough)
        var high = bounds.last + 1
        var step: Int64 = 1
        while high - low > 1 {
            let middle = max(low + 1, high - step)
            if try isNew(middle) { high = middle } else { low = middle }
            step = low == middle ? max(1, (high - low) / 2) : min(step * 2, max(1, (high - low) / 2 + 1))
        }
        position = low
    }

    private func isNew(_ position: Int64) throws -> Bool {
        try reader.logEntries(after: position - 1, limit: 1).first.map { $0.version > version } ?? true
    }

    // MARK: Commits

    private func commit(_ entry: LogEntry, _ record: HistoryRecord) throws -> Commit {
        let changes = ChangeSet(store.schema)
        var relationships: [RelationshipKey] = []
        var deletedKinds: [RowReference: String] = [:]
        for group in record.groups {
            guard let found = entities[group.entity] else {
                throw StoreError(
                    .corrupt,
                    "Entry \(entry.position) of the history of \(store.location) names \(group.entity), which the model does not have.",
                    entity: group.entity, location: store.location)
            }
            switch group.kind {
            case .inserted: for id in group.ids { try insert(found.entity, id, into: changes) }
            case .updated: try update(found, group, in: changes, &relationships)
            case .deleted:
                for id in group.ids {
                    changes.delete(found.entity, rowID: id)
                    if found.holdsHierarchy { deletedKinds[RowReference(entityIndex: found.entityIndex, rowID: id)] = group.entity }
                }
            }
        }
        let part = CommittedChanges(
            store: store, version: entry.version, changes: changes, relationships: relationships, deletedKinds: deletedKinds)
        return Commit(
            sourceIdentifier: record.head.author, userInfo: [:], isExternal: true, parts: [part], table: table)
    }

    /// Adds the insertion of an object with its current record. Does nothing if the object no longer exists: a later entry contains its deletion.
    private func insert(_ entity: Entity, _ id: Int64, into changes: ChangeSet) throws {
        guard let record = try reader.record(entity, rowID: id) else { return }
        try changes.insert(entity, rowID: id) { builder in for field in entity.fields { builder.copy(field, from: record) } }
    }

    private func update(_ entry: StoreEntity, _ group: HistoryRecord.Group, in changes: ChangeSet, _ changed: inout [RelationshipKey])
        throws
    {
        var mask = FieldMask()
        var relationships: [Int32] = []
        for key in group.keys {
            if let field = entry.entity.field(named: key) {
                mask.insert(field.index)
            } else if let relationship = entry.entity.relationship(named: key) {
                relationships.append(Int32(relationship.index))
            }
        }
        for id in group.ids {
            changed += relationships.map { RelationshipKey(entityIndex: entry.entityIndex, relationship: $0, rowID: id) }
            guard !mask.isEmpty, let record = try reader.record(entry.entity, rowID: id) else { continue }
            try changes.update(entry.entity, rowID: id, mask: mask) { builder in
                for field in entry.entity.fields { builder.copy(field, from: record) }
            }
        }
    }
}
