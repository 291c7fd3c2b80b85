import PolyStoreBackend

/// An engine with a write transaction of its own: tier B. It reads its own writes, so nothing is collected in memory first.
public protocol TransactionalEngine: OrderedEngine {
    /// Starts writing; waits while another process writes. In this process the record layer lets one begin at a time.
    /// - Throws: `busy`, `readOnly`, `io`, `full`.
    func beginWrite() throws -> any EngineWriter
    /// Makes room after ``EngineOutOfRoom``, with no transaction of the caller open.
    /// - Throws: `full` where there is none to be made.
    func makeRoom() throws
}

extension TransactionalEngine {
    public func apply(_ batch: WriteBatch, _ durability: Durability) throws {
        let writer = try beginWrite()
        defer { writer.end() }
        try batch.visit { key, value in
            if let value { try writer.put(key, value) } else { try writer.remove(key) }
        }
        try writer.commit(durability)
    }

    public func makeRoom() throws { throw StoreError(.full, "There is no room left in \(place).", url: place) }
}

/// Thrown by an ``EngineWriter`` that needs ``TransactionalEngine/makeRoom()``. The record layer then ends it, makes room, and writes everything
/// again in a new one.
public struct EngineOutOfRoom: Error {
    public init() {}
}

/// A write transaction of an engine: a snapshot that can be changed. All calls come from one thread. `end` without `commit` undoes everything.
///
/// After an error of `put`, `remove` or `commit` it is only ended.
public protocol EngineWriter: EngineSnapshot {
    /// Values that were got before are not used afterwards; cursors are moved before they are read again.
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws
    /// Removes a key that may be there or not.
    func remove(_ key: UnsafeRawBufferPointer) throws
    /// Makes everything visible, and safe as far as asked. Ends the transaction.
    func commit(_ durability: Durability) throws
    /// Sets and removes many keys, in ascending order. There is a default, one after the other.
    func write(_ run: WriteRun) throws
}

extension EngineWriter {
    public func write(_ run: WriteRun) throws {
        for position in 0..<run.count {
            if let value = run.value(position) { try put(run.key(position), value) } else { try remove(run.key(position)) }
        }
    }
}
