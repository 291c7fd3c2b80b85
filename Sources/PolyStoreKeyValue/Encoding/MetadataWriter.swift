import PolyStoreBackend

/// Encodes numbers, texts and values of the metadata consecutively. All numbers are big-endian.
struct MetadataWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append<T: FixedWidthInteger>(_ number: T) { bytes += BigEndianInteger.bytes(number) }

    /// Appends the number of bytes, u32, and the bytes.
    mutating func append(_ blob: [UInt8]) {
        append(UInt32(truncatingIfNeeded: blob.count))
        bytes += blob
    }

    mutating func append(_ text: String) { append(Array(text.utf8)) }

    /// Appends the number of elements, u32, and the elements.
    mutating func append<Element>(_ list: [Element], _ body: (inout MetadataWriter, Element) -> Void) {
        append(UInt32(truncatingIfNeeded: list.count))
        for element in list { body(&self, element) }
    }

    /// Appends a tag, u8, and the value: 0 null; 1 integer, i64; 2 real, the bits of the double; 3 text; 4 bytes.
    mutating func append(_ value: Value) {
        switch value {
        case .null: append(UInt8(0))
        case .integer(let number):
            append(UInt8(1))
            append(number)
        case .real(let number):
            append(UInt8(2))
            append(Value.normalized(number).bitPattern)
        case .text(let text):
            append(UInt8(3))
            append(text)
        case .blob(let blob):
            append(UInt8(4))
            append(blob)
        }
    }
}
