import PolyStoreBackend

/// The pending changes of a migration to named values and the change log. They take effect when the migration is committed, because readers of the source keep
/// the old ones.
final class MigrationOverlay {
    /// The values by the UTF-8 bytes of their names; `nil` for a removed value.
    private var values: [[UInt8]: [UInt8]?] = [:]
    /// The names of values that are not saved yet.
    private var unsaved: Set<[UInt8]> = []
    private var log: [LogChange] = []

    private struct LogChange {
        let removal: Int64?
        let entries: [[UInt8]]
    }

    /// Reads the values that an interrupted attempt has saved.
    init(_ snapshot: any EngineSnapshot, location: String) throws {
        try snapshot.forEachKey(.migrationValue) { key, value in
            guard let bytes = SealedValue.opened([UInt8](key), value), let flag = bytes.first else {
                throw StoreError(
                    .corrupt, "The store \(location) is damaged: a value of an unfinished migration cannot be read.", location: location)
            }
            values.updateValue(flag == 1 ? Array(bytes.dropFirst()) : nil, forKey: [UInt8](key.dropFirst(2)))
        }
    }

    func add(_ changes: ChangeSet) {
        for change in changes.values {
            let name = Array(change.name.utf8)
            values.updateValue(change.bytes, forKey: name)
            unsaved.insert(name)
        }
        if changes.changesLog { log.append(LogChange(removal: changes.logRemoval, entries: changes.logEntries)) }
    }

    // MARK: Reading

    func value(named name: String, _ stored: () throws -> [UInt8]?) throws -> [UInt8]? {
        if let changed = values[Array(name.utf8)] { return changed }
        return try stored()
    }

    func names(prefix: String, _ stored: [String]) -> [String] {
        var names = Set(stored.map { Array($0.utf8) })
        for (name, value) in values where name.starts(with: prefix.utf8) {
            if value == nil { names.remove(name) } else { names.insert(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the bounds of the log after all changes, and the new entries.
    func log(_ stored: LogBounds, version: UInt64) -> (bounds: LogBounds, entries: [LogEntry]) {
        var bounds = stored
        var entries: [LogEntry] = []
        for change in log {
            if let removal = change.removal { bounds.removedThrough = max(bounds.removedThrough, min(removal, bounds.last)) }
            for bytes in change.entries {
                bounds.last += 1
                entries.append(LogEntry(position: bounds.last, version: version, bytes: bytes))
            }
        }
        return (bounds, entries.filter { $0.position > bounds.removedThrough })
    }

    // MARK: Writing

    /// Saves the values that changed since the last batch, under staged keys.
    /// - Throws: `misuse` if the change log was changed.
    func save(_ writer: any EngineWriter, location: String) throws {
        guard log.isEmpty else {
            throw StoreError(
                .misuse, "The change log was changed by a migration of \(location) before its last batch. Change it after the last save.",
                location: location)
        }
        for name in unsaved {
            let bytes: [UInt8] = if let value = values[name] ?? nil { [1] + value } else { [0] }
            try SealedValue.put([Keyspace.metadata.rawValue, Keyspace.Metadata.migrationValue.rawValue] + name, bytes, writer)
        }
    }

    /// Records that the batch was committed.
    func didSave() { unsaved = [] }

    /// Applies all changes, in the transaction that ends the migration.
    func apply(_ writer: any EngineWriter, _ reader: SnapshotReader, _ schema: ResolvedSchema, version: UInt64) throws {
        for (name, value) in values {
            let key = [Keyspace.metadata.rawValue, Keyspace.Metadata.value.rawValue] + name
            if let value { try SealedValue.put(key, value, writer) } else { try writer.remove(key) }
        }
        for change in log {
            let changes = ChangeSet(schema)
            if let removal = change.removal { changes.removeLogEntries(through: removal) }
            for entry in change.entries { changes.appendLogEntry(entry) }
            try reader.writeLog(changes, version: version, to: writer)
        }
    }
}
