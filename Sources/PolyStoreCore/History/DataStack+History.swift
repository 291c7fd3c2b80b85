import Foundation
import PolyStoreBackend

extension DataStack {
    /// Reads what was committed to the stack's stores, by this process and by others, since a point in the history.
    ///
    ///     let history = try await stack.history(since: token)
    ///     for entry in history { print(entry.author ?? "–", entry.deletedObjectIDs(Person.self)) }
    ///     try save(history.token)
    ///
    /// Only commits of stacks that record history are in it: see the argument `history` of ``addStore(_:configuration:history:file:line:)``. This stack itself
    /// need not record any.
    /// - Parameters:
    ///   - token: where the last call ended; nil: the oldest entry that is kept. A store that the token does not name is read from its oldest entry.
    ///   - filter: the entries and changes that are wanted.
    ///   - limit: the greatest number of entries to return, 1 or more; nil: no limit.
    /// - Throws: `historyExpired` where entries behind the token were deleted, or where the store was replaced by an earlier copy of itself: read
    ///   the objects themselves, and continue with ``historyToken()``. `storeNotFound` for a token of other stores. `corrupt` for a damaged entry.
    public func history(
        since token: HistoryToken? = nil, matching filter: HistoryFilter = .all, limit: Int? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> History {
        try await onReader(file, line) { try $0.history(since: token, matching: filter, limit: limit) }
    }

    /// The same on the caller's thread.
    public func historyAndWait(
        since token: HistoryToken? = nil, matching filter: HistoryFilter = .all, limit: Int? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> History {
        try reader(file, line).history(since: token, matching: filter, limit: limit)
    }

    /// The point behind everything that was committed so far: where to start for a program that has just read the objects themselves. Take it before
    /// reading them, so that nothing in between is missed.
    public func historyToken(file: StaticString = #fileID, line: UInt = #line) throws -> HistoryToken {
        try reader(file, line).token()
    }

    /// Deletes the entries of the history up to a point. A token from before it can no longer be used.
    ///
    /// Runs as a transaction of its own.
    /// - Throws: what a transaction throws; `storeNotFound` for a token of other stores.
    public func deleteHistory(before token: HistoryToken, file: StaticString = #fileID, line: UInt = #line) async throws {
        let removals = try await onReader(file, line) { try $0.positions(token) }
        try await perform(file: file, line: line) { try $0.deleteHistory(removals) }
    }

    /// The same on the caller's thread.
    public func deleteHistoryAndWait(before token: HistoryToken, file: StaticString = #fileID, line: UInt = #line) throws {
        let removals = try reader(file, line).positions(token)
        try performAndWait(isolation: nil, file: file, line: line) { try $0.deleteHistory(removals) }
    }

    /// Deletes the entries that were committed before a date, up to the first that was not.
    public func deleteHistory(before date: Date, file: StaticString = #fileID, line: UInt = #line) async throws {
        let removals = try await onReader(file, line) { try $0.positions(before: date) }
        try await perform(file: file, line: line) { try $0.deleteHistory(removals) }
    }

    /// The same on the caller's thread.
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
        let core = core
        return try await withCheckedThrowingContinuation { continuation in
            core.onReaderThread { continuation.resume(with: Result { try body(log) }) }
        }
    }
}

extension Transaction {
    /// Removes entries of the history in the commit of this transaction.
    /// - Parameter positions: of the last entry to remove, by the store's index in the stack.
    func deleteHistory(_ positions: [Int: Int64]) throws {
        try checkMutable()
        for (index, position) in positions {
            try touch(table.stores[index])
            historyRemovals[index] = position
        }
    }
}
