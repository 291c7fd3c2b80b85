import PolyStoreBackend

/// Empties a store before it is created again.
///
/// A single transaction does this if the engine accepts one that large. Otherwise the first transaction removes the model and the identity and sets a mark,
/// later ones remove everything else, and the last one removes the mark and creates the store. A store with the mark is never considered complete: every
/// opening for writing continues the reset.
struct StoreReset {
    private static let mark = Keyspace.Metadata.migrationJournal.key()
    /// Kept until the end: an engine with keys but without a format belongs to another program.
    private static let format = Keyspace.Metadata.format.key()

    /// The maximum number of key bytes that one transaction removes: half of what it may write, so that the creation fits as well.
    private let limit: Int
    /// The key at which the next step continues.
    private var start: [UInt8] = []

    init(_ engine: any OrderedEngine) {
        limit = engine is any TransactionalEngine ? .max : min(engine.traits.maximumTransactionSize / 2, 64 << 20)
    }

    /// Returns whether the store has an unfinished reset.
    static func isUnfinished(_ snapshot: any EngineSnapshot) throws -> Bool { try snapshot.get(mark) != nil }

    /// Removes every key, or removes the model and the identity and sets the mark.
    /// - Returns: whether every key was removed.
    mutating func begin(_ writer: any EngineWriter) throws -> Bool {
        start = []
        let (keys, next) = try keys(writer, from: [])
        guard next == nil else {
            try writer.remove(Keyspace.Metadata.schema.key(1))
            try writer.remove(Keyspace.Metadata.identity.key())
            try writer.put(Self.mark, [1])
            return false
        }
        for key in keys { try writer.remove(key) }
        return true
    }

    /// Removes as many keys as one transaction may, the mark and the format last.
    /// - Returns: whether every key was removed.
    mutating func step(_ writer: any EngineWriter) throws -> Bool {
        let (keys, next) = try keys(writer, from: start)
        for key in keys where key != Self.mark && key != Self.format { try writer.remove(key) }
        if let next {
            start = next
            return false
        }
        if !start.isEmpty {
            // Another opening may have restarted this reset.
            start = []
            let (remaining, next) = try self.keys(writer, from: [])
            guard next == nil, remaining.allSatisfy({ $0 == Self.mark || $0 == Self.format }) else { return false }
        }
        try writer.remove(Self.mark)
        try writer.remove(Self.format)
        return true
    }

    /// Returns the keys of one transaction from a start key on, and the first key that exceeds its limit.
    private func keys(_ snapshot: any EngineSnapshot, from start: [UInt8]) throws -> (keys: [[UInt8]], next: [UInt8]?) {
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        var keys: [[UInt8]] = []
        var byteCount = 0
        var more = try start.withUnsafeBytes { try cursor.seek($0) }
        while more {
            byteCount += cursor.key.count
            if byteCount > limit { return (keys, [UInt8](cursor.key)) }
            keys.append([UInt8](cursor.key))
            more = try cursor.next()
        }
        return (keys, nil)
    }
}
