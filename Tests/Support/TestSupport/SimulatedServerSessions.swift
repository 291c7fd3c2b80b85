internal import PolyStoreBackend

extension SimulatedServer {
    /// The open snapshots.
    struct Sessions {
        /// Each open snapshot, by the number in the order of the begins.
        var open: Set<Int> = []
        var begun = 0
        var most = 0
        /// Snapshots that began up to this number have lost their connection.
        var killed = 0
        var freshness: ReadFreshness?
        /// The number of snapshots that wait until another one ends.
        var waiting = 0
    }

    /// The number of snapshots that are open now.
    package var sessionCount: Int { state.withLock { $0.sessions.open.count } }
    /// The greatest number of snapshots that were open at the same time.
    package var greatestSessionCount: Int { state.withLock { $0.sessions.most } }
    /// The number of snapshots that wait now until another one ends.
    package var waitingSessionCount: Int { state.withLock { $0.sessions.waiting } }
    /// The version that the last snapshot had to show at least.
    package var lastNotBefore: UInt64? { state.withLock { $0.sessions.freshness?.notBefore } }
    /// The time that the last snapshot could be behind.
    package var lastMaximumStaleness: Duration? { state.withLock { $0.sessions.freshness?.maximumStaleness } }

    /// Ends the connections of all snapshots that are open. Every further call to them fails.
    package func killSessions() { state.withLock { $0.sessions.killed = $0.sessions.begun } }

    /// Opens a session, and returns its number.
    func beginSession(_ freshness: ReadFreshness) throws -> Int {
        // Longer than any test, so that a session that waits for itself fails a test.
        let deadline = Deadline(after: .seconds(300))
        var isWaiting = false
        defer { if isWaiting { state.withLock { $0.sessions.waiting -= 1 } } }
        while true {
            if let number = state.withLock({ openSession(freshness, &$0.sessions) }) { return number }
            guard waitsForSessions, !deadline.isPast else {
                throw StoreError(.busy, "The simulated server has \(mostSessions ?? 0) sessions, and all are in use.")
            }
            if !isWaiting { state.withLock { $0.sessions.waiting += 1 } }
            isWaiting = true
            Deadline.pause(milliseconds: 1)
        }
    }

    private func openSession(_ freshness: ReadFreshness, _ sessions: inout Sessions) -> Int? {
        if let mostSessions, sessions.open.count >= mostSessions { return nil }
        sessions.begun += 1
        sessions.open.insert(sessions.begun)
        sessions.most = max(sessions.most, sessions.open.count)
        sessions.freshness = freshness
        return sessions.begun
    }

    /// Closes a session; has no effect if it is closed.
    func endSession(_ number: Int) { state.withLock { _ = $0.sessions.open.remove(number) } }

    /// Returns whether the connection of a session was ended by ``killSessions()``.
    func isKilled(_ number: Int) -> Bool { state.withLock { number <= $0.sessions.killed } }
}
