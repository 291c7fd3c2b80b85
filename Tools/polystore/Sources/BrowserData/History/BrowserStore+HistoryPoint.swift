import PolyStoreCore

extension BrowserStore {
    /// Returns the point of the history from which ``liveChanges(since:)`` reports what is committed after the values that are read next.
    package func historyPoint() async throws -> String { try await stack.historyToken().text }
}
