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

/// The properties of an engine that the record layer depends on.
public struct EngineTraits: Sendable, Hashable {
    /// The features that the engine provides: `Capabilities.Feature.persistence`, … The record layer adds its own.
    public var features: Set<Capabilities.Feature>
    /// The durability levels that the engine supports.
    public var durabilities: Set<Durability>
    /// A Boolean value that indicates whether records get their own checksums. Not needed if the bytes never leave the process.
    public var checksumsRecords: Bool
    /// A Boolean value that indicates whether a value from ``EngineSnapshot/get(_:)`` stays valid until the snapshot ends or is written to, instead of until
    /// the next `get`. Saves a copy.
    public var valuesStay: Bool
    /// The maximum size in bytes of a chunk of a long value, and of a piece of an entry of the change log.
    public var maximumPieceSize: Int
    /// The maximum number of bytes of a transaction's keys and values. A larger transaction throws `full` before it writes.
    public var maximumTransactionSize: Int
    /// The number of records that one commit of an index build covers. Tests reduce it.
    package var recordsOfIndexCommit = 2000
    /// The time that a transaction waits for a migration, in milliseconds. Tests reduce it.
    package var migrationTimeout = Duration.seconds(10)

    /// Creates the traits of an engine.
    public init(
        features: Set<Capabilities.Feature>, durabilities: Set<Durability> = [.full, .relaxed], checksumsRecords: Bool = true,
        valuesStay: Bool = false, maximumPieceSize: Int = 65_536, maximumTransactionSize: Int = .max
    ) {
        self.features = features
        self.durabilities = durabilities
        self.checksumsRecords = checksumsRecords
        self.valuesStay = valuesStay
        self.maximumPieceSize = maximumPieceSize
        self.maximumTransactionSize = maximumTransactionSize
    }
}

/// A consistent snapshot of an engine. Used by one thread at a time.
public protocol EngineSnapshot: AnyObject {
    /// Returns the value of a key, or `nil`. The value is valid until the next call of `get` or the end of the snapshot (see ``EngineTraits/valuesStay``).
    /// - Throws: `closed` after the end of the snapshot.
    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer?
    /// Returns an unpositioned cursor. Several can be open at the same time. A cursor is closed before its snapshot ends, or must tolerate its end.
    /// - Throws: `closed` after the end of the snapshot.
    func cursor() throws -> EngineCursor
    /// Releases the snapshot. A second call has no effect.
    func end()
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

/// An engine that compacts its store by replacing the file. It implements ``compact(replacing:)`` instead of ``OrderedEngine/compact()``.
package protocol FileReplacingEngine: OrderedEngine {
    /// Compacts the store. Called with the write lock of this process held.
    /// - Parameter replacing: Must be called for the replacement itself, with the name of the new file for ``EngineHandle/shared(_:isReadOnly:make:)`` and a
    ///   closure that replaces the file. It rethrows the closure's error, after which the store has the old file.
    func compact(replacing: (_ identity: String, _ replace: () throws -> Void) throws -> Void) throws
}
