import PolyStoreBackend

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
