import PolyStoreBackend

extension OrderedTree {
    /// A place in one version of a tree. Moves both ways; later changes of the tree do not reach it.
    public struct Cursor {
        /// Nodes from the root to a leaf, each with the position taken in it.
        private var path: [(node: Node, position: Int)] = []
        private let root: Node?

        fileprivate init(_ root: Node?) { self.root = root }

        /// Whether it stands on an entry.
        public var isValid: Bool { path.last.map { $0.node.isLeaf && $0.node.keys.indices.contains($0.position) } ?? false }

        /// The entry; only while `isValid`.
        public var key: Bytes { path[path.count - 1].node.keys[path[path.count - 1].position] }
        public var value: Bytes { path[path.count - 1].node.values[path[path.count - 1].position] }

        /// Moves to the first entry that is not below a key.
        /// - Returns: whether there is one.
        @discardableResult
        public mutating func seek(_ key: UnsafeRawBufferPointer) -> Bool {
            path.removeAll(keepingCapacity: true)
            guard var node = root else { return false }
            while !node.isLeaf {
                let child = node.childIndex(key)
                path.append((node, child))
                node = node.children[child]
            }
            path.append((node, node.lowerBound(key)))
            return isValid || advance(1)
        }

        @discardableResult
        public mutating func seek(_ key: Bytes) -> Bool { key.withUnsafeBytes { seek($0) } }

        @discardableResult
        public mutating func first() -> Bool { edge(1) }

        @discardableResult
        public mutating func last() -> Bool { edge(-1) }

        /// Moves one entry on.
        /// - Returns: false past the last one, where the cursor is no longer valid.
        @discardableResult
        public mutating func next() -> Bool { step(1) }

        /// Moves one entry back.
        @discardableResult
        public mutating func previous() -> Bool { step(-1) }

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
            path.append((node, direction > 0 ? 0 : node.keys.count - 1))
        }

        private mutating func step(_ direction: Int) -> Bool {
            guard !path.isEmpty else { return false }
            path[path.count - 1].position += direction
            return isValid || advance(direction)
        }

        /// From behind the end of a leaf to the neighbouring one.
        private mutating func advance(_ direction: Int) -> Bool {
            path.removeLast()
            while let last = path.last {
                let position = last.position + direction
                if last.node.children.indices.contains(position) {
                    path[path.count - 1].position = position
                    descend(last.node.children[position], direction)
                    return isValid
                }
                path.removeLast()
            }
            return false
        }
    }

    /// A cursor over this version, on no entry yet.
    public func cursor() -> Cursor { Cursor(root) }
}
