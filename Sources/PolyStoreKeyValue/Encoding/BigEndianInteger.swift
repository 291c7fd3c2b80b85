/// Converts fixed-size integers to and from big-endian bytes.
enum BigEndianInteger {
    static func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { [UInt8]($0) } }

    /// - Returns: `nil` for bytes of another length.
    static func read<T: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, as type: T.Type = T.self) -> T? {
        bytes.count == MemoryLayout<T>.size ? T(bigEndian: bytes.loadUnaligned(as: T.self)) : nil
    }
}
