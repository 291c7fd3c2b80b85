import PolyStoreBackend
import PolyStoreCore

extension BrowserStore {
    /// The number of entries of the history that are read at a time, and the greatest number of such parts that one request examines.
    private static let (historyBatch, historyBatches) = (Int64(256), 40)

    /// Returns transactions of the history, newest first.
    ///
    /// A request with conditions examines at most 10,240 transactions; its page can be empty and still have older ones.
    /// - Throws: `storeNotFound` for an unknown entity, `cancelled`, and the errors of the store.
    package func history(_ request: HistoryRequest = HistoryRequest()) async throws -> HistoryPage {
        let reader = try HistoryReader(self, request)
        for _ in 0..<3 {
            // Another process can delete old entries between two reads.
            do { return try await history(reader) } catch let error as StoreError where error.code == .historyExpired { continue }
        }
        return try await history(reader)
    }

    private func history(_ reader: HistoryReader) async throws -> HistoryPage {
        let token = try await stack.historyToken()
        let first = try await stack.history(limit: 1).first
        guard let first, let oldest = first.token.position(in: store.storeID), let last = token.position(in: store.storeID) else {
            return HistoryPage(transactions: [], older: nil, token: try token.text, hasHistory: false)
        }
        let size = min(max(1, reader.request.size), HistoryRequest.greatestSize)
        var found: [(HistoryEntry, [HistoryChange])] = []
        var end = min(last, max(1, reader.request.before ?? .max) - 1)
        for _ in 0..<Self.historyBatches where end >= oldest && found.count < size {
            try Task.checkCancellation()
            let start = max(oldest - 1, end - Self.historyBatch)
            let part = try await part(after: start, through: end)
            for entry in part.reversed() where found.count < size {
                end = (entry.token.position(in: store.storeID) ?? start) - 1
                if let changes = try reader.selected(entry) { found.append((entry, changes)) }
            }
            if found.count < size { end = start }
        }
        let entries = found
        let transactions = try await reading { context in
            try entries.map { try reader.transaction($0.0, $0.1, in: context) }
        }
        return HistoryPage(transactions: transactions, older: end >= oldest ? end + 1 : nil, token: try token.text, hasHistory: true)
    }

    /// Returns the entries between two positions, oldest first.
    private func part(after start: Int64, through end: Int64) async throws -> [HistoryEntry] {
        let token = try HistoryToken(store.storeID, position: start)
        return try await stack.history(since: token, limit: Int(end - start)).filter { $0.token.position(in: store.storeID) ?? 0 <= end }
    }
}
