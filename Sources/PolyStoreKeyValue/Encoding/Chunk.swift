import PolyStoreBackend

/// A chunk of a long value: its bytes, followed by the CRC-32C of the key and the bytes if the engine requires checksums.
enum Chunk {
    static func seal(_ bytes: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ traits: EngineTraits, into arena: RecordArena) -> Int
    {
        let start = arena.append(bytes)
        guard traits.checksumsRecords else { return bytes.count }
        let sum = RecordChecksum.crc32c(key, arena.bytes(start, bytes.count))
        withUnsafeBytes(of: sum.littleEndian) { _ = arena.append($0) }
        return bytes.count + 4
    }

    /// - Returns: `nil` for a damaged chunk.
    static func open(_ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ traits: EngineTraits) -> UnsafeRawBufferPointer? {
        guard traits.checksumsRecords else { return stored }
        guard stored.count >= 4 else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: stored[0..<(stored.count - 4)])
        let sum = UInt32(littleEndian: stored.loadUnaligned(fromByteOffset: bytes.count, as: UInt32.self))
        return sum == RecordChecksum.crc32c(key, bytes) ? bytes : nil
    }
}
