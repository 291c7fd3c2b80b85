import PolyStoreBackend

/// The memory of a node's keys and values. By value, like the node: a copy shares what was written, and both write on elsewhere.
struct NodeBytes {
    /// What is written to, as long as nobody shares it.
    private var current: TreeBytes?
    private var earlier: ContiguousArray<TreeBytes> = []
    /// Memory of entries that lie alone, one each.
    private var alone: ContiguousArray<TreeBytes> = []
    /// Bytes of all memory but that of entries that lie alone.
    private var held = 0
    /// So many of them are of entries that are still there.
    private(set) var inUse = 0

    /// In more places than this, entries of a node are brought together again. Each change of a shared node adds one: more places make copies of the
    /// node slower, fewer make it copy its entries more often.
    private static let mostPlaces = 16
    /// So much waste is not worth a copy.
    private static let slack = 512

    /// Makes room for entries that come next.
    mutating func reserve(_ size: Int) {
        if size == 0 { return }
        if current != nil, isKnownUniquelyReferenced(&current), let current, current.rest >= size { return }
        add(size)
    }

    private mutating func add(_ room: Int) {
        if let current { earlier.append(current) }
        current = TreeBytes.make(room)
        held += room
    }

    mutating func store(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> TreeEntry {
        let size = key.count + (value?.count ?? 0)
        if size >= TreeBytes.leastAlone {
            let bytes = TreeBytes.make(size)
            alone.append(bytes)
            return bytes.append(key, value)
        }
        inUse += size
        if current != nil, isKnownUniquelyReferenced(&current) {
            // Who writes more than once to one node is likely to write again.
            if let current, current.rest < size { add(max(size, min(held, 4096))) }
        } else {
            add(size)
        }
        guard let current else { preconditionFailure("memory was made above") }
        return current.append(key, value)
    }

    /// The memory of an entry that lies alone.
    func memory(of entry: TreeEntry) -> TreeBytes? { alone.first { $0.begins(with: entry) } }

    /// Keeps memory in which one entry lies alone.
    mutating func share(_ memory: TreeBytes) { alone.append(memory) }

    /// An entry is gone. Its bytes may be gone at once.
    mutating func forget(_ entry: TreeEntry) {
        if !entry.liesAlone {
            inUse -= entry.size
        } else if let position = alone.firstIndex(where: { $0.begins(with: entry) }) {
            alone.remove(at: position)
        }
    }

    /// These are all entries now.
    mutating func settle(_ entries: ContiguousArray<TreeEntry>) {
        inUse = entries.reduce(0) { $0 + ($1.liesAlone ? 0 : $1.size) }
        if !alone.isEmpty { alone.removeAll { bytes in !entries.contains { $0.liesAlone && bytes.begins(with: $0) } } }
    }

    func wouldWaste(_ more: Int, inUse: Int) -> Bool {
        held + more > 2 * inUse + Self.slack || earlier.count >= Self.mostPlaces
    }

    /// Bytes of all memory.
    var size: Int { alone.reduce(held) { $0 + $1.room } }

    var isUntidy: Bool { wouldWaste(0, inUse: inUse) }
}
