import Foundation
import PolyStoreBackend

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
        /// The position after which entries were read.
        let start: Int64
        var entries: [(position: Int64, entry: HistoryEntry)] = []
        /// The position of the last entry that was read.
        var end: Int64
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
        let start = try Self.start(store, token, bounds)
        var part = Part(store: store, start: start, end: start)
        var previous = start > bounds.removedThrough ? try reader.logEntries(after: start - 1, limit: 1).first?.version : nil
        let resolver = HistoryResolver(store, table)
        while part.end < bounds.last {
            let batch = try reader.logEntries(after: part.end, limit: Self.batch)
            if batch.isEmpty { break }
            for logged in batch {
                let record = try HistoryRecord(logged, store)
                let isGap = previous.map { record.head.base > $0 } ?? false
                if let entry = resolver.entry(logged, record, filter, followsUnrecordedCommits: isGap) {
                    guard part.entries.count < limit else {
                        part.hasMore = true
                        return part
                    }
                    part.entries.append((logged.position, entry))
                }
                previous = logged.version
                part.end = logged.position
            }
        }
        part.end = max(part.end, bounds.last)
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
            token.advance(parts[next].store.storeID, to: parts[next].entries[parts[next].taken].position)
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
            token.advance(store.storeID, to: try reader.logBounds().last)
        }
        return token
    }

    /// - Throws: `storeNotFound` for a token that contains stores, but none of the stack's.
    private func check(_ token: HistoryToken?) throws {
        guard let token, !token.positions.isEmpty, !stores.contains(where: { token.position(in: $0.storeID) != nil }) else { return }
        throw StoreError(
            .storeNotFound,
            "The history token \(token) belongs to none of the stack's stores. Add its store first; a store that was created again has a new history: "
                + "read it from the beginning.")
    }

    /// - Throws: `historyExpired`.
    private static func start(_ store: PersistentStore, _ token: HistoryToken?, _ bounds: LogBounds) throws -> Int64 {
        guard let position = token?.position(in: store.storeID) else { return bounds.removedThrough }
        let way = "Read the objects themselves, and continue with historyToken()."
        guard position >= bounds.removedThrough else {
            throw StoreError(
                .historyExpired,
                "The history of \(store.location) begins behind entry \(bounds.removedThrough), and the token ends at \(position): the entries between were "
                    + "deleted. \(way)", location: store.location)
        }
        guard position <= bounds.last else {
            throw StoreError(
                .historyExpired,
                "The history of \(store.location) ends at entry \(bounds.last), and the token at \(position): the store was replaced by an earlier copy. \(way)",
                location: store.location)
        }
        return position
    }

    // MARK: Deleting

    /// Returns the positions of a token in the writable stores.
    func positions(_ token: HistoryToken) throws -> [Int: Int64] {
        try check(token)
        var found: [Int: Int64] = [:]
        for store in stores where !store.configuration.isReadOnly { found[store.index] = token.position(in: store.storeID) }
        return found.filter { $0.value > 0 }
    }

    /// Returns the positions of the last entries before a date.
    func positions(before date: Date) throws -> [Int: Int64] {
        let limit = HistoryEntry.time(date)
        var found: [Int: Int64] = [:]
        for store in stores where !store.configuration.isReadOnly {
            let reader = try store.backend.beginRead()
            defer { reader.end() }
            let bounds = try reader.logBounds()
            var end = bounds.removedThrough
            search: while end < bounds.last {
                let batch = try reader.logEntries(after: end, limit: Self.batch)
                if batch.isEmpty { break }
                for entry in batch {
                    // An unreadable entry is deleted together with the entries that precede the date.
                    if let head = HistoryRecord.Head(of: entry.bytes), head.time >= limit { break search }
                    end = entry.position
                }
            }
            if end > bounds.removedThrough { found[store.index] = end }
        }
        return found
    }
}
