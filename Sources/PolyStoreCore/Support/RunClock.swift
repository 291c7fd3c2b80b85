/// Measures an import or an export, and limits how often its progress is published.
struct RunClock {
    private let start = ContinuousClock.now
    private var lastUpdate = ContinuousClock.now
    private var countdown = 0

    var elapsed: Duration { ContinuousClock.now - start }

    /// Returns whether the progress is to be published: ten times a second at most. The clock is read once in 128 calls.
    mutating func isDue() -> Bool {
        if countdown > 0 {
            countdown -= 1
            return false
        }
        countdown = 127
        return isDueNow()
    }

    /// The same for callers that call less often than once for each record.
    mutating func isDueNow() -> Bool {
        let now = ContinuousClock.now
        guard now - lastUpdate >= .milliseconds(100) else { return false }
        lastUpdate = now
        return true
    }

    /// The number of `count` things per second, since the start.
    func rate(_ count: Int) -> Double {
        let seconds = elapsed.inSeconds
        return seconds > 0 ? Double(max(0, count)) / seconds : 0
    }

    /// The estimated time until the end; nil at the beginning.
    func timeLeft(_ fraction: Double?) -> Duration? {
        guard let fraction, fraction > 0.01, fraction <= 1 else { return nil }
        return .seconds(min(elapsed.inSeconds * (1 - fraction) / fraction, 1e9))
    }
}

extension Duration {
    /// As a number of seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

    /// In seconds, with one decimal.
    var formattedSeconds: String {
        let tenths = (inSeconds * 10).rounded()
        return tenths < 1e15 ? "\(Int64(tenths) / 10).\(Int64(tenths) % 10)" : "\(tenths / 10)"
    }
}
