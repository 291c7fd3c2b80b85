import PolyStoreBackend

// Many keys at once: each node on the way is searched once for all keys below it, and leaves are made full at once instead of key by key.

extension OrderedTree {
    /// Sets the keys of a run and removes others.
    /// - Parameter keepsRemoved: keys that are removed are kept as removed, instead of forgotten.
    public mutating func write(_ run: WriteRun, keepsRemoved: Bool = false) {
        // Removing may empty leaves, which are then filled up one by one.
        if !keepsRemoved {
            for position in 0..<run.count where run.isRemoved(position) { remove(run.key(position)) }
        }
        var merge = Merge(run: run, keepsRemoved: keepsRemoved)
        var node = root.take() ?? Node(entries: [], children: [])
        let extras = merge.into(&node, 0, run.count)
        count += merge.added
        guard !extras.isEmpty else {
            root = node.size == 0 ? nil : node
            return
        }
        var (nodes, separators): (ContiguousArray<Node>, ContiguousArray<TreeEntry>) = ([node], [])
        for extra in extras {
            separators.append(extra.separator)
            nodes.append(extra.node)
        }
        while nodes.count > Self.width {
            let parts = Merge.parts(nodes.count)
            var (above, between): (ContiguousArray<Node>, ContiguousArray<TreeEntry>) = ([], [])
            for part in parts {
                above.append(
                    Node(
                        entries: ContiguousArray(separators[part.lowerBound..<part.upperBound - 1]), children: ContiguousArray(nodes[part]))
                )
                if part.upperBound < nodes.count { between.append(separators[part.upperBound - 1]) }
            }
            (nodes, separators) = (above, between)
        }
        root = Node(entries: separators, children: nodes)
    }

    /// A node that came out of another, to its right.
    fileprivate struct Extra {
        let separator: TreeEntry
        let node: Node
    }

    fileprivate struct Merge {
        let run: WriteRun
        let keepsRemoved: Bool
        /// Keys that were not there.
        var added = 0

        /// So many things in nodes that are as full as can be, the last two alike, so that none has fewer than half: keys without gaps then make nodes in
        /// which a place is worked out and not searched.
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

        /// Merges a part of the run into a node.
        mutating func into(_ node: inout Node, _ low: Int, _ high: Int) -> [Extra] {
            if !isKnownUniquelyReferenced(&node) { node = node.copy() }
            return node.isLeaf ? intoLeaf(node, low, high) : intoBranch(node, low, high)
        }

        private mutating func intoBranch(_ node: Node, _ low: Int, _ high: Int) -> [Extra] {
            var extras: [(child: Int, extras: [Extra])] = []
            var position = low
            while position < high {
                let child = node.childIndex(run.key(position))
                var end = high
                if child < node.entries.count { end = firstAtOrAbove(node.entries[child].key, position + 1, high) }
                let found = into(&node.children[child], position, end)
                if !found.isEmpty { extras.append((child, found)) }
                position = end
            }
            if extras.isEmpty { return [] }
            var (children, separators): (ContiguousArray<Node>, ContiguousArray<TreeEntry>) = ([], [])
            var next = 0
            for child in node.children.indices {
                if child > 0 { separators.append(node.entries[child - 1]) }
                children.append(node.children[child])
                if next < extras.count, extras[next].child == child {
                    for extra in extras[next].extras {
                        separators.append(extra.separator)
                        children.append(extra.node)
                    }
                    next += 1
                }
            }
            guard children.count > OrderedTree.width else {
                node.set(separators, children)
                return []
            }
            let parts = Self.parts(children.count)
            let made = parts.dropFirst().map { part in
                Extra(
                    separator: separators[part.lowerBound - 1],
                    node: Node(
                        entries: ContiguousArray(separators[part.lowerBound..<part.upperBound - 1]),
                        children: ContiguousArray(children[part])))
            }
            node.set(ContiguousArray(separators[..<(parts[0].upperBound - 1)]), ContiguousArray(children[parts[0]]))
            return made
        }

        /// The first key of the run that is not below another, from a position that is likely to be near.
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

        private mutating func intoLeaf(_ node: Node, _ low: Int, _ high: Int) -> [Extra] {
            var merged: ContiguousArray<TreeEntry> = []
            merged.reserveCapacity(node.entries.count + high - low)
            var kept = 0
            for position in low..<high {
                if run.isRemoved(position), !keepsRemoved { continue }
                let key = run.key(position)
                let (place, isFound) = node.search(key)
                if kept < place { merged.append(contentsOf: node.entries[kept..<place]) }
                merged.append(TreeEntry.make(key, run.value(position)))
                kept = isFound ? place + 1 : place
                if !isFound { added += 1 }
            }
            if kept < node.entries.count { merged.append(contentsOf: node.entries[kept...]) }
            guard merged.count > OrderedTree.width else {
                node.set(merged, [])
                return []
            }
            let parts = Self.parts(merged.count)
            let made = parts.dropFirst().map { part in
                Extra(separator: merged[part.lowerBound], node: Node(entries: ContiguousArray(merged[part]), children: []))
            }
            node.set(ContiguousArray(merged[parts[0]]), [])
            return made
        }
    }
}
