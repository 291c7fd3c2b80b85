import PolyStoreBackend

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
            guard let bytes = SealedValue.opened(key, stored),
                let number = bytes.withUnsafeBytes({ BigEndianInteger.read($0, as: UInt64.self) }),
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
        guard let last = ChangeLog.PieceKey(cursor.key), last.position > bounds.removedThrough else {
            throw corrupt("the change log's last entry")
        }
        bounds.last = last.position
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
        guard let first = ChangeLog.PieceKey(cursor.key), first.piece == 0 else { throw corrupt("a key of the change log") }
        var bytes: [UInt8] = []
        var version: UInt64 = 0
        var number: UInt32 = 0
        var count: UInt32 = 1
        while number < count {
            guard more, ChangeLog.PieceKey(cursor.key) == ChangeLog.PieceKey(position: first.position, piece: number),
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
            try SealedValue.put(Keyspace.Metadata.log.key(), BigEndianInteger.bytes(UInt64(bitPattern: position)), writer)
            bounds.removedThrough = position
        }
        for entry in changes.logEntries {
            guard bounds.last < .max else {
                throw StoreError(.full, "The change log of \(layout.location) has no positions left.", location: layout.location)
            }
            bounds.last += 1
            try write(entry, at: bounds.last, version, to: writer)
        }
        knownLogBounds = bounds
    }

    /// Appends entries with their own positions and versions.
    func restoreLog(_ entries: [LogEntry], to writer: any EngineWriter) throws {
        var bounds = try logBounds()
        for entry in entries {
            try write(entry.bytes, at: entry.position, entry.version, to: writer)
            bounds.last = entry.position
        }
        knownLogBounds = bounds
    }

    /// Sets the position up to which entries were removed from a log without entries.
    func restoreLogRemoval(through position: Int64, to writer: any EngineWriter) throws {
        try SealedValue.put(Keyspace.Metadata.log.key(), BigEndianInteger.bytes(UInt64(bitPattern: position)), writer)
        knownLogBounds = LogBounds(removedThrough: position, last: position)
    }

    private func write(_ entry: [UInt8], at position: Int64, _ version: UInt64, to writer: any EngineWriter) throws {
        let size = layout.traits.maximumPieceSize
        let count = UInt32(truncatingIfNeeded: max(1, (entry.count + size - 1) / size))
        let head = BigEndianInteger.bytes(version) + BigEndianInteger.bytes(count)
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
            guard let key = ChangeLog.PieceKey(cursor.key) else { throw corrupt("a key of the change log") }
            if key.position > position { break }
            keys.append([UInt8](cursor.key))
            more = try cursor.next()
        }
        return keys
    }
}
