import PolyStoreBackend

/// A sorted map from bytes to bytes, by value: a copy is a snapshot, and costs nothing until one of the two changes.
///
/// A B+tree whose nodes are copied only where somebody else still holds them, so a change copies at most one path from the root to a leaf.
/// Snapshots of the store in memory, savepoints, and what a transaction has written but not committed are all copies of one of these. A key can
/// also be kept as *removed*: that is how a transaction hides what lies below it.
public struct OrderedTree: Sendable {
    /// Entries of a leaf, and children of a branch, at most. Half of it at least, but for the root.
    static let width = 64

    private(set) var root: Node?
    /// Keys, the removed ones that are kept included.
    public private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }

    /// A node, changed only by who holds it alone.
    final class Node: @unchecked Sendable {  // changed only while a single tree refers to it, so never while it is shared; entries never
        // Only the owner writes, in one step each, so exclusivity checks could find nothing; in a search they would cost more than the comparing.
        /// Of a leaf, its entries; of a branch, for each child but the first the entry that had the least key below it when it was made.
        @exclusivity(unchecked) private(set) var entries: ContiguousArray<TreeEntry>
        @exclusivity(unchecked) var children: ContiguousArray<Node>
        /// So many bytes at the beginning are the same in all keys.
        @exclusivity(unchecked) private var shared = 0
        /// The next eight bytes of each key, zeros behind its end: they decide nearly every comparison without a look at the entry.
        @exclusivity(unchecked) private var heads: ContiguousArray<UInt64>

        init(entries: ContiguousArray<TreeEntry>, children: ContiguousArray<Node>) {
            self.entries = entries
            self.children = children
            heads = []
            rebuildHeads()
        }

        private init(copyOf node: Node) {
            entries = node.entries
            children = node.children
            shared = node.shared
            heads = node.heads
        }

        var isLeaf: Bool { children.isEmpty }
        var size: Int { isLeaf ? entries.count : children.count }
        func copy() -> Node { Node(copyOf: self) }

        // MARK: Entries

        private func rebuildHeads() {
            shared = 0
            if let first = entries.first?.key, let last = entries.last?.key {
                let most = min(first.count, last.count)
                while shared < most, first[shared] == last[shared] { shared += 1 }
            }
            heads.removeAll(keepingCapacity: true)
            heads.reserveCapacity(OrderedTree.width + 1)
            for entry in entries { heads.append(Self.head(entry.key, shared)) }
        }

        private static func head(_ key: UnsafeRawBufferPointer, _ start: Int) -> UInt64 {
            if start &+ 8 <= key.count { return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
            var word: UInt64 = 0
            for position in start..<start &+ 8 { word = word << 8 | (position < key.count ? UInt64(key[position]) : 0) }
            return word
        }

        /// How a key's first bytes stand to those that all keys here share.
        private func orderOfBeginning(_ key: UnsafeRawBufferPointer) -> Int {
            let count = min(shared, key.count)
            return Order.of(
                UnsafeRawBufferPointer(rebasing: key[0..<count]), UnsafeRawBufferPointer(rebasing: entries[0].key[0..<count]))
        }

        func replace(_ position: Int, _ entry: TreeEntry) { entries[position] = entry }

        func insert(_ entry: TreeEntry, at position: Int) {
            let key = entry.key
            let fits = key.count >= shared && (entries.isEmpty || orderOfBeginning(key) == 0)
            entries.insert(entry, at: position)
            if fits && entries.count > 1 { heads.insert(Self.head(key, shared), at: position) } else { rebuildHeads() }
        }

        func remove(at position: Int) {
            entries.remove(at: position)
            heads.remove(at: position)
        }

        /// Drops the entries from a position on.
        func cut(from position: Int) {
            entries.removeSubrange(position...)
            rebuildHeads()
        }

        func append(_ others: ContiguousArray<TreeEntry>) {
            entries += others
            rebuildHeads()
        }

        // MARK: Searching

        /// The position of the first key that is not below another, and whether it is that key.
        func search(_ key: UnsafeRawBufferPointer) -> (position: Int, isFound: Bool) {
            guard !entries.isEmpty else { return (0, false) }
            if shared > 0 {
                let order = orderOfBeginning(key)
                if order != 0 { return (order < 0 ? 0 : entries.count, false) }
                if key.count < shared { return (0, false) }
            }
            let head = Self.head(key, shared)
            var low = 0
            var high = heads.count
            heads.withUnsafeBufferPointer { heads in
                while low < high {
                    let middle = (low &+ high) >> 1
                    if heads[middle] < head { low = middle &+ 1 } else { high = middle }
                }
            }
            // Those whose eight bytes are the same are told apart by the whole.
            high = low
            while high < heads.count, heads[high] == head { high &+= 1 }
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

    /// Makes a node one that only this tree holds.
    private static func own(_ node: inout Node) { if !isKnownUniquelyReferenced(&node) { node = node.copy() } }

    /// - Returns: whether the key is new. The node may have one entry too many afterwards; its parent splits it.
    private static func insert(_ node: inout Node, _ entry: TreeEntry) -> Bool {
        own(&node)
        if node.isLeaf {
            let (position, isFound) = node.search(entry.key)
            if isFound { node.replace(position, entry) } else { node.insert(entry, at: position) }
            return !isFound
        }
        let child = node.childIndex(entry.key)
        let isNew = insert(&node.children[child], entry)
        if node.children[child].size > width {
            let (separator, right) = split(node.children[child], atEnd: child == node.children.count - 1)
            node.insert(separator, at: child)
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
            node.cut(from: middle)
        } else {
            separator = node.entries[middle - 1]
            right = Node(entries: ContiguousArray(node.entries[middle...]), children: ContiguousArray(node.children[middle...]))
            node.cut(from: middle - 1)
            node.children.removeSubrange(middle...)
        }
        return (separator, right)
    }

    private static func remove(_ node: inout Node, _ key: UnsafeRawBufferPointer) {
        own(&node)
        if node.isLeaf {
            let (position, isFound) = node.search(key)
            if isFound { node.remove(at: position) }
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
            first.append(second.entries)
        } else {
            first.append([separator] + second.entries)
            first.children += second.children
        }
        node.remove(at: left)
        node.children.remove(at: right)
        if first.size > width {
            let (separator, rest) = split(first, atEnd: false)
            node.insert(separator, at: left)
            node.children.insert(rest, at: right)
        }
    }
}
