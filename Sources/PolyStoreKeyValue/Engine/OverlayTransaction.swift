import PolyStoreBackend

/// A write transaction for an engine without its own: pending changes are kept in a tree over a snapshot until one batch commits them.
final class OverlayTransaction: EngineWriter {
    private let engine: any OrderedEngine
    private let base: any EngineSnapshot
    // Used by one thread; each access is a single load or store.
    @exclusivity(unchecked) private var written = OrderedTree()
    @exclusivity(unchecked) private var byteCount = 0
    @exclusivity(unchecked) private var isEnded = false

    init(_ engine: any OrderedEngine) throws {
        self.engine = engine
        base = try engine.snapshot()
    }

    deinit { end() }

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        // The bytes stay valid until the next write.
        if let entry = written.entry(key) { return entry.value }
        return try base.get(key)
    }

    func cursor() throws -> EngineCursor {
        // A separate version, which later writes do not affect.
        written.isEmpty ? try base.cursor() : MergingCursor(try base.cursor(), written)
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws { try write(key, value) }
    func remove(_ key: UnsafeRawBufferPointer) throws { try write(key, nil) }

    func write(_ run: WriteRun) throws {
        byteCount += run.byteCount
        try checkSize()
        written.write(run, keepsRemoved: true)
    }

    private func write(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) throws {
        byteCount += key.count + (value?.count ?? 0)
        try checkSize()
        written.set(key, value)
    }

    private func checkSize() throws {
        guard byteCount <= engine.traits.maximumTransactionSize else {
            throw StoreError(
                .full,
                "One transaction of \(engine.location) may write \(engine.traits.maximumTransactionSize.byteCountText), and this one would write more. "
                    + "Commit in smaller steps.", location: engine.location)
        }
    }

    /// The pending changes at a point in time, as a copy of the tree.
    struct Savepoint {
        fileprivate let written: OrderedTree
        fileprivate let byteCount: Int
    }

    func savepoint() -> Savepoint { Savepoint(written: written, byteCount: byteCount) }

    func rollBack(to savepoint: Savepoint) {
        written = savepoint.written
        byteCount = savepoint.byteCount
    }

    func commit(_ durability: Durability) throws {
        defer { end() }
        if written.isEmpty { return }
        try engine.apply(WriteBatch(written, byteCount: byteCount), durability)
    }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        base.end()
        written = OrderedTree()
    }
}

/// A cursor over the merged entries of a base cursor and a tree.
final class MergingCursor: EngineCursor {
    private let base: EngineCursor
    private let written: OrderedTree
    private var top: OrderedTree.Cursor
    private var hasBase = false
    private var hasTop = false
    /// 1 while both cursors are at or after the current key, −1 while both are at or before it.
    private var direction = 1

    init(_ base: EngineCursor, _ written: OrderedTree) {
        self.base = base
        self.written = written
        top = written.cursor()
        super.init()
    }

    override func close() { base.close() }

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool {
        direction = 1
        hasBase = try base.seek(key)
        hasTop = top.seek(key)
        return try settle()
    }

    override func last() throws -> Bool {
        direction = -1
        hasBase = try base.last()
        hasTop = top.last()
        return try settle()
    }

    override func next() throws -> Bool { try move(1) }
    override func previous() throws -> Bool { try move(-1) }

    private func move(_ newDirection: Int) throws -> Bool {
        if direction != newDirection { try reverse(newDirection) } else { try leave() }
        return try settle()
    }

    /// Moves the cursors that are on the current key.
    private func leave() throws {
        let order = order()
        // Both, if the tree hides the engine's entry.
        if order <= 0, hasTop { hasTop = direction > 0 ? top.next() : top.previous() }
        if order >= 0, hasBase { hasBase = direction > 0 ? try base.next() : try base.previous() }
    }

    /// Moves both cursors to the other side of the current key.
    private func reverse(_ newDirection: Int) throws {
        let current = [UInt8](key)
        direction = newDirection
        try current.withUnsafeBytes { current in
            hasBase = try base.seek(current)
            hasTop = top.seek(current)
            if newDirection > 0 {
                if hasBase, Order.of(base.key, current) == 0 { hasBase = try base.next() }
                if hasTop, let entry = top.entry, Order.of(entry.key, current) == 0 { hasTop = top.next() }
            } else {
                hasBase = hasBase ? try base.previous() : try base.last()
                hasTop = hasTop ? top.previous() : top.last()
            }
        }
    }

    /// Compares the cursors in the current direction. Negative: the tree's entry is first; 0: both have the same key.
    private func order() -> Int {
        guard hasTop, let entry = top.entry else { return 1 }
        guard hasBase else { return -1 }
        return Order.of(entry.key, base.key) * direction
    }

    /// Moves to the next entry that is not removed.
    private func settle() throws -> Bool {
        while hasBase || hasTop {
            if order() > 0 {
                setCurrent(base.key, base.value)
                return true
            }
            guard let entry = top.entry else { return false }
            if let found = entry.value {
                setCurrent(entry.key, found)
                return true
            }
            try leave()
        }
        return false
    }
}
