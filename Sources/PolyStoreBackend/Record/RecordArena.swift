/// A growing byte buffer that holds many records and frees them together. Not Sendable; used by one thread at a time.
///
/// Dynamic exclusivity checks are disabled for its properties: accesses to plain values cannot overlap, and in the innermost loops the checks would cost
/// more than copying the bytes.
public final class RecordArena {
    @exclusivity(unchecked) @usableFromInline var storage: UnsafeMutableRawPointer
    @exclusivity(unchecked) @usableFromInline var capacity: Int
    /// The number of bytes in use.
    @inlinable public var count: Int { used }
    @exclusivity(unchecked) @usableFromInline var used = 0

    /// Creates an empty arena with a capacity in bytes.
    public init(capacity: Int = 4096) {
        self.capacity = max(capacity, 64)
        storage = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { storage.deallocate() }

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
        capacity = max(capacity * 2, count + extra)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: storage, byteCount: count)
        storage.deallocate()
        storage = larger
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
