import PolyStoreBackend

/// A key with its value, or with the note that there is none any more: one block of memory, never changed once made, so that all versions of a
/// tree can share it and its bytes stay where they are as long as any of them lives.
final class TreeEntry: ManagedBuffer<TreeEntry.Header, UInt8> {
    struct Header {
        let keyCount: Int
        /// −1 where the key was removed.
        let valueCount: Int
    }

    /// - Parameter value: nil for a key that was removed.
    static func make(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> TreeEntry {
        let buffer = TreeEntry.create(minimumCapacity: key.count + (value?.count ?? 0)) { _ in
            Header(keyCount: key.count, valueCount: value?.count ?? -1)
        }
        buffer.withUnsafeMutablePointerToElements { bytes in
            let raw = UnsafeMutableRawPointer(bytes)
            if let source = key.baseAddress { raw.copyMemory(from: source, byteCount: key.count) }
            if let value, let source = value.baseAddress { (raw + key.count).copyMemory(from: source, byteCount: value.count) }
        }
        return unsafeDowncast(buffer, to: TreeEntry.self)
    }

    /// Valid as long as the entry is.
    var key: UnsafeRawBufferPointer {
        withUnsafeMutablePointers { header, bytes in UnsafeRawBufferPointer(start: bytes, count: header.pointee.keyCount) }
    }

    /// Valid as long as the entry is; nil where the key was removed.
    var value: UnsafeRawBufferPointer? {
        withUnsafeMutablePointers { header, bytes in
            header.pointee.valueCount < 0
                ? nil : UnsafeRawBufferPointer(start: bytes + header.pointee.keyCount, count: header.pointee.valueCount)
        }
    }
}
