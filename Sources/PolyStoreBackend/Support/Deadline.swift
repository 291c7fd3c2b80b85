import PolyStorePlatform

/// The time at which a wait times out. Measured by a monotonic clock: setting the system's clock neither extends nor ends a wait.
package struct Deadline {
    /// The time by `CLOCK_MONOTONIC`.
    let time: timespec

    package init(milliseconds: Int) {
        let now = Self.now()
        let nanoseconds = now.tv_nsec + (milliseconds % 1000) * 1_000_000
        time = timespec(tv_sec: now.tv_sec + milliseconds / 1000 + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }

    /// Creates the deadline at the end of a timeout that begins now.
    package init(after timeout: Duration) { self.init(milliseconds: timeout.inMilliseconds) }

    private static func now() -> timespec {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now
    }

    package var isPast: Bool {
        let now = Self.now()
        return (now.tv_sec, now.tv_nsec) >= (time.tv_sec, time.tv_nsec)
    }

    /// The time until the deadline; zero after it.
    var remaining: timespec {
        let now = Self.now()
        let nanoseconds = max((time.tv_sec - now.tv_sec) * 1_000_000_000 + time.tv_nsec - now.tv_nsec, 0)
        return timespec(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }

    /// Suspends the thread for a duration.
    package static func pause(milliseconds: Int) {
        var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        var remaining = timespec()
        while nanosleep(&time, &remaining) != 0, errno == EINTR { time = remaining }
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded up: 0 for a negative duration, at most `Int32.max` (24 days), which engines accept.
    package var inMilliseconds: Int {
        guard self > .zero else { return 0 }
        guard self < .milliseconds(Int32.max) else { return Int(Int32.max) }
        return Int(components.seconds) * 1000 + Int((components.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
