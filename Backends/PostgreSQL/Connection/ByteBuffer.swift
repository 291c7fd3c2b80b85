import PolyStoreBackend
import PolyStorePlatform

/// Bytes that are appended in the byte order of PostgreSQL's protocol. Their address is stable while nothing is appended.
final class ByteBuffer {
    // A buffer is filled by one thread, and no access lasts longer than a call.
    @exclusivity(unchecked) private(set) var start: UnsafeMutableRawPointer
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var capacity: Int

    init(capacity: Int = 64) {
        self.capacity = max(capacity, 16)
        start = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { start.deallocate() }

    private func reserve(_ extra: Int) {
        guard count + extra > capacity else { return }
        let larger = max(capacity * 2, count + extra)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        memory.copyMemory(from: start, byteCount: count)
        start.deallocate()
        (start, capacity) = (memory, larger)
    }

    /// Appends an integer in big-endian order.
    func append<Integer: FixedWidthInteger>(_ value: Integer) {
        reserve(MemoryLayout<Integer>.size)
        start.storeBytes(of: value.bigEndian, toByteOffset: count, as: Integer.self)
        count += MemoryLayout<Integer>.size
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count)
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Appends text in the encoding of `NULFreeText`, from the bytes of the original text.
    func appendNULFree(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.holdsNULFreeEscapes else { return append(bytes) }
        reserve(bytes.count + 8)
        for byte in bytes {
            if byte < 2 { append(1 as UInt8) }
            append(byte < 2 ? byte + 1 : byte)
        }
    }

    /// Appends a value of a fixed size after its size, as elements of arrays and values of copied rows are written.
    func append(size: Int32, _ write: (ByteBuffer) -> Void) {
        append(size)
        write(self)
    }

    /// Appends a value after its size, which is known when it is written.
    func append(sized write: (ByteBuffer) -> Void) {
        let offset = count
        append(0 as Int32)
        write(self)
        store(Int32(clamping: count - offset - 4), at: offset)
    }

    /// Appends null in place of a value with its size.
    func appendNull() { append(-1 as Int32) }

    /// Removes all bytes and keeps the memory.
    func removeAll() { count = 0 }

    /// Replaces four bytes.
    func store(_ value: Int32, at offset: Int) {
        guard offset >= 0, offset + 4 <= count else { return }
        start.storeBytes(of: value.bigEndian, toByteOffset: offset, as: Int32.self)
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
}

extension UnsafeRawBufferPointer {
    /// A Boolean value that indicates whether a text contains U+0000 or U+0001, which `NULFreeText` replaces.
    var holdsNULFreeEscapes: Bool {
        guard let start = baseAddress, count > 0 else { return false }
        return memchr(start, 1, count) != nil || memchr(start, 0, count) != nil
    }
}
