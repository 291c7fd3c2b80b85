/// A trie of the field names that a reader has encountered, in field order.
///
/// For an object with the same fields in the same order as an earlier one, the reader compares the bytes of each name once and creates no strings. Both
/// objects share their ``FieldNames``. Uniqueness of names is checked once, when a node is created. The size is limited, so that objects with data as
/// keys do not exhaust memory.
final class NameTree {
    final class Node {
        let name: String
        let bytes: [UInt8]
        unowned let parent: Node?
        let depth: Int
        var children: [Node] = []
        /// The child for the name that followed in the previous object.
        var recent: Node?
        private var shared: FieldNames?

        init(name: String, bytes: [UInt8], parent: Node?) {
            self.name = name
            self.bytes = bytes
            self.parent = parent
            depth = parent.map { $0.depth + 1 } ?? 0
        }

        /// The names from the root to this node.
        var path: [String] {
            var names: [String] = []
            names.reserveCapacity(depth)
            var node: Node? = self
            while let current = node, current.depth > 0 {
                names.append(current.name)
                node = current.parent
            }
            names.reverse()
            return names
        }

        /// The names from the root to this node, as one instance that all objects with these fields share.
        var fieldNames: FieldNames {
            if let shared { return shared }
            let names = FieldNames(path)
            shared = names
            return names
        }
    }

    let root = Node(name: "", bytes: [], parent: nil)
    private var count = 0

    static let largestCount = 4096
    static let mostChildren = 16
    static let mostFields = 256
    static let longestName = 128

    /// Returns the child for a name, given as the bytes between the quotes, without escapes; nil if there is none.
    @inline(__always)
    func child(of node: Node, _ bytes: UnsafeRawBufferPointer) -> Node? {
        if let recent = node.recent, Self.equal(recent.bytes, bytes) { return recent }
        return otherChild(of: node, bytes)
    }

    @inline(__always)
    private static func equal(_ left: [UInt8], _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        for index in 0..<left.count where left[index] != right[index] { return false }
        return true
    }

    @inline(never)
    private func otherChild(of node: Node, _ bytes: UnsafeRawBufferPointer) -> Node? {
        for child in node.children where Self.equal(child.bytes, bytes) {
            node.recent = child
            return child
        }
        return nil
    }

    /// Adds a child; nil if the tree is full.
    func add(_ name: String, _ bytes: UnsafeRawBufferPointer, to node: Node) -> Node? {
        guard count < Self.largestCount, node.children.count < Self.mostChildren, node.depth < Self.mostFields,
            bytes.count <= Self.longestName
        else { return nil }
        let child = Node(name: name, bytes: Array(bytes), parent: node)
        node.children.append(child)
        node.recent = child
        count += 1
        return child
    }
}
