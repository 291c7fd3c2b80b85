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
