import PolyStoreBackend

/// Builds an index from the records while the store is in use.
///
/// First the index becomes *write-only*: writers keep it up to date, queries leave it alone. Then the records are gone through in batches, each
/// committed together with how far it came, so that a crash loses one batch at most and the next opening goes on. The last commit makes the index
/// readable.
struct IndexBuilder {
    private let handle: EngineHandle
    private let layout: StoreLayout
    private let logger: any StoreLogger
    /// Records of one commit.
    private static let batch = 2000

    init(_ handle: EngineHandle, _ layout: StoreLayout, _ logger: any StoreLogger) {
        self.handle = handle
        self.layout = layout
        self.logger = logger
    }

    /// Goes on with what was interrupted.
    func resume() throws {
        let snapshot = try handle.engine.snapshot()
        let reader = SnapshotReader(layout, snapshot)
        var unfinished: [KeyIndex] = []
        for entity in layout.schema.entities {
            for (position, index) in layout.indexes[entity.index].enumerated()
            where try reader.state(entity, position).phase == .writeOnly {
                unfinished.append(index)
            }
        }
        reader.end()
        for index in unfinished {
            logger.write(.notice, "The index \(index.index.name) of \(layout.place) was not finished; building it goes on.")
            while try step(index) {}
        }
    }

    func rebuild(_ index: KeyIndex) throws {
        try handle.write { writer in
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
        while try step(index) {}
    }

    private func state(_ index: KeyIndex, _ snapshot: any EngineSnapshot) throws -> IndexState {
        guard let value = try snapshot.get(Keyspace.Metadata.indexState.key(index.number)), let state = IndexState(value) else {
            throw StoreError(.corrupt, "The state of the index \(index.index.name) of \(layout.place) cannot be read.", url: layout.place)
        }
        return state
    }

    /// One batch. It changes no object, so the commit version stays.
    /// - Returns: whether there is more to do.
    private func step(_ index: KeyIndex) throws -> Bool {
        try handle.write { writer in
            let reader = SnapshotReader(layout, writer)
            let progress = try writer.get(Keyspace.Metadata.buildProgress.key(index.number)).flatMap { Number.read($0, as: Int64.self) }
            let number = layout.number(of: index.entity)
            let keys = KeyWriter()
            var range: KeyRange?
            if let progress {
                guard progress < .max else { return try finish(index, writer) }
                let end = KeyRange.successor([Keyspace.record.rawValue] + Number.bytes(number))
                range = KeyRange(keys.recordBytes(number, progress + 1), end)
            }
            let cursor = try RecordCursorOverRange(reader, index.entity, ids: range)
            var entries: [(key: [UInt8], mustBeNew: Bool, id: Int64)] = []
            var isCut = false
            while entries.count < Self.batch, try cursor.next() {
                let mustBeNew = index.key(cursor.record, cursor.id, keys)
                isCut = isCut || keys.isCut
                entries.append((keys.bytes, mustBeNew, cursor.id))
            }
            cursor.close()
            for entry in entries { try enter(entry.key, entry.id, entry.mustBeNew, index, writer) }
            if isCut {
                var state = try self.state(index, writer)
                state.holdsCutEntries = true
                try writer.put(Keyspace.Metadata.indexState.key(index.number), state.bytes)
            }
            guard let last = entries.last, entries.count == Self.batch else { return try finish(index, writer) }
            try writer.put(Keyspace.Metadata.buildProgress.key(index.number), Number.bytes(last.id))
            return true
        }
    }

    private func enter(_ key: [UInt8], _ id: Int64, _ mustBeNew: Bool, _ index: KeyIndex, _ writer: any EngineWriter) throws {
        let holder = mustBeNew ? try writer.get(key).flatMap { value in key.withUnsafeBytes { index.id($0, value) } } : nil
        if let holder, holder != id {
            throw StoreError(
                .constraint,
                "The unique index \(index.index.name) cannot be built: objects \(holder) and \(id) of \(index.entity.name) have the same value. "
                    + "Change one of them and build it again.",
                entity: index.entity.name, attribute: index.fields.map(\.name).joined(separator: "+"), objectID: id, url: layout.place)
        }
        try writer.put(key, index.isUnique ? Number.bytes(UInt64(bitPattern: id) ^ 1 << 63) : [])
    }

    /// - Returns: false: there is nothing more to do.
    private func finish(_ index: KeyIndex, _ writer: any EngineWriter) throws -> Bool {
        var state = try self.state(index, writer)
        state.phase = .readable
        try writer.put(Keyspace.Metadata.indexState.key(index.number), state.bytes)
        try writer.remove(Keyspace.Metadata.buildProgress.key(index.number))
        return false
    }
}
