import Foundation
import PolyStoreBackend
import PolyStoreKernel

extension DataStack {
    /// Returns the transactions that were committed to the stack's stores since a point in the history, by this process and by others.
    ///
    ///     let history = try await stack.history(since: token)
    ///     for entry in history { print(entry.author ?? "–", entry.deletedObjectIDs(Person.self)) }
    ///     try save(history.token)
    ///
    /// The history contains only commits of stacks that record it: see the argument `history` of ``addStore(_:configuration:history:file:line:)``. This stack
    /// itself does not need to record any.
    /// - Parameters:
    ///   - token: The point where the last call ended; `nil` for the oldest entry. A store that the token does not contain is read from its oldest entry.
    ///   - filter: The entries and changes to return.
    ///   - limit: The maximum number of entries to return, at least 1; `nil` for no limit.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `historyExpired` if entries after the token were deleted, or if the store was replaced by an earlier copy of itself, even if that has as many
    ///   entries again: read the objects themselves, and continue with ``historyToken(file:line:)``. `storeNotFound` for a token of other stores. `corrupt` for a damaged entry.
    public func history(
        since token: HistoryToken? = nil, matching filter: HistoryFilter = .all, limit: Int? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> History {
        try await onReader(file, line) { try $0.history(since: token, matching: filter, limit: limit) }
    }

    /// Returns the history, blocking the caller's thread; see ``history(since:matching:limit:file:line:)``.
    public func historyAndWait(
        since token: HistoryToken? = nil, matching filter: HistoryFilter = .all, limit: Int? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> History {
        try reader(file, line).history(since: token, matching: filter, limit: limit)
    }

    /// Returns the point after all transactions committed so far, as a start for a program that reads the objects themselves. Get the token before
    /// reading them, so that no transaction in between is missed.
    ///
    /// Reads each store on a thread of the stack. The calling task waits for it without blocking a thread.
    public func historyToken(file: StaticString = #fileID, line: UInt = #line) async throws -> HistoryToken {
        try await onReader(file, line) { try $0.token() }
    }

    /// Returns the point after all transactions committed so far, blocking the caller's thread while each store is read; see ``historyToken(file:line:)``.
    public func historyTokenAndWait(file: StaticString = #fileID, line: UInt = #line) throws -> HistoryToken {
        try reader(file, line).token()
    }

    /// Deletes the entries of the history up to a point. Earlier tokens can no longer be used.
    ///
    /// Runs as a separate transaction.
    /// - Throws: Errors of a transaction; `storeNotFound` for a token of other stores; `historyExpired` for a token beyond the end of the history, or of another
    ///   entry than the store has, because the store was replaced by an earlier copy of itself. Nothing is deleted then.
    public func deleteHistory(before token: HistoryToken, file: StaticString = #fileID, line: UInt = #line) async throws {
        let removals = try await onReader(file, line) { try $0.positions(token) }
        try await perform(file: file, line: line) { try $0.deleteHistory(removals) }
    }

    /// Deletes entries, blocking the caller's thread; see `deleteHistory(before:file:line:)`.
    public func deleteHistoryAndWait(before token: HistoryToken, file: StaticString = #fileID, line: UInt = #line) throws {
        let removals = try reader(file, line).positions(token)
        try performAndWait(isolation: nil, file: file, line: line) { try $0.deleteHistory(removals) }
    }

    /// Deletes the entries that were committed before a date, up to the first later one.
    ///
    /// An entry dated in the future counts as being as old as the next one that is not; at the end of the history it counts as committed now.
    /// - Throws: Errors of a transaction; `misuse` for a date that is not a number.
    public func deleteHistory(before date: Date, file: StaticString = #fileID, line: UInt = #line) async throws {
        let removals = try await onReader(file, line) { try $0.positions(before: date) }
        try await perform(file: file, line: line) { try $0.deleteHistory(removals) }
    }

    /// Deletes entries, blocking the caller's thread; see `deleteHistory(before:file:line:)`.
    public func deleteHistoryAndWait(before date: Date, file: StaticString = #fileID, line: UInt = #line) throws {
        let removals = try reader(file, line).positions(before: date)
        try performAndWait(isolation: nil, file: file, line: line) { try $0.deleteHistory(removals) }
    }

    private func reader(_ file: StaticString, _ line: UInt) throws -> HistoryLog {
        try core.process.check("This stack")
        return HistoryLog(table: core.table.withLock { $0 }, logger: core.logger, site: CallSite("history", file: file, line: line))
    }

    private func onReader<T: Sendable>(
        _ file: StaticString, _ line: UInt, _ body: @escaping @Sendable (HistoryLog) throws -> T
    ) async throws -> T {
        let log = try reader(file, line)
        return try await core.awaitingReaderThread { try body(log) }
    }
}

extension Transaction {
    /// Removes entries of the history in the commit of this transaction.
    /// - Parameter positions: The position of the last entry to remove, by the store's index in the stack.
    func deleteHistory(_ positions: [Int: Int64]) throws {
        try checkMutable()
        for (index, position) in positions {
            try touch(table.stores[index])
            buffer.historyRemovals[index] = position
        }
    }
}
