import Foundation
import PolyStoreBackend

/// Monitors the running cases on a separate thread, and reports those that exceed their time limit.
///
/// Time limits are for a machine of normal speed. Before a case is reported, the speed of the machine is measured. If the machine is n times slower at that
/// moment, or was at an earlier measurement during the case, the limit is multiplied by n.
final class CaseWatch: @unchecked Sendable {  // All mutable state is accessed under the lock.
    static let shared = CaseWatch()

    private struct Watched {
        let limit: Duration
        /// Counted by the monitor, so that suspended time is not included.
        var elapsed = Duration.zero
        var slowness = 1.0
        let report: @Sendable (Duration) -> Void
        /// The time limit on this machine.
        var allowed: Duration { limit * slowness }
    }

    private static let step = 500
    private let lock = Lock()
    private var watched: [Int: Watched] = [:]
    private var lastNumber = 0
    private var isRunning = false

    /// - Returns: the token for ``end(_:)``.
    func begin(_ limit: Duration, report: @escaping @Sendable (Duration) -> Void) -> Int {
        lock.withLock {
            lastNumber += 1
            watched[lastNumber] = Watched(limit: limit, report: report)
            if !isRunning {
                isRunning = true
                Thread.detachNewThread { self.watch() }
            }
            return lastNumber
        }
    }

    func end(_ number: Int) { lock.withLock { _ = watched.removeValue(forKey: number) } }

    /// The body of the monitor thread, which ends when no case is running.
    private func watch() {
        while true {
            let begin = ContinuousClock.now
            Deadline.pause(milliseconds: Self.step)
            let passed = min(ContinuousClock.now - begin, .milliseconds(4 * Self.step))
            let (isOver, isLate): (Bool, Bool) = lock.withLock {
                if watched.isEmpty {
                    isRunning = false
                    return (true, false)
                }
                for number in watched.keys { watched[number]?.elapsed += passed }
                return (false, watched.values.contains { $0.elapsed >= $0.allowed })
            }
            if isOver { return }
            if isLate { reportLate(MachineSpeed.slowness()) }
        }
    }

    private func reportLate(_ slowness: Double) {
        let late: [Watched] = lock.withLock {
            var late: [Watched] = []
            for (number, found) in watched where found.elapsed >= found.allowed {
                let slowest = max(found.slowness, slowness)
                watched[number]?.slowness = slowest
                guard found.elapsed >= found.limit * slowest, let taken = watched.removeValue(forKey: number) else { continue }
                late.append(taken)
            }
            return late
        }
        for watched in late { watched.report(watched.allowed) }
    }
}
