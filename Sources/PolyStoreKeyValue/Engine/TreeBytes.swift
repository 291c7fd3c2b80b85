/// Append-only memory for keys and values. Written bytes never change or move, so all versions of a node can share them.
final class TreeBytes: ManagedBuffer<TreeBytes.Header, UInt8> {
    struct Header {
        let capacity: Int
        var used = 0
    }

    /// The size in bytes from which an entry gets its own memory, so that it is not copied together with other entries.
    static let smallestOwned = 1024

    static func make(_ capacity: Int) -> TreeBytes {
        unsafeDowncast(TreeBytes.create(minimumCapacity: capacity) { _ in Header(capacity: capacity) }, to: TreeBytes.self)
    }

    // Accessed by pointer, because every use of `header` is checked for exclusivity.
    var byteCapacity: Int { withUnsafeMutablePointerToHeader { $0.pointee.capacity } }
    var unusedCount: Int { withUnsafeMutablePointerToHeader { $0.pointee.capacity - $0.pointee.used } }

    /// Appends a key and its value, for which there must be space. The memory must be uniquely referenced.
    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> TreeEntry {
        withUnsafeMutablePointers { header, bytes in
            let start = UnsafeMutableRawPointer(bytes + header.pointee.used)
            if let source = key.baseAddress { start.copyMemory(from: source, byteCount: key.count) }
            if let value, let source = value.baseAddress { (start + key.count).copyMemory(from: source, byteCount: value.count) }
            header.pointee.used += key.count + (value?.count ?? 0)
            return TreeEntry(start, key.count, value?.count)
        }
    }

    /// Returns whether an entry is the first one in this memory.
    func begins(with entry: TreeEntry) -> Bool { withUnsafeMutablePointerToElements { entry.begins($0) } }

    /// Copies a key without a value into its own memory.
    static func holding(_ key: UnsafeRawBufferPointer) -> (bytes: TreeBytes, entry: TreeEntry) {
        let bytes = make(key.count)
        return (bytes, bytes.append(key, nil))
    }
}
