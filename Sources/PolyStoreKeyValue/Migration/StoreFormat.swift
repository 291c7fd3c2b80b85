import PolyStoreBackend

/// The format number of a store: the lowest one that covers the store's contents, so that earlier versions reject stores that they would misread.
enum StoreFormat {
    /// Writes the format number after a change of the metadata.
    static func write(_ writer: any EngineWriter) throws {
        let number =
            if try hasSearchIndexes(writer) { KeyValueBackend.format } else if try isPlain(writer) {
                KeyValueBackend.plainFormat
            } else { KeyValueBackend.migratedFormat }
        try writer.put(Keyspace.Metadata.format.key(), BigEndianInteger.bytes(UInt32(number)))
    }

    /// Returns whether the store has full-text indexes, or pages of some that are still to be removed.
    private static func hasSearchIndexes(_ snapshot: any EngineSnapshot) throws -> Bool {
        let spaces = [Keyspace.search.rawValue, Keyspace.searchChunk.rawValue]
        return try has(.searchIndex, snapshot) || PendingRemoval.all(snapshot).contains { spaces.contains($0[0]) }
    }

    private static func has(_ kind: Keyspace.Metadata, _ snapshot: any EngineSnapshot) throws -> Bool {
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        let prefix = [Keyspace.metadata.rawValue, kind.rawValue]
        return try prefix.withUnsafeBytes { try cursor.seek($0) && cursor.key.starts(with: $0) }
    }

    /// Returns whether the store has only layout 0, no reversed link tables and no journal.
    private static func isPlain(_ snapshot: any EngineSnapshot) throws -> Bool {
        if try snapshot.get(MigrationJournal.key) != nil { return false }
        return try ![Keyspace.Metadata.layout, .oldLayout, .reversedLink].contains { try has($0, snapshot) }
    }
}

/// Thrown if a transaction may not write because a migration of the store is in progress or was interrupted.
struct UnfinishedMigration: Error {}
