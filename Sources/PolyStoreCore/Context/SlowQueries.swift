import Dispatch
import PolyStoreBackend
import Synchronization

/// The minimum duration of fetches and queries that are logged as slow.
final class SlowQueryLimit: Sendable {
    /// The duration in nanoseconds; `UInt64.max` disables measuring.
    private let limit = Atomic<UInt64>(.max)

    var duration: Duration? {
        get {
            let limit = limit.load(ordering: .relaxed)
            return limit == .max ? nil : .nanoseconds(Int64(clamping: limit))
        }
        set {
            guard let (seconds, attoseconds) = newValue?.components else { return limit.store(.max, ordering: .relaxed) }
            let nanoseconds = max(0, Double(seconds) * 1e9 + Double(attoseconds) / 1e9)
            limit.store(nanoseconds >= 9e18 ? .max : UInt64(nanoseconds), ordering: .relaxed)
        }
    }

    /// - Returns: the current time, or 0 if measuring is disabled.
    func start() -> UInt64 { limit.load(ordering: .relaxed) == .max ? 0 : DispatchTime.now().uptimeNanoseconds }

    /// - Returns: the time since `began` in nanoseconds if it exceeds the limit, otherwise nil.
    func exceeded(since began: UInt64) -> UInt64? {
        let elapsed = DispatchTime.now().uptimeNanoseconds &- began
        return elapsed >= limit.load(ordering: .relaxed) ? elapsed : nil
    }
}

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
    final func startTiming() -> UInt64 { core.slowQueries.start() }

    /// Logs a fetch if it was slow.
    /// - Parameter began: the result of ``startTiming()``.
    @usableFromInline
    final func endTiming(_ began: UInt64, _ fetch: ResolvedFetch) {
        endTiming(began, "Fetch", fetch.parts.map { ($0.entry, $0.request) })
    }

    final func endTiming(_ began: UInt64, _ what: String, _ requests: [(entry: StoreEntity, request: FetchRequest)]) {
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
