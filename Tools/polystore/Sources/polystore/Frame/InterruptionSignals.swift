import Dispatch
import Foundation

/// Cancels the command on Ctrl-C and on the termination of the process. A second signal ends the process immediately.
final class InterruptionSignals: @unchecked Sendable {  // The sources are not changed, and the queue alone changes the number.
    private var sources: [any DispatchSourceSignal] = []
    private var count = 0

    init(cancel: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "polystore.signals")
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            // The source ends the process, not the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [unowned self] in
                count += 1
                guard count == 1 else { _exit(ExitStatus.interrupted.rawValue) }
                cancel()
            }
            return source
        }
        for source in sources { source.resume() }
    }

    func stop() { for source in sources { source.cancel() } }
}
