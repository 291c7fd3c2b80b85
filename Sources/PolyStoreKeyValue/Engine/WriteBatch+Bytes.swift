import PolyStoreBackend

// Batches as bytes, for engines that keep a log of them. The format is fixed: per key its length (4 bytes, little-endian), the length of the value or
// 2³²−1 where the key is removed (4 bytes), the key, the value.

extension WriteBatch {
    /// Everything that sets the keys of a tree to what they are in it: one batch in the place of all that led there.
    public init(_ tree: OrderedTree) {
        self.init(tree, byteCount: tree.byteCount)
    }

    /// As many bytes as ``encode(into:)`` appends, or more: see ``byteCount``.
    public var encodedCount: Int { byteCount + 8 * count }

    /// Appends the batch. ``OrderedTree/apply(encoded:)`` reads it.
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
    /// Bytes of all keys and values.
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

    /// Carries a batch out: sets keys and removes others.
    public mutating func apply(_ batch: WriteBatch) { batch.visit { key, value in write(key, value) } }

    /// Carries out what ``WriteBatch/encode(into:)`` made bytes of.
    /// - Returns: false where the bytes are no batch; those up to there are carried out.
    public mutating func apply(encoded bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 8 else { return false }
            let head = UnsafeRawBufferPointer(rebasing: rest.prefix(8))
            let keyCount = Int(UInt32(littleEndian: head.loadUnaligned(as: UInt32.self)))
            let valueCount = UInt32(littleEndian: head.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            rest = rest.dropFirst(8)
            let isRemoved = valueCount == .max
            guard keyCount + (isRemoved ? 0 : Int(valueCount)) <= rest.count else { return false }
            let key = UnsafeRawBufferPointer(rebasing: rest.prefix(keyCount))
            rest = rest.dropFirst(keyCount)
            if isRemoved {
                write(key, nil)
            } else {
                write(key, UnsafeRawBufferPointer(rebasing: rest.prefix(Int(valueCount))))
                rest = rest.dropFirst(Int(valueCount))
            }
        }
        return true
    }

    private mutating func write(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
        if let value { set(key, value) } else { remove(key) }
    }
}
