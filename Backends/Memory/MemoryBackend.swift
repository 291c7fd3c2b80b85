import PolyStoreBackend

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A store in memory: simple, and the measure of what is right. Each commit is a new value of the whole state.
final class MemoryBackend: StorageBackend, @unchecked Sendable {  // everything mutable is touched under the mutex only
    let metadata: StoreMetadata
    let schema: ResolvedSchema
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let writerIsFree = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
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
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(writerIsFree, nil)
    }

    deinit {
        pthread_cond_destroy(writerIsFree)
        pthread_mutex_destroy(mutex)
        writerIsFree.deallocate()
        mutex.deallocate()
    }

    var capabilities: Capabilities { Capabilities(features: [.concurrentReaders, .verification], durabilities: [.relaxed]) }

    private func locked<T>(_ body: () throws -> T) rethrows -> T {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    private func checkOpen() throws { if isClosed { throw StoreError(.closed, "The store in memory was closed.") } }

    func beginRead() throws -> any ReadTransaction {
        try locked {
            try checkOpen()
            return MemoryReadTransaction(self, committed)
        }
    }

    func beginWrite() throws -> any WriteTransaction {
        try locked {
            while isWriting, !isClosed { pthread_cond_wait(writerIsFree, mutex) }
            try checkOpen()
            isWriting = true
            return MemoryWriteTransaction(self, committed)
        }
    }

    /// Ends the writer's turn, with a new state or without.
    func finishWriting(_ state: MemoryState?) throws {
        try locked {
            isWriting = false
            pthread_cond_signal(writerIsFree)
            if let state {
                try checkOpen()
                committed = state
            }
        }
    }

    func reserveIDs(_ entity: Entity, _ count: Int) -> Int64 {
        locked {
            defer { sequences[entity.index] += Int64(count) }
            return sequences[entity.index]
        }
    }

    var isOpen: Bool { locked { !isClosed } }

    func close() throws {
        locked {
            isClosed = true
            pthread_cond_broadcast(writerIsFree)
        }
    }

    func verify() throws -> [String] {
        let state = try locked {
            try checkOpen()
            return committed
        }
        return state.findings(schema)
    }
}
