import PolyStoreBackend

// Bulk writes: each node on the path is searched once for all keys below it, and leaves are filled in one step instead of key by key.

extension OrderedTree {
    /// Sets and removes the keys of a run.
    /// - Parameters:
    ///   - run: The keys to set and remove, in ascending order.
    ///   - keepsRemoved: Whether removed keys are kept as tombstones.
    public mutating func write(_ run: WriteRun, keepsRemoved: Bool = false) {
        var merge = Merge(run: run, keepsRemoved: keepsRemoved)
        // Moved out during the change, so that this tree holds the only reference to the root.
        var node = root.take() ?? Node([])
        let extras = merge.into(&node, 0, run.count)
        count += merge.growth
        guard !extras.isEmpty else {
            while !node.isLeaf, node.children.count == 1 { node = node.children[0] }
            root = node.size == 0 ? nil : node
            return
        }
        var nodes: ContiguousArray<Node> = [node]
        var separators: ContiguousArray<Separator> = []
        for extra in extras {
            separators.append(extra.separator)
            nodes.append(extra.node)
        }
        while nodes.count > Self.width {
            let parts = Merge.parts(nodes.count)
            var (above, between): (ContiguousArray<Node>, ContiguousArray<Separator>) = ([], [])
            for part in parts {
                let inside = separators[part.lowerBound..<part.upperBound - 1]
                above.append(Node(inside.map(\.entry), children: ContiguousArray(nodes[part])))
                if part.upperBound < nodes.count { between.append(separators[part.upperBound - 1]) }
            }
            (nodes, separators) = (above, between)
        }
        root = Node(separators.map(\.entry), children: nodes)
    }

    /// A node that was split off another one, to its right.
    fileprivate struct Extra {
        let separator: Separator
        let node: Node
    }

    fileprivate struct Merge {
        let run: WriteRun
        let keepsRemoved: Bool
        /// The change of the number of keys.
        var growth = 0
        /// The planned contents of a leaf: positions in the run, and the complements of positions in the leaf.
        private var plan: ContiguousArray<Int> = []

        init(run: WriteRun, keepsRemoved: Bool) {
            self.run = run
            self.keepsRemoved = keepsRemoved
        }

        /// Distributes a number of elements over nodes that are as full as possible. The last two are of equal size, so that none is less than half full.
        /// Consecutive keys then form nodes in which a position is computed instead of searched.
        static func parts(_ count: Int) -> [Range<Int>] {
            let width = OrderedTree.width
            var parts: [Range<Int>] = []
            var start = 0
            while count - start >= 2 * width {
                parts.append(start..<start + width)
                start += width
            }
            let middle = count - start > width ? start + (count - start) / 2 : count
            parts.append(start..<middle)
            if middle < count { parts.append(middle..<count) }
            return parts
        }

        /// Merges a part of the run into a node, which may be too small afterwards.
        mutating func into(_ node: inout Node, _ low: Int, _ high: Int) -> [Extra] {
            if node.isLeaf { return intoLeaf(&node, low, high) }
            if !isKnownUniquelyReferenced(&node) { node = node.copy() }
            return intoBranch(node, low, high)
        }

        private mutating func intoBranch(_ node: Node, _ low: Int, _ high: Int) -> [Extra] {
            var extras: [(child: Int, extras: [Extra])] = []
            var position = low
            var hasSmall = false
            while position < high {
                let child = node.childIndex(run.key(position))
                var end = high
                if child < node.entries.count { end = firstAtOrAbove(node.entries[child].key, position + 1, high) }
                let found = into(&node.children[child], position, end)
                if !found.isEmpty { extras.append((child, found)) }
                if node.children[child].isSmall { hasSmall = true }
                position = end
            }
            if !extras.isEmpty { insert(extras, into: node) }
            if hasSmall { OrderedTree.fillUp(node) }
            guard node.children.count > OrderedTree.width else { return [] }
            let parts = Self.parts(node.children.count)
            let made = parts.dropFirst().map { part in
                Extra(
                    separator: Separator(node.entries[part.lowerBound - 1].key),
                    node: Node(
                        node.entries[part.lowerBound..<part.upperBound - 1], of: node, children: ContiguousArray(node.children[part])))
            }
            node.set(ContiguousArray(node.entries[..<(parts[0].upperBound - 1)]), ContiguousArray(node.children[parts[0]]))
            return made
        }

        private func insert(_ extras: [(child: Int, extras: [Extra])], into node: Node) {
            var (children, separators): (ContiguousArray<Node>, ContiguousArray<TreeEntry>) = ([], [])
            var next = 0
            for child in node.children.indices {
                if child > 0 { separators.append(node.entries[child - 1]) }
                children.append(node.children[child])
                if next < extras.count, extras[next].child == child {
                    for extra in extras[next].extras {
                        separators.append(extra.separator.entry)
                        children.append(extra.node)
                    }
                    next += 1
                }
            }
            node.set(separators, children)
        }

        /// Returns the first key of the run that is not less than the given key, searching from a position that is likely to be near.
        private func firstAtOrAbove(_ key: UnsafeRawBufferPointer, _ start: Int, _ high: Int) -> Int {
            var (low, step) = (start, 1)
            while low + step <= high, Order.of(run.key(low + step - 1), key) < 0 {
                low += step
                step *= 2
            }
            var end = min(low + step - 1, high)
            while low < end {
                let middle = (low + end) / 2
                if Order.of(run.key(middle), key) < 0 { low = middle + 1 } else { end = middle }
            }
            return low
        }

        private mutating func intoLeaf(_ node: inout Node, _ low: Int, _ high: Int) -> [Extra] {
            if high - low <= Self.few, node.entries.count + high - low <= OrderedTree.width {
                fewIntoLeaf(&node, low, high)
                return []
            }
            plan.removeAll(keepingCapacity: true)
            plan.reserveCapacity(node.entries.count + high - low)
            var kept = 0
            var keepsKeys = true
            // The sizes in bytes of added and removed entries.
            var (new, gone) = (0, 0)
            for position in low..<high {
                let (entryPosition, isFound) = node.search(run.key(position))
                while kept < entryPosition {
                    plan.append(~kept)
                    kept += 1
                }
                if isFound {
                    kept += 1
                    gone += Self.smallSize(node.entries[entryPosition].size)
                }
                if run.isRemoved(position), !keepsRemoved {
                    if isFound {
                        growth -= 1
                        keepsKeys = false
                    }
                    continue
                }
                if !isFound {
                    growth += 1
                    keepsKeys = false
                }
                new += Self.smallSize(run.size(position))
                plan.append(position)
            }
            while kept < node.entries.count {
                plan.append(~kept)
                kept += 1
            }
            let inUse = node.inUse + new - gone
            if plan.count <= OrderedTree.width, !node.wouldWaste(new, inUse: inUse) {
                if !isKnownUniquelyReferenced(&node) { node = node.copy() }
                change(node, new, keepsKeys)
                return []
            }
            let old = node
            if plan.count <= OrderedTree.width {
                node = made(old, plan.indices)
                return []
            }
            let parts = Self.parts(plan.count)
            node = made(old, parts[0])
            return parts.dropFirst().map { part in
                let node = made(old, part)
                return Extra(separator: Separator(node.entries[0].key), node: node)
            }
        }

        /// The number of keys up to which they are set and removed one by one, which keeps the other entries of the leaf in place.
        private static let few = 4

        private mutating func fewIntoLeaf(_ node: inout Node, _ low: Int, _ high: Int) {
            if !isKnownUniquelyReferenced(&node) { node = node.copy() }
            for position in low..<high {
                let key = run.key(position)
                let (entryPosition, isFound) = node.search(key)
                if run.isRemoved(position), !keepsRemoved {
                    if isFound {
                        node.remove(at: entryPosition)
                        growth -= 1
                    }
                } else if isFound {
                    node.replace(entryPosition, key, run.value(position))
                } else {
                    node.insert(key, run.value(position), at: entryPosition)
                    growth += 1
                }
            }
            node.compact()
        }

        /// Returns the size of an entry if it shares its memory with others, and 0 otherwise.
        private static func smallSize(_ size: Int) -> Int { size < TreeBytes.smallestOwned ? size : 0 }

        /// Applies the plan to a leaf.
        private func change(_ node: Node, _ size: Int, _ keepsKeys: Bool) {
            node.change(count: plan.count, size: size, keepsKeys: keepsKeys) {
                ~plan[$0]
            } new: { entryPosition, bytes in
                bytes.store(run.key(plan[entryPosition]), run.value(plan[entryPosition]))
            }
        }

        /// Creates a leaf from a part of the plan.
        private func made(_ old: Node, _ part: Range<Int>) -> Node {
            var size = 0
            for position in plan[part] { size += Self.smallSize(position < 0 ? old.entries[~position].size : run.size(position)) }
            return Node(count: part.count, size: size) { node in
                for position in plan[part] {
                    if position < 0 {
                        node.add(old.entries[~position], of: old)
                    } else {
                        node.add(run.key(position), run.value(position))
                    }
                }
            }
        }
    }
}
