import PolyStoreBackend

/// The address of a key and its value, which follows the key, or of a tombstone. The bytes belong to the node that holds the entry and stay in place as long as
/// any version of the tree holds that node.
struct TreeEntry {
    private let bytes: UnsafeRawPointer
    private let keyCount: UInt32
    /// The length of the value; the maximum marks a tombstone.
    private let valueCount: UInt32

    fileprivate init(_ bytes: UnsafeRawPointer, _ keyCount: Int, _ valueCount: Int?) {
        self.bytes = bytes
        self.keyCount = UInt32(keyCount)
        self.valueCount = valueCount.map { UInt32($0) } ?? .max
    }

    /// The key, which is valid as long as the entry's version of the tree.
    @inline(__always)
    var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: Int(keyCount)) }

    /// The value, which is valid as long as the key; `nil` for a tombstone.
    @inline(__always)
    var value: UnsafeRawBufferPointer? {
        valueCount == .max ? nil : UnsafeRawBufferPointer(start: bytes + Int(keyCount), count: Int(valueCount))
    }

    /// The size of the key and the value in bytes.
    var size: Int { Int(keyCount) + (valueCount == .max ? 0 : Int(valueCount)) }
    /// A Boolean value that indicates whether the entry has its own memory; see ``TreeBytes/leastAlone``.
    var liesAlone: Bool { size >= TreeBytes.leastAlone }

    fileprivate func begins(_ start: UnsafeMutablePointer<UInt8>) -> Bool { bytes == UnsafeRawPointer(start) }
}

/// Append-only memory for keys and values. Written bytes never change or move, so all versions of a node can share them.
final class TreeBytes: ManagedBuffer<TreeBytes.Header, UInt8> {
    struct Header {
        let room: Int
        var used = 0
    }

    /// The size in bytes from which an entry gets its own memory, so that it is not copied together with other entries.
    static let leastAlone = 1024

    static func make(_ room: Int) -> TreeBytes {
        unsafeDowncast(TreeBytes.create(minimumCapacity: room) { _ in Header(room: room) }, to: TreeBytes.self)
    }

    // Accessed by pointer, because every use of `header` is checked for exclusivity.
    var room: Int { withUnsafeMutablePointerToHeader { $0.pointee.room } }
    var rest: Int { withUnsafeMutablePointerToHeader { $0.pointee.room - $0.pointee.used } }

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
