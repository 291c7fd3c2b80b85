import PolyStoreBackend

extension OrderedTree {
    /// A bidirectional cursor over one version of a tree. Later changes of the tree do not affect it.
    struct Cursor {
        /// The branches from the root down, each with the position of the child taken.
        private var path: [(node: Node, position: Int)] = []
        private var leaf: Node?
        private var position = 0
        private let root: Node?

        fileprivate init(_ root: Node?) { self.root = root }

        /// A Boolean value that indicates whether the cursor is on an entry.
        var isValid: Bool { leaf.map { position >= 0 && position < $0.entries.count } ?? false }

        /// The current entry; `nil` if the cursor is not on one.
        var entry: TreeEntry? {
            guard let leaf, position >= 0, position < leaf.entries.count else { return nil }
            return leaf.entries[position]
        }

        /// Moves to the first entry that is not less than a key.
        /// - Returns: whether such an entry exists.
        @discardableResult
        mutating func seek(_ key: UnsafeRawBufferPointer) -> Bool {
            path.removeAll(keepingCapacity: true)
            guard var node = root else { return false }
            while !node.isLeaf {
                let child = node.childIndex(key)
                path.append((node, child))
                node = node.children[child]
            }
            leaf = node
            position = node.search(key).position
            return position < node.entries.count || advance(1)
        }

        @discardableResult
        mutating func first() -> Bool { edge(1) }

        @discardableResult
        mutating func last() -> Bool { edge(-1) }

        /// Moves to the next entry.
        /// - Returns: `false` after the last entry, where the cursor is invalid.
        @discardableResult
        mutating func next() -> Bool {
            guard let leaf else { return false }
            position &+= 1
            return position < leaf.entries.count || advance(1)
        }

        /// Adds the following entries to a batch until it is full. Removed entries are indistinguishable from empty ones.
        mutating func next(into batch: EntryBatch) -> Int {
            var count = 0
            // Reads a byte of each record, so that the cache misses overlap.
            var touched: UInt8 = 0
            defer { batch.touched = touched }
            while count < EntryBatch.capacity, let leaf {
                position &+= 1
                if position >= leaf.entries.count, !advance(1) { break }
                guard let leaf = self.leaf else { break }
                let last = min(leaf.entries.count, position &+ EntryBatch.capacity &- count)
                leaf.entries.withUnsafeBufferPointer { entries in
                    for entry in entries[position..<last] {
                        let value = entry.value ?? UnsafeRawBufferPointer(start: nil, count: 0)
                        if value.count > 64 { touched ^= value[0] ^ value[64] }
                        batch.set(count, entry.key, value)
                        count &+= 1
                    }
                }
                position = last &- 1
            }
            return count
        }

        /// Moves to the previous entry.
        @discardableResult
        mutating func previous() -> Bool {
            guard leaf != nil else { return false }
            position &-= 1
            return position >= 0 || advance(-1)
        }

        private mutating func edge(_ direction: Int) -> Bool {
            path.removeAll(keepingCapacity: true)
            guard let root else { return false }
            descend(root, direction)
            return isValid
        }

        private mutating func descend(_ start: Node, _ direction: Int) {
            var node = start
            while !node.isLeaf {
                let child = direction > 0 ? 0 : node.children.count - 1
                path.append((node, child))
                node = node.children[child]
            }
            leaf = node
            position = direction > 0 ? 0 : node.entries.count - 1
        }

        /// Moves from the end of a leaf to the neighboring leaf.
        private mutating func advance(_ direction: Int) -> Bool {
            while let last = path.last {
                let position = last.position + direction
                if last.node.children.indices.contains(position) {
                    path[path.count - 1].position = position
                    descend(last.node.children[position], direction)
                    return isValid
                }
                path.removeLast()
            }
            leaf = nil
            return false
        }
    }

    /// Returns an unpositioned cursor over this version.
    func cursor() -> Cursor { Cursor(root) }
}
