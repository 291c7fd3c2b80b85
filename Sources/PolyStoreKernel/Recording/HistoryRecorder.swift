import Dispatch
import Foundation
import PolyStoreAttributes
import PolyStoreBackend

/// Writes the history of one store within one commit group: an entry for each change set, and the removal of entries that exceed the limits.
final class HistoryRecorder {
    /// The known state of the log, which avoids reading it.
    struct State: Sendable {
        /// The version of the store that the state describes.
        var version: UInt64
        /// The position of the last entry.
        var position: Int64
        /// The total size of all entries ever appended, in bytes.
        var bytes: Int64
        /// The oldest entries that were read.
        var oldest: ArraySlice<Oldest> = []
        /// The position up to which ``oldest`` was read, or entries were removed.
        var readThrough: Int64
        /// The number of entries at the beginning of ``oldest`` that were dated in the future, or cannot be read.
        var futureCount = 0
        /// The time from which one of them may no longer be in the future.
        var futureEnd = Int64.max
    }

    /// One of the oldest entries.
    struct Oldest: Sendable {
        let position: Int64
        /// The head of the entry; `nil` if it cannot be read.
        let head: HistoryRecord.Head?
    }

    /// The maximum number of entries that one commit removes, and that it reads for that.
    private static let mostRemovals = 256

    private let store: PersistentStore
    private let options: HistoryOptions
    /// The state; `nil` if the log must be read first.
    private var state: State?
    /// The state after the last change set is applied.
    private var proposed: State?

    init(_ store: PersistentStore, _ options: HistoryOptions, version: UInt64) {
        self.store = store
        self.options = options
        state = store.historyState.withLock { $0 }
        if state?.version != version { state = nil }
    }

    /// Adds the entry of a transaction to its change set.
    func record(_ changes: ChangeSet, _ transaction: Transaction, _ writer: any WriteTransaction) throws {
        var builder = HistoryRecordBuilder(store, transaction.table, writer, recordsPreviousValues: options.recordsPreviousValues)
        try builder.add(changes, transaction.published)
        let author = transaction.origin?.sourceIdentifier.map { "\($0)" }
        let isInternal = changes.changes.isEmpty && changes.links.isEmpty && changes.values.isEmpty
        try append(builder.groups, author: author, isInternal: isInternal, to: changes, writer)
    }

    /// Adds an entry that only marks a commit.
    func recordNothing(_ changes: ChangeSet, _ writer: any WriteTransaction) throws {
        try append([], author: nil, isInternal: true, to: changes, writer)
    }

    private func append(
        _ groups: [HistoryRecord.Group], author: String?, isInternal: Bool, to changes: ChangeSet, _ writer: any WriteTransaction
    ) throws {
        var state = try state ?? read(writer)
        let now = HistoryRecord.time(Date())
        let head = HistoryRecord.Head(base: try writer.version, time: now, bytesBefore: state.bytes, isInternal: isInternal, author: author)
        let bytes = HistoryRecord(head: head, groups: groups).encoded()
        changes.appendLogEntry(bytes)
        state.position += 1
        state.bytes += Int64(bytes.count)
        if options.hasLimits, let position = try trim(&state, now, writer) { changes.removeLogEntries(through: position) }
        proposed = state
    }

    /// Called when a change set was applied. The next entry follows its entry.
    func didApply() {
        state = proposed
        proposed = nil
    }

    /// Called after the commit, so that the next group does not need to read the log.
    func didCommit(_ version: UInt64) {
        state?.version = version
        store.historyState.withLock { $0 = state }
    }

    private func read(_ writer: any WriteTransaction) throws -> State {
        let bounds = try writer.logBounds()
        var state = State(version: try writer.version, position: bounds.last, bytes: 0, readThrough: bounds.removedThrough)
        if !bounds.isEmpty, let last = try writer.logEntries(after: bounds.last - 1, limit: 1).first,
            let head = HistoryRecord.Head(of: last.bytes)
        {
            state.bytes = head.bytesBefore &+ Int64(last.bytes.count)
        }
        return state
    }

    /// Removes the oldest entries from a state while they exceed the limits.
    /// - Returns: The position up to which to remove entries; `nil` if none exceeds the limits.
    private func trim(_ state: inout State, _ now: Int64, _ writer: any WriteTransaction) throws -> Int64? {
        var removed: Int64?
        var (left, unread) = (Self.mostRemovals, Self.mostRemovals)
        while left > 0, let first = try state.oldest.first ?? readOldest(&state, removed, &unread, writer) {
            guard let count = isSurplus(first, state) ? 1 : try oldCount(&state, now, removed, &unread, writer) else { break }
            let taken = state.oldest.prefix(min(count, left))
            removed = taken.last?.position
            left -= taken.count
            state.oldest.removeFirst(taken.count)
            state.futureCount = max(0, state.futureCount - taken.count)
        }
        return removed
    }

    /// Reads more of the oldest entries.
    /// - Parameter unread: The number of entries that the commit may still read.
    /// - Returns: The first of them; `nil` if there are no more, or if the commit may not read more. Excludes the entries that this change set appends, which are
    ///   always kept.
    private func readOldest(
        _ state: inout State, _ removed: Int64?, _ unread: inout Int, _ writer: any WriteTransaction
    ) throws -> Oldest? {
        guard unread > 0 else { return nil }
        let found = try writer.logEntries(after: max(state.readThrough, removed ?? 0), limit: unread)
        unread -= found.count
        state.oldest += found.map { Oldest(position: $0.position, head: HistoryRecord.Head(of: $0.bytes)) }
        state.readThrough = found.last?.position ?? state.readThrough
        return state.oldest.suffix(found.count).first
    }

    /// Returns whether an entry is unreadable or exceeds a limit of the number or the size of the entries.
    private func isSurplus(_ entry: Oldest, _ state: State) -> Bool {
        if let most = options.maximumCount, state.position - entry.position + 1 > most { return true }
        guard let head = entry.head else { return true }
        guard let most = options.maximumBytes else { return false }
        return state.bytes &- head.bytesBefore > most
    }

    /// Returns the number of entries at the beginning that exceed the maximum age: an entry, and those dated in the future before it, which are as old as that one.
    /// A clock that was wrong for one commit therefore does not end the expiry of all later ones. A commit begins after the entries that earlier ones have found to
    /// be in the future.
    /// - Returns: `nil` if there are none, or if this commit may not read on.
    private func oldCount(
        _ state: inout State, _ now: Int64, _ removed: Int64?, _ unread: inout Int, _ writer: any WriteTransaction
    ) throws -> Int? {
        guard let most = options.maximumAge else { return nil }
        if now >= state.futureEnd { (state.futureCount, state.futureEnd) = (0, .max) }
        while true {
            if state.futureCount == state.oldest.count, try readOldest(&state, removed, &unread, writer) == nil { return nil }
            let entry = state.oldest[state.oldest.startIndex + state.futureCount]
            if let head = entry.head, head.time <= now {
                return Duration.microseconds(now &- head.time) > most ? state.futureCount + 1 : nil
            }
            // An unreadable entry has no date.
            state.futureCount += 1
            state.futureEnd = min(state.futureEnd, entry.head?.time ?? .max)
        }
    }
}
