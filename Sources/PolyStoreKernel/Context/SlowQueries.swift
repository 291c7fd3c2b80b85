import PolyStoreBackend
import PolyStoreRuns

extension DataStack {
    /// The minimum duration of a fetch or query that is logged at `warning`, with its plan and the source location of its transaction, read or
    /// context. The default is nil, which disables measuring.
    public var slowQueryThreshold: Duration? {
        get { core.slowOperations[.query] }
        set { core.slowOperations[.query] = newValue }
    }

    /// The minimum durations of transactions, commits and waits for the writer that are logged at `warning`. The default measures none.
    public var slowWriteThresholds: SlowWriteThresholds {
        get { core.slowOperations.writeThresholds }
        set { core.slowOperations.writeThresholds = newValue }
    }
}

extension Context {
    @usableFromInline
    package final func startTiming() -> UInt64 { core.slowOperations.start(.query) }

    /// Logs a fetch if it was slow.
    /// - Parameter began: the result of ``startTiming()``.
    @usableFromInline
    package final func endTiming(_ began: UInt64, _ fetch: ResolvedFetch) {
        endTiming(began, "Fetch", fetch.parts.map { ($0.entry, $0.request) })
    }

    /// Logs a count if it was slow.
    final func endTiming(_ began: UInt64, counting fetch: ResolvedFetch) {
        endTiming(began, "Count", fetch.parts.map { ($0.entry, $0.request.counting) })
    }

    package final func endTiming(_ began: UInt64, _ what: String, _ requests: [(entry: StoreEntity, request: FetchRequest)]) {
        core.slowOperations.end(.query, began, site, what.hasPrefix("The") ? "look-up" : what.lowercased(), what) {
            let plans = requests.map { entry, request in
                guard let reader = try? reader(entry.store) else { return "fetch \(entry.entity.name)" }
                return QueryLog.plan(request, reader)
            }.joined(separator: " + ")
            return (
                plans,
                [
                    .plan: .text(plans), .entity: .text(requests.map(\.entry.entity.name).joined(separator: ",")),
                    .store: .text(requests.map(\.entry.store.location).joined(separator: ",")),
                ]
            )
        }
    }
}
