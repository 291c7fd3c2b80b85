import PolyStoreBackend
import PolyStoreKernel

/// The entries of a history: those that exist, then each new one after its commit, by this process or another.
///
///     for try await entry in stack.followHistory(since: token) { print(entry) }
///
/// Each iteration reads the history independently. It ends when the task is cancelled, and throws the errors of ``DataStack/history(since:matching:limit:file:line:)``.
public struct HistorySequence: AsyncSequence, Sendable {
    let stack: DataStack
    let token: HistoryToken?
    let filter: HistoryFilter

    public func makeAsyncIterator() -> Iterator { Iterator(stack, token, filter) }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        /// The number of entries that are read at a time, so that a long history takes no more memory.
        private static let batch = 256

        private let stack: DataStack
        private let filter: HistoryFilter
        private let observation: CommitObservation
        private var commits: AsyncStream<Void>.Iterator
        private var entries: ArraySlice<HistoryEntry> = []
        private var token: HistoryToken?

        init(_ stack: DataStack, _ token: HistoryToken?, _ filter: HistoryFilter) {
            (self.stack, self.token, self.filter) = (stack, token, filter)
            // Any number of commits between two reads are one reason to read.
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            commits = stream.makeAsyncIterator()
            observation = stack.observeCommits { _ in continuation.yield() }
        }

        /// Returns the next entry, waiting for it; `nil` if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> HistoryEntry? {
            while true {
                if let entry = entries.popFirst() { return entry }
                if Task.isCancelled { return nil }
                let history = try await stack.history(since: token, matching: filter, limit: Self.batch)
                token = history.token
                entries = Array(history)[...]
                if entries.isEmpty, !history.hasMore, await commits.next(isolation: actor) == nil { return nil }
            }
        }
    }
}

extension DataStack {
    /// Returns the entries of the history since a point, and then each new one.
    ///
    /// A stack that only reads a store receives the commits of others too. ``historyToken(file:line:)`` is the point to begin with the next commit.
    /// - Parameters:
    ///   - token: The point where to begin; `nil` for the oldest entry.
    ///   - filter: The entries and changes to return.
    public func followHistory(since token: HistoryToken? = nil, matching filter: HistoryFilter = .all) -> HistorySequence {
        HistorySequence(stack: self, token: token, filter: filter)
    }
}
