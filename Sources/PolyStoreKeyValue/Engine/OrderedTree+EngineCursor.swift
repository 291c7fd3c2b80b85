import PolyStoreBackend

extension OrderedTree {
    /// A cursor for engines that keep their keys in a tree. It holds this version.
    public func makeCursor() -> EngineCursor { TreeCursor(self) }

    /// This version as a snapshot, for engines that keep their keys in a tree.
    public func makeSnapshot() -> any EngineSnapshot { TreeSnapshot(self) }
}

private final class TreeSnapshot: EngineSnapshot {
    // Of one thread, used in one step each.
    @exclusivity(unchecked) private var tree: OrderedTree

    init(_ tree: OrderedTree) { self.tree = tree }

    func get(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? { tree.value(of: key) }
    func cursor() -> EngineCursor { tree.makeCursor() }
    func end() { tree = OrderedTree() }
}

private final class TreeCursor: EngineCursor {
    // Only the methods below use it, and never while it is in use.
    @exclusivity(unchecked) private var cursor: OrderedTree.Cursor

    init(_ tree: OrderedTree) {
        cursor = tree.cursor()
        super.init()
    }

    override func seek(_ key: UnsafeRawBufferPointer) -> Bool { stand(cursor.seek(key)) }
    override func last() -> Bool { stand(cursor.last()) }
    override func next() -> Bool { stand(cursor.next()) }
    override func previous() -> Bool { stand(cursor.previous()) }

    override func next(into batch: EntryBatch) -> Int? { cursor.next(into: batch) }

    private func stand(_ isThere: Bool) -> Bool {
        guard isThere, let entry = cursor.entry else { return false }
        stand(on: entry.key, entry.value ?? UnsafeRawBufferPointer(start: nil, count: 0))
        return true
    }
}
