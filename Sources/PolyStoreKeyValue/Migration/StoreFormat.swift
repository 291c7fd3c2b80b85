import PolyStoreBackend

/// The format number of a store: the lowest one that covers the store's contents, so that earlier versions reject stores that they would misread.
enum StoreFormat {
    /// Writes the format number after a change of the metadata.
    static func write(_ writer: any EngineWriter) throws {
        let number = try isPlain(writer) ? KeyValueBackend.plainFormat : KeyValueBackend.format
        try writer.put(Keyspace.Metadata.format.key(), BigEndianInteger.bytes(UInt32(number)))
    }

    /// Returns whether the store has only layout 0, no reversed link tables and no journal.
    private static func isPlain(_ snapshot: any EngineSnapshot) throws -> Bool {
        if try snapshot.get(MigrationJournal.key) != nil { return false }
        for kind in [Keyspace.Metadata.layout, .oldLayout, .reversedLink] {
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            let prefix = [Keyspace.metadata.rawValue, kind.rawValue]
            let isFound = try prefix.withUnsafeBytes { try cursor.seek($0) && cursor.key.starts(with: $0) }
            if isFound { return false }
        }
        return true
    }
}

/// Thrown if a transaction may not write because a migration of the store is in progress or was interrupted.
struct UnfinishedMigration: Error {}
