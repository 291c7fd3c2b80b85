import PolyStoreBackend

/// A sorted map from bytes to bytes, by value: a copy is a snapshot, and costs nothing until one of the two changes.
///
/// A B+tree whose nodes are copied only where somebody else still holds them, so a change copies at most one path from the root to a leaf.
/// Snapshots of the store in memory, savepoints, and what a transaction has written but not committed are all copies of one of these. A key can
/// also be kept as *removed*: that is how a transaction hides what lies below it.
public struct OrderedTree: Sendable {
    /// Entries of a leaf, and children of a branch, at most. Half of it at least, but for the root and after a bulk load.
    static let width = 64

    private(set) var root: Node?
    /// Keys, the removed ones that are kept included.
    public private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }

    /// A node, changed only by who holds it alone.
    final class Node: @unchecked Sendable {  // changed only while a single tree refers to it, so never while it is shared; entries never
        /// Of a leaf, its entries; of a branch, for each child but the first the entry that had the least key below it when it was made.
        var entries: ContiguousArray<TreeEntry>
        var children: ContiguousArray<Node>

        init(entries: ContiguousArray<TreeEntry>, children: ContiguousArray<Node>) {
            self.entries = entries
            self.children = children
        }

        var isLeaf: Bool { children.isEmpty }
        var size: Int { isLeaf ? entries.count : children.count }
        func copy() -> Node { Node(entries: entries, children: children) }

        /// The position of the first key that is not below another, and whether it is that key.
        func search(_ key: UnsafeRawBufferPointer) -> (position: Int, isFound: Bool) {
            var low = 0
            var high = entries.count
            return entries.withUnsafeBufferPointer { entries in
                while low < high {
                    let middle = (low &+ high) >> 1
                    let order = Order.of(entries[middle].key, key)
                    if order < 0 {
                        low = middle &+ 1
                    } else if order == 0 {
                        return (middle, true)
                    } else {
                        high = middle
                    }
                }
                return (low, false)
            }
        }

        /// The child that a key belongs to.
        func childIndex(_ key: UnsafeRawBufferPointer) -> Int {
            let (position, isFound) = search(key)
            return isFound ? position + 1 : position
        }
    }

    // MARK: Reading

    /// The entry of a key, removed or not; nil where the tree knows nothing of it.
    func entry(_ key: UnsafeRawBufferPointer) -> TreeEntry? {
        guard var node = root else { return nil }
        while !node.isLeaf { node = node.children[node.childIndex(key)] }
        let (position, isFound) = node.search(key)
        return isFound ? node.entries[position] : nil
    }

    /// The value of a key, valid as long as this version of the tree; nil where it has none.
    public func value(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? { entry(key)?.value }

    // MARK: Writing

    /// Sets the value of a key, new or not.
    /// - Parameter value: nil keeps the key as removed.
    public mutating func set(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) { set(TreeEntry.make(key, value)) }

    mutating func set(_ entry: TreeEntry) {
        // Taken out meanwhile, so that the root counts as held by this tree alone.
        guard var node = root.take() else {
            root = Node(entries: [entry], children: [])
            count = 1
            return
        }
        if Self.insert(&node, entry) { count += 1 }
        if node.size > Self.width {
            let (separator, right) = Self.split(node, atEnd: false)
            node = Node(entries: [separator], children: [node, right])
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
        if !node.isLeaf, node.children.count == 1 { node = node.children[0] }
        root = count == 0 ? nil : node
        return true
    }

    /// Adds many entries: as `set` of each, and far cheaper where they are all behind what the tree holds.
    /// - Parameter entries: with ascending keys, each once.
    mutating func append(_ entries: [TreeEntry]) {
        var rest = entries[...]
        if let last = lastKey, let first = entries.first, Order.of(first.key, last) <= 0 {
            // Those up to the end go in one by one.
            while let next = rest.first, Order.of(next.key, last) <= 0 {
                set(next)
                rest = rest.dropFirst()
            }
        }
        if count == 0 {
            load(rest)
        } else {
            for entry in rest { set(entry) }
        }
    }

    private var lastKey: UnsafeRawBufferPointer? {
        guard var node = root else { return nil }
        while let child = node.children.last { node = child }
        return node.entries.last?.key
    }

    /// Builds full leaves from left to right, and the branches above them.
    private mutating func load(_ entries: ArraySlice<TreeEntry>) {
        guard !entries.isEmpty else { return }
        count = entries.count
        let fill = Self.width - Self.width / 8
        var level: [(least: TreeEntry, node: Node)] = Self.portions(entries.count, fill).map { range in
            let slice = entries[(entries.startIndex + range.lowerBound)..<(entries.startIndex + range.upperBound)]
            return (slice[slice.startIndex], Node(entries: ContiguousArray(slice), children: []))
        }
        while level.count > 1 {
            level = Self.portions(level.count, fill).map { range in
                let nodes = level[range]
                return (
                    nodes[range.lowerBound].least,
                    Node(entries: ContiguousArray(nodes.dropFirst().map(\.least)), children: ContiguousArray(nodes.map(\.node)))
                )
            }
        }
        root = level[0].node
    }

    /// Ranges of nearly equal length, none above `most`.
    private static func portions(_ count: Int, _ most: Int) -> [Range<Int>] {
        let number = (count + most - 1) / most
        return (0..<number).map { (count * $0 / number)..<(count * ($0 + 1) / number) }
    }

    /// Makes a node one that only this tree holds.
    private static func own(_ node: inout Node) { if !isKnownUniquelyReferenced(&node) { node = node.copy() } }

    /// - Returns: whether the key is new. The node may have one entry too many afterwards; its parent splits it.
    private static func insert(_ node: inout Node, _ entry: TreeEntry) -> Bool {
        own(&node)
        if node.isLeaf {
            let (position, isFound) = node.search(entry.key)
            if isFound {
                node.entries[position] = entry
            } else {
                node.entries.insert(entry, at: position)
            }
            return !isFound
        }
        let child = node.childIndex(entry.key)
        let isNew = insert(&node.children[child], entry)
        if node.children[child].size > width {
            let (separator, right) = split(node.children[child], atEnd: child == node.children.count - 1)
            node.entries.insert(separator, at: child)
            node.children.insert(right, at: child + 1)
        }
        return isNew
    }

    /// Takes the upper half out of a node that only this tree holds; at the end of the tree less, as keys often come in their order.
    private static func split(_ node: Node, atEnd: Bool) -> (separator: TreeEntry, right: Node) {
        let middle = atEnd && node.isLeaf ? node.size - node.size / 8 : node.size / 2
        let right: Node
        let separator: TreeEntry
        if node.isLeaf {
            separator = node.entries[middle]
            right = Node(entries: ContiguousArray(node.entries[middle...]), children: [])
            node.entries.removeSubrange(middle...)
        } else {
            separator = node.entries[middle - 1]
            right = Node(entries: ContiguousArray(node.entries[middle...]), children: ContiguousArray(node.children[middle...]))
            node.entries.removeSubrange((middle - 1)...)
            node.children.removeSubrange(middle...)
        }
        return (separator, right)
    }

    private static func remove(_ node: inout Node, _ key: UnsafeRawBufferPointer) {
        own(&node)
        if node.isLeaf {
            let (position, isFound) = node.search(key)
            if isFound { node.entries.remove(at: position) }
            return
        }
        let child = node.childIndex(key)
        remove(&node.children[child], key)
        if node.children[child].size < width / 2 { rebalance(node, child) }
    }

    /// Fills up a child that has become too small, from a neighbour or together with it.
    private static func rebalance(_ node: Node, _ child: Int) {
        let left = child > 0 ? child - 1 : child
        let right = left + 1
        guard right < node.children.count else { return }
        own(&node.children[left])
        own(&node.children[right])
        let (first, second) = (node.children[left], node.children[right])
        let separator = node.entries[left]
        if first.isLeaf {
            first.entries += second.entries
        } else {
            first.entries.append(separator)
            first.entries += second.entries
            first.children += second.children
        }
        node.entries.remove(at: left)
        node.children.remove(at: right)
        if first.size > width {
            let (separator, rest) = split(first, atEnd: false)
            node.entries.insert(separator, at: left)
            node.children.insert(rest, at: right)
        }
    }
}
