import PolyStoreBackend
import PolyStoreKeyValue

/// An engine that keeps keys and values in a copy-on-write tree: a snapshot is a copy, and a commit replaces the tree.
final class MemoryEngine: TransactionalEngine, @unchecked Sendable {  // All mutable state is accessed under the lock.
    let location: String
    /// Signaled when the write transaction ends.
    private let lock = Lock()
    private var committed = OrderedTree()
    private var isWriting = false

    init(location: String) { self.location = location }

    var traits: EngineTraits {
        EngineTraits(
            features: [.transferableWriter, .compaction], durabilities: [.relaxed], checksumsRecords: false, valuesStay: true,
            maximumPieceSize: Int(UInt32.max))
    }

    func snapshot() -> any EngineSnapshot { lock.withLock { committed }.makeSnapshot() }

    func beginWrite() -> any EngineWriter {
        lock.withLock {
            while isWriting { lock.wait() }
            isWriting = true
            return MemoryWriter(self, committed)
        }
    }

    /// Ends the write transaction and optionally replaces the tree.
    fileprivate func finish(_ tree: OrderedTree?) {
        lock.withLock {
            if let tree { committed = tree }
            isWriting = false
            lock.signal()
        }
    }

    /// Has no effect: the memory of deleted entries is freed when the last snapshot that reads them ends.
    func compact() {}

    func close() { lock.withLock { committed = OrderedTree() } }
}

/// A write transaction that modifies a copy of the tree.
private final class MemoryWriter: EngineWriter {
    private let engine: MemoryEngine
    // Used by one thread; each access is a single load or store.
    @exclusivity(unchecked) private var tree: OrderedTree
    private var isEnded = false

    init(_ engine: MemoryEngine, _ tree: OrderedTree) {
        self.engine = engine
        self.tree = tree
    }

    deinit { end() }

    private func check() throws {
        if isEnded { throw StoreError(.closed, "The transaction of \(engine.location) has ended.", location: engine.location) }
    }

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        try check()
        return tree.value(of: key)
    }

    func cursor() throws -> EngineCursor {
        try check()
        return tree.makeCursor()
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) { tree.set(key, value) }
    func remove(_ key: UnsafeRawBufferPointer) { tree.remove(key) }
    func write(_ run: WriteRun) { tree.write(run) }

    func commit(_ durability: Durability) {
        guard !isEnded else { return }
        isEnded = true
        engine.finish(tree)
        tree = OrderedTree()
    }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        engine.finish(nil)
        tree = OrderedTree()
    }
}
