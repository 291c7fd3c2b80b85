/// A growing byte buffer that holds many records and frees them together. Not Sendable; used by one thread at a time.
///
/// Dynamic exclusivity checks are disabled for its properties: accesses to plain values cannot overlap, and in the innermost loops the checks would cost
/// more than copying the bytes.
public final class RecordArena {
    /// Memory of ``capacity`` bytes; a pointer without memory before the first append, because many arenas stay empty.
    @exclusivity(unchecked) @usableFromInline var storage = UnsafeMutableRawPointer(bitPattern: 16)!
    @exclusivity(unchecked) @usableFromInline var capacity = 0
    private let firstCapacity: Int
    /// The number of bytes in use.
    @inlinable public var count: Int { used }
    @exclusivity(unchecked) @usableFromInline var used = 0

    /// Creates an empty arena. It allocates a capacity in bytes when it is used for the first time.
    public init(capacity: Int = 4096) { firstCapacity = max(capacity, 64) }

    deinit { if capacity > 0 { storage.deallocate() } }

    /// Removes all bytes and keeps the capacity.
    @inlinable public func removeAll() { setCount(0) }

    @inlinable func setCount(_ count: Int) { used = count }

    /// Returns the bytes of a range; valid until the arena grows or is deallocated.
    @inlinable
    public func bytes(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: storage + offset, count: count)
    }

    /// Appends a copy of a record and returns its offset.
    public func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let offset = count
        reserve(bytes.count)
        if let source = bytes.baseAddress { (storage + offset).copyMemory(from: source, byteCount: bytes.count) }
        used += bytes.count
        return offset
    }

    @inlinable
    func reserve(_ extra: Int) { if count + extra > capacity { grow(extra) } }

    @usableFromInline
    func grow(_ extra: Int) {
        let larger = max(capacity * 2, firstCapacity, count + extra)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        if capacity > 0 {
            memory.copyMemory(from: storage, byteCount: count)
            storage.deallocate()
        }
        (storage, capacity) = (memory, larger)
    }
}

extension RecordArena {
    /// Removes all bytes from an offset on.
    public func truncate(_ offset: Int) { if offset < count { setCount(offset) } }

    /// Returns the record at an offset of this arena.
    public func view(_ offset: Int, _ count: Int, _ layout: RecordLayout) -> RecordView {
        RecordView(trusting: storage + offset, count: count, layout: layout)
    }
}
