internal import PolyStoreBackend

/// A server behind a network, for tests: counts the calls that a backend sends to it, delays them, and lets them fail.
///
///     let server = SimulatedServer()
///     try stack.addStore(.simulatedServer(server))
///     server.fail(.commit, at: 2, with: .connectionLost(isExecuted: true))
///
/// The seed and the number of a call determine whether it fails. A test neither reads a clock nor depends on a delay.
package final class SimulatedServer: Sendable {
    /// A request that waits for the response of the server.
    package enum Call: String, CaseIterable, Sendable, Comparable {
        case open, close
        case beginRead, record, scan, related, count, groups, search, plan, value, valueNames, logEntries, logBounds
        /// A further batch of the rows of a scan. The response to `scan` contains the first batch.
        case fetch
        case beginWrite, reserveIDs, apply, commit
        /// The question for the outcome of a commit whose response was lost.
        case commitOutcome
        /// The end of a transaction without a commit.
        case end
        /// Verification, compaction, copying or the begin of a migration.
        case maintenance
        /// The version of a snapshot that was not read yet. The response to the first read contains it otherwise.
        case version

        package static func < (left: Call, right: Call) -> Bool { left.rawValue < right.rawValue }
    }

    /// The failure of a call.
    package enum Fault: Sendable, Hashable {
        /// The server refuses the call with the error `io` and continues.
        case refused
        /// The server does not respond in time: `busy`. The call has no effect, and the transaction can continue.
        case timeout
        /// The server rolls the transaction back because of a concurrent one: `conflict`, which is retryable, for this call and every later one of the transaction.
        case notSerializable
        /// The connection ends: `io`, for this call and every later one of the transaction. The server rolls back what was not committed.
        ///
        /// If `isExecuted` is true, the server executed the call before its response was lost. For a commit, the changes are then stored. The outcome of a commit is
        /// unknown to the client in both cases.
        case connectionLost(isExecuted: Bool)
    }

    struct State {
        var counts: [Call: Int] = [:]
        var delays: [Call: Duration] = [:]
        var planned: [Call: [Int: Fault]] = [:]
        var random: (seed: UInt64, percentage: Int, faults: [Fault], calls: Set<Call>)?
        var faultCount = 0
        var sessions = Sessions()
    }

    /// The number of rows in the response to a scan, and in each further batch.
    package let batchSize: Int
    /// A Boolean value that indicates whether the server evaluates conditions, orders, slices, counts and groups. Otherwise each scan returns all rows of its
    /// entity, and the shared executor does the rest.
    package let pushesDown: Bool
    /// A Boolean value that indicates whether the server answers the question for the outcome of a commit.
    package let knowsCommits: Bool
    /// A Boolean value that indicates whether other processes can write to the store and the server announces their commits.
    package let announcesCommits: Bool
    /// A Boolean value that indicates whether snapshots must not be kept open for long.
    package let hasShortSnapshots: Bool
    /// The number of snapshots that can be open at the same time; `nil` for no limit. Another one waits or is refused with `busy`.
    package let mostSessions: Int?
    package let waitsForSessions: Bool
    /// A Boolean value that indicates whether a write transaction begins with its first call, and not with one of its own.
    package let beginsLate: Bool
    let state = Protected(State())
    let listeners = Protected<[WeakListener]>([])

    /// Creates a server without delays and faults.
    package init(
        batchSize: Int = 1000, pushesDown: Bool = true, knowsCommits: Bool = false, announcesCommits: Bool = false,
        hasShortSnapshots: Bool = false, mostSessions: Int? = nil, waitsForSessions: Bool = false, beginsLate: Bool = false
    ) {
        self.beginsLate = beginsLate
        self.hasShortSnapshots = hasShortSnapshots
        (self.mostSessions, self.waitsForSessions) = (mostSessions, waitsForSessions)
        self.batchSize = max(1, batchSize)
        self.pushesDown = pushesDown
        self.knowsCommits = knowsCommits
        self.announcesCommits = announcesCommits
    }

    // MARK: Calls

    /// Sends a call: counts it, waits, and executes it unless it fails.
    /// - Parameters:
    ///   - connection: The connection of the transaction; nil for calls of the store.
    ///   - interruption: What ends the call while the client waits for the response; nil for a call that is not interrupted.
    func send<T>(_ call: Call, on connection: Connection?, _ interruption: Interruption? = nil, _ body: () throws -> T) throws -> T {
        try interruption?.check()
        let (delay, fault) = state.withLock { $0.receive(call) }
        try wait(delay, interruption)
        if let failure = connection?.failure { throw failure }
        switch fault {
        case nil: return try body()
        case .refused: throw StoreError(.io, "The simulated server refuses the call \(call).", underlying: "refused")
        case .timeout: throw StoreError(.busy, "The simulated server did not respond to the call \(call).", underlying: "timeout")
        case .notSerializable:
            let failure = StoreError(
                .conflict, "The simulated server rolled the transaction back in the call \(call).", underlying: "not serializable",
                recovery: .retryable)
            connection?.end(with: failure)
            throw failure
        case .connectionLost(let isExecuted):
            if isExecuted { _ = try body() }
            connection?.end(with: Self.lost(call, .connectionLost))
            throw Self.lost(call, call == .commit ? .commitOutcomeUnknown : .connectionLost)
        }
    }

    static func lost(_ call: Call, _ recovery: StoreError.Recovery) -> StoreError {
        StoreError(
            .io, "The connection to the simulated server was lost before the response to the call \(call).", underlying: "connection lost",
            recovery: recovery)
    }

    /// The connection of a transaction, used by its thread only.
    final class Connection {
        /// The error of every further call, after the server has ended the transaction.
        private(set) var failure: StoreError?
        private let rollback: () -> Void

        /// - Parameter rollback: Ends the transaction on the server.
        init(_ rollback: @escaping () -> Void) { self.rollback = rollback }

        func end(with failure: StoreError) {
            if self.failure == nil { rollback() }
            self.failure = failure
        }
    }
}
