import Foundation

/// Reads records on a dedicated thread and delivers them in batches.
final class RecordPump: @unchecked Sendable {  // the state is accessed under the condition's lock
    struct Batch: Sendable {
        var records: [SourceRecord] = []
        /// The error that follows the records.
        var error: (any Error)?
        var isLast = false

        var isEmpty: Bool { records.isEmpty && error == nil && !isLast }
    }

    private let source: RecordSource
    private let resumption: RecordPosition?
    private let onRecoverableError: (@Sendable (RecordError) throws -> Void)?
    private let condition = NSCondition()
    private var ready: [Batch] = []
    private var waiting: CheckedContinuation<Void, Never>?
    private var isStarted = false
    private var isCancelled = false
    private var isFinished = false

    static let largestBatch = 1024
    static let mostBatches = 2

    init(_ source: RecordSource, _ resumption: RecordPosition?, _ onRecoverableError: (@Sendable (RecordError) throws -> Void)?) {
        self.source = source
        self.resumption = resumption
        self.onRecoverableError = onRecoverableError
    }

    /// Waits for the next batch and returns it.
    func next(isolation actor: isolated (any Actor)?) async -> Batch {
        await withTaskCancellationHandler(
            operation: {
                // The batch is taken under the lock; the continuation only wakes the task.
                while true {
                    if let batch = take() { return batch }
                    await withCheckedContinuation(isolation: actor) { wait($0) }
                }
            },
            onCancel: { cancel() },
            isolation: actor)
    }

    private func take() -> Batch? {
        condition.lock()
        defer { condition.unlock() }
        if isCancelled { return Batch(error: CancellationError(), isLast: true) }
        if !ready.isEmpty {
            condition.signal()
            return ready.removeFirst()
        }
        return isFinished ? Batch(isLast: true) : nil
    }

    /// Resumes the task when a batch or the end is available.
    private func wait(_ continuation: CheckedContinuation<Void, Never>) {
        condition.lock()
        defer { condition.unlock() }
        if isCancelled || isFinished || !ready.isEmpty { return continuation.resume() }
        waiting = continuation
        guard !isStarted else { return }
        isStarted = true
        Thread.detachNewThread { [self] in run() }
    }

    /// Resumes the waiting task and ends the thread after its current read.
    func cancel() {
        condition.lock()
        isCancelled = true
        ready = []
        condition.signal()
        unlockAndResume()
    }

    /// Delivers a batch, waiting while too many batches are unread. Returns false after cancellation.
    private func deliver(_ batch: Batch) -> Bool {
        condition.lock()
        while ready.count >= Self.mostBatches, !isCancelled { condition.wait() }
        let isWanted = !isCancelled
        if isWanted {
            isFinished = batch.isLast
            ready.append(batch)
        }
        unlockAndResume()
        return isWanted
    }

    /// Releases the lock before resuming the task, which may run immediately on a custom executor.
    private func unlockAndResume() {
        let released = waiting
        waiting = nil
        condition.unlock()
        released?.resume()
    }

    /// The body of the thread.
    private func run() {
        var batch = Batch()
        var isWanted = true
        do {
            let reader = try source.makeReader()
            // Delivers the records read so far before the thread waits for the source.
            reader.willFill = {
                guard !batch.isEmpty else { return }
                let full = batch
                batch = Batch()
                isWanted = self.deliver(full) && isWanted
            }
            if let resumption { try reader.resume(after: resumption) }
            while isWanted {
                do {
                    guard let record = try reader.next() else { break }
                    batch.records.append(record)
                } catch let error as RecordError where error.isRecoverable {
                    if let onRecoverableError { try onRecoverableError(error) } else { batch.error = error }
                }
                guard batch.records.count >= Self.largestBatch || batch.error != nil else { continue }
                let full = batch
                batch = Batch()
                isWanted = deliver(full) && isWanted
            }
        } catch {
            batch.error = error
        }
        batch.isLast = true
        _ = deliver(batch)
    }
}
