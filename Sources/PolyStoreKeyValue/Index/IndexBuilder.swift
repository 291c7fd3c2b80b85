import PolyStoreBackend

/// Builds an index from the records while the store is in use.
///
/// The index first becomes *write-only*: writers maintain it, and queries do not use it. Then batches of records are indexed. Each batch is committed together
/// with its progress, so a crash loses at most one batch and the next opening continues. The last commit makes the index readable.
struct IndexBuilder {
    private let handle: EngineHandle
    private let layout: StoreLayout
    private let logger: any StoreLogger
    /// A Boolean value that indicates whether the caller holds the write lock.
    private let holdsWriteLock: Bool
    /// Polled while a batch waits for the write lock.
    private let isCancelled: (() -> Bool)?
    /// The number of records per commit.
    private let batch: Int

    init(
        _ handle: EngineHandle, _ layout: StoreLayout, _ logger: any StoreLogger, holdsWriteLock: Bool = false,
        isCancelled: (() -> Bool)? = nil
    ) {
        self.handle = handle
        self.layout = layout
        self.logger = logger
        self.holdsWriteLock = holdsWriteLock
        self.isCancelled = isCancelled
        batch = handle.engine.traits.recordsOfIndexCommit
    }

    /// Returns the incomplete indexes.
    func unfinished() throws -> [KeyIndex] {
        let snapshot = try handle.engine.snapshot()
        let reader = SnapshotReader(layout, snapshot, isWritten: false)
        defer { reader.end() }
        try handle.check(layout, snapshot)
        var unfinished: [KeyIndex] = []
        for entity in layout.schema.entities {
            for (position, index) in layout.indexes[entity.index].enumerated()
            where try reader.state(entity, position).phase == .writeOnly {
                unfinished.append(index)
            }
        }
        return unfinished
    }

    /// Continues interrupted builds of unique indexes. Other indexes are built in the background; see ``BackgroundWork``.
    func resumeUniqueIndexes() throws {
        for index in try unfinished() where index.isUnique {
            logger.write(.notice, "The index \(index.index.name) of \(layout.location) was not complete; it is being built.")
            do { try build(index) } catch let error as StoreError where error.code == .constraint {
                // The store is usable without the index, which is needed to correct the records that violate it.
                logger.log(error, "The index \(index.index.name) stays unused", file: #fileID, line: #line, function: #function)
            }
        }
    }

    /// Builds the rest of an index.
    /// - Throws: `cancelled` between two batches.
    func build(_ index: KeyIndex) throws { while try step(index).isUnfinished {} }

    private func write<Result>(_ body: (any EngineWriter) throws -> Result) throws -> Result {
        if holdsWriteLock {
            return try handle.writeLocked { writer in
                try handle.check(layout, writer)
                return try body(writer)
            }
        }
        return try handle.write(isCancelled: isCancelled) { writer in
            do { try handle.checkMayWrite(layout, writer) } catch is UnfinishedMigration {
                throw EngineHandle.isBeingMigrated(layout.location)
            }
            return try body(writer)
        }
    }

    func rebuild(_ index: KeyIndex) throws {
        try write { writer in
            var state = try self.state(index, writer)
            state.phase = .writeOnly
            state.holdsCutEntries = false
            try writer.put(Keyspace.Metadata.indexState.key(index.number), state.bytes)
            try writer.remove(Keyspace.Metadata.buildProgress.key(index.number))
            let cursor = try writer.cursor()
            var old: [[UInt8]] = []
            try index.prefix.withUnsafeBytes { prefix in
                var more = try cursor.seek(prefix)
                while more, cursor.key.starts(with: prefix) {
                    old.append([UInt8](cursor.key))
                    more = try cursor.next()
                }
            }
            cursor.close()
            for key in old { try writer.remove(key) }
        }
        try build(index)
    }

    private func state(_ index: KeyIndex, _ snapshot: any EngineSnapshot) throws -> IndexState {
        guard let value = try snapshot.get(Keyspace.Metadata.indexState.key(index.number)), let state = IndexState(value) else {
            throw StoreError(
                .corrupt, "The state of the index \(index.index.name) of \(layout.location) cannot be read.", location: layout.location)
        }
        return state
    }

    /// Indexes one batch of records. It changes no object, so the commit version stays the same.
    /// - Returns: whether records remain, and the number of records of the batch.
    func step(_ index: KeyIndex) throws -> (isUnfinished: Bool, count: Int) {
        try write { writer in
            let reader = SnapshotReader(layout, writer, isWritten: true)
            let keys = KeyWriter()
            let cursor = try RecordCursorOverRange(reader, index.entity, ids: try Self.unbuilt(index, reader))
            var entries: [Entry] = []
            var isCut = false
            while entries.count < batch, try cursor.next() {
                let mustBeNew = index.key(cursor.record, cursor.rowID, keys)
                isCut = isCut || keys.isCut
                let values = keys.isCut && !mustBeNew ? index.uniqueValues(cursor.record) : nil
                entries.append(Entry(key: keys.bytes, id: cursor.rowID, mustBeNew: mustBeNew, cutValues: values))
            }
            cursor.close()
            for entry in entries { try enter(entry, index, reader, writer) }
            if isCut {
                var state = try self.state(index, writer)
                state.holdsCutEntries = true
                try writer.put(Keyspace.Metadata.indexState.key(index.number), state.bytes)
            }
            guard let last = entries.last, entries.count == batch else {
                try finish(index, writer)
                return (false, entries.count)
            }
            try writer.put(Keyspace.Metadata.buildProgress.key(index.number), BigEndianInteger.bytes(last.id))
            return (true, entries.count)
        }
    }

    /// Returns the keys of the records that are not indexed yet.
    static func unbuilt(_ index: KeyIndex, _ reader: SnapshotReader) throws -> KeyRange {
        let number = reader.layout.number(of: index.entity)
        var range = KeyRange(recordsOf: number)
        if let value = try reader.snapshot.get(Keyspace.Metadata.buildProgress.key(index.number)) {
            guard let progress: Int64 = BigEndianInteger.read(value) else {
                throw reader.corrupt("how far the index \(index.index.name) is built")
            }
            range.start = progress < .max ? KeyWriter().recordBytes(number, progress + 1) : range.end
        }
        return range
    }

    private struct Entry {
        let key: [UInt8]
        let id: Int64
        let mustBeNew: Bool
        /// The complete values, if the key was truncated and the values must be unique.
        let cutValues: [Value]?
    }

    /// Returns the object that already holds a unique value.
    private func holder(_ entry: Entry, _ index: KeyIndex, _ reader: SnapshotReader) throws -> Int64? {
        if entry.mustBeNew {
            return try reader.snapshot.get(entry.key).flatMap { value in entry.key.withUnsafeBytes { index.id($0, value) } }
        }
        guard let values = entry.cutValues else { return nil }
        let cursor = try reader.snapshot.cursor()
        defer { cursor.close() }
        return try entry.key.dropLast(8).withUnsafeBytes { components in
            var more = try cursor.seek(components)
            while more, cursor.key.starts(with: components) {
                if let holder = index.id(cursor.key, cursor.value), holder != entry.id,
                    let record = try reader.record(index.entity, holder), index.uniqueValues(record) == values
                {
                    return holder
                }
                more = try cursor.next()
            }
            return nil
        }
    }

    private func enter(_ entry: Entry, _ index: KeyIndex, _ reader: SnapshotReader, _ writer: any EngineWriter) throws {
        let (key, id) = (entry.key, entry.id)
        if let holder = try holder(entry, index, reader), holder != id {
            throw StoreError(
                .constraint,
                "The unique index \(index.index.name) cannot be built: objects \(holder) and \(id) of \(index.entity.name) have the same value. "
                    + "Change one of them and build it again.",
                entity: index.entity.name, attribute: index.fields.map(\.name).joined(separator: ", "), rowID: id, location: layout.location
            )
        }
        try writer.put(key, index.isUnique ? BigEndianInteger.bytes(UInt64(bitPattern: id) ^ 1 << 63) : [])
    }

    private func finish(_ index: KeyIndex, _ writer: any EngineWriter) throws {
        var state = try self.state(index, writer)
        state.phase = .readable
        try writer.put(Keyspace.Metadata.indexState.key(index.number), state.bytes)
        try writer.remove(Keyspace.Metadata.buildProgress.key(index.number))
    }
}
