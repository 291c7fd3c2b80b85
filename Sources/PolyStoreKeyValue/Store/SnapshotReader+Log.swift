import PolyStoreBackend

/// The stored form of a change log entry: split into pieces, because an engine may limit the length of a value.
///
/// The key of a piece consists of the space, the entry's position and the piece's number from 0. Its value contains the version of the commit, the number of
/// pieces and the bytes, sealed (``SealedValue``).
enum ChangeLog {
    static let keySize = 13
    static let headSize = 12

    static func key(_ position: Int64, _ piece: UInt32 = 0) -> [UInt8] {
        [Keyspace.changeLog.rawValue] + Number.bytes(UInt64(bitPattern: position)) + Number.bytes(piece)
    }

    /// - Returns: `nil` if the key is not that of a piece.
    static func place(_ key: UnsafeRawBufferPointer) -> (position: Int64, piece: UInt32)? {
        guard key.count == keySize, key[0] == Keyspace.changeLog.rawValue else { return nil }
        let position = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        guard let position = Int64(exactly: position), position > 0 else { return nil }
        return (position, UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 9, as: UInt32.self)))
    }

    /// One piece of an entry.
    struct Piece {
        let version: UInt64
        /// The number of pieces of the entry.
        let count: UInt32
        let bytes: ArraySlice<UInt8>

        /// - Returns: `nil` for damaged bytes.
        init?(_ key: [UInt8], _ value: UnsafeRawBufferPointer) {
            guard let opened = SealedValue.opened(key, value), opened.count >= ChangeLog.headSize else { return nil }
            (version, count) = opened.withUnsafeBytes {
                (
                    UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                    UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
                )
            }
            guard count > 0 else { return nil }
            bytes = opened.dropFirst(ChangeLog.headSize)
        }
    }
}

extension SnapshotReader {
    func logBounds() throws -> LogBounds {
        if let knownLogBounds { return knownLogBounds }
        let bounds = try readLogBounds()
        if isWritten { knownLogBounds = bounds }
        return bounds
    }

    private func readLogBounds() throws -> LogBounds {
        let key = Keyspace.Metadata.log.key()
        var bounds = LogBounds()
        if let stored = try snapshot.get(key) {
            guard let bytes = SealedValue.opened(key, stored), let number = bytes.withUnsafeBytes({ Number.read($0, as: UInt64.self) }),
                let position = Int64(exactly: number)
            else { throw corrupt("the beginning of the change log") }
            bounds = LogBounds(removedThrough: position, last: position)
        }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        let end = [Keyspace.changeLog.rawValue + 1]
        guard try end.withUnsafeBytes({ try cursor.seek(before: $0) }), cursor.key.first == Keyspace.changeLog.rawValue else {
            return bounds
        }
        guard let place = ChangeLog.place(cursor.key), place.position > bounds.removedThrough else {
            throw corrupt("the change log's last entry")
        }
        bounds.last = place.position
        return bounds
    }

    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        let bounds = try logBounds()
        let position = max(position, bounds.removedThrough)
        guard position < bounds.last, limit > 0 else { return [] }
        var entries: [LogEntry] = []
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        var more = try ChangeLog.key(position + 1).withUnsafeBytes { try cursor.seek($0) }
        while more, entries.count < limit, cursor.key.first == Keyspace.changeLog.rawValue { entries.append(try entry(cursor, &more)) }
        return entries
    }

    /// Reads the entry whose first piece is at the cursor, and moves to the next entry.
    private func entry(_ cursor: EngineCursor, _ more: inout Bool) throws -> LogEntry {
        guard let first = ChangeLog.place(cursor.key), first.piece == 0 else { throw corrupt("a key of the change log") }
        var bytes: [UInt8] = []
        var version: UInt64 = 0
        var number: UInt32 = 0
        var count: UInt32 = 1
        while number < count {
            guard more, let place = ChangeLog.place(cursor.key), place == (first.position, number),
                let piece = ChangeLog.Piece([UInt8](cursor.key), cursor.value),
                number == 0 || (piece.version, piece.count) == (version, count)
            else { throw corrupt("entry \(first.position) of the change log") }
            (version, count) = (piece.version, piece.count)
            bytes += piece.bytes
            number += 1
            more = try cursor.next()
        }
        return LogEntry(position: first.position, version: version, bytes: bytes)
    }

    /// Removes and appends the log entries of a change set.
    /// - Parameter version: The version of the pending commit.
    func writeLog(_ changes: ChangeSet, version: UInt64, to writer: any EngineWriter) throws {
        var bounds = try logBounds()
        if let position = changes.logRemoval.map({ min($0, bounds.last) }), position > bounds.removedThrough {
            for key in try keys(in: bounds, through: position) { try writer.remove(key) }
            try SealedValue.put(Keyspace.Metadata.log.key(), Number.bytes(UInt64(bitPattern: position)), writer)
            bounds.removedThrough = position
        }
        for entry in changes.logEntries {
            guard bounds.last < .max else {
                throw StoreError(.full, "The change log of \(layout.place) has no positions left.", url: layout.place)
            }
            bounds.last += 1
            try write(entry, at: bounds.last, version, to: writer)
        }
        knownLogBounds = bounds
    }

    private func write(_ entry: [UInt8], at position: Int64, _ version: UInt64, to writer: any EngineWriter) throws {
        let size = layout.traits.largestPiece
        let count = UInt32(truncatingIfNeeded: max(1, (entry.count + size - 1) / size))
        let head = Number.bytes(version) + Number.bytes(count)
        for number in 0..<count {
            let start = Int(number) * size
            try SealedValue.put(ChangeLog.key(position, number), head + entry[start..<min(start + size, entry.count)], writer)
        }
    }

    private func keys(in bounds: LogBounds, through position: Int64) throws -> [[UInt8]] {
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        var keys: [[UInt8]] = []
        var more = try ChangeLog.key(bounds.removedThrough + 1).withUnsafeBytes { try cursor.seek($0) }
        while more, cursor.key.first == Keyspace.changeLog.rawValue {
            guard let place = ChangeLog.place(cursor.key) else { throw corrupt("a key of the change log") }
            if place.position > position { break }
            keys.append([UInt8](cursor.key))
            more = try cursor.next()
        }
        return keys
    }
}
