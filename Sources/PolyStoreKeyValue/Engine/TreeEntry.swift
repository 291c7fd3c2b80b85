import PolyStoreBackend

/// The address of a key and its value, which follows the key, or of a tombstone. The bytes belong to the node that holds the entry and stay in place as long as
/// any version of the tree holds that node.
struct TreeEntry {
    private let bytes: UnsafeRawPointer
    private let keyCount: UInt32
    /// The length of the value; the maximum marks a tombstone.
    private let valueCount: UInt32

    init(_ bytes: UnsafeRawPointer, _ keyCount: Int, _ valueCount: Int?) {
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
    /// A Boolean value that indicates whether the entry has its own memory; see ``TreeBytes/smallestOwned``.
    var ownsMemory: Bool { size >= TreeBytes.smallestOwned }

    func begins(_ start: UnsafeMutablePointer<UInt8>) -> Bool { bytes == UnsafeRawPointer(start) }
}
