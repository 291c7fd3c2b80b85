import PolyStoreBackend

/// The removal of all keys of an entity, an index or a link table that no longer exists.
///
/// The transaction that retires the number writes a mark. Later transactions remove the keys in batches, and the last one removes the mark.
enum PendingRemoval {
    private static let prefix = [Keyspace.metadata.rawValue, Keyspace.Metadata.removal.rawValue]
    /// The maximum number of key bytes that one transaction removes.
    private static let largestBatch = 1 << 20

    static func key(_ space: Keyspace, _ number: UInt32) -> [UInt8] { prefix + [space.rawValue] + BigEndianInteger.bytes(number) }

    static func mark(_ space: Keyspace, _ number: UInt32, _ writer: any EngineWriter) throws { try writer.put(key(space, number), []) }

    /// Returns the prefixes of the keys to remove.
    static func all(_ snapshot: any EngineSnapshot) throws -> [[UInt8]] {
        var found: [[UInt8]] = []
        try snapshot.forEachKey(.removal) { key, _ in if key.count == 7 { found.append([UInt8](key.dropFirst(2))) } }
        return found
    }

    /// Removes a batch of keys.
    /// - Parameter count: The maximum number of keys.
    /// - Returns: whether keys remain.
    static func step(_ writer: any EngineWriter, _ traits: EngineTraits, count: Int) throws -> Bool {
        guard let mark = try all(writer).first else { return false }
        let cursor = try writer.cursor()
        let limit = min(largestBatch, traits.maximumTransactionSize / 2)
        var keys: [[UInt8]] = []
        var bytes = 0
        let isComplete = try mark.withUnsafeBytes { mark in
            var more = try cursor.seek(mark)
            while more, cursor.key.starts(with: mark) {
                bytes += cursor.key.count
                if keys.count == count || bytes > limit { return false }
                keys.append([UInt8](cursor.key))
                more = try cursor.next()
            }
            return true
        }
        cursor.close()
        for key in keys { try writer.remove(key) }
        if isComplete {
            try writer.remove(prefix + mark)
            if mark[0] == Keyspace.search.rawValue || mark[0] == Keyspace.searchChunk.rawValue { try StoreFormat.write(writer) }
        }
        return true
    }
}
