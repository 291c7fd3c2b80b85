import PolyStoreBackend

/// Metadata values with a checksum: the bytes are followed by a CRC-32C of the key and the bytes, u32.
enum SealedValue {
    /// - Returns: the bytes without the checksum; `nil` if the value is missing or damaged.
    static func get(_ key: [UInt8], _ snapshot: any EngineSnapshot) throws -> [UInt8]? {
        try snapshot.get(key).flatMap { opened(key, $0) }
    }

    /// - Returns: the bytes without the checksum; `nil` if they are damaged.
    static func opened(_ key: [UInt8], _ value: UnsafeRawBufferPointer) -> [UInt8]? {
        guard value.count >= 4 else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: value.dropLast(4))
        let sum: UInt32? = BigEndianInteger.read(UnsafeRawBufferPointer(rebasing: value.suffix(4)))
        return key.withUnsafeBytes { RecordChecksum.crc32c($0, bytes) } == sum ? [UInt8](bytes) : nil
    }

    static func put(_ key: [UInt8], _ bytes: [UInt8], _ writer: any EngineWriter) throws {
        try writer.put(key, sealed(key, bytes))
    }

    /// Returns the bytes with the checksum.
    static func sealed(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        bytes + BigEndianInteger.bytes(key.withUnsafeBytes { key in bytes.withUnsafeBytes { RecordChecksum.crc32c(key, $0) } })
    }
}
