import PolyStoreBackend

/// A sorted map from bytes to bytes with value semantics: a copy is a snapshot and costs nothing until one of the two changes.
///
/// A B+tree whose nodes are copied only if they are shared, so a change copies at most one path from the root to a leaf. Snapshots of an in-memory store,
/// savepoints, and the pending changes of a transaction are all copies of such a tree. A key can also be kept as *removed*: a tombstone, with which a
/// transaction hides the key of its base.
public struct OrderedTree: Sendable {
    /// The maximum number of entries of a leaf and of children of a branch. Nodes other than the root are at least half full.
    static let width = 64

    var root: Node?
    /// The number of keys, including tombstones.
    public internal(set) var count = 0

    /// Creates an empty tree.
    public init() {}

    /// A Boolean value that indicates whether the tree has neither keys nor tombstones.
    public var isEmpty: Bool { count == 0 }

    // MARK: Reading

    /// Returns the entry or tombstone of a key; `nil` if the tree has neither.
    func entry(_ key: UnsafeRawBufferPointer) -> TreeEntry? {
        guard let root else { return nil }
        return root.find(key)
    }

    /// Returns the value of a key, which is valid as long as this version of the tree; `nil` if it has none.
    public func value(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? { entry(key)?.value }

    // MARK: Writing

    /// Sets the value of a key.
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The new value; `nil` stores a tombstone.
    public mutating func set(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
        // Moved out during the change, so that this tree holds the only reference to the root.
        var node = root.take() ?? Node([])
        if Self.insert(&node, key, value) { count += 1 }
        if node.size > Self.width {
            let (separator, right) = Self.split(node, atEnd: false)
            node = Node([separator.entry], children: [node, right])
        }
        root = node
    }

    /// Removes a key without a tombstone.
    /// - Returns: whether the tree contained the key.
    @discardableResult
    public mutating func remove(_ key: UnsafeRawBufferPointer) -> Bool {
        guard entry(key) != nil, var node = root.take() else { return false }
        Self.remove(&node, key)
        count -= 1
        while !node.isLeaf, node.children.count == 1 { node = node.children[0] }
        root = count == 0 ? nil : node
        return true
    }

    /// A key between two nodes, with its own memory while it moves from one node to another.
    struct Separator {
        let entry: TreeEntry
        private let bytes: TreeBytes

        init(_ key: UnsafeRawBufferPointer) { (bytes, entry) = TreeBytes.holding(key) }
    }

    /// Makes sure that a node is referenced only by this tree.
    private static func own(_ node: inout Node) { if !isKnownUniquelyReferenced(&node) { node = node.copy() } }

    /// - Returns: whether the key is new. The node may have one entry too many afterwards; its parent splits it.
    private static func insert(_ node: inout Node, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> Bool {
        own(&node)
        if node.isLeaf {
            let (position, isFound) = node.search(key)
            if isFound { node.replace(position, key, value) } else { node.insert(key, value, at: position) }
            node.compact()
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

    /// Splits off the upper half of a uniquely referenced node, or less at the end of the tree, because keys often arrive in order.
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
            node.compact()
            return
        }
        let child = node.childIndex(key)
        remove(&node.children[child], key)
        if node.children[child].isSmall { rebalance(node, child) }
    }

    /// Fills a child that has become too small, from a neighbor or by merging the two.
    private static func rebalance(_ node: Node, _ child: Int) {
        let left = child > 0 ? child - 1 : child
        let right = left + 1
        guard right < node.children.count else { return }
        own(&node.children[left])
        let (first, second) = (node.children[left], node.children[right])
        first.append(second, separator: node.entries[left])
        node.removeChild(right)
        // After a run of removals, more than one child may be too small.
        if !first.isLeaf { fillUp(first) }
        if first.size > width {
            let (separator, rest) = split(first, atEnd: false)
            node.insert(separator, rest, after: left)
        }
        first.compact()
    }

    /// Fills all children that have become too small. Only a single child can remain too small.
    static func fillUp(_ node: Node) {
        var child = node.children.count - 1
        while child >= 0 {
            if node.children[child].isSmall, node.children.count > 1 {
                rebalance(node, child)
                // The merged node may still be too small, so it is checked again.
                child = min(max(child - 1, 0), node.children.count - 1)
                if child == 0, !node.children[0].isSmall { return }
            } else {
                child -= 1
            }
        }
    }
}
