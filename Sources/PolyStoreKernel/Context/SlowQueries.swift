import Dispatch
import PolyStoreBackend
import Synchronization

extension DataStack {
    /// The minimum duration of a fetch or query that is logged at `warning`, with its plan and the source location of its transaction, read or
    /// context. The default is nil, which disables measuring.
    public var slowQueryThreshold: Duration? {
        get { core.slowQueries.duration }
        set { core.slowQueries.duration = newValue }
    }
}

extension Context {
    @usableFromInline
    package final func startTiming() -> UInt64 { core.slowQueries.start() }

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
        guard began != 0, let elapsed = core.slowQueries.exceeded(since: began) else { return }
        let milliseconds = Double(elapsed / 10_000) / 100
        core.logger.write(
            .warning, site,
            "\(what) took \(milliseconds) ms: "
                + requests.map { entry, request in
                    guard let reader = try? reader(entry.store) else { return "fetch \(entry.entity.name)" }
                    return QueryLog.plan(request, reader)
                }.joined(separator: " + "))
    }
}
