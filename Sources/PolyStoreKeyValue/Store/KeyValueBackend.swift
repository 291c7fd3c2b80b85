import PolyStoreBackend

/// A store in an ordered key-value engine: the engine keeps bytes in order, everything else is here.
///
///     StoreConfiguration(engine: "mine", location: path) { request in
///         try KeyValueBackend(EngineHandle.shared(path, isReadOnly: request.isReadOnly) { try MyEngine(path) }, request)
///     }
public final class KeyValueBackend: StorageBackend, @unchecked Sendable {  // everything mutable is touched under the lock only
    /// The layout of keys and values that this version writes: see ``Keyspace``.
    public static let format = 1

    public let metadata: StoreMetadata
    public let capabilities: Capabilities
    let layout: StoreLayout
    let handle: EngineHandle
    private let isReadOnly: Bool
    private let logger: any StoreLogger
    private let lock = Lock()
    private var isClosed = false

    /// Opens the store in an engine, or makes it where the engine is empty. Takes over the handle: it is released when the store is closed, or
    /// when this throws.
    /// - Throws: `notAStore` for an engine that holds something else; what ``StoreMetadata/check(_:supportedFormat:url:)`` throws.
    public init(_ handle: EngineHandle, _ request: OpenRequest) throws {
        self.handle = handle
        isReadOnly = request.isReadOnly
        logger = request.logger
        let traits = handle.engine.traits
        var features = traits.features.union([.concurrentReaders, .verification, .plannedIndexes])
        // The record layer's own write transaction lies in memory, over a snapshot that any thread may use.
        if !(handle.engine is any TransactionalEngine) { features.insert(.transferableWriter) }
        capabilities = Capabilities(features: features, durabilities: traits.durabilities)
        do {
            let opener = KeyValueOpener(handle: handle, request: request)
            (metadata, layout) = try opener.open()
            if !request.isReadOnly { try IndexBuilder(handle, layout, logger).resume() }
        } catch {
            handle.release()
            throw error
        }
    }

    deinit { shut() }

    public func close() throws { shut() }

    private func shut() {
        let isFirst = lock.withLock {
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { handle.release() }
    }

    /// Takes hold of the engine for a transaction.
    private func use() throws -> EngineHandle {
        try lock.withLock {
            if isClosed { throw StoreError(.closed, "The store \(handle.engine.place) was closed.", url: handle.engine.place) }
            handle.retain()
            return handle
        }
    }

    public func beginRead() throws -> any ReadTransaction {
        let handle = try use()
        do {
            return try KeyValueReadTransaction(handle, layout)
        } catch {
            handle.release()
            throw error
        }
    }

    public func beginWrite() throws -> any WriteTransaction {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store \(layout.place) was opened for reading only.", url: layout.place)
        }
        let handle = try use()
        do {
            return try KeyValueWriteTransaction(handle, layout)
        } catch {
            handle.release()
            throw error
        }
    }

    /// Looks at every byte: what the engine finds, then every record, index entry, link, chunk and number against each other.
    public func verify() throws -> [String] {
        let handle = try use()
        defer { handle.release() }
        var findings: [String] = []
        do { findings = try handle.engine.verify() } catch let error as StoreError where error.code == .corrupt { findings = ["\(error)"] }
        let reader = SnapshotReader(layout, try handle.engine.snapshot(), isWritten: false)
        defer { reader.end() }
        return findings + (try StoreVerifier(reader).findings())
    }

    /// Builds indexes anew from the records, while the store is in use: after ``verify()`` found some that do not agree with them.
    /// - Parameter names: ``Index/name``; nil: all.
    /// - Throws: `constraint` where a unique index finds two objects with one value; the index then stays unused.
    public func rebuildIndexes(_ names: Set<String>? = nil) throws {
        let handle = try use()
        defer { handle.release() }
        let builder = IndexBuilder(handle, layout, logger)
        for index in layout.indexes.flatMap({ $0 }) where names?.contains(index.index.name) ?? true { try builder.rebuild(index) }
    }
}

/// Opens a store in an engine, or makes it; refuses everything else without touching it.
struct KeyValueOpener {
    let handle: EngineHandle
    let request: OpenRequest
    private var engine: any OrderedEngine { handle.engine }

    func open() throws -> (StoreMetadata, StoreLayout) {
        if let found = try read(mayReset: request.resetsOnModelMismatch && !request.isReadOnly) { return found }
        guard !request.isReadOnly else {
            throw StoreError(
                .notAStore, "\(engine.place) is empty; open it for writing to make a store of it.", url: engine.place)
        }
        return try handle.write { writer in
            // Somebody else may have been faster.
            if let found = try contents(writer) { return found }
            return try create(writer)
        }
    }

    private func read(mayReset: Bool) throws -> (StoreMetadata, StoreLayout)? {
        let snapshot = try engine.snapshot()
        defer { snapshot.end() }
        do {
            return try contents(snapshot)
        } catch let error as StoreError where error.code == .migrationRequired && mayReset {
            snapshot.end()
            request.logger.write(
                .notice, "The store \(engine.place) was written for another model and is emptied, as asked: \(error.message)")
            return try handle.write { writer in
                try clear(writer)
                return try create(writer)
            }
        }
    }

    /// What is there; nil for nothing at all.
    private func contents(_ snapshot: any EngineSnapshot) throws -> (StoreMetadata, StoreLayout)? {
        guard let value = try snapshot.get(Keyspace.Metadata.format.key()) else {
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            guard try !cursor.last() else {
                throw StoreError(
                    .notAStore, "\(engine.place) is no store: it holds data of somebody else. It was left as it is.", url: engine.place)
            }
            return nil
        }
        guard let format: UInt32 = Number.read(value), format > 0 else { throw damaged("its format") }
        guard format <= KeyValueBackend.format else {
            throw StoreError(
                .incompatibleSchema,
                "The store \(engine.place) has format \(format), and this version reads up to \(KeyValueBackend.format). Update the library.",
                url: engine.place)
        }
        guard let schema = try SealedValue.get(Keyspace.Metadata.schema.key(1), snapshot) else { throw damaged("its model") }
        guard let identity = try SealedValue.get(Keyspace.Metadata.identity.key(), snapshot).flatMap(StoreIdentity.init) else {
            throw damaged("its identity")
        }
        let metadata = try StoreMetadata(
            format: Int(format), storeID: identity.storeID, configurationName: identity.configuration, schemaHash: identity.schemaHash,
            request: request, schema: schema)
        try metadata.check(request, supportedFormat: KeyValueBackend.format, url: engine.place)
        let catalog = try Catalog(reading: snapshot, place: engine.place)
        return (metadata, try StoreLayout(place: engine.place, traits: engine.traits, schema: request.schema, catalog: catalog))
    }

    private func damaged(_ what: String) -> StoreError {
        StoreError(.corrupt, "The store \(engine.place) is damaged: \(what) cannot be read.", url: engine.place)
    }

    private func create(_ writer: any EngineWriter) throws -> (StoreMetadata, StoreLayout) {
        let metadata = StoreMetadata(format: KeyValueBackend.format, request: request)
        let catalog = Catalog(request.schema)
        let layout = try StoreLayout(place: engine.place, traits: engine.traits, schema: request.schema, catalog: catalog)
        try writer.put(Keyspace.Metadata.format.key(), Number.bytes(UInt32(KeyValueBackend.format)))
        try SealedValue.put(Keyspace.Metadata.schema.key(1), metadata.schema.encoded(), writer)
        let identity = StoreIdentity(
            storeID: metadata.storeID, configuration: metadata.configurationName, schemaHash: metadata.schemaHash)
        try SealedValue.put(Keyspace.Metadata.identity.key(), identity.bytes, writer)
        try catalog.write(to: writer)
        return (metadata, layout)
    }

    /// Removes every key.
    private func clear(_ writer: any EngineWriter) throws {
        let cursor = try writer.cursor()
        var keys: [[UInt8]] = []
        var more = try [UInt8]().withUnsafeBytes { try cursor.seek($0) }
        while more {
            keys.append([UInt8](cursor.key))
            more = try cursor.next()
        }
        cursor.close()
        for key in keys { try writer.remove(key) }
    }
}

extension EngineHandle {
    /// One transaction of the engine, committed; begun again where the engine had to make room.
    func write<Result>(_ body: (any EngineWriter) throws -> Result) throws -> Result {
        takeTurn()
        defer { giveTurn() }
        _ = takeNotes()
        while true {
            let writer = try beginEngineWrite()
            defer { writer.end() }
            do {
                let result = try body(writer)
                try writer.commit(.full)
                return result
            } catch is EngineOutOfRoom {
                writer.end()
                try (engine as? any TransactionalEngine)?.makeRoom()
            }
        }
    }

    /// A write transaction, the engine's own or one in memory over a snapshot.
    func beginEngineWrite() throws -> any EngineWriter {
        if let engine = engine as? any TransactionalEngine { return try engine.beginWrite() }
        return try OverlayTransaction(engine)
    }
}
