import Foundation
import PolyStoreCore

/// A line on standard error that shows how far an operation is, with its rate and the time left. It is shown only on a terminal.
final class ProgressLine {
    private let start = ContinuousClock.now
    private var shown: ContinuousClock.Instant?
    private let isShown: Bool

    init(isShown: Bool = StandardStreams.errorIsTerminal) { self.isShown = isShown }

    deinit { clear() }

    /// Shows what is done, at most ten times a second.
    /// - Parameters:
    ///   - what: The activity, such as `Importing City`.
    ///   - total: The amount of the whole work; nil if it is not known.
    func show(_ what: String, completed: Int, total: Int? = nil) {
        show { seconds in
            var parts = [total.map { "\(completed.grouped) of \($0.grouped)" } ?? completed.grouped]
            if let total, total > 0 { parts.append("\(min(100, Int(Double(completed) / Double(total) * 100))) %") }
            if seconds > 1, completed > 0 {
                let rate = Double(completed) / seconds
                parts.append("\(Int(rate).grouped)/s")
                if let total, total > completed { parts.append("\(Self.time(Double(total - completed) / rate)) left") }
            }
            return "\(what): \(parts.joined(separator: ", "))"
        }
    }

    /// Shows the progress of a run of the library, with the time left if it is known.
    func show(_ progress: some RunProgress) {
        show { seconds in
            guard let fraction = progress.fractionCompleted, fraction > 0.01, fraction < 1, seconds > 1 else { return "\(progress)" }
            return "\(progress), \(Int(fraction * 100)) %, \(Self.time(seconds / fraction - seconds)) left"
        }
    }

    private func show(_ text: (Double) -> String) {
        let now = ContinuousClock.now
        guard isShown, shown.map({ now - $0 >= .milliseconds(100) }) ?? true else { return }
        shown = now
        let line = text((now - start) / .seconds(1))
        let width = StandardStreams.errorWidth
        StandardStreams.writeError("\r\u{1b}[K\(DisplayText(line).cut(to: max(1, width - 1)))")
    }

    /// Clears what was written.
    func clear() {
        guard shown != nil else { return }
        shown = nil
        StandardStreams.writeError("\r\u{1b}[K")
    }

    private static func time(_ seconds: Double) -> String {
        let seconds = Int(min(seconds.rounded(.up), 359_999))
        if seconds < 60 { return "\(seconds) s" }
        let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        return seconds < 3600 ? "\(seconds / 60):\(two(seconds % 60))" : "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
}

extension Run {
    /// Shows the progress of the run until it ends, and returns its result. Cancels the run if the task is cancelled.
    func following() async throws -> Value {
        let line = ProgressLine()
        return try await withTaskCancellationHandler {
            for await progress in updates { line.show(progress) }
            line.clear()
            return try await value
        } onCancel: {
            cancel()
        }
    }
}

extension BinaryInteger {
    /// The number with spaces between groups of three digits.
    var grouped: String {
        var digits = Substring("\(magnitude)")
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits = digits.dropLast(3)
        }
        return (self < 0 ? "-" : "") + ([digits] + groups).joined(separator: " ")
    }
}
