import PolyStoreBackend

/// An engine with its own write transactions (tier B). They read their own writes, so pending changes need no tree in memory.
public protocol TransactionalEngine: OrderedEngine {
    /// Begins a write transaction. Waits while another process writes. The record layer begins one at a time in this process.
    /// - Throws: `busy`, `readOnly`, `io`, `full`.
    func beginWrite() throws -> any EngineWriter
    /// Enlarges the store after ``EngineOutOfRoom``. The caller has no open transaction.
    /// - Throws: `full` if the store cannot grow.
    func makeRoom() throws
    /// Returns whether a number of bytes can be written before ``makeRoom()`` is needed. The default is `true`.
    func hasRoom(for bytes: Int) -> Bool
}

extension TransactionalEngine {
    /// Writes a batch in a write transaction of the engine.
    public func apply(_ batch: WriteBatch, _ durability: Durability) throws {
        let writer = try beginWrite()
        defer { writer.end() }
        try batch.visit { key, value in
            if let value { try writer.put(key, value) } else { try writer.remove(key) }
        }
        try writer.commit(durability)
    }

    /// Returns `true`.
    public func hasRoom(for bytes: Int) -> Bool { true }

    /// Throws `full`.
    public func makeRoom() throws { throw StoreError(.full, "The disk or the map of \(location) is full.", location: location) }
}
