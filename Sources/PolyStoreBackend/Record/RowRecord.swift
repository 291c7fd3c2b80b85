/// Writes one record whose fields come from a row with a column for each: all of them, in their order.
///
///     var record = RowRecord(arena, layout)
///     record.setInteger(0, 41)
///     record.setNull(1)
///     let view = try record.finish(arena, layout)        // valid until the arena is written to again
///
/// What ``RecordBuilder`` keeps track of, because there any field may be left out, is not needed here; and as this is a local value that owns
/// nothing, a loop over columns keeps it in registers. Every field must be set once, in ascending order, as the type that it has.
public struct RowRecord {
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline let slots: UnsafeMutablePointer<FieldSlot>
    @usableFromInline let endsOffset: Int
    @usableFromInline let heapOffset: Int
    /// Bytes so far, and how many there is room for.
    @usableFromInline var count: Int
    @usableFromInline var room: Int
    /// Where the next field of variable length has its end noted.
    @usableFromInline var nextEnd: Int

    /// Starts at the arena's beginning; what it held is forgotten.
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
        // Nothing is null until it is said to be.
        base.copyMemory(from: layout.filledTemplate, byteCount: endsOffset)
    }

    @inlinable @inline(__always)
    public mutating func setNull(_ field: Int) {
        let at = RecordLayout.headerSize &+ field >> 3
        let byte = base.load(fromByteOffset: at, as: UInt8.self)
        base.storeBytes(of: byte | 1 &<< UInt8(truncatingIfNeeded: field & 7), toByteOffset: at, as: UInt8.self)
        if slots[field].code == .variable { storeEnd() }
    }

    /// The caller has checked that it fits the field's type.
    @inlinable @inline(__always)
    public func setInteger(_ field: Int, _ value: Int64) {
        _ = slots[field].store(value, in: base)
    }

    /// Normalized, see ``Value/normalized(_:)``.
    @inlinable @inline(__always)
    public func setReal(_ field: Int, _ value: Double) {
        _ = slots[field].store(value, in: base)
    }

    /// A copy of the bytes as the next text or blob.
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

    /// Ends the record and reads it in place.
    /// - Throws: `full` past 4 GiB; `misuse` unless every field of variable length was set.
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
