import Foundation
import PolyStoreBackend
import PolyStoreCore

/// The faults to inject into a wrapped backend, and a count of its calls.
final class Faults: @unchecked Sendable {  // accessed under the lock only
    private let lock = NSLock()
    private var failingCommits = 0
    private var executesFailing = false
    private var cutsResults = false
    /// The last row id that was reserved, by entity; nil if a rollback undoes reservations.
    private var reserved: [String: Int64]?
    private var refusal: (size: Int, left: Int, dies: Bool)?
    private var committed: [Durability] = []
    private var failingReads = 0
    /// Snapshots that began before this one can no longer be read.
    private var firstReadable = 0
    /// The next snapshots cannot be read either.
    private var breaksNext = false
    private var begun = 0
    private var ended = 0
    private var asked = 0
    private var hidden: Set<Capabilities.Feature> = []

    /// Removes features from the capabilities of the backend.
    func hide(_ features: Set<Capabilities.Feature>) { lock.withLock { hidden = features } }
    fileprivate func claims(_ inner: Capabilities) -> Capabilities {
        var claims = inner
        claims.features.subtract(lock.withLock { hidden })
        return claims
    }

    /// Returns the number of calls to readers since the last call.
    func takeAsked() -> Int {
        lock.withLock {
            defer { asked = 0 }
            return asked
        }
    }
    fileprivate func didAsk() { lock.withLock { asked += 1 } }

    /// Makes the next calls of `beginRead` fail with the error `io`.
    func failReads(_ count: Int) { lock.withLock { failingReads = count } }
    /// Makes every read of the snapshots that are open fail with the error `io`.
    func breakSnapshots() { lock.withLock { (firstReadable, breaksNext) = (begun, false) } }
    /// Makes every read of open and later snapshots fail with the error `io`, until ``breakSnapshots()`` is called.
    func breakNextSnapshots() { lock.withLock { breaksNext = true } }

    fileprivate func beginRead() throws -> Int {
        try lock.withLock {
            if failingReads > 0 {
                failingReads -= 1
                throw StoreError(.io, "The test simulates a snapshot that cannot begin.")
            }
            defer { begun += 1 }
            return begun
        }
    }
    fileprivate func endRead() { lock.withLock { ended += 1 } }
    /// The number of snapshots that have begun.
    var begunSnapshots: Int { lock.withLock { begun } }
    /// The number of snapshots that have begun and not ended.
    var openSnapshots: Int { lock.withLock { begun - ended } }
    fileprivate func check(_ snapshot: Int) throws {
        guard lock.withLock({ breaksNext || snapshot < firstReadable }) else { return }
        throw StoreError(.io, "The test simulates a snapshot that cannot be read.")
    }

    /// Makes the next commits fail with the error `io`.
    /// - Parameter executed: Whether they take effect nevertheless.
    func failCommits(_ count: Int, executed: Bool = false) { lock.withLock { (failingCommits, executesFailing) = (count, executed) } }
    /// Makes calls with several change sets return no results after the first refused one.
    func cutResults() { lock.withLock { cutsResults = true } }
    fileprivate var resultsAreCut: Bool { lock.withLock { cutsResults } }
    /// Makes reserved row ids be never reserved again, also after a rollback, as sequences of servers do.
    func keepSequences() { lock.withLock { reserved = [:] } }
    fileprivate func reserve(_ entity: Entity, _ count: Int, _ reserve: () throws -> Int64) rethrows -> Int64 {
        var first = try reserve()
        while first <= lock.withLock({ reserved?[entity.name] }) ?? 0 { first = try reserve() }
        lock.withLock { reserved?[entity.name] = first + Int64(count) - 1 }
        return first
    }
    /// Makes applying a change set fail with the error `full`.
    /// - Parameters:
    ///   - size: The number of changes in the change sets that fail.
    ///   - times: The number of failures, after which change sets are applied again.
    ///   - dies: Whether the write transaction cannot be used after a failure.
    func refuse(size: Int, times: Int, dies: Bool) { lock.withLock { refusal = (size, times, dies) } }
    /// The durability of each commit that succeeded.
    var commits: [Durability] { lock.withLock { committed } }

    fileprivate func refuses(_ changes: ChangeSet) -> (isRefused: Bool, dies: Bool) {
        lock.withLock {
            guard let found = refusal, found.left > 0, found.size == changes.changes.count else { return (false, false) }
            refusal?.left -= 1
            return (true, found.dies)
        }
    }
    fileprivate func commitFails() -> (fails: Bool, isExecuted: Bool) {
        lock.withLock {
            defer { failingCommits = max(0, failingCommits - 1) }
            return (failingCommits > 0, executesFailing)
        }
    }
    fileprivate func didCommit(_ durability: Durability) { lock.withLock { committed.append(durability) } }
}

extension StoreConfiguration {
    /// Returns the same store with injectable faults.
    func wrapped(_ faults: Faults) -> StoreConfiguration {
        let inner = self
        var outer = StoreConfiguration(engine: engine, location: location, isShared: isShared) { request in
            WrappedBackend(
                try inner.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger), faults)
        }
        outer.durability = durability
        return outer
    }
}

/// Forwards every call to another backend, unless a fault is injected.
private final class WrappedBackend: StorageBackend {
    let inner: any StorageBackend
    let faults: Faults
    var capabilities: Capabilities { faults.claims(inner.capabilities) }
    var metadata: StoreMetadata { inner.metadata }

    init(_ inner: any StorageBackend, _ faults: Faults) {
        self.inner = inner
        self.faults = faults
    }

    func beginRead() throws -> any ReadTransaction {
        let number = try faults.beginRead()
        return WrappedReader(try inner.beginRead(), faults, number)
    }
    func beginWrite() throws -> any WriteTransaction {
        return WrappedWriter(try inner.beginWrite(), faults)
    }
    func verify(reporting report: MaintenanceReport) throws -> [String] { try inner.verify(reporting: report) }
    func close() throws { try inner.close() }
}

/// Counts the calls, and fails if the snapshot was broken.
private final class WrappedReader: ReadTransaction {
    let inner: any ReadTransaction
    let faults: Faults
    /// The number of the snapshot, in the order of the calls of `beginRead`.
    let number: Int
    private var hasEnded = false

    init(_ inner: any ReadTransaction, _ faults: Faults, _ number: Int) {
        self.inner = inner
        self.faults = faults
        self.number = number
    }

    private func didAsk() throws {
        faults.didAsk()
        try faults.check(number)
    }

    var version: UInt64 { get throws { try inner.version } }
    var interruption: Interruption? {
        get { inner.interruption }
        set { inner.interruption = newValue }
    }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        try didAsk()
        return try inner.record(entity, rowID: rowID)
    }
    func scan(_ request: FetchRequest) throws -> Scan {
        try didAsk()
        return try inner.scan(request)
    }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try didAsk()
        return try inner.related(relationship, of: sources)
    }
    func search(_ request: SearchRequest) throws -> SearchHits? {
        try didAsk()
        return try inner.search(request)
    }
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        try didAsk()
        return try inner.searchStatistics(condition)
    }
    func count(_ request: FetchRequest) throws -> Int {
        try didAsk()
        return try inner.count(request)
    }
    func value(named name: String) throws -> [UInt8]? {
        try didAsk()
        return try inner.value(named: name)
    }
    func valueNames(prefix: String) throws -> [String] {
        try didAsk()
        return try inner.valueNames(prefix: prefix)
    }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        try didAsk()
        return try inner.logEntries(after: position, limit: limit)
    }
    func logBounds() throws -> LogBounds {
        try didAsk()
        return try inner.logBounds()
    }
    func plan(_ request: FetchRequest) throws -> QueryPlan {
        try faults.check(number)
        return try inner.plan(request)
    }
    func explain(_ request: FetchRequest) throws -> QueryPlan {
        try faults.check(number)
        return try inner.explain(request)
    }
    deinit { end() }
    func end() {
        inner.end()
        if !hasEnded { faults.endRead() }
        hasEnded = true
    }
}

private final class WrappedWriter: WriteTransaction {
    let inner: any WriteTransaction
    let faults: Faults
    var isDead = false

    init(_ inner: any WriteTransaction, _ faults: Faults) {
        self.inner = inner
        self.faults = faults
    }

    private func living() throws -> any WriteTransaction {
        if isDead { throw StoreError(.io, "The transaction is dead.") }
        return inner
    }

    var version: UInt64 { get throws { try inner.version } }
    var interruption: Interruption? {
        get { inner.interruption }
        set { inner.interruption = newValue }
    }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try living().record(entity, rowID: rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try living().scan(request) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { try living().related(relationship, of: sources) }
    func search(_ request: SearchRequest) throws -> SearchHits? { try living().search(request) }
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { try living().searchStatistics(condition) }
    func value(named name: String) throws -> [UInt8]? { try living().value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try living().valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try living().logEntries(after: position, limit: limit) }
    func logBounds() throws -> LogBounds { try living().logBounds() }
    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 {
        let inner = try living()
        return try faults.reserve(entity, count) { try inner.reserveIDs(entity, count: count) }
    }

    func apply(_ changes: ChangeSet) throws {
        let inner = try living()
        let (isRefused, dies) = faults.refuses(changes)
        if isRefused {
            isDead = dies
            throw StoreError(.full, "The test simulates a full store.")
        }
        try inner.apply(changes)
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        let inner = try living()
        let (fails, isExecuted) = faults.commitFails()
        guard !fails else {
            if isExecuted { _ = try inner.commit(durability) } else { inner.rollback() }
            throw StoreError(.io, "The test simulates a failing commit.")
        }
        let version = try inner.commit(durability)
        faults.didCommit(durability)
        return version
    }

    func apply(_ sets: [ChangeSet], committing durability: Durability?) throws -> AppliedChangeSets {
        var results = AppliedChangeSets(errors: [])
        for set in sets {
            do {
                try apply(set)
                results.errors.append(nil)
            } catch let error as StoreError where error.code == .constraint {
                results.errors.append(error)
                if faults.resultsAreCut { return results }
            }
        }
        if let durability, results.errors.allSatisfy({ $0 == nil }) { results.version = try commit(durability) }
        return results
    }

    func rollback() { inner.rollback() }
}
