import Dispatch
import PolyStoreBackend
import Synchronization

/// Measures the operations of a stack and logs those that reach the minimum duration of their kind at `warning`.
package final class SlowOperations: Sendable {
    /// A kind of operation with a threshold of its own.
    package enum Kind: Sendable {
        case query, transaction, commit, wait
    }

    // The durations in nanoseconds; `UInt64.max` disables measuring.
    private let query = Atomic<UInt64>(.max)
    private let transaction = Atomic<UInt64>(.max)
    private let commit = Atomic<UInt64>(.max)
    private let wait = Atomic<UInt64>(.max)
    private let logger: Protected<any StoreLogger>
    /// The time in nanoseconds. Tests replace it.
    package let clock = ReplaceableClock { DispatchTime.now().uptimeNanoseconds }

    package init(_ logger: Protected<any StoreLogger>) { self.logger = logger }

    // MARK: Thresholds

    private func limit(_ kind: Kind) -> UInt64 {
        switch kind {
        case .query: query.load(ordering: .relaxed)
        case .transaction: transaction.load(ordering: .relaxed)
        case .commit: commit.load(ordering: .relaxed)
        case .wait: wait.load(ordering: .relaxed)
        }
    }

    /// The minimum duration of the operations of a kind that are logged; nil disables measuring.
    package subscript(kind: Kind) -> Duration? {
        get {
            let limit = limit(kind)
            return limit == .max ? nil : .nanoseconds(Int64(clamping: limit))
        }
        set {
            var limit = UInt64.max
            if let (seconds, attoseconds) = newValue?.components {
                let nanoseconds = max(0, Double(seconds) * 1e9 + Double(attoseconds) / 1e9)
                if nanoseconds < 9e18 { limit = UInt64(nanoseconds) }
            }
            switch kind {
            case .query: query.store(limit, ordering: .relaxed)
            case .transaction: transaction.store(limit, ordering: .relaxed)
            case .commit: commit.store(limit, ordering: .relaxed)
            case .wait: wait.store(limit, ordering: .relaxed)
            }
        }
    }

    /// The thresholds of writes.
    package var writeThresholds: SlowWriteThresholds {
        get { SlowWriteThresholds(transaction: self[.transaction], commit: self[.commit], wait: self[.wait]) }
        set { (self[.transaction], self[.commit], self[.wait]) = (newValue.transaction, newValue.commit, newValue.wait) }
    }

    // MARK: Measuring

    private var now: UInt64 { clock.now }

    /// Returns the current time, or 0 if operations of a kind are not measured.
    package func start(_ kind: Kind) -> UInt64 { limit(kind) == .max ? 0 : max(1, now) }

    /// Logs an operation if it was slow.
    /// - Parameters:
    ///   - began: The result of ``start(_:)``.
    ///   - site: The call that began the operation.
    ///   - operation: The name of the operation in the metadata. It is stable.
    ///   - what: The beginning of the message.
    ///   - details: Returns the rest of the message, and further metadata.
    package func end(
        _ kind: Kind, _ began: UInt64, _ site: CallSite, _ operation: String, _ what: @autoclosure () -> String,
        _ details: () -> (text: String, metadata: [LogKey: LogValue]) = { ("", [:]) }
    ) {
        guard began != 0 else { return }
        let elapsed = now &- began
        guard elapsed >= limit(kind) else { return }
        let logger = logger.withLock { $0 }
        guard logger.isEnabled(.warning) else { return }
        let milliseconds = Double(elapsed / 10_000) / 100
        let (text, metadata) = details()
        let own: [LogKey: LogValue] = [.operation: .text(operation), .milliseconds: .number(milliseconds)]
        logger.log(
            .warning, "\(what()) took \(milliseconds) ms\(text.isEmpty ? "" : ": " + text)",
            metadata: own.merging(metadata) { own, _ in own },
            file: site.file, line: site.line, function: site.kind)
    }
}
