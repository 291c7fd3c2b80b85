import PolyStoreBackend

extension OrderedTree {
    /// Returns a cursor over this version, for engines that keep their keys in a tree.
    public func makeCursor() -> EngineCursor { TreeCursor(self) }

    /// Returns this version as a snapshot, for engines that keep their keys in a tree.
    public func makeSnapshot() -> any EngineSnapshot { TreeSnapshot(self) }
}

private final class TreeSnapshot: EngineSnapshot {
    // Used by one thread; each access is a single load or store.
    @exclusivity(unchecked) private var tree: OrderedTree
    @exclusivity(unchecked) private var isEnded = false

    init(_ tree: OrderedTree) { self.tree = tree }

    private func check() throws { if isEnded { throw StoreError(.closed, "The snapshot has ended.") } }

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        try check()
        return tree.value(of: key)
    }

    func cursor() throws -> EngineCursor {
        try check()
        return tree.makeCursor()
    }

    func end() {
        isEnded = true
        tree = OrderedTree()
    }
}

private final class TreeCursor: EngineCursor {
    // Used only by the methods below, never recursively.
    @exclusivity(unchecked) private var cursor: OrderedTree.Cursor

    init(_ tree: OrderedTree) {
        cursor = tree.cursor()
        super.init()
    }

    override func seek(_ key: UnsafeRawBufferPointer) -> Bool { setEntry(cursor.seek(key)) }
    override func last() -> Bool { setEntry(cursor.last()) }
    override func next() -> Bool { setEntry(cursor.next()) }
    override func previous() -> Bool { setEntry(cursor.previous()) }

    override func next(into batch: EntryBatch) -> Int? { cursor.next(into: batch) }

    private func setEntry(_ isFound: Bool) -> Bool {
        guard isFound, let entry = cursor.entry else { return false }
        setCurrent(entry.key, entry.value ?? UnsafeRawBufferPointer(start: nil, count: 0))
        return true
    }
}
