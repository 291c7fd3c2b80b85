import PolyStoreBackend

extension OrderedTree {
    /// A node, changed only by who holds it alone. Its keys and values lie one behind the other in memory that it shares with its own copies only.
    final class Node: @unchecked Sendable {  // changed only while a single tree refers to it, so never while it is shared
        // Only the owner writes, in one step each, so exclusivity checks could find nothing; in a search they would cost more than the comparing.
        /// Of a leaf, its entries; of a branch, for each child but the first the least key that was below it when it was made.
        @exclusivity(unchecked) private(set) var entries: ContiguousArray<TreeEntry> = []
        @exclusivity(unchecked) var children: ContiguousArray<Node>
        @exclusivity(unchecked) private(set) var isLeaf: Bool
        @exclusivity(unchecked) private var index = KeyHeads([])
        @exclusivity(unchecked) private var bytes = NodeBytes()

        /// A node that copies what it gets.
        /// - Parameter source: the node that the entries are of; nil where they lie elsewhere.
        init(_ entries: some Collection<TreeEntry>, of source: Node? = nil, children: ContiguousArray<Node> = []) {
            self.children = children
            isLeaf = children.isEmpty
            append(entries, of: source)
        }

        /// A leaf of entries that come one by one.
        /// - Parameters:
        ///   - size: bytes of those that do not lie alone.
        ///   - fill: adds all entries, in their order.
        init(count: Int, size: Int, _ fill: (_ node: Node) -> Void) {
            children = []
            isLeaf = true
            entries.reserveCapacity(count)
            bytes.reserve(size)
            fill(self)
            index = KeyHeads(entries)
        }

        private init(copyOf node: Node) {
            entries = node.entries
            children = node.children
            isLeaf = node.isLeaf
            index = node.index
            bytes = node.bytes
        }

        var size: Int { isLeaf ? entries.count : children.count }
        /// Whether it must be filled up, if it is not the root.
        var isSmall: Bool { size < OrderedTree.width / 2 }
        func copy() -> Node { Node(copyOf: self) }

        // MARK: Entries

        /// Puts an entry behind the last one; for filling a new leaf.
        func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) { entries.append(bytes.store(key, value)) }
        func add(_ entry: TreeEntry, of source: Node?) {
            if entry.liesAlone, let memory = source?.bytes.memory(of: entry) {
                bytes.share(memory)
                entries.append(entry)
            } else {
                entries.append(bytes.store(entry.key, entry.value))
            }
        }

        func replace(_ position: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
            let entry = bytes.store(key, value)
            bytes.forget(entries[position])
            entries[position] = entry
        }

        func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, at position: Int) {
            let entry = bytes.store(key, value)
            entries.insert(entry, at: position)
            if !index.insert(entry.key, at: position, entries) { index = KeyHeads(entries) }
        }

        func remove(at position: Int) {
            bytes.forget(entries[position])
            entries.remove(at: position)
            index.remove(at: position)
        }

        /// Drops the entries from a position on.
        func cut(from position: Int) {
            for entry in entries[position...] { bytes.forget(entry) }
            entries.removeSubrange(position...)
            index = KeyHeads(entries)
        }

        func append(_ others: some Collection<TreeEntry>, of source: Node?) {
            entries.reserveCapacity(entries.count + others.count)
            bytes.reserve(others.reduce(0) { $0 + ($1.liesAlone ? 0 : $1.size) })
            for entry in others { add(entry, of: source) }
            index = KeyHeads(entries)
        }

        // MARK: Children

        func insert(_ separator: Separator, _ child: Node, after position: Int) {
            insert(separator.entry.key, nil, at: position)
            children.insert(child, at: position + 1)
            tidy()
        }

        /// Removes a child that is not the first, and the key that parts it from the one before.
        func removeChild(_ position: Int) {
            remove(at: position - 1)
            children.remove(at: position)
            tidy()
        }

        /// Takes the entries or children from a position on out of it, into a new one.
        func split(at middle: Int) -> Node {
            let right: Node
            if isLeaf {
                right = Node(entries[middle...], of: self)
                cut(from: middle)
            } else {
                right = Node(entries[middle...], of: self, children: ContiguousArray(children[middle...]))
                cut(from: middle - 1)
                children.removeSubrange(middle...)
            }
            tidy()
            return right
        }

        /// Takes over everything of a neighbour.
        /// - Parameter separator: what parts the two; of use between branches.
        func append(_ other: Node, separator: TreeEntry) {
            if !isLeaf {
                append(CollectionOfOne(separator), of: nil)
                children += other.children
            }
            append(other.entries, of: other)
        }

        // MARK: Many entries at once

        /// Puts other entries in the place of all, those that stay among them.
        /// - Parameters:
        ///   - size: bytes of new entries that do not lie alone.
        ///   - keepsKeys: whether the keys stay the same.
        ///   - before: for each entry its position among the old ones; negative where it is new.
        ///   - new: stores a new entry.
        func change(
            count: Int, size: Int, keepsKeys: Bool, before: (_ position: Int) -> Int,
            new: (_ position: Int, _ bytes: inout NodeBytes) -> TreeEntry
        ) {
            bytes.reserve(size)
            var changed: ContiguousArray<TreeEntry> = []
            changed.reserveCapacity(count)
            for position in 0..<count {
                let place = before(position)
                changed.append(place >= 0 ? entries[place] : new(position, &bytes))
            }
            bytes.settle(changed)
            entries = changed
            if !keepsKeys { index = KeyHeads(changed, from: index, before: before) }
        }

        /// Whether memory of entries that are gone would be more than half, with so many bytes more and so many of all then in use.
        func wouldWaste(_ more: Int, inUse: Int) -> Bool { bytes.wouldWaste(more, inUse: inUse) }
        /// Bytes of the memory of all entries.
        var heldBytes: Int { bytes.size }
        /// Bytes of entries that do not lie alone.
        var inUse: Int { bytes.inUse }

        /// Puts other children in the place of all.
        func set(_ separators: ContiguousArray<TreeEntry>, _ children: ContiguousArray<Node>) {
            let old = bytes
            bytes = NodeBytes()
            entries = []
            // The separators may lie in what it had.
            withExtendedLifetime(old) { append(separators, of: nil) }
            self.children = children
        }

        /// Gives memory back of which most is in no use, and brings together what lies in many places. To be called after changes.
        func tidy() {
            guard bytes.isUntidy else { return }
            var tidied = NodeBytes()
            tidied.reserve(bytes.inUse)
            for (position, entry) in entries.enumerated() {
                if entry.liesAlone, let memory = bytes.memory(of: entry) {
                    tidied.share(memory)
                } else {
                    entries[position] = tidied.store(entry.key, entry.value)
                }
            }
            bytes = tidied
        }

        // MARK: Searching

        /// The position of the first key that is not below another, and whether it is that key.
        @inline(__always)
        func search(_ key: UnsafeRawBufferPointer) -> (position: Int, isFound: Bool) { index.search(key, entries) }

        /// The child that a key belongs to.
        @inline(__always)
        func childIndex(_ key: UnsafeRawBufferPointer) -> Int {
            let (position, isFound) = search(key)
            return isFound ? position &+ 1 : position
        }

        /// The entry of a key in or below this node.
        func find(_ key: UnsafeRawBufferPointer) -> TreeEntry? {
            // Whoever holds this node holds all below it.
            var node = Unmanaged.passUnretained(self)
            while true {
                let below: Unmanaged<Node>? = node._withUnsafeGuaranteedRef { node in
                    node.isLeaf ? nil : Unmanaged.passUnretained(node.children[node.childIndex(key)])
                }
                guard let below else { break }
                node = below
            }
            return node._withUnsafeGuaranteedRef { node in
                let (position, isFound) = node.search(key)
                return isFound ? node.entries[position] : nil
            }
        }
    }
}
