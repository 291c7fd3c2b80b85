import Dispatch
import PolyStoreBackend

/// Background work on an open store: it removes obsolete keys and builds incomplete plain indexes.
///
/// Each batch is a separate transaction that leaves the store consistent. After a batch the work pauses for as long as the batch took, so that other writers
/// can run. The work ends when the store is closed and continues when the store is next opened for writing.
///
/// Sendable: all mutable state is accessed under the lock.
final class BackgroundWork: @unchecked Sendable {
    private let handle: EngineHandle
    private let layout: StoreLayout
    private let logger: any StoreLogger
    private let lock = Lock()
    private var isRunning = false
    /// A Boolean value that indicates whether a thread has begun the work, which waits for one after ``start(_:)``.
    private var hasBegun = false
    private var isStopped = false
    private var currentBuild: IndexBuildProgress?
    private static let queue = DispatchQueue(label: "polystore.background", qos: .utility, attributes: .concurrent)
    /// The time that ``stop()`` waits for a batch, in milliseconds.
    private static let stopTimeout = 5000
    private static let longestPause = 50

    init(_ handle: EngineHandle, _ layout: StoreLayout, _ logger: any StoreLogger) {
        self.handle = handle
        self.layout = layout
        self.logger = logger
    }

    var progress: IndexBuildProgress? { lock.withLock { currentBuild } }

    /// Starts the work if there is any.
    /// - Parameter hasWork: Whether there is work.
    func start(_ hasWork: Bool) {
        let isFirst = lock.withLock {
            if isStopped || isRunning || !hasWork { return false }
            isRunning = true
            return true
        }
        guard isFirst else { return }
        handle.retain()
        Self.queue.async { self.run() }
    }

    /// Stops the work: after the current batch, or before it begins.
    func stop() {
        let isWithdrawn = lock.withLock {
            isStopped = true
            let isWithdrawn = isRunning && !hasBegun
            if isWithdrawn { isRunning = false }
            lock.broadcast()
            let deadline = Deadline(milliseconds: Self.stopTimeout)
            while isRunning { guard lock.wait(until: deadline) else { break } }
            return isWithdrawn
        }
        if isWithdrawn { handle.release() }
    }

    /// Waits until the work has ended.
    func wait() { lock.withLock { while isRunning { lock.wait() } } }

    private var isCancelled: Bool { lock.withLock { isStopped } }

    private func run() {
        let begins = lock.withLock {
            hasBegun = isRunning
            return isRunning
        }
        guard begins else { return }
        do {
            try removeKeys()
            try buildIndexes()
            try buildSearchIndexes()
        } catch let error as StoreError where error.code == .cancelled {
        } catch {
            let error = StoreError(engine: error, "Background work", location: layout.location)
            logger.write(
                .notice, "The background work on \(layout.location) ended early, and the next opening continues it: \(error)")
        }
        // Released first: a caller that waits for the end can rely on the engine being closed with the store.
        handle.release()
        lock.withLock {
            (isRunning, hasBegun) = (false, false)
            currentBuild = nil
            lock.broadcast()
        }
    }

    private func removeKeys() throws {
        let count = handle.engine.traits.recordsOfIndexCommit
        while !isCancelled {
            let more = try batch {
                try handle.write(isCancelled: { self.isCancelled }) { writer in
                    try checkMayWrite(writer)
                    return try PendingRemoval.step(writer, layout.traits, count: count)
                }
            }
            if !more { return }
        }
    }

    private func checkMayWrite(_ writer: any EngineWriter) throws {
        do { try handle.checkMayWrite(layout, writer) } catch is UnfinishedMigration { throw EngineHandle.isBeingMigrated(layout.location) }
    }

    private func buildIndexes() throws {
        let builder = IndexBuilder(handle, layout, logger, isCancelled: { self.isCancelled })
        for index in try builder.unfinished() where !index.isUnique {
            try build(index.index.name, try recordCount(index.entity)) { try builder.step(index) }
        }
    }

    private func buildSearchIndexes() throws {
        let builder = SearchIndexBuilder(handle, layout, isCancelled: { self.isCancelled })
        for index in try builder.unfinished() {
            let name = index.name(in: layout.schema)
            let total = try recordCount(layout.schema.entities[index.entity])
            try build(name, total) { try builder.step(index) }
        }
    }

    /// Runs the batches of an index until it is complete or the work is stopped.
    private func build(_ name: String, _ total: Int64, _ step: () throws -> (isUnfinished: Bool, count: Int)) throws {
        var done: Int64 = 0
        logger.write(.notice, "The index \(name) of \(layout.location) is built in the background: \(total) records.")
        while true {
            if isCancelled { return }
            let step = try batch { try step() }
            done += Int64(step.count)
            let progress = IndexBuildProgress(name: name, builtCount: done, totalCount: total)
            lock.withLock { currentBuild = progress }
            if !step.isUnfinished { break }
        }
        logger.write(.notice, "The index \(name) of \(layout.location) is complete: \(done) of \(total) records were added.")
    }

    private func recordCount(_ entity: Entity) throws -> Int64 {
        let reader = SnapshotReader(layout, try handle.engine.snapshot(), isWritten: false)
        defer { reader.end() }
        try handle.check(layout, reader.snapshot)
        return try reader.recordCount(entity)
    }

    /// Runs a batch, then pauses for as long as it took.
    private func batch<Result>(_ body: () throws -> Result) throws -> Result {
        let start = DispatchTime.now().uptimeNanoseconds
        let result = try body()
        let milliseconds = Int((DispatchTime.now().uptimeNanoseconds - start) / 1_000_000)
        let pause = min(milliseconds, Self.longestPause)
        lock.withLock { if pause > 0, !isStopped { _ = lock.wait(until: Deadline(milliseconds: pause)) } }
        return result
    }
}
