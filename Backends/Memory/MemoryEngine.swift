import PolyStoreBackend
import PolyStoreKeyValue

/// Keys and values in a copy-on-write tree: a snapshot is a copy, a commit puts another tree in its place.
final class MemoryEngine: TransactionalEngine, @unchecked Sendable {  // everything mutable is touched under the lock only
    let place: String
    /// Signalled when the writer's turn is free.
    private let lock = Lock()
    private var committed = OrderedTree()
    private var isWriting = false

    init(place: String) { self.place = place }

    var traits: EngineTraits {
        EngineTraits(
            features: [.transferableWriter], durabilities: [.relaxed], checksumsRecords: false, valuesStay: true,
            largestPiece: Int(UInt32.max))
    }

    func snapshot() -> any EngineSnapshot { lock.withLock { committed }.makeSnapshot() }

    func beginWrite() -> any EngineWriter {
        lock.withLock {
            while isWriting { lock.wait() }
            isWriting = true
            return MemoryWriter(self, committed)
        }
    }

    /// Ends the writer's turn, with a new tree or without.
    fileprivate func finish(_ tree: OrderedTree?) {
        lock.withLock {
            if let tree { committed = tree }
            isWriting = false
            lock.signal()
        }
    }

    func close() { lock.withLock { committed = OrderedTree() } }
}

/// A version that is being made.
private final class MemoryWriter: EngineWriter {
    private let engine: MemoryEngine
    // Of one thread, used in one step each.
    @exclusivity(unchecked) private var tree: OrderedTree
    private var isEnded = false

    init(_ engine: MemoryEngine, _ tree: OrderedTree) {
        self.engine = engine
        self.tree = tree
    }

    deinit { end() }

    func get(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? { tree.value(of: key) }
    func cursor() -> EngineCursor { tree.makeCursor() }
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
