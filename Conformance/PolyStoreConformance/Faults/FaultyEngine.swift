import PolyStoreBackend
import PolyStoreKeyValue

/// An engine that wraps another one and fails according to a plan.
///
///     let plan = FaultPlan()
///     plan.add(.fail(StoreError(.io, "The disk fails.")), to: .get, number: 7)
///     let store = try KeyValueBackend(EngineHandle(private: FaultyEngine(try MyEngine.open(path), plan)), request)
public final class FaultyEngine: OrderedEngine {
    private let handle: EngineHandle
    /// The plan of faults.
    public let plan: FaultPlan

    /// Takes ownership of the handle, which is released when this engine is closed.
    public init(_ handle: EngineHandle, _ plan: FaultPlan) {
        self.handle = handle
        self.plan = plan
    }

    /// The location of the wrapped engine.
    public var location: String { handle.engine.location }
    /// The traits of the wrapped engine.
    public var traits: EngineTraits { handle.engine.traits }
    /// Releases the wrapped engine.
    public func close() { handle.release() }
    /// Verifies the wrapped engine, unless the plan makes the call fail.
    public func verify(reporting report: MaintenanceReport) throws -> [String] {
        try plan.perform(.verify) { try handle.engine.verify(reporting: report) }
    }
    /// Returns a snapshot of the wrapped engine whose reads fail according to the plan.
    public func snapshot() throws -> any EngineSnapshot {
        try plan.perform(.snapshot) { InterruptedSnapshot(try handle.engine.snapshot(), plan) }
    }

    /// Applies a batch to the wrapped engine. The plan can make it fail completely or partially.
    public func apply(_ batch: WriteBatch, _ durability: Durability) throws {
        switch plan.next(.apply) {
        case nil: try handle.engine.apply(batch, durability)
        case .fail(let error): throw error
        case .failAfterwards(let error):
            try handle.engine.apply(batch, durability)
            throw error
        case .tear(let error):
            var (half, left) = (OrderedTree(), batch.count / 2)
            batch.visit { key, value in
                if left > 0 { half.set(key, value) }
                left -= 1
            }
            try handle.engine.apply(WriteBatch(half), durability)
            throw error
        case .delay(let wait):
            wait()
            try handle.engine.apply(batch, durability)
        }
    }
}

private final class InterruptedSnapshot: EngineSnapshot {
    private let inner: any EngineSnapshot
    private let plan: FaultPlan

    init(_ inner: any EngineSnapshot, _ plan: FaultPlan) {
        self.inner = inner
        self.plan = plan
    }

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? { try plan.perform(.get) { try inner.get(key) } }
    func cursor() throws -> EngineCursor { try plan.perform(.cursor) { InterruptedCursor(try inner.cursor(), plan) } }
    func end() { inner.end() }
}

/// Batched reads use the defaults of `EngineCursor`: one `next` per entry, and each can fail.
private final class InterruptedCursor: EngineCursor {
    private let inner: EngineCursor
    private let plan: FaultPlan

    init(_ inner: EngineCursor, _ plan: FaultPlan) {
        self.inner = inner
        self.plan = plan
        super.init()
    }

    private func move(_ operation: FaultPlan.Operation, _ body: () throws -> Bool) throws -> Bool {
        guard try plan.perform(operation, body) else { return false }
        setCurrent(inner.key, inner.value)
        return true
    }

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool { try move(.seek) { try inner.seek(key) } }
    override func last() throws -> Bool { try move(.last) { try inner.last() } }
    override func next() throws -> Bool { try move(.next) { try inner.next() } }
    override func previous() throws -> Bool { try move(.previous) { try inner.previous() } }
    override func close() { inner.close() }
}
