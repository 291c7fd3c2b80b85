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
        let history = try await reading.stack.recordedHistory(of: reading.store)
        try await reading.close()
        return try BrowserStore(
            opening: configuration, name: name, forWriting: true, timeLimit: timeLimit, history: history, logger: logger)
    }
}
