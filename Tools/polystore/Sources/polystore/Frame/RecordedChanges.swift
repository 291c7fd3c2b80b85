import PolyStoreCore

extension StoreArgument {
    /// Opens the store for a command that changes objects. If the store has a history, its commits are recorded, with previous values if the last entries have some.
    func openForChanges() async throws -> OpenStore { try await open(forWriting: true, history: historyOfChanges()) }

    /// Returns the history that the commits of a command get: that which the store has; nil if it has none.
    func historyOfChanges() async throws -> HistoryOptions? {
        let reading = try open()
        let newest = try await reading.stack.historyToken().position(in: reading.store.storeID) ?? 0
        guard newest > 0 else {
            try await reading.stack.close()
            return nil
        }
        let entries = try await reading.stack.history(matching: .all.kinds(.updated, .deleted), limit: 1)
        let recordsValues = entries.contains { $0.changes.contains { !$0.previousValues.isEmpty } }
        try await reading.stack.close()
        return HistoryOptions(recordsPreviousValues: recordsValues)
    }
}
