import PolyStorePlatform

extension ByteScan {
    /// Returns the offset of the first byte at or after `start` that equals `byte`, or `end`.
    @inline(__always)
    static func first(_ byte: UInt8, _ bytes: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
        guard start < end, let found = memchr(bytes + start, Int32(byte), end &- start) else { return end }
        return UnsafeRawPointer(found) - UnsafeRawPointer(bytes)
    }
}
