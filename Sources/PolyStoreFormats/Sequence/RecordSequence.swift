/// The records of a source as an asynchronous sequence.
///
/// The source is read on a dedicated thread, which may block, and never on the threads of Swift concurrency. Records are delivered in batches of those that
/// one read of the source completes, at most 1024, so that most of them require no suspension. The thread waits while two batches are unread.
///
///     for try await record in RecordSource.file(path: "cities.csv").records { … }
///
/// A recoverable error ends a `for` loop unless `onRecoverableError` handles it. An iterator can continue after it: the next call returns the next record.
/// Cancelling the task ends a wait immediately with `CancellationError`. Each iteration opens the source.
public struct RecordSequence: AsyncSequence, Sendable {
    public typealias Element = SourceRecord

    private let source: RecordSource
    private let position: RecordPosition?
    private let onRecoverableError: (@Sendable (RecordError) throws -> Void)?

    init(_ source: RecordSource, _ position: RecordPosition?, _ onRecoverableError: (@Sendable (RecordError) throws -> Void)?) {
        self.source = source
        self.position = position
        self.onRecoverableError = onRecoverableError
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pump: RecordPump(source, position, onRecoverableError))
    }

    /// The iterator of the sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let owner: Owner
        private var batch = RecordPump.Batch()
        private var index = 0

        fileprivate init(pump: RecordPump) { owner = Owner(pump) }

        public mutating func next() async throws -> SourceRecord? { try await next(isolation: #isolation) }

        /// Returns the next record without leaving the caller's actor, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> SourceRecord? {
            while true {
                if index < batch.records.count {
                    index += 1
                    return batch.records[index - 1]
                }
                if let error = batch.error {
                    batch.error = nil
                    throw error
                }
                if batch.isLast { return nil }
                try Task.checkCancellation()
                batch = await owner.pump.next(isolation: actor)
                index = 0
            }
        }

        /// Ends the thread when the last copy of the iterator is deallocated.
        private final class Owner: Sendable {
            let pump: RecordPump
            init(_ pump: RecordPump) { self.pump = pump }
            deinit { pump.cancel() }
        }
    }
}

extension RecordSource {
    /// The records as an asynchronous sequence.
    public var records: RecordSequence { RecordSequence(self, nil, nil) }

    /// Returns the records as an asynchronous sequence.
    ///
    /// - Parameters:
    ///   - position: The record after which to begin; see ``RecordReader/resume(after:)``.
    ///   - onRecoverableError: Called on the reading thread for every record that cannot be read. If it returns, the record is skipped; if it throws, the error
    ///     ends the sequence.
    public func records(
        after position: RecordPosition? = nil, onRecoverableError: (@Sendable (RecordError) throws -> Void)? = nil
    ) -> RecordSequence {
        RecordSequence(self, position, onRecoverableError)
    }
}
