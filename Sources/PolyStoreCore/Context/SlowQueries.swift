import Dispatch
import PolyStoreBackend
import Synchronization

/// The duration from which on a fetch or query is logged as slow.
final class SlowQueryLimit: Sendable {
    /// In nanoseconds; `UInt64.max` where nothing is measured.
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

    /// - Returns: the time now; 0 where nothing is measured.
    func start() -> UInt64 { limit.load(ordering: .relaxed) == .max ? 0 : DispatchTime.now().uptimeNanoseconds }

    /// - Returns: the time since `began` in nanoseconds, if that is slow.
    func exceeded(since began: UInt64) -> UInt64? {
        let elapsed = DispatchTime.now().uptimeNanoseconds &- began
        return elapsed >= limit.load(ordering: .relaxed) ? elapsed : nil
    }
}

extension DataStack {
    /// The duration from which on a fetch or query is logged, at `warning`, with its plan and the place in the code that began its transaction, read or
    /// context. The default is nil: nothing is measured.
    public var slowQueryThreshold: Duration? {
        get { core.slowQueries.duration }
        set { core.slowQueries.duration = newValue }
    }
}

extension Context {
    @usableFromInline
    final func startTiming() -> UInt64 { core.slowQueries.start() }

    /// Logs a fetch that took long.
    /// - Parameter began: what ``startTiming()`` returned.
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
