import PolyStoreBackend

/// A sorted map from bytes to bytes, by value: a copy is a snapshot, and costs nothing until one of the two changes.
///
/// A B+tree whose nodes are copied only where somebody else still holds them, so a change copies at most one path from the root to a leaf. Savepoints,
/// snapshots and what a transaction has written but not committed are all copies of one of these.
public struct OrderedTree: Sendable {
    public typealias Bytes = [UInt8]

    /// Entries of a leaf, and children of a branch, at most. Half of it at least, but for the root.
    static let width = 64

    private(set) var root: Node?
    public private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }

    /// A node, changed only by who holds it alone.
    final class Node: @unchecked Sendable {  // changed only while a single tree refers to it, so never while it is shared
        /// Of a leaf, the keys of its entries; of a branch, the least key below each child but the first.
        var keys: [Bytes]
        var values: [Bytes]
        var children: [Node]

        init(keys: [Bytes], values: [Bytes], children: [Node]) {
            self.keys = keys
            self.values = values
            self.children = children
        }

        var isLeaf: Bool { children.isEmpty }
        var size: Int { isLeaf ? keys.count : children.count }
        func copy() -> Node { Node(keys: keys, values: values, children: children) }

        /// The position of the first key that is not below another.
        func lowerBound(_ key: UnsafeRawBufferPointer) -> Int {
            var low = 0
            var high = keys.count
            while low < high {
                let middle = (low + high) / 2
                if keys[middle].withUnsafeBytes({ Order.of($0, key) }) < 0 { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// The child that a key belongs to.
        func childIndex(_ key: UnsafeRawBufferPointer) -> Int {
            let bound = lowerBound(key)
            return bound < keys.count && keys[bound].withUnsafeBytes({ Order.of($0, key) }) == 0 ? bound + 1 : bound
        }

        func holds(_ key: UnsafeRawBufferPointer, at position: Int) -> Bool {
            position < keys.count && keys[position].withUnsafeBytes { Order.of($0, key) } == 0
        }
    }

    // MARK: Reading

    public subscript(key: UnsafeRawBufferPointer) -> Bytes? {
        guard var node = root else { return nil }
        while !node.isLeaf { node = node.children[node.childIndex(key)] }
        let position = node.lowerBound(key)
        return node.holds(key, at: position) ? node.values[position] : nil
    }

    public subscript(key: Bytes) -> Bytes? { key.withUnsafeBytes { self[$0] } }

    // MARK: Writing

    /// Sets the value of a key, new or not.
    public mutating func set(_ key: Bytes, _ value: Bytes) {
        // Taken out meanwhile, so that the root counts as held by this tree alone.
        guard var node = root.take() else {
            root = Node(keys: [key], values: [value], children: [])
            count = 1
            return
        }
        if key.withUnsafeBytes({ Self.insert(&node, key, $0, value) }) { count += 1 }
        if node.size > Self.width {
            let (separator, right) = Self.split(node)
            node = Node(keys: [separator], values: [], children: [node, right])
        }
        root = node
    }

    /// Removes a key.
    /// - Returns: whether it was there.
    @discardableResult
    public mutating func remove(_ key: Bytes) -> Bool {
        guard self[key] != nil, var node = root.take() else { return false }
        key.withUnsafeBytes { Self.remove(&node, $0) }
        count -= 1
        if !node.isLeaf, node.children.count == 1 { node = node.children[0] }
        root = count == 0 ? nil : node
        return true
    }

    /// Makes a node one that only this tree holds.
    private static func own(_ node: inout Node) { if !isKnownUniquelyReferenced(&node) { node = node.copy() } }

    /// - Returns: whether the key is new. The node may have one entry too many afterwards; its parent splits it.
    private static func insert(_ node: inout Node, _ key: Bytes, _ bytes: UnsafeRawBufferPointer, _ value: Bytes) -> Bool {
        own(&node)
        if node.isLeaf {
            let position = node.lowerBound(bytes)
            if node.holds(bytes, at: position) {
                node.values[position] = value
                return false
            }
            node.keys.insert(key, at: position)
            node.values.insert(value, at: position)
            return true
        }
        let child = node.childIndex(bytes)
        let isNew = insert(&node.children[child], key, bytes, value)
        if node.children[child].size > width {
            let (separator, right) = split(node.children[child])
            node.keys.insert(separator, at: child)
            node.children.insert(right, at: child + 1)
        }
        return isNew
    }

    /// Takes the upper half out of a node that only this tree holds.
    private static func split(_ node: Node) -> (separator: Bytes, right: Node) {
        let middle = node.size / 2
        let right: Node
        let separator: Bytes
        if node.isLeaf {
            separator = node.keys[middle]
            right = Node(keys: Array(node.keys[middle...]), values: Array(node.values[middle...]), children: [])
            node.keys.removeSubrange(middle...)
            node.values.removeSubrange(middle...)
        } else {
            separator = node.keys[middle - 1]
            right = Node(keys: Array(node.keys[middle...]), values: [], children: Array(node.children[middle...]))
            node.keys.removeSubrange((middle - 1)...)
            node.children.removeSubrange(middle...)
        }
        return (separator, right)
    }

    private static func remove(_ node: inout Node, _ key: UnsafeRawBufferPointer) {
        own(&node)
        if node.isLeaf {
            let position = node.lowerBound(key)
            guard node.holds(key, at: position) else { return }
            node.keys.remove(at: position)
            node.values.remove(at: position)
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
        let separator = node.keys[left]
        if first.isLeaf {
            first.keys += second.keys
            first.values += second.values
        } else {
            first.keys += [separator] + second.keys
            first.children += second.children
        }
        node.keys.remove(at: left)
        node.children.remove(at: right)
        if first.size > width {
            let (separator, rest) = split(first)
            node.keys.insert(separator, at: left)
            node.children.insert(rest, at: right)
        }
    }
}
