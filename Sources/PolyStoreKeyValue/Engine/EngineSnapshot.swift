import PolyStoreBackend

/// A consistent snapshot of an engine. Used by one thread at a time.
public protocol EngineSnapshot: AnyObject {
    /// Returns the value of a key, or `nil`. It is valid until the next call of `get` or the end of the snapshot (see ``EngineTraits/valuesStay``).
    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer?
    /// Returns an unpositioned cursor. Several can be open at the same time. A cursor is closed before its snapshot ends, or must tolerate its end.
    func cursor() throws -> EngineCursor
    /// Releases the snapshot. A second call has no effect.
    func end()
}
