import PolyStoreBackend

extension OrderedTree {
    /// A cursor for engines that keep their keys in a tree. It holds this version.
    public func makeCursor() -> EngineCursor { TreeCursor(self) }
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

    private func stand(_ isThere: Bool) -> Bool {
        guard isThere, let entry = cursor.entry else { return false }
        key = entry.key
        value = entry.value ?? UnsafeRawBufferPointer(start: nil, count: 0)
        return true
    }
}
