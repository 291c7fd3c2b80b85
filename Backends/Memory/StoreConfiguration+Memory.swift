import PolyStoreBackend
import PolyStoreKeyValue

extension StoreConfiguration {
    /// A store in memory. It is initially empty, and its data is discarded with the stack. Every call returns a separate store.
    public static func inMemory() -> StoreConfiguration {
        let location = "memory:" + numbers.next()
        return StoreConfiguration(engine: "memory", location: location, isShared: false) { request in
            guard !request.isReadOnly else {
                throw StoreError(.unsupported, "A store in memory cannot be opened for reading only: it starts empty.")
            }
            return try KeyValueBackend(EngineHandle(private: MemoryEngine(location: location)), request)
        }
    }

    /// Numbers that identify in-memory stores in messages.
    private static let numbers = StoreNumbers()
}

extension EngineHandle {
    /// Returns a new in-memory engine, without the record layer.
    package static func memory() -> EngineHandle { EngineHandle(private: MemoryEngine(location: "memory")) }
}

extension StoreEngine {
    /// The scheme `memory:`, without a location.
    public static let memory = StoreEngine(name: "memory") { url in
        guard url.location.isEmpty else {
            throw StoreError(
                .misuse, "A store in memory has no location, and \"\(url)\" gives one. Write memory: alone.", location: url.description)
        }
        return .inMemory()
    }
}

private final class StoreNumbers: @unchecked Sendable {  // The number is accessed under the lock.
    private let lock = Lock()
    private var last = 0

    func next() -> String {
        lock.withLock {
            last += 1
            return String(last)
        }
    }
}
