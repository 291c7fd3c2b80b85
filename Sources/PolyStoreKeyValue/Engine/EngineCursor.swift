import PolyStoreBackend

/// A position in the keys of a snapshot. A base class rather than a protocol, so that a move is one call without a protocol witness.
///
/// A move must throw if it cannot read a key between its start and the key that it returns. Callers may stop before the end of a range, and they assume
/// that no key before that point was skipped. An engine that skips unreadable data must therefore check for it in every move, or once per batch.
open class EngineCursor {
    // Each access is a single load or store, so exclusivity checks are not needed.
    @exclusivity(unchecked) @usableFromInline final var currentKey = UnsafeRawBufferPointer(start: nil, count: 0)
    @exclusivity(unchecked) @usableFromInline final var currentValue = UnsafeRawBufferPointer(start: nil, count: 0)

    /// The current key, which is valid until the next move.
    @inlinable public final var key: UnsafeRawBufferPointer { currentKey }
    /// The current value, which is valid until the next move.
    @inlinable public final var value: UnsafeRawBufferPointer { currentValue }

    /// Creates an unpositioned cursor.
    public init() {}

    /// Sets the current entry. A subclass calls it before a move returns `true`.
    @inlinable
    public final func setCurrent(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        currentKey = key
        currentValue = value
    }

    /// Moves to the first key that is not less than the given key and calls ``setCurrent(_:_:)``.
    /// - Returns: `false` if every key is less. The cursor is then unpositioned, and only `seek` and `last` may follow.
    open func seek(_ key: UnsafeRawBufferPointer) throws -> Bool { false }
    /// Moves to the last key.
    open func last() throws -> Bool { false }
    /// Moves to the next key. Returns `false` at the end.
    open func next() throws -> Bool { false }
    /// Moves to the previous key. Returns `false` at the beginning.
    open func previous() throws -> Bool { false }
    /// Releases the cursor. A second call has no effect.
    open func close() {}

    /// Moves forward until the batch is full or the keys end, and adds each entry to the batch without copying. Implement it if entries stay in place until the
    /// cursor is closed or the snapshot is written to. `key` and `value` are undefined afterwards.
    /// - Returns: the number of entries, which is less than the capacity only at the end. `nil` if the cursor does not support this; it has not moved then.
    open func next(into batch: EntryBatch) throws -> Int? { nil }

    /// Moves forward until the batch is full or the keys end, and copies the key and the first bytes of the value of each entry. For engines whose entries are
    /// invalid after the next move; implement it if a move is about as cheap as the call.
    /// - Returns: the number of entries, which is less than the capacity only at the end.
    open func next(copyingInto batch: EntryBatch) throws -> Int {
        var count = 0
        while count < EntryBatch.capacity, try next() {
            batch.copy(count, key, value)
            count += 1
        }
        return count
    }

    /// Moves to the last key that is less than the given key.
    public final func seek(before key: UnsafeRawBufferPointer) throws -> Bool { try seek(key) ? previous() : last() }
}
