import PolyStoreBackend
import PolyStoreKeyValue

extension StoreConfiguration {
    /// A store in memory: it starts empty and goes with its stack. Two of them are never the same store.
    public static func inMemory() -> StoreConfiguration {
        let place = places.next()
        return StoreConfiguration(engine: "memory", location: place, isShared: false) { request in
            guard !request.isReadOnly else {
                throw StoreError(.unsupported, "A store in memory cannot be opened for reading only: it starts empty.")
            }
            return try KeyValueBackend(EngineHandle(private: MemoryEngine(place: "memory:\(place)")), request)
        }
    }

    /// So that messages tell one store in memory from another.
    private static let places = PlaceNumbers()
}

extension EngineHandle {
    /// A new engine in memory, without the record layer.
    package static func memory() -> EngineHandle { EngineHandle(private: MemoryEngine(place: "memory")) }
}

extension StoreEngine {
    /// `memory:`, without a location.
    public static let memory = StoreEngine(name: "memory") { url in
        guard url.location.isEmpty else {
            throw StoreError(
                .misuse, "A store in memory has no location, and \"\(url.text)\" gives one. Write memory: alone.", url: url.text)
        }
        return .inMemory()
    }
}

private final class PlaceNumbers: @unchecked Sendable {  // the number is touched under the lock only
    private let lock = Lock()
    private var last = 0

    func next() -> String {
        lock.withLock {
            last += 1
            return String(last)
        }
    }
}
