import EngineTestSupport
import PolyStoreBackend
import TestSupport

extension Backend {
    func notes(_ path: String, _ entity: String = "Note", change: (StoreConfiguration) -> StoreConfiguration = { $0 }) throws -> Store {
        try Store(change(store(at: path)), try Notes.schema(entity))
    }
}

extension Store {
    /// Inserts one object in a separate commit.
    func add(_ entity: String, _ id: Int64, _ durability: Durability = .full) throws {
        try write(durability) { try $0.insert(entity, id, Notes.values(id, size: 100)) }
    }
}
