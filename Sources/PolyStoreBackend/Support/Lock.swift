#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The one lock of the package: mutual exclusion, with a condition to wait for.
///
/// A wrapped `pthread_mutex_t`, as `Synchronization.Mutex` shows false races under the thread sanitizer on Linux.
///
/// Sendable: both parts are at fixed addresses from init to deinit, and made to be used from any thread.
package final class Lock: @unchecked Sendable {
    // The methods are inlined in other modules, as a transaction takes dozens of locks.
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    @inlinable @inline(__always)
    package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Wakes one that waits. To be called with the lock held.
    package func signal() { pthread_cond_signal(condition) }

    /// Wakes all that wait. To be called with the lock held.
    package func broadcast() { pthread_cond_broadcast(condition) }

    /// Gives the lock up until somebody signals; to be called with the lock held, which it is again afterwards.
    package func wait() { pthread_cond_wait(condition, mutex) }

    /// Gives the lock up until somebody signals, or until a moment; to be called with the lock held, which it is again afterwards.
    /// - Returns: false at the deadline.
    package func wait(until deadline: Deadline) -> Bool {
        var time = deadline.time
        return pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
    }
}
