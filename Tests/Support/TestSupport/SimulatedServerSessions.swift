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
    }

    /// The number of snapshots that are open now.
    package var sessionCount: Int { state.withLock { $0.sessions.open.count } }
    /// The greatest number of snapshots that were open at the same time.
    package var greatestSessionCount: Int { state.withLock { $0.sessions.most } }
    /// The version that the last snapshot had to show at least.
    package var lastNotBefore: UInt64? { state.withLock { $0.sessions.freshness?.notBefore } }
    /// The time that the last snapshot could be behind.
    package var lastMaximumStaleness: Duration? { state.withLock { $0.sessions.freshness?.maximumStaleness } }

    /// Ends the connections of all snapshots that are open. Every further call to them fails.
    package func killSessions() { state.withLock { $0.sessions.killed = $0.sessions.begun } }

    /// Opens a session, and returns its number.
    func beginSession(_ freshness: ReadFreshness) throws -> Int {
        try state.withLock { state in
            if let mostSessions, state.sessions.open.count >= mostSessions {
                throw StoreError(.busy, "The simulated server has \(mostSessions) sessions, and all are in use.")
            }
            state.sessions.begun += 1
            state.sessions.open.insert(state.sessions.begun)
            state.sessions.most = max(state.sessions.most, state.sessions.open.count)
            state.sessions.freshness = freshness
            return state.sessions.begun
        }
    }

    /// Closes a session; has no effect if it is closed.
    func endSession(_ number: Int) { state.withLock { _ = $0.sessions.open.remove(number) } }

    /// Returns whether the connection of a session was ended by ``killSessions()``.
    func isKilled(_ number: Int) -> Bool { state.withLock { number <= $0.sessions.killed } }
}
