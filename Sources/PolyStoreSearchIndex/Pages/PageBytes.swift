/// The bytes of a page at an address that does not change.
final class PageBytes {
    let start: UnsafePointer<UInt8>
    let count: Int

    init(_ bytes: [UInt8]) {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        bytes.withUnsafeBufferPointer { if let base = $0.baseAddress { memory.initialize(from: base, count: $0.count) } }
        start = UnsafePointer(memory)
        count = bytes.count
    }

    deinit { start.deallocate() }

    var reader: ByteReader { ByteReader(start, end: start + count) }
}

/// Reads numbers from bytes. Every method fails with an error at the end of the bytes.
struct ByteReader {
    var next: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>

    init(_ next: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        self.next = next
        self.end = end
    }

    var isAtEnd: Bool { next == end }
    var remaining: Int { end - next }

    @inline(__always)
    mutating func byte() throws -> UInt8 {
        guard next < end else { throw SearchIndexError.damaged("a page ends too early") }
        let value = next.pointee
        next += 1
        return value
    }

    @inline(__always)
    mutating func varint() throws -> UInt64 {
        if next < end, next.pointee < 128 {
            let value = next.pointee
            next += 1
            return UInt64(value)
        }
        return try longVarint()
    }

    @inline(never)
    private mutating func longVarint() throws -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 64 {
            let byte = try byte()
            value |= UInt64(byte & 127) << shift
            if byte < 128 { return value }
            shift += 7
        }
        throw SearchIndexError.damaged("a page contains a number that is too long")
    }

    /// Reads a number that must not exceed a limit.
    mutating func count(atMost limit: Int) throws -> Int {
        let value = try varint()
        guard value <= UInt64(limit) else { throw SearchIndexError.damaged("a page contains a count that is too large") }
        return Int(value)
    }

    mutating func signed() throws -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Returns the address of some bytes and continues after them.
    @inline(__always)
    mutating func take(_ count: Int) throws -> UnsafePointer<UInt8> {
        guard count <= remaining else { throw SearchIndexError.damaged("a page ends too early") }
        defer { next += count }
        return next
    }

    /// Continues after a number of varints.
    @inline(__always)
    mutating func skipVarints(_ count: Int) throws {
        var left = count
        // Eight bytes end at most eight numbers.
        while left >= 8, remaining >= 8 {
            let bytes = UnsafeRawPointer(next).loadUnaligned(as: UInt64.self)
            left -= 8 - (bytes & 0x8080_8080_8080_8080).nonzeroBitCount
            next += 8
        }
        while left > 0 {
            guard next < end else { throw SearchIndexError.damaged("a page ends too early") }
            if next.pointee < 128 { left -= 1 }
            next += 1
        }
    }
}

/// Bytes that are written at the end.
final class ByteBuffer {
    private(set) var start: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 256) {
        self.capacity = max(capacity, 16)
        start = .allocate(capacity: self.capacity)
    }

    deinit { start.deallocate() }

    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }
    var reader: ByteReader { ByteReader(start, end: start + count) }

    func removeAll() { count = 0 }

    @inline(__always)
    private func reserve(_ more: Int) { if count + more > capacity { grow(more) } }

    @inline(never)
    private func grow(_ more: Int) {
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
    }

    @inline(__always)
    func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    @inline(__always)
    func append(varint value: UInt64) {
        reserve(10)
        var rest = value
        while rest >= 128 {
            start[count] = UInt8(truncatingIfNeeded: rest) | 128
            count += 1
            rest >>= 7
        }
        start[count] = UInt8(truncatingIfNeeded: rest)
        count += 1
    }

    func append(varint value: Int) { append(varint: UInt64(value)) }

    func append(signed value: Int64) { append(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

    @inline(__always)
    func append(_ source: UnsafePointer<UInt8>, count more: Int) {
        guard more > 0 else { return }
        reserve(more)
        let end = start + count
        count += more
        if more > 16 { return end.update(from: source, count: more) }
        var index = 0
        while index < more {
            end[index] = source[index]
            index += 1
        }
    }

    func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { if let base = $0.baseAddress { append(base, count: $0.count) } } }

    func append(_ other: ByteBuffer) { append(other.start, count: other.count) }
}

extension SearchIndexError {
    /// Returns the error of bytes that remain after the last value of a page.
    static func trailingBytes(_ page: String) -> SearchIndexError { .damaged("\(page) has more bytes than its content") }
}
