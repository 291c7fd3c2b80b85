import Foundation
import PolyStoreBackend
import PolyStoreCore

/// A change of the store.
package enum LiveChange: Sendable {
    /// A transaction, and the point after it, from which another sequence continues.
    case transaction(LiveTransaction, token: String)
    /// Commits whose changes are not known, because the program that made them records no history. Read the objects again.
    case unknown
    /// Entries between the point and the oldest one were deleted, or the store was replaced. Read the objects again.
    case expired
}

/// The transactions that are committed to the store, by this process and others, from a point on.
///
/// Each iteration reads the history independently, in parts, so that one that is read slowly takes no more memory. It ends when its task is cancelled.
package struct LiveChanges: AsyncSequence, Sendable {
    package typealias Element = LiveChange

    fileprivate let reader: HistoryReader
    /// The point to begin at; nil for now.
    fileprivate let token: HistoryToken?

    package func makeAsyncIterator() -> Iterator { Iterator(reader, token) }

    package struct Iterator: AsyncIteratorProtocol {
        /// The number of entries that are read at a time.
        private static let batch = 64

        private let reader: HistoryReader
        private var token: HistoryToken?
        private let commits: CommitSignal
        private var signals: AsyncStream<Void>.Iterator
        private var waiting: ArraySlice<LiveChange> = []
        /// Whether commits with unknown changes were seen that are not yet reported.
        private var hasUnknown = false

        fileprivate init(_ reader: HistoryReader, _ token: HistoryToken?) {
            (self.reader, self.token) = (reader, token)
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            commits = CommitSignal(reader.store, continuation)
            signals = stream.makeAsyncIterator()
        }

        /// Returns the next change, waiting for it; nil if the task is cancelled or the store is closed.
        package mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> LiveChange? {
            while true {
                if let change = waiting.popFirst() { return change }
                if Task.isCancelled { return nil }
                if commits.takeUnknown() { hasUnknown = true }
                if try await read(isolation: actor) { continue }
                if hasUnknown {
                    hasUnknown = false
                    return .unknown
                }
                guard await signals.next(isolation: actor) != nil else { return nil }
            }
        }

        /// Reads the next entries.
        /// - Returns: Whether there were any.
        private mutating func read(isolation actor: isolated (any Actor)?) async throws -> Bool {
            let store = reader.store
            do {
                guard let since = token else {
                    token = try await store.stack.historyToken()
                    return true
                }
                let part = try await store.stack.history(since: since, limit: Self.batch)
                token = part.token
                waiting = try await store.described(Array(part), reader)[...]
                return !waiting.isEmpty || part.hasMore
            } catch let error as StoreError where error.code == .historyExpired {
                token = try await store.stack.historyToken()
                waiting = [.expired]
                return true
            }
        }
    }
}

/// Wakes a sequence after commits, and remembers whether one had unknown changes.
private final class CommitSignal: Sendable {
    private let unknown: UnknownCommits
    private let observation: CommitObservation

    init(_ store: BrowserStore, _ continuation: AsyncStream<Void>.Continuation) {
        let unknown = UnknownCommits()
        self.unknown = unknown
        let records = store.recordsHistory
        observation = store.stack.observeCommits { commit in
            if commit.changesAreUnknown || !commit.isExternal && !records { unknown.set() }
            continuation.yield()
        }
    }

    func takeUnknown() -> Bool { unknown.take() }
}

/// A Boolean value that several threads share.
private final class UnknownCommits: @unchecked Sendable {  // accessed under the lock
    private let lock = NSLock()
    private var value = false

    func set() { lock.withLock { value = true } }

    func take() -> Bool {
        lock.withLock {
            defer { value = false }
            return value
        }
    }
}

extension BrowserStore {
    /// Returns the transactions that are committed from a point on, and then each new one.
    ///
    /// Commits of programs that record no history are reported as ``LiveChange/unknown``: the store does not record what they changed.
    /// - Parameters:
    ///   - token: ``HistoryPage/token``, or the token of a change; nil for the commits from now on.
    ///   - request: The page of the history that follows the changes: ``LiveTransaction/selected`` is what it shows. Its position and size do not matter.
    /// - Throws: `misuse` for a text that is not a token, `storeNotFound` for an unknown entity.
    package func liveChanges(since token: String? = nil, for request: HistoryRequest = HistoryRequest()) throws -> LiveChanges {
        let reader = try HistoryReader(self, request)
        guard let token else { return LiveChanges(reader: reader, token: nil) }
        guard let point = HistoryToken(text: token) else { throw StoreError(.misuse, "The address has no valid point of the history.") }
        return LiveChanges(reader: reader, token: point)
    }

    fileprivate func described(_ entries: [HistoryEntry], _ reader: HistoryReader) async throws -> [LiveChange] {
        guard !entries.isEmpty else { return [] }
        return try await reading { context in
            try entries.map { .transaction(try reader.live($0, in: context), token: try $0.token.text) }
        }
    }
}
