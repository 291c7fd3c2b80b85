import PolyStoreBackend

/// A sorted map from bytes to bytes, by value: a copy is a snapshot, and costs nothing until one of the two changes.
///
/// A B+tree whose nodes are copied only where somebody else still holds them, so a change copies at most one path from the root to a leaf.
/// Snapshots of the store in memory, savepoints, and what a transaction has written but not committed are all copies of one of these. A key can
/// also be kept as *removed*: that is how a transaction hides what lies below it.
public struct OrderedTree: Sendable {
    /// Entries of a leaf, and children of a branch, at most. Half of it at least, but for the root.
    static let width = 64

    var root: Node?
    /// Keys, the removed ones that are kept included.
    public internal(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }

    // MARK: Reading

    /// The entry of a key, removed or not; nil where the tree knows nothing of it.
    func entry(_ key: UnsafeRawBufferPointer) -> TreeEntry? {
        guard let root else { return nil }
        return root.find(key)
    }

    /// The value of a key, valid as long as this version of the tree; nil where it has none.
    public func value(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? { entry(key)?.value }

    // MARK: Writing

    /// Sets the value of a key, new or not.
    /// - Parameter value: nil keeps the key as removed.
    public mutating func set(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
        // Taken out meanwhile, so that the root counts as held by this tree alone.
        var node = root.take() ?? Node([])
        if Self.insert(&node, key, value) { count += 1 }
        if node.size > Self.width {
            let (separator, right) = Self.split(node, atEnd: false)
            node = Node([separator.entry], children: [node, right])
        }
        root = node
    }

    /// Forgets a key.
    /// - Returns: whether it was there.
    @discardableResult
    public mutating func remove(_ key: UnsafeRawBufferPointer) -> Bool {
        guard entry(key) != nil, var node = root.take() else { return false }
        Self.remove(&node, key)
        count -= 1
        while !node.isLeaf, node.children.count == 1 { node = node.children[0] }
        root = count == 0 ? nil : node
        return true
    }

    /// A key that parts two nodes, kept by itself while it is on its way from one to another.
    struct Separator {
        let entry: TreeEntry
        private let bytes: TreeBytes

        init(_ key: UnsafeRawBufferPointer) { (bytes, entry) = TreeBytes.holding(key) }
    }

    /// Makes a node one that only this tree holds.
    private static func own(_ node: inout Node) { if !isKnownUniquelyReferenced(&node) { node = node.copy() } }

    /// - Returns: whether the key is new. The node may have one entry too many afterwards; its parent splits it.
    private static func insert(_ node: inout Node, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> Bool {
        own(&node)
        if node.isLeaf {
            let (position, isFound) = node.search(key)
            if isFound { node.replace(position, key, value) } else { node.insert(key, value, at: position) }
            node.tidy()
            return !isFound
        }
        let child = node.childIndex(key)
        let isNew = insert(&node.children[child], key, value)
        if node.children[child].size > width {
            let (separator, right) = split(node.children[child], atEnd: child == node.children.count - 1)
            node.insert(separator, right, after: child)
        }
        return isNew
    }

    /// Takes the upper half out of a node that only this tree holds; at the end of the tree less, as keys often come in their order.
    private static func split(_ node: Node, atEnd: Bool) -> (separator: Separator, right: Node) {
        let middle = atEnd && node.isLeaf ? node.size - node.size / 8 : node.size / 2
        let separator = Separator(node.entries[node.isLeaf ? middle : middle - 1].key)
        return (separator, node.split(at: middle))
    }

    private static func remove(_ node: inout Node, _ key: UnsafeRawBufferPointer) {
        own(&node)
        if node.isLeaf {
            let (position, isFound) = node.search(key)
            if isFound { node.remove(at: position) }
            node.tidy()
            return
        }
        let child = node.childIndex(key)
        remove(&node.children[child], key)
        if node.children[child].isSmall { rebalance(node, child) }
    }

    /// Fills up a child that has become too small, from a neighbour or together with it.
    private static func rebalance(_ node: Node, _ child: Int) {
        let left = child > 0 ? child - 1 : child
        let right = left + 1
        guard right < node.children.count else { return }
        own(&node.children[left])
        let (first, second) = (node.children[left], node.children[right])
        first.append(second, separator: node.entries[left])
        node.removeChild(right)
        // After a run of removals there may be more.
        if !first.isLeaf { fillUp(first) }
        if first.size > width {
            let (separator, rest) = split(first, atEnd: false)
            node.insert(separator, rest, after: left)
        }
        first.tidy()
    }

    /// Fills up all children that have become too small. Only a single one stays so.
    static func fillUp(_ node: Node) {
        var child = node.children.count - 1
        while child >= 0 {
            if node.children[child].isSmall, node.children.count > 1 {
                rebalance(node, child)
                // Together with the neighbour it may still be too small, and is looked at again.
                child = min(max(child - 1, 0), node.children.count - 1)
                if child == 0, !node.children[0].isSmall { return }
            } else {
                child -= 1
            }
        }
    }
}
