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
        var features = traits.features.union([.concurrentReaders, .verification, .plannedIndexes, .namedValues, .changeLog])
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

    public var commitFiles: [String] { handle.engine.commitFiles }

    public func close() throws { shut() }

    private func shut() {
        // A child that was forked has nothing to close.
        guard handle.process.isCurrent else { return }
        let isFirst = lock.withLock {
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { handle.release() }
    }

    /// Takes hold of the engine for a transaction.
    private func use() throws -> EngineHandle {
        // Before the lock, which another thread may have held when the process was forked.
        try handle.process.check(handle.engine.place)
        return try lock.withLock {
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
        try checkMayWrite()
        let handle = try use()
        do {
            return try KeyValueWriteTransaction(handle, layout, logger)
        } catch {
            handle.release()
            throw error
        }
    }

    private func checkMayWrite() throws {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store \(layout.place) was opened for reading only.", url: layout.place)
        }
    }

    /// Looks at every byte: what the engine finds, then every record, index entry, link, chunk and number against each other.
    public func verify() throws -> [String] {
        let handle = try use()
        defer { handle.release() }
        var findings: [String] = []
        do { findings = try handle.engine.verify() } catch let damage as EngineDamage {
            return damage.findings
        } catch let error as StoreError where error.code == .corrupt {
            findings = ["\(error)"]
        }
        let reader = SnapshotReader(layout, try handle.engine.snapshot(), isWritten: false)
        defer { reader.end() }
        try handle.check(layout, reader.snapshot)
        return findings + (try StoreVerifier(reader).findings())
    }

    /// Builds indexes anew from the records, while the store is in use: after ``verify()`` found some that do not agree with them.
    /// - Parameter names: ``Index/name``; nil: all.
    /// - Throws: `readOnly`; `constraint` where a unique index finds two objects with one value; the index then stays unused.
    public func rebuildIndexes(_ names: Set<String>? = nil) throws {
        try checkMayWrite()
        let handle = try use()
        defer { handle.release() }
        let builder = IndexBuilder(handle, layout, logger)
        for index in layout.indexes.flatMap({ $0 }) where names?.contains(index.index.name) ?? true { try builder.rebuild(index) }
    }
}
