import PolyStoreBackend
import PolyStoreKeyValue

/// An engine that a case has opened.
final class OpenEngine: Sendable {
    let handle: EngineHandle
    private let isOpen = Protected(true)

    init(_ handle: EngineHandle) { self.handle = handle }

    deinit { close() }

    var engine: any OrderedEngine { handle.engine }

    /// The strongest durability that the engine distinguishes.
    var strongest: Durability { engine.traits.durabilities.contains(.full) ? .full : .relaxed }

    /// Releases the engine. The last release closes it.
    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { handle.release() }
    }

    func batch(_ changes: [EngineChange]) -> WriteBatch {
        var tree = OrderedTree()
        for change in changes {
            change.key.withUnsafeBytes { key in
                guard let value = change.value else { return tree.set(key, nil) }
                value.withUnsafeBytes { tree.set(key, UnsafeRawBufferPointer(start: $0.baseAddress, count: $0.count)) }
            }
        }
        return WriteBatch(tree)
    }

    func apply(_ changes: [EngineChange], _ durability: Durability? = nil) throws {
        try engine.apply(batch(changes), durability ?? strongest)
    }

    func snapshot() throws -> TestSnapshot { TestSnapshot(try engine.snapshot()) }

    /// Returns all entries of the engine, read through a separate snapshot.
    func contents() throws -> [EngineEntry] {
        let snapshot = try snapshot()
        defer { snapshot.end() }
        return try snapshot.contents()
    }
}
