#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The time at which a wait times out.
package struct Deadline {
    let time: timespec

    package init(milliseconds: Int) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let nanoseconds = now.tv_nsec + (milliseconds % 1000) * 1_000_000
        time = timespec(tv_sec: now.tv_sec + milliseconds / 1000 + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }

    /// Creates the deadline at the end of a timeout that begins now.
    package init(after timeout: Duration) { self.init(milliseconds: timeout.inMilliseconds) }

    package var isPast: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return (now.tv_sec, now.tv_nsec) >= (time.tv_sec, time.tv_nsec)
    }

    /// Suspends the thread for a duration.
    package static func pause(milliseconds: Int) {
        var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
        nanosleep(&time, nil)
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
