import PolyStoreBackend

/// An encoder for history entries. Numbers are LEB128, signed ones zigzag; texts and blobs are preceded by their length.
package struct HistoryBytes {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func append(_ byte: UInt8) { bytes.append(byte) }

    package mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    package mutating func append(signed: Int64) { append(number: UInt64(bitPattern: (signed << 1) ^ (signed >> 63))) }

    package mutating func append(text: String) {
        append(number: UInt64(text.utf8.count))
        bytes += text.utf8
    }

    package mutating func append(_ value: Value?) {
        switch value {
        case nil: append(HistoryRecord.Tag.absent.rawValue)
        case .null: append(HistoryRecord.Tag.null.rawValue)
        case .integer(let integer):
            append(HistoryRecord.Tag.integer.rawValue)
            append(signed: integer)
        case .real(let real):
            append(HistoryRecord.Tag.real.rawValue)
            withUnsafeBytes(of: real.bitPattern.littleEndian) { bytes += $0 }
        case .text(let text):
            append(HistoryRecord.Tag.text.rawValue)
            append(text: text)
        case .blob(let blob):
            append(HistoryRecord.Tag.blob.rawValue)
            append(number: UInt64(blob.count))
            bytes += blob
        }
    }

    /// Returns the bytes followed by their CRC-32C.
    package func sealed() -> [UInt8] {
        let sum = bytes.withUnsafeBytes { RecordChecksum.crc32c($0) }
        return bytes + withUnsafeBytes(of: sum.littleEndian) { [UInt8]($0) }
    }
}
