/// Measures a run, such as an import or a migration, and limits the rate at which its progress is published.
package struct RunClock {
    private let start = ContinuousClock.now
    private var lastUpdate = ContinuousClock.now
    private var countdown = 0

    package init() {}

    package var elapsed: Duration { ContinuousClock.now - start }

    /// Returns whether to publish the progress, at most ten times a second. The clock is read once in 128 calls.
    package mutating func isDue() -> Bool {
        if countdown > 0 {
            countdown -= 1
            return false
        }
        countdown = 127
        return isDueNow()
    }

    /// Returns whether to publish the progress, for callers that call less often than once per record.
    package mutating func isDueNow() -> Bool {
        let now = ContinuousClock.now
        guard now - lastUpdate >= .milliseconds(100) else { return false }
        lastUpdate = now
        return true
    }

    /// Returns the number of items per second since the start.
    package func rate(_ count: Int) -> Double {
        let seconds = elapsed.inSeconds
        return seconds > 0 ? Double(max(0, count)) / seconds : 0
    }

    /// Returns the estimated remaining time; `nil` at the beginning.
    package func timeLeft(_ fraction: Double?) -> Duration? {
        guard let fraction, fraction > 0.01, fraction <= 1 else { return nil }
        return .seconds(min(elapsed.inSeconds * (1 - fraction) / fraction, 1e9))
    }

    /// Returns the estimated remaining time; `nil` at the beginning and for unknown counts.
    package func timeLeft(_ count: Int, of total: Int) -> Duration? { total > 0 ? timeLeft(min(1, Double(count) / Double(total))) : nil }
}

extension Duration {
    /// The duration as a number of seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

    /// The duration in seconds with one decimal.
    package var formattedSeconds: String {
        let tenths = (inSeconds * 10).rounded()
        return tenths < 1e15 ? "\(Int64(tenths) / 10).\(Int64(tenths) % 10)" : "\(tenths / 10)"
    }
}
