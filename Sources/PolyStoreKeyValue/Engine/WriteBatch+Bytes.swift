import PolyStoreBackend

// The encoding of batches, for engines that keep a log of them. The format is stable: for each key its length (4 bytes, little-endian), the length of the value
// or 2³²−1 for a removal (4 bytes), the key and the value.

extension WriteBatch {
    /// Creates a batch that sets all keys of a tree: a single batch that replaces the batches from which the tree was built.
    public init(_ tree: OrderedTree) {
        self.init(tree, byteCount: tree.byteCount)
    }

    /// An upper bound of the bytes that ``encode(into:)`` appends; see ``byteCount``.
    public var encodedCount: Int { byteCount + 8 * count }

    /// Appends the encoded batch. ``OrderedTree/apply(encoded:)`` decodes it.
    public func encode(into bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + encodedCount)
        visit { key, value in
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: key.count).littleEndian) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: (value.map { UInt32(truncatingIfNeeded: $0.count) } ?? .max).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: key)
            if let value { bytes.append(contentsOf: value) }
        }
    }
}

extension OrderedTree {
    /// The size of all keys and values in bytes.
    fileprivate var byteCount: Int {
        var bytes = 0
        var cursor = cursor()
        var more = cursor.first()
        while more, let entry = cursor.entry {
            bytes += entry.key.count + (entry.value?.count ?? 0)
            more = cursor.next()
        }
        return bytes
    }

    /// Applies a batch: sets and removes its keys.
    public mutating func apply(_ batch: WriteBatch) { batch.visit { key, value in write(key, value) } }

    /// Applies a batch that ``WriteBatch/encode(into:)`` encoded.
    /// - Returns: `false` if the bytes are invalid; the keys before the error have been applied.
    public mutating func apply(encoded bytes: UnsafeRawBufferPointer) -> Bool {
        var unread = bytes[...]
        while !unread.isEmpty {
            guard unread.count >= 8 else { return false }
            let head = UnsafeRawBufferPointer(rebasing: unread.prefix(8))
            let keyCount = Int(UInt32(littleEndian: head.loadUnaligned(as: UInt32.self)))
            let valueCount = UInt32(littleEndian: head.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            unread = unread.dropFirst(8)
            let isRemoved = valueCount == .max
            guard keyCount + (isRemoved ? 0 : Int(valueCount)) <= unread.count else { return false }
            let key = UnsafeRawBufferPointer(rebasing: unread.prefix(keyCount))
            unread = unread.dropFirst(keyCount)
            if isRemoved {
                write(key, nil)
            } else {
                write(key, UnsafeRawBufferPointer(rebasing: unread.prefix(Int(valueCount))))
                unread = unread.dropFirst(Int(valueCount))
            }
        }
        return true
    }

    private mutating func write(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
        if let value { set(key, value) } else { remove(key) }
    }
}
