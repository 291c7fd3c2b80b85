import PolyStoreBackend
import PolyStoreCore

extension BrowserStore {
    /// The number of transactions after which a request reads no further part.
    private static let mostExamined: Int64 = 10_240

    /// Returns transactions of the history, newest first.
    ///
    /// A request with conditions examines about 10,000 transactions at most; its page can be empty and still have older ones.
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
        // Commits after the token are not read. The page receives them as live changes.
        let before = min(reader.request.before ?? .max, (token.position(in: store.storeID) ?? 0) + 1)
        guard var parts = try await HistoryParts(stack, store, before: before) else {
            return HistoryPage(transactions: [], older: nil, token: try token.text, hasHistory: false)
        }
        let size = min(max(1, reader.request.size), HistoryRequest.greatestSize)
        var (transactions, end) = ([HistoryPage.Transaction](), parts.end)
        let start = end
        while transactions.count < size, start - end < Self.mostExamined, let entries = try await parts.next() {
            // Each part is described before the next one is read, so that few changes of each transaction remain in memory.
            let (found, last) = try await described(entries, reader, limit: size - transactions.count)
            transactions += found
            end = last.map { $0 - 1 } ?? parts.end
        }
        return HistoryPage(
            transactions: transactions, older: end >= parts.oldest ? end + 1 : nil, token: try token.text, hasHistory: true)
    }

    /// Describes the first of some entries that a request selects.
    /// - Returns: The transactions, and the position of the last of them if there are as many as the limit; nil if all entries were examined.
    private func described(
        _ entries: [HistoryEntry], _ reader: HistoryReader, limit: Int
    ) async throws -> (transactions: [HistoryPage.Transaction], last: Int64?) {
        try await reading { context in
            var found: [HistoryPage.Transaction] = []
            for entry in entries {
                guard let changes = try reader.selected(entry) else { continue }
                found.append(try reader.transaction(entry, changes, in: context))
                if found.count == limit { return (found, found.last?.position) }
            }
            return (found, nil)
        }
    }
}
