import PolyStoreBackend

extension OrderedTree {
    /// A place in one version of a tree. Moves both ways; later changes of the tree do not reach it.
    struct Cursor {
        /// Branches from the root down, each with the child taken.
        private var path: [(node: Node, position: Int)] = []
        private var leaf: Node?
        private var position = 0
        private let root: Node?

        fileprivate init(_ root: Node?) { self.root = root }

        /// Whether it stands on an entry.
        var isValid: Bool { leaf.map { position >= 0 && position < $0.entries.count } ?? false }

        /// The entry; nil where it stands on none.
        var entry: TreeEntry? {
            guard let leaf, position >= 0, position < leaf.entries.count else { return nil }
            return leaf.entries[position]
        }

        /// Moves to the first entry that is not below a key.
        /// - Returns: whether there is one.
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

        /// Moves one entry on.
        /// - Returns: false past the last one, where the cursor is no longer valid.
        @discardableResult
        mutating func next() -> Bool {
            guard let leaf else { return false }
            position &+= 1
            return position < leaf.entries.count || advance(1)
        }

        /// Moves on through as many entries as there is room for; removed ones are not told from empty ones.
        mutating func next(into batch: EntryBatch) -> Int {
            var count = 0
            // A byte of each record is read at once, so that the memory they lie in is waited for together and not one by one.
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

        /// Moves one entry back.
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

        /// From behind the end of a leaf to the neighbouring one.
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

    /// A cursor over this version, on no entry yet.
    func cursor() -> Cursor { Cursor(root) }
}
