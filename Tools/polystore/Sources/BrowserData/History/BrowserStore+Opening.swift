import PolyStoreBackend
import PolyStoreCore

extension BrowserStore {
    /// Opens a store that exists, for reading or for writing. If the store has a history, the browser's commits are recorded too, with previous values if the newest entries have some.
    /// - Parameters:
    ///   - configuration: The place of the store.
    ///   - name: The store for a reader; nil for the URL without a password.
    ///   - isWritable: Whether transactions can change it.
    ///   - timeLimit: The greatest time of a read or a change for which the caller gives no other.
    ///   - logger: The logger that receives the messages of the library.
    /// - Throws: The errors of `DataStack.init(opening:forWriting:history:logger:)`.
    package static func open(
        _ configuration: StoreConfiguration, name: String? = nil, forWriting isWritable: Bool = false,
        timeLimit: Duration = BrowserStore.defaultTimeLimit, logger: any StoreLogger = StandardErrorLogger(minimum: .error)
    ) async throws -> BrowserStore {
        let reading = try BrowserStore(opening: configuration, name: name, timeLimit: timeLimit, logger: logger)
        guard isWritable else { return reading }
        let history = try await reading.recordedHistory()
        try await reading.close()
        return try BrowserStore(
            opening: configuration, name: name, forWriting: true, timeLimit: timeLimit, history: history, logger: logger)
    }

    /// Returns how the history of the store is recorded; nil if it has none.
    private func recordedHistory() async throws -> HistoryOptions? {
        guard try await stack.historyToken().position(in: store.storeID) ?? 0 > 0 else { return nil }
        for _ in 0..<3 {
            // Another process can delete old entries between two reads.
            do { return HistoryOptions(recordsPreviousValues: try await recordsPreviousValues()) } catch let error as StoreError
                where error.code == .historyExpired
            { continue }
        }
        return HistoryOptions(recordsPreviousValues: try await recordsPreviousValues())
    }

    /// Returns whether one of the newest entries has previous values. Only as many entries are read as that takes.
    private func recordsPreviousValues() async throws -> Bool {
        guard var parts = try await HistoryParts(self, size: 1) else { return false }
        let start = parts.end
        while start - parts.end < Int64(HistoryRequest.greatestSize), let entries = try await parts.next() {
            if entries.contains(where: { $0.changes.contains { !$0.previousValues.isEmpty } }) { return true }
        }
        return false
    }
}
