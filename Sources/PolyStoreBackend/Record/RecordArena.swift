/// Bytes that grow at the end: many records one after another, freed at once. Not Sendable; one writer.
///
/// Its properties are plain values that no accessor holds while another runs, so the dynamic exclusivity checks could find nothing; in the
/// innermost loops they would cost more than the copying.
public final class RecordArena {
    @exclusivity(unchecked) @usableFromInline var storage: UnsafeMutableRawPointer
    @exclusivity(unchecked) @usableFromInline var capacity: Int
    /// Bytes in use.
    @inlinable public var count: Int { used }
    @exclusivity(unchecked) @usableFromInline var used = 0

    public init(capacity: Int = 4096) {
        self.capacity = max(capacity, 64)
        storage = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { storage.deallocate() }

    /// Forgets everything and keeps the room.
    @inlinable public func removeAll() { setCount(0) }

    @inlinable func setCount(_ count: Int) { used = count }

    /// The bytes of a range; valid until the arena grows or ends.
    @inlinable
    public func bytes(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: storage + offset, count: count)
    }

    /// Copies a record in and tells where it lies.
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
    /// Drops everything from an offset on.
    public func truncate(_ offset: Int) { if offset < count { setCount(offset) } }
}
