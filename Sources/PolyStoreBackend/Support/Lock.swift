import PolyStorePlatform

/// A mutex with a condition variable.
///
/// Wraps `pthread_mutex_t`, because `Synchronization.Mutex` causes false positives in the thread sanitizer on Linux.
///
/// Sendable: both parts have stable addresses from init to deinit and support use from any thread.
@usableFromInline
package final class Lock: @unchecked Sendable {
    // The methods are inlined into other modules because a transaction acquires dozens of locks.
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    #if DEBUG
        /// The place of the lock in the order of locks.
        let rank: LockRank
        private let file: StaticString
        private let line: UInt
        /// The source location that created the lock.
        var origin: String { "\(file):\(line)" }
    #endif

    /// - Parameters:
    ///   - rank: The place of the lock in the order of locks, which debug builds check.
    ///   - file: The source file of the call, for the message about a violation.
    ///   - line: The source line of the call.
    package init(_ rank: LockRank = .leaf, file: StaticString = #fileID, line: UInt = #line) {
        #if DEBUG
            self.rank = rank
            self.file = file
            self.line = line
        #endif
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        #if !canImport(Darwin)
            // By default a condition variable waits by the system's clock, which can be set. Darwin waits for a duration instead.
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        #endif
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    @inlinable @inline(__always)
    package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        assert(LockOrder.willTake(self))
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            assert(LockOrder.didRelease(self))
        }
        return try body()
    }

    /// Wakes one waiting thread. Call it with the lock held.
    package func signal() { pthread_cond_signal(condition) }

    /// Wakes all waiting threads. Call it with the lock held.
    package func broadcast() { pthread_cond_broadcast(condition) }

    /// Releases the lock, waits for a signal and acquires the lock again. Call it with the lock held.
    package func wait() { pthread_cond_wait(condition, mutex) }

    /// Releases the lock, waits for a signal or a deadline and acquires the lock again. Call it with the lock held.
    /// - Returns: `false` at the deadline.
    package func wait(until deadline: Deadline) -> Bool {
        #if canImport(Darwin)
            var time = deadline.remaining
            return pthread_cond_timedwait_relative_np(condition, mutex, &time) != ETIMEDOUT
        #else
            var time = deadline.time
            return pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
        #endif
    }
}
