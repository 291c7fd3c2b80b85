/// Writes one record from a row that has a column for every field, in field order.
///
///     var record = RowRecord(arena, layout)
///     record.setInteger(0, 41)
///     record.setNull(1)
///     let view = try record.finish(arena, layout)        // valid until the arena is written to again
///
/// Unlike ``RecordBuilder`` it does not track omitted fields. As a local value that owns no memory it stays in registers in a loop over columns.
/// Set every field exactly once, in ascending order, with the type of the field.
public struct RowRecord {
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline let slots: UnsafeMutablePointer<FieldSlot>
    @usableFromInline let endsOffset: Int
    @usableFromInline let heapOffset: Int
    /// The number of bytes written, and the capacity.
    @usableFromInline var count: Int
    @usableFromInline var room: Int
    /// The offset where the end of the next field of variable length is written.
    @usableFromInline var nextEnd: Int

    /// Starts a record at the beginning of the arena, which discards the contents of the arena.
    @inlinable @inline(__always)
    public init(_ arena: RecordArena, _ layout: RecordLayout) {
        slots = layout.slots
        endsOffset = layout.endsOffset
        heapOffset = layout.heapOffset
        count = heapOffset
        nextEnd = endsOffset
        arena.removeAll()
        arena.reserve(heapOffset)
        base = arena.storage
        room = arena.capacity
        // No field is null until it is set to null.
        base.copyMemory(from: layout.filledTemplate, byteCount: endsOffset)
    }

    /// Sets a field to null.
    @inlinable @inline(__always)
    public mutating func setNull(_ field: Int) {
        let at = RecordLayout.headerSize &+ field >> 3
        let byte = base.load(fromByteOffset: at, as: UInt8.self)
        base.storeBytes(of: byte | 1 &<< UInt8(truncatingIfNeeded: field & 7), toByteOffset: at, as: UInt8.self)
        if slots[field].code == .variable { storeEnd() }
    }

    /// Sets an integer field. The caller has checked that the value is within the range of the field's type.
    @inlinable @inline(__always)
    public func setInteger(_ field: Int, _ value: Int64) {
        _ = slots[field].store(value, in: base)
    }

    /// Sets a real field, normalized (see ``Value/normalized(_:)``).
    @inlinable @inline(__always)
    public func setReal(_ field: Int, _ value: Double) {
        _ = slots[field].store(value, in: base)
    }

    /// Sets the next text or blob field to a copy of the bytes.
    @inlinable @inline(__always)
    public mutating func appendBytes(_ bytes: UnsafeRawBufferPointer, _ arena: RecordArena) {
        if bytes.count > room &- count { grow(bytes.count, arena) }
        if let source = bytes.baseAddress { (base + count).copyMemory(from: source, byteCount: bytes.count) }
        count &+= bytes.count
        storeEnd()
    }

    @inlinable @inline(__always)
    mutating func storeEnd() {
        base.storeBytes(of: UInt32(truncatingIfNeeded: count &- heapOffset).littleEndian, toByteOffset: nextEnd, as: UInt32.self)
        nextEnd &+= 4
    }

    @usableFromInline @inline(never)
    mutating func grow(_ extra: Int, _ arena: RecordArena) {
        arena.setCount(count)
        arena.reserve(extra)
        base = arena.storage
        room = arena.capacity
    }

    /// Finishes the record and returns a view of it.
    /// - Throws: `full` if the record exceeds 4 GiB; `misuse` unless every field of variable length was set.
    @inlinable @inline(__always)
    public func finish(_ arena: RecordArena, _ layout: RecordLayout) throws -> RecordView {
        guard nextEnd == heapOffset, count <= Int(UInt32.max) else { throw failure(layout) }
        arena.setCount(count)
        return RecordView(trusting: base, count: count, slots: slots, endsOffset: endsOffset, heapOffset: heapOffset)
    }

    @usableFromInline
    func failure(_ layout: RecordLayout) -> StoreError {
        let name = layout.entityName
        if count > Int(UInt32.max) { return StoreError(.full, "A record of \(name) has \(count) bytes; 4 GiB is the limit.", entity: name) }
        return StoreError(.misuse, "A record of \(name) was made of a row that lacks fields.", entity: name)
    }
}
