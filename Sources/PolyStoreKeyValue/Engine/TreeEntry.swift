import PolyStoreBackend

/// A key with its value, or with the note that there is none any more: where they lie, the value right behind the key. The bytes belong to the node
/// that holds the entry, and stay where they are as long as any version of the tree holds that node.
struct TreeEntry {
    private let bytes: UnsafeRawPointer
    private let keyCount: UInt32
    /// The greatest number where the key was removed.
    private let valueCount: UInt32

    fileprivate init(_ bytes: UnsafeRawPointer, _ keyCount: Int, _ valueCount: Int?) {
        self.bytes = bytes
        self.keyCount = UInt32(keyCount)
        self.valueCount = valueCount.map { UInt32($0) } ?? .max
    }

    /// Valid as long as the version of the tree that the entry is of.
    @inline(__always)
    var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: Int(keyCount)) }

    /// Valid as long as the key; nil where the key was removed.
    @inline(__always)
    var value: UnsafeRawBufferPointer? {
        valueCount == .max ? nil : UnsafeRawBufferPointer(start: bytes + Int(keyCount), count: Int(valueCount))
    }

    /// Bytes of the key and the value.
    var size: Int { Int(keyCount) + (valueCount == .max ? 0 : Int(valueCount)) }
    /// See ``TreeBytes/leastAlone``.
    var liesAlone: Bool { size >= TreeBytes.leastAlone }

    fileprivate func begins(_ start: UnsafeMutablePointer<UInt8>) -> Bool { bytes == UnsafeRawPointer(start) }
}

/// Memory for keys and values, written from the beginning to the end. What was written is never changed or moved, so all versions of a node can share it.
final class TreeBytes: ManagedBuffer<TreeBytes.Header, UInt8> {
    struct Header {
        let room: Int
        var used = 0
    }

    /// An entry of so many bytes gets memory of its own, and is not copied when others beside it are.
    static let leastAlone = 1024

    static func make(_ room: Int) -> TreeBytes {
        unsafeDowncast(TreeBytes.create(minimumCapacity: room) { _ in Header(room: room) }, to: TreeBytes.self)
    }

    // By pointer, as `header` is checked for exclusivity at each use.
    var room: Int { withUnsafeMutablePointerToHeader { $0.pointee.room } }
    var rest: Int { withUnsafeMutablePointerToHeader { $0.pointee.room - $0.pointee.used } }

    /// Writes a key and its value, for which there must be room. Only who alone refers to the memory may do so.
    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> TreeEntry {
        withUnsafeMutablePointers { header, bytes in
            let start = UnsafeMutableRawPointer(bytes + header.pointee.used)
            if let source = key.baseAddress { start.copyMemory(from: source, byteCount: key.count) }
            if let value, let source = value.baseAddress { (start + key.count).copyMemory(from: source, byteCount: value.count) }
            header.pointee.used += key.count + (value?.count ?? 0)
            return TreeEntry(start, key.count, value?.count)
        }
    }

    /// Whether an entry lies at the beginning.
    func begins(with entry: TreeEntry) -> Bool { withUnsafeMutablePointerToElements { entry.begins($0) } }

    /// The key and nothing else, in memory of its own.
    static func holding(_ key: UnsafeRawBufferPointer) -> (bytes: TreeBytes, entry: TreeEntry) {
        let bytes = make(key.count)
        return (bytes, bytes.append(key, nil))
    }
}
