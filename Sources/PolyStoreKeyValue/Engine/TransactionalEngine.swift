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
    public func makeRoom() throws { throw StoreError(.full, "The disk or the map of \(place) is full.", url: place) }
}

/// Thrown by an ``EngineWriter`` that needs ``TransactionalEngine/makeRoom()``. The record layer then ends the transaction, makes room, and repeats all writes
/// in a new one.
public struct EngineOutOfRoom: Error {
    /// Creates the error.
    public init() {}
}

/// A write transaction of an engine: a snapshot that can be modified. All calls come from one thread. `end` without `commit` rolls back.
///
/// After an error of `put`, `remove` or `commit`, only `end` is called.
public protocol EngineWriter: EngineSnapshot {
    /// Sets the value of a key. Values read before are invalid afterwards; cursors are moved before they are read again.
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws
    /// Removes a key, which may not exist.
    func remove(_ key: UnsafeRawBufferPointer) throws
    /// Makes all writes visible and as durable as requested, and ends the transaction.
    func commit(_ durability: Durability) throws
    /// Sets and removes keys in ascending order. The default calls `put` and `remove` for each key.
    func write(_ run: WriteRun) throws
}

extension EngineWriter {
    /// Sets and removes each key in turn.
    public func write(_ run: WriteRun) throws {
        for position in 0..<run.count {
            if let value = run.value(position) { try put(run.key(position), value) } else { try remove(run.key(position)) }
        }
    }
}
