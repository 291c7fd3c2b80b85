import Dispatch
import PolyStoreBackend
import PolyStoreCore

/// Stops the first row of the next scan that passes it until it is opened.
final class CursorGate: Sendable {
    private let isArmed = Protected(false)
    private let entered = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)
    private let rowsAfter = Protected(0)

    /// Stops the next scan.
    func arm() { isArmed.withLock { $0 = true } }
    /// Waits until a scan is stopped.
    func waitUntilEntered() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [entered] in
                entered.wait()
                continuation.resume()
            }
        }
    }
    func open() { opened.signal() }
    /// The number of rows that scans have returned since the gate was opened.
    var rows: Int { rowsAfter.withLock { $0 } }

    fileprivate func pass() -> Bool {
        let stops = isArmed.withLock { armed in
            defer { armed = false }
            return armed
        }
        guard stops else { return false }
        entered.signal()
        opened.wait()
        return true
    }
    fileprivate func didReturnRow() { rowsAfter.withLock { $0 += 1 } }
}

extension StoreConfiguration {
    /// Returns the same store behind a gate.
    /// - Parameter storesInterruptions: Whether the readers forward an interruption to the store. Otherwise they keep the default, which stores none.
    func gated(_ gate: CursorGate, storesInterruptions: Bool = true) -> StoreConfiguration {
        let inner = self
        return StoreConfiguration(engine: engine, location: location, isShared: isShared) { request in
            GatedStore(
                try inner.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger), gate,
                storesInterruptions: storesInterruptions)
        }
    }
}

private final class GatedStore: StorageBackend {
    private let inner: any StorageBackend
    private let gate: CursorGate
    private let storesInterruptions: Bool

    init(_ inner: any StorageBackend, _ gate: CursorGate, storesInterruptions: Bool) {
        (self.inner, self.gate, self.storesInterruptions) = (inner, gate, storesInterruptions)
    }

    var capabilities: Capabilities { inner.capabilities }
    var metadata: StoreMetadata { inner.metadata }
    func beginRead() throws -> any ReadTransaction {
        GatedReader(try inner.beginRead(), gate, storesInterruptions: storesInterruptions)
    }
    func beginWrite() throws -> any WriteTransaction {
        GatedWriter(try inner.beginWrite(), gate, storesInterruptions: storesInterruptions)
    }
    func close() throws { try inner.close() }
}

private class GatedReader: ReadTransaction {
    private let inner: any ReadTransaction
    private let gate: CursorGate
    private let storesInterruptions: Bool

    init(_ inner: any ReadTransaction, _ gate: CursorGate, storesInterruptions: Bool) {
        (self.inner, self.gate, self.storesInterruptions) = (inner, gate, storesInterruptions)
    }

    // Without interruptions as by default.
    var interruption: Interruption? {
        get { storesInterruptions ? inner.interruption : nil }
        set { if storesInterruptions { inner.interruption = newValue } }
    }

    var version: UInt64 { get throws { try inner.version } }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try inner.record(entity, rowID: rowID) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { try inner.related(relationship, of: sources) }
    func scan(_ request: FetchRequest) throws -> Scan {
        let scan = try inner.scan(request)
        return Scan(GatedCursor(scan.cursor, request.entity.layout, gate), residual: scan.residual)
    }
    func search(_ request: SearchRequest) throws -> SearchHits? { try inner.search(request) }
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { try inner.searchStatistics(condition) }
    func value(named name: String) throws -> [UInt8]? { try inner.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try inner.valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try inner.logEntries(after: position, limit: limit) }
    func logBounds() throws -> LogBounds { try inner.logBounds() }
    func end() { inner.end() }
}

private final class GatedWriter: GatedReader, WriteTransaction {
    private let inner: any WriteTransaction

    init(_ inner: any WriteTransaction, _ gate: CursorGate, storesInterruptions: Bool) {
        self.inner = inner
        super.init(inner, gate, storesInterruptions: storesInterruptions)
    }

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 { try inner.reserveIDs(entity, count: count) }
    func apply(_ changes: ChangeSet) throws { try inner.apply(changes) }
    func commit(_ durability: Durability) throws -> UInt64 { try inner.commit(durability) }
    func rollback() { inner.rollback() }
}

private final class GatedCursor: RecordCursor {
    private let inner: RecordCursor
    private let gate: CursorGate
    private var hasPassed = false

    init(_ inner: RecordCursor, _ layout: RecordLayout, _ gate: CursorGate) {
        (self.inner, self.gate) = (inner, gate)
        super.init(layout: layout)
    }

    deinit { inner.close() }

    override func next() throws -> Bool {
        if gate.pass() { hasPassed = true }
        guard try inner.next() else { return false }
        if hasPassed { gate.didReturnRow() }
        setCurrent(inner.rowID, inner.record)
        return true
    }

    override func close() { inner.close() }
    override var rowsExamined: Int { inner.rowsExamined }
}
