import Dispatch
import PolyStorePlatform

/// Returns an identifier of the calling thread, used to detect a thread that would wait for itself.
package func currentThreadNumber() -> UInt {
    #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
    #else
        UInt(pthread_self())
    #endif
}

/// Waits briefly for an imminent action of another thread. The delay increases with each attempt, so that a thread of lower priority can run.
package func pauseThread(attempt: Int) {
    if attempt < 32 { return }
    if attempt < 64 {
        sched_yield()
    } else {
        usleep(UInt32(min(attempt, 1000)))
    }
}

extension DispatchQueue {
    /// Runs blocking work on the queue and awaits its result. The calling task does not block one of Swift's cooperative threads.
    package func awaiting<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in async { continuation.resume(with: Result { try work() }) } }
    }
}
