import PolyStoreBackend

/// The memory of a node's keys and values. A value type like the node: copies share the written bytes, and each copy writes to new memory.
struct NodeBytes {
    /// The memory that is written to while it is not shared.
    private var current: TreeBytes?
    private var earlier: ContiguousArray<TreeBytes> = []
    /// The memory of large entries, one block each.
    private var large: ContiguousArray<TreeBytes> = []
    /// The size in bytes of all memory except that of large entries.
    private var allocated = 0
    /// The number of those bytes that belong to current entries.
    private(set) var inUse = 0

    /// The number of blocks above which a node's entries are consolidated. Each change of a shared node adds a block: a higher limit makes copies of the node
    /// slower, and a lower one makes it copy its entries more often.
    private static let mostBlocks = 16
    /// The number of wasted bytes that does not justify a copy.
    private static let slack = 512

    /// Reserves memory for the next entries.
    mutating func reserve(_ size: Int) {
        if size == 0 { return }
        if current != nil, isKnownUniquelyReferenced(&current), let current, current.unusedCount >= size { return }
        add(size)
    }

    private mutating func add(_ capacity: Int) {
        if let current { earlier.append(current) }
        current = TreeBytes.make(capacity)
        allocated += capacity
    }

    mutating func store(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> TreeEntry {
        let size = key.count + (value?.count ?? 0)
        if size >= TreeBytes.smallestOwned {
            let bytes = TreeBytes.make(size)
            large.append(bytes)
            return bytes.append(key, value)
        }
        inUse += size
        if current != nil, isKnownUniquelyReferenced(&current) {
            // A node that is written more than once is likely to be written again.
            if let current, current.unusedCount < size { add(max(size, min(allocated, 4096))) }
        } else {
            add(size)
        }
        guard let current else { preconditionFailure("memory was allocated above") }
        return current.append(key, value)
    }

    /// Returns the memory of a large entry.
    func memory(of entry: TreeEntry) -> TreeBytes? { large.first { $0.begins(with: entry) } }

    /// Retains the memory of a large entry.
    mutating func share(_ memory: TreeBytes) { large.append(memory) }

    /// Records that an entry was removed. Its bytes may be freed immediately.
    mutating func forget(_ entry: TreeEntry) {
        if !entry.ownsMemory {
            inUse -= entry.size
        } else if let position = large.firstIndex(where: { $0.begins(with: entry) }) {
            large.remove(at: position)
        }
    }

    /// Sets the complete list of entries.
    mutating func settle(_ entries: ContiguousArray<TreeEntry>) {
        inUse = entries.reduce(0) { $0 + ($1.ownsMemory ? 0 : $1.size) }
        if !large.isEmpty { large.removeAll { bytes in !entries.contains { $0.ownsMemory && bytes.begins(with: $0) } } }
    }

    func wouldWaste(_ more: Int, inUse: Int) -> Bool {
        allocated + more > 2 * inUse + Self.slack || earlier.count >= Self.mostBlocks
    }

    /// The size of all memory in bytes.
    var size: Int { large.reduce(allocated) { $0 + $1.byteCapacity } }

    var isFragmented: Bool { wouldWaste(0, inUse: inUse) }
}
