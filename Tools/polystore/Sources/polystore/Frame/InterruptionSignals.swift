import Dispatch
import Foundation

/// Cancels the command on Ctrl-C, on the termination of the process, and when its terminal is closed. A second signal ends the process immediately.
///
/// Signals that the caller ignores, as `nohup` does, stay ignored.
final class InterruptionSignals: @unchecked Sendable {  // The sources are not changed, and the queue guards the numbers.
    private let queue = DispatchQueue(label: "polystore.signals")
    private var sources: [any DispatchSourceSignal] = []
    private var count = 0
    private var last: Int32?

    init(cancel: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number in
            var before = sigaction()
            guard sigaction(number, nil, &before) == 0, !Self.isIgnored(before) else { return nil }
            // The source ends the process, not the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [unowned self] in
                count += 1
                last = number
                guard count == 1 else { _exit(128 + number) }
                cancel()
            }
            return source
        }
        for source in sources { source.resume() }
    }

    /// The exit code of the process: 128 and the number of the signal; nil if there was none.
    var status: Int32? { queue.sync { last.map { 128 + $0 } } }

    private static func isIgnored(_ action: sigaction) -> Bool {
        #if os(Linux)
            unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        #else
            unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        #endif
    }
}
