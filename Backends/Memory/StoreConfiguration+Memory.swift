import PolyStoreBackend

extension StoreConfiguration {
    /// A store in memory: it starts empty and goes with its stack. Two of them are never the same store.
    public static func inMemory() -> StoreConfiguration {
        StoreConfiguration(engine: "memory", location: "", isShared: false) { try MemoryBackend($0) }
    }
}
