import Dispatch
import PolyStoreBackend
import Synchronization

/// The open snapshots, with those that have been outdated for too long.
package final class SnapshotRegistry: Sendable {
    private struct Entry {
        let site: CallSite
        let began: UInt64
        var outdated: UInt64?
        var isReported = false
        /// Returns whether the snapshot is open on its server; nil for one that is open until it is closed.
        var isHeld: (@Sendable () -> Bool)?
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var last = 0
        var limit: UInt64 = 30_000_000_000
        /// The time of the next check for snapshots to report.
        var nextLook: UInt64 = 0
        var hasFresh = false
        /// A Boolean value that indicates whether a snapshot can be given back to its server.
        var hasShort = false
    }

    private let state = Protected(State())
    /// The number of open snapshots, which a commit reads without the lock.
    private let openCount = Atomic(0)

    package init() {}

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// The time that a snapshot may be outdated before a warning is logged.
    package var limit: Duration {
        get { .nanoseconds(state.withLock { Int64(clamping: $0.limit) }) }
        set {
            let (seconds, attoseconds) = newValue.components
            let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
            state.withLock {
                $0.limit = nanoseconds >= 9e18 ? .max : UInt64(max(0, nanoseconds))
                $0.nextLook = 0
            }
        }
    }

    /// Registers a snapshot.
    /// - Returns: An identifier for ``close(_:)``.
    package func open(_ site: CallSite) -> Int {
        let now = Self.now
        return state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(site: site, began: now)
            state.hasFresh = true
            openCount.add(1, ordering: .acquiringAndReleasing)
            return state.last
        }
    }

    /// Removes a snapshot.
    package func close(_ id: Int) {
        state.withLock { state in
            if state.entries.removeValue(forKey: id) != nil { openCount.subtract(1, ordering: .acquiringAndReleasing) }
        }
    }

    /// Called when a snapshot moves to the newest version.
    package func renew(_ id: Int) {
        let now = Self.now
        state.withLock { state in
            guard let entry = state.entries[id] else { return }
            state.entries[id] = Entry(site: entry.site, began: now, isHeld: entry.isHeld)
            state.hasFresh = true
        }
    }

    /// Sets the closure that returns whether a snapshot is open on its server. One that was given back is neither listed nor reported.
    package func setHeld(_ id: Int, _ isHeld: @escaping @Sendable () -> Bool) {
        state.withLock { state in
            state.entries[id]?.isHeld = isHeld
            state.hasShort = true
        }
    }

    /// The snapshots that are not open on their server.
    private var givenBack: Set<Int> {
        let checks = state.withLock { state in
            state.hasShort ? state.entries.compactMap { id, entry in entry.isHeld.map { (id: id, isHeld: $0) } } : []
        }
        return Set(checks.lazy.filter { !$0.isHeld() }.map(\.id))
    }

    /// Called after each commit. Marks open snapshots as outdated, and logs a warning once for each one that exceeds the limit.
    package func didCommit(_ logger: () -> any StoreLogger) {
        guard openCount.load(ordering: .acquiring) > 0 else { return }
        let givenBack = givenBack
        let warnings: [(site: CallSite, text: String)] = state.withLock { state in
            guard !state.entries.isEmpty else { return [] }
            let now = Self.now
            guard state.hasFresh || now >= state.nextLook else { return [] }
            state.hasFresh = false
            state.nextLook = now &+ min(state.limit, 1_000_000_000)
            var found: [(site: CallSite, text: String)] = []
            for (id, entry) in state.entries where !givenBack.contains(id) {
                guard let since = entry.outdated else {
                    state.entries[id]?.outdated = now
                    continue
                }
                guard !entry.isReported, now &- since >= state.limit else { continue }
                state.entries[id]?.isReported = true
                let seconds = Double((now &- since) / 1_000_000) / 1000
                found.append(
                    (
                        entry.site,
                        "A \(entry.site.kind) begun at \(entry.site.file):\(entry.site.line) has shown an outdated version for \(seconds) s. "
                            + "The store grows as long as it is open: end it, or let it catch up."
                    ))
            }
            return found
        }
        for warning in warnings { logger().write(.warning, warning.site, warning.text) }
    }

    /// The open snapshots, oldest first.
    package var all: [OpenSnapshot] {
        let now = Self.now
        let givenBack = givenBack
        return state.withLock { state in
            state.entries.filter { !givenBack.contains($0.key) }.sorted { $0.key < $1.key }.map { _, entry in
                OpenSnapshot(
                    kind: "\(entry.site.kind)", origin: "\(entry.site.file):\(entry.site.line)",
                    age: .nanoseconds(Int64(clamping: now &- entry.began)),
                    outdatedFor: entry.outdated.map { .nanoseconds(Int64(clamping: now &- $0)) })
            }
        }
    }
}
