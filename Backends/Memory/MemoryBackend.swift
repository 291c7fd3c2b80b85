import PolyStoreBackend

/// A store in memory: simple, and the measure of what is right. Each commit is a new value of the whole state.
final class MemoryBackend: StorageBackend, @unchecked Sendable {  // everything mutable is touched under the lock only
    let metadata: StoreMetadata
    let schema: ResolvedSchema
    /// Signalled when the writer's turn is free.
    private let lock = Lock()
    private var committed: MemoryState
    /// The next id of each entity. Outside the state: ids that were given out are not taken back.
    private var sequences: [Int64]
    private var isWriting = false
    private var isClosed = false

    /// - Throws: `unsupported` for reading only: a store in memory starts empty, so there would be nothing to read.
    init(_ request: OpenRequest) throws {
        guard !request.isReadOnly else {
            throw StoreError(.unsupported, "A store in memory cannot be opened for reading only: it starts empty.")
        }
        metadata = StoreMetadata(format: 1, request: request)
        schema = request.schema
        committed = MemoryState(request.schema)
        sequences = request.schema.entities.map { _ in 1 }
    }

    var capabilities: Capabilities { Capabilities(features: [.concurrentReaders, .verification], durabilities: [.relaxed]) }

    private func checkOpen() throws { if isClosed { throw StoreError(.closed, "The store in memory was closed.") } }

    func beginRead() throws -> any ReadTransaction {
        try lock.withLock {
            try checkOpen()
            return MemoryReadTransaction(self, committed)
        }
    }

    func beginWrite() throws -> any WriteTransaction {
        try lock.withLock {
            while isWriting, !isClosed { lock.wait() }
            try checkOpen()
            isWriting = true
            return MemoryWriteTransaction(self, committed)
        }
    }

    /// Ends the writer's turn, with a new state or without.
    func finishWriting(_ state: MemoryState?) throws {
        try lock.withLock {
            isWriting = false
            lock.signal()
            if let state {
                try checkOpen()
                committed = state
            }
        }
    }

    func reserveIDs(_ entity: Entity, _ count: Int) throws -> Int64 {
        guard count > 0 else { throw StoreError(.misuse, "\(count) ids of \(entity.name) were asked for.", entity: entity.name) }
        return try lock.withLock {
            let first = sequences[entity.index]
            let (after, isTooFar) = first.addingReportingOverflow(Int64(count))
            guard !isTooFar else { throw StoreError(.full, "There are not \(count) ids of \(entity.name) left.", entity: entity.name) }
            sequences[entity.index] = after
            return first
        }
    }

    /// - Throws: `misuse` for an entity of another schema: its index means nothing here.
    func check(_ entity: Entity) throws {
        if entity.index < schema.entities.count {
            let own = schema.entities[entity.index]
            if own === entity || own.description == entity.description { return }
        }
        throw StoreError(.misuse, "The entity \(entity.name) is not of the schema that the store was opened with.", entity: entity.name)
    }

    /// - Throws: `misuse` for a relationship of another schema.
    func check(_ relationship: Relationship) throws {
        func declares(_ index: Int) -> [Relationship] {
            schema.entities.indices.contains(index) ? schema.entities[index].relationships : []
        }
        if declares(relationship.source).contains(relationship) { return }
        if declares(relationship.destination).contains(where: { $0.reversed == relationship }) { return }
        throw StoreError(.misuse, "The relationship \(relationship.name) is not of the schema that the store was opened with.")
    }

    var isOpen: Bool { lock.withLock { !isClosed } }

    func close() throws {
        lock.withLock {
            isClosed = true
            lock.broadcast()
        }
    }

    func verify() throws -> [String] {
        let state = try lock.withLock {
            try checkOpen()
            return committed
        }
        return state.findings(schema)
    }
}
