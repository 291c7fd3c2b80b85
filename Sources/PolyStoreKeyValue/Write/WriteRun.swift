import PolyStoreBackend

/// Unique keys in ascending order, with their new values or removals.
public struct WriteRun {
    private let list: WriteList
    /// The memory of the record that is being sealed; nil if the records of the list are not sealed.
    private let sealed: RecordArena?
    private let entries: [WriteList.Entry]

    init(_ list: WriteList) {
        self.list = list
        sealed = list.sealedHead != nil || list.layoutNumber != 0 ? RecordArena(capacity: 1024) : nil
        let all = list.entries
        // Skips the removal of a key that is set again.
        let isSuperseded = { (position: Int) in
            position + 1 < all.count && all[position].valueCount < 0 && list.sameKey(all[position], all[position + 1])
        }
        entries = all.indices.contains(where: isSuperseded) ? all.indices.filter { !isSuperseded($0) }.map { all[$0] } : all
    }

    /// The number of keys.
    public var count: Int { entries.count }

    @inline(__always)
    private func entry(_ position: Int) -> WriteList.Entry { entries[position] }

    /// The size of all keys and values in bytes.
    var byteCount: Int { (0..<count).reduce(0) { $0 + Int(entry($1).keyCount) + max(0, entry($1).valueCount) } }

    /// Returns the key at a position.
    public func key(_ position: Int) -> UnsafeRawBufferPointer { list.key(entry(position)) }

    /// Returns the size in bytes of the key at a position and its new value.
    func size(_ position: Int) -> Int {
        let entry = entry(position)
        let tail = entry.record != nil && list.sealedHead != nil ? RecordChecksum.tailSize : 0
        return Int(entry.keyCount) + max(0, entry.valueCount) + tail
    }

    /// Returns whether the key at a position is removed.
    public func isRemoved(_ position: Int) -> Bool { entry(position).valueCount < 0 }

    /// Returns the new value of the key at a position, which is valid until the next call; `nil` for a removal.
    public func value(_ position: Int) -> UnsafeRawBufferPointer? {
        let entry = entry(position)
        guard let value = list.value(entry) else { return nil }
        guard entry.record != nil, let sealed else { return value }
        sealed.removeAll()
        _ = sealed.append(value)
        StoredRecord.setLayout(list.layoutNumber, 0, in: sealed)
        guard let head = list.sealedHead else { return sealed.bytes(0, value.count) }
        return sealed.bytes(0, StoredRecord.seal(0, in: sealed, head: head, key: list.key(entry)))
    }
}
