import PolyStoreBackend
import PolyStoreCore

extension DataStack {
    /// Returns how the history of a store is recorded, by its newest entries; nil if it has none.
    package func recordedHistory(of store: PersistentStore) async throws -> HistoryOptions? {
        guard try await historyToken().position(in: store.storeID) ?? 0 > 0 else { return nil }
        for _ in 0..<3 {
            // Another process can delete old entries between two reads.
            do { return HistoryOptions(recordsPreviousValues: try await recordsPreviousValues(store)) } catch let error as StoreError
                where error.code == .historyExpired
            { continue }
        }
        return HistoryOptions(recordsPreviousValues: try await recordsPreviousValues(store))
    }

    /// Returns whether one of the newest entries has previous values, or the oldest one that can have some. Only as many entries are read as that takes.
    private func recordsPreviousValues(_ store: PersistentStore) async throws -> Bool {
        guard var parts = try await HistoryParts(self, store, size: 1) else { return false }
        let start = parts.end
        while start - parts.end < Int64(HistoryRequest.greatestSize), let entries = try await parts.next() {
            if entries.contains(where: { $0.changes.contains { !$0.previousValues.isEmpty } }) { return true }
        }
        // Insertions have no previous values, so a long import does not tell.
        return try await history(matching: .all.kinds(.updated, .deleted), limit: 1).contains {
            $0.changes.contains { !$0.previousValues.isEmpty }
        }
    }
}
