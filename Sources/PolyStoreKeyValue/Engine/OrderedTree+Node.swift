import PolyStoreBackend

extension OrderedTree {
    /// A node that is modified only while it is uniquely referenced. Its keys and values are contiguous in memory that it shares only with its own copies.
    final class Node: @unchecked Sendable {  // modified only while a single tree refers to it
        // Only the owner writes, in single stores, so exclusivity checks are not needed; in a search they would cost more than the comparisons.
        /// The entries of a leaf; in a branch, the separators: for each child except the first, the least key below it when it was created.
        @exclusivity(unchecked) private(set) var entries: ContiguousArray<TreeEntry> = []
        @exclusivity(unchecked) var children: ContiguousArray<Node>
        @exclusivity(unchecked) private(set) var isLeaf: Bool
        @exclusivity(unchecked) private var index = KeyHeads([])
        @exclusivity(unchecked) private var bytes = NodeBytes()

        /// Creates a node from copies of entries.
        /// - Parameter source: The node that owns the entries; `nil` if they are in other memory.
        init(_ entries: some Collection<TreeEntry>, of source: Node? = nil, children: ContiguousArray<Node> = []) {
            self.children = children
            isLeaf = children.isEmpty
            append(entries, of: source)
        }

        /// Creates a leaf whose entries are added one by one.
        /// - Parameters:
        ///   - size: The size in bytes of the entries without large ones.
        ///   - fill: Adds all entries, in order.
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
        /// A Boolean value that indicates whether the node must be filled unless it is the root.
        var isSmall: Bool { size < OrderedTree.width / 2 }
        func copy() -> Node { Node(copyOf: self) }

        // MARK: Entries

        /// Appends an entry to a new leaf.
        func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) { entries.append(bytes.store(key, value)) }
        func add(_ entry: TreeEntry, of source: Node?) {
            if entry.ownsMemory, let memory = source?.bytes.memory(of: entry) {
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

        /// Removes the entries from a position on.
        func cut(from position: Int) {
            for entry in entries[position...] { bytes.forget(entry) }
            entries.removeSubrange(position...)
            index = KeyHeads(entries)
        }

        func append(_ others: some Collection<TreeEntry>, of source: Node?) {
            entries.reserveCapacity(entries.count + others.count)
            bytes.reserve(others.reduce(0) { $0 + ($1.ownsMemory ? 0 : $1.size) })
            for entry in others { add(entry, of: source) }
            index = KeyHeads(entries)
        }

        // MARK: Children

        func insert(_ separator: Separator, _ child: Node, after position: Int) {
            insert(separator.entry.key, nil, at: position)
            children.insert(child, at: position + 1)
            compact()
        }

        /// Removes a child other than the first, together with its separator.
        func removeChild(_ position: Int) {
            remove(at: position - 1)
            children.remove(at: position)
            compact()
        }

        /// Moves the entries or children from a position on to a new node.
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
            compact()
            return right
        }

        /// Appends the contents of a neighbor.
        /// - Parameter separator: The key between the two nodes; used for branches.
        func append(_ other: Node, separator: TreeEntry) {
            if !isLeaf {
                append(CollectionOfOne(separator), of: nil)
                children += other.children
            }
            append(other.entries, of: other)
        }

        // MARK: Bulk changes

        /// Replaces all entries; existing entries can be among the new ones.
        /// - Parameters:
        ///   - size: The size in bytes of the new entries without large ones.
        ///   - keepsKeys: Whether the keys stay the same.
        ///   - before: Returns the position of an entry among the old ones; negative for a new entry.
        ///   - new: Stores a new entry.
        func change(
            count: Int, size: Int, keepsKeys: Bool, before: (_ position: Int) -> Int,
            new: (_ position: Int, _ bytes: inout NodeBytes) -> TreeEntry
        ) {
            bytes.reserve(size)
            var changed: ContiguousArray<TreeEntry> = []
            changed.reserveCapacity(count)
            for position in 0..<count {
                let oldPosition = before(position)
                changed.append(oldPosition >= 0 ? entries[oldPosition] : new(position, &bytes))
            }
            bytes.settle(changed)
            entries = changed
            if !keepsKeys { index = KeyHeads(changed, from: index, before: before) }
        }

        /// Returns whether more than half of the memory would be unused after adding bytes, given the bytes in use.
        func wouldWaste(_ more: Int, inUse: Int) -> Bool { bytes.wouldWaste(more, inUse: inUse) }
        /// The size of the memory of all entries in bytes.
        var allocatedBytes: Int { bytes.size }
        /// The size in bytes of the entries without large ones.
        var inUse: Int { bytes.inUse }

        /// Replaces all children.
        func set(_ separators: ContiguousArray<TreeEntry>, _ children: ContiguousArray<Node>) {
            let old = bytes
            bytes = NodeBytes()
            entries = []
            // The separators may be in the node's previous memory.
            withExtendedLifetime(old) { append(separators, of: nil) }
            self.children = children
        }

        /// Frees memory that is mostly unused, and consolidates entries that are spread over many blocks. Call it after changes.
        func compact() {
            guard bytes.isFragmented else { return }
            var compacted = NodeBytes()
            compacted.reserve(bytes.inUse)
            for (position, entry) in entries.enumerated() {
                if entry.ownsMemory, let memory = bytes.memory(of: entry) {
                    compacted.share(memory)
                } else {
                    entries[position] = compacted.store(entry.key, entry.value)
                }
            }
            bytes = compacted
        }

        // MARK: Searching

        /// Returns the position of the first key that is not less than the given key, and whether they are equal.
        @inline(__always)
        func search(_ key: UnsafeRawBufferPointer) -> (position: Int, isFound: Bool) { index.search(key, entries) }

        /// Returns the index of the child that contains a key.
        @inline(__always)
        func childIndex(_ key: UnsafeRawBufferPointer) -> Int {
            let (position, isFound) = search(key)
            return isFound ? position &+ 1 : position
        }

        /// Returns the entry of a key in this node or below it.
        func find(_ key: UnsafeRawBufferPointer) -> TreeEntry? {
            // A reference to this node keeps all nodes below it alive.
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
