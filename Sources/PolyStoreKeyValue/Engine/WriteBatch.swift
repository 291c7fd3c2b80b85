import PolyStoreBackend

/// The changes of one transaction, in ascending order of unique keys.
public struct WriteBatch {
    let tree: OrderedTree
    /// The size of all keys and values in bytes, or more if keys were written several times.
    public let byteCount: Int
    /// Called by ``visit(_:)`` after the first key and after every 64th, so that a test can use an engine while it reads the batch.
    package var whileVisited: (() -> Void)?

    init(_ tree: OrderedTree, byteCount: Int) {
        self.tree = tree
        self.byteCount = byteCount
    }

    /// The number of keys.
    public var count: Int { tree.count }

    /// Calls a closure with each key and its new value. `nil` removes the key, which may not exist.
    public func visit(_ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) throws -> Void) rethrows {
        var cursor = tree.cursor()
        var more = cursor.first()
        if let whileVisited {
            var position = 0
            while more, let entry = cursor.entry {
                try body(entry.key, entry.value)
                if position % 64 == 0 { whileVisited() }
                position += 1
                more = cursor.next()
            }
        }
        while more, let entry = cursor.entry {
            try body(entry.key, entry.value)
            more = cursor.next()
        }
    }
}
