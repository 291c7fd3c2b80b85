import BrowserData
import PolyStoreCore

extension StoreArgument {
    /// Opens the store for a command that changes objects. If the store has a history, its commits are recorded, with previous values if the newest entries have some.
    func openForChanges() async throws -> OpenStore {
        let reading = try open()
        let history = try await reading.stack.recordedHistory(of: reading.store)
        try await reading.stack.close()
        return try open(forWriting: true, history: history)
    }
}
