import PolyStoreCore

extension StoreArgument {
    /// Opens the store for a command that changes objects. If the store has a history, its commits are recorded, with previous values if the last entries have some.
    func openForChanges() async throws -> OpenStore {
        let reading = try open()
        let newest = try await reading.stack.historyToken().position(in: reading.store.storeID) ?? 0
        guard newest > 0 else {
            try await reading.stack.close()
            return try open(forWriting: true)
        }
        let entries = try await reading.stack.history(matching: .all.kinds(.updated, .deleted), limit: 1)
        let recordsValues = entries.contains { $0.changes.contains { !$0.previousValues.isEmpty } }
        try await reading.stack.close()
        return try open(forWriting: true, history: HistoryOptions(recordsPreviousValues: recordsValues))
    }
}
