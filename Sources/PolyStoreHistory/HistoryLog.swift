import Foundation
import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreKernel

/// The combined history of a stack's stores.
struct HistoryLog: Sendable {
    /// The number of entries that are read at a time.
    static let batch = 256

    let table: StoreTable
    let logger: any StoreLogger
    let site: CallSite

    /// The open stores that support a history.
    private var stores: [PersistentStore] { table.openStores.filter { $0.capabilities.has(.changeLog) } }

    // MARK: Reading

    /// The entries found in one store.
    private struct Part {
        let store: PersistentStore
        /// The point after which entries were read.
        let start: HistoryToken.Point
        var entries: [(point: HistoryToken.Point, entry: HistoryEntry)] = []
        /// The point after the last entry that was read.
        var end: HistoryToken.Point
        /// A Boolean value that indicates whether there are more entries.
        var hasMore = false
        /// The number of entries in the result so far.
        var taken = 0

        var next: HistoryEntry { entries[taken].entry }
    }

    func history(since token: HistoryToken?, matching filter: HistoryFilter, limit: Int?) throws -> History {
        do {
            guard limit ?? 1 > 0 else { throw StoreError(.misuse, "The limit of a history is 1 or more, not \(limit ?? 0).") }
            try check(token)
            return merged(try stores.map { try part($0, token, filter, limit ?? .max) }, since: token, limit ?? .max)
        } catch {
            logger.writeFailure(error, site)
            throw error
        }
    }

    private func part(_ store: PersistentStore, _ token: HistoryToken?, _ filter: HistoryFilter, _ limit: Int) throws -> Part {
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        let bounds = try reader.logBounds()
        let start = try Self.start(store, token, bounds, reader)
        var part = Part(store: store, start: start, end: start)
        // A mark is kept until an entry is returned, because the filter can exclude the entry after the unrecorded commits.
        var isMarked = start.followsUnrecordedCommits
        let resolver = HistoryResolver(store, table)
        while part.end.position < bounds.last {
            let batch = try reader.logEntries(after: part.end.position, limit: Self.batch)
            if batch.isEmpty { break }
            for logged in batch {
                let record = try HistoryRecord(logged, location: store.location)
                if let known = part.end.version, record.head.base > known { isMarked = true }
                if let entry = resolver.entry(logged, record, filter, followsUnrecordedCommits: isMarked) {
                    guard part.entries.count < limit else {
                        part.hasMore = true
                        return part
                    }
                    isMarked = false
                    part.entries.append((logged.point(), entry))
                }
                part.end = logged.point(followsUnrecordedCommits: isMarked)
            }
        }
        return part
    }

    /// Merges the entries of the stores by date, keeping the order within each store.
    private func merged(_ parts: [Part], since token: HistoryToken?, _ limit: Int) -> History {
        var parts = parts
        var token = token ?? HistoryToken()
        for part in parts { token.advance(part.store.storeID, to: part.start) }
        var found: [HistoryEntry] = []
        while found.count < limit {
            let waiting = parts.indices.filter { parts[$0].taken < parts[$0].entries.count }
            guard let next = waiting.min(by: { parts[$0].next.date < parts[$1].next.date }) else { break }
            token.advance(parts[next].store.storeID, to: parts[next].entries[parts[next].taken].point)
            found.append(parts[next].next.following(token))
            parts[next].taken += 1
        }
        for part in parts where part.taken == part.entries.count { token.advance(part.store.storeID, to: part.end) }
        return History(found, token: token, hasMore: parts.contains { $0.hasMore || $0.taken < $0.entries.count })
    }

    // MARK: Tokens

    func token() throws -> HistoryToken {
        var token = HistoryToken()
        for store in stores {
            let reader = try store.backend.beginRead()
            defer { reader.end() }
            let last = try reader.logBounds().last
            var point = try reader.logEntries(after: last - 1, limit: 1).first?.point() ?? HistoryToken.Point(position: last)
            // The caller reads the objects afterwards, and so sees the commits without entries.
            point.version = try reader.version
            token.advance(store.storeID, to: point)
        }
        return token
    }

    /// - Throws: `storeNotFound` for a token that contains stores, but none of the stack's.
    private func check(_ token: HistoryToken?) throws {
        guard let token, !token.points.isEmpty, !stores.contains(where: { token.position(in: $0.storeID) != nil }) else { return }
        throw StoreError(
            .storeNotFound,
            "The history token \(token) belongs to none of the stack's stores. Add its store first; a store that was created again has a new history: "
                + "read it from the beginning.")
    }

    /// Returns the point of a token in a store, completed with the entry at its position.
    /// - Throws: `historyExpired`.
    private static func start(
        _ store: PersistentStore, _ token: HistoryToken?, _ bounds: LogBounds, _ reader: any ReadTransaction
    ) throws -> HistoryToken.Point {
        guard var point = token?.points[store.storeID] else { return HistoryToken.Point(position: bounds.removedThrough) }
        guard point.position >= bounds.removedThrough else {
            throw expired(
                store,
                "begins behind entry \(bounds.removedThrough), and the token ends at \(point.position): the entries between were deleted")
        }
        guard let entry = try check(point, store, bounds, reader) else { return point }
        point.identity = entry.identity
        point.version = point.version ?? entry.version
        return point
    }

    /// Checks that the entry of a point is that of the store.
    /// - Returns: The entry; `nil` if it was deleted.
    /// - Throws: `historyExpired` if the store was replaced by an earlier copy of itself.
    private static func check(
        _ point: HistoryToken.Point, _ store: PersistentStore, _ bounds: LogBounds, _ reader: any ReadTransaction
    ) throws -> LogEntry? {
        guard point.position <= bounds.last else {
            throw expired(
                store, "ends at entry \(bounds.last), and the token at \(point.position): the store was replaced by an earlier copy")
        }
        let version = try reader.version
        guard point.version ?? 0 <= version else {
            throw expired(
                store,
                "ends at version \(version), and the token at \(point.version ?? 0): the store was replaced by an earlier copy")
        }
        // The entry of the token or, if that was deleted, the next one, which cannot have an earlier version.
        guard let entry = try reader.logEntries(after: point.position - 1, limit: 1).first else { return nil }
        let isOwn = entry.position == point.position
        if isOwn, point.identity ?? entry.identity == entry.identity { return entry }
        if !isOwn, entry.version >= point.version ?? 0 { return nil }
        throw expired(
            store,
            "has another entry \(entry.position) than when the token was made: the store was replaced by an earlier copy and changed since")
    }

    private static func expired(_ store: PersistentStore, _ reason: String) -> StoreError {
        StoreError(
            .historyExpired,
            "The history of \(store.location) \(reason). Read the objects themselves, and continue with historyToken().",
            location: store.location)
    }

    // MARK: Deleting

    /// Returns the positions of a token in the writable stores.
    /// - Throws: `historyExpired` if a store was replaced by an earlier copy of itself; `storeNotFound` for a token of other stores.
    func positions(_ token: HistoryToken) throws -> [Int: Int64] {
        try check(token)
        var found: [Int: Int64] = [:]
        for store in stores where !store.configuration.isReadOnly {
            guard let point = token.points[store.storeID], point.position > 0 else { continue }
            let reader = try store.backend.beginRead()
            defer { reader.end() }
            _ = try Self.check(point, store, try reader.logBounds(), reader)
            found[store.index] = point.position
        }
        return found
    }

    /// Returns the positions of the last entries before a date.
    /// - Throws: `misuse` for a date that is not a number.
    func positions(before date: Date) throws -> [Int: Int64] {
        guard !date.timeIntervalSince1970.isNaN else {
            throw StoreError(.misuse, "The history cannot be deleted before a date that is not a number. Pass a valid date.")
        }
        let limit = HistoryRecord.time(date)
        let now = HistoryRecord.time(Date())
        var found: [Int: Int64] = [:]
        for store in stores where !store.configuration.isReadOnly {
            let reader = try store.backend.beginRead()
            defer { reader.end() }
            let bounds = try reader.logBounds()
            var end = bounds.removedThrough
            var next = end
            search: while next < bounds.last {
                let batch = try reader.logEntries(after: next, limit: Self.batch)
                if batch.isEmpty { break }
                for entry in batch {
                    next = entry.position
                    // An unreadable entry is deleted together with the entries that precede the date.
                    if let head = HistoryRecord.Head(of: entry.bytes) {
                        // An entry of the future is as old as the next one that is not.
                        if head.time > now { continue }
                        if head.time >= limit { break search }
                    }
                    end = next
                }
            }
            // At the end of the history, a date in the future counts as now.
            if next == bounds.last, now < limit { end = next }
            if end > bounds.removedThrough { found[store.index] = end }
        }
        return found
    }
}
