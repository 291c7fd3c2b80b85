import PolyStoreBackend

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
