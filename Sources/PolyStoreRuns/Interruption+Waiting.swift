import Dispatch
import PolyStoreBackend

extension Interruption {
    /// The deadline for a wait of Dispatch, after which the caller checks the limit and waits again: one millisecond after the limit, so that it has ended by every clock,
    /// but at most a second from now, because the clock of Dispatch can stand still while the machine sleeps. Nil without a limit.
    package var dispatchDeadline: DispatchTime? { remaining.map { .now() + .milliseconds(min($0, .seconds(1)).inMilliseconds + 1) } }

    /// Calls a handler when the time limit has ended, unless the returned timer was released before.
    /// - Returns: nil without a limit.
    package func atDeadline(_ handler: @escaping @Sendable () -> Void) -> DeadlineTimer? {
        dispatchDeadline.map { DeadlineTimer(self, $0, handler) }
    }

    /// Checks that an operation may be repeated.
    /// - Parameter failure: The error of the last attempt, which the error contains as `underlying`.
    /// - Throws: `cancelled`, `timedOut`.
    func checkRepetition(after failure: StoreError) throws {
        guard var error else { return }
        error.underlying = "\(failure)"
        throw error
    }
}

/// A call at the end of a time limit, which the release of the timer prevents.
package final class DeadlineTimer: @unchecked Sendable {  // the timer is set once, and can be used from any thread
    private let timer = DispatchSource.makeTimerSource(queue: .global(qos: .userInitiated))

    fileprivate init(_ interruption: Interruption, _ deadline: DispatchTime, _ handler: @escaping @Sendable () -> Void) {
        timer.schedule(deadline: deadline)
        timer.setEventHandler { [timer] in
            guard interruption.error != nil else {
                if let next = interruption.dispatchDeadline { timer.schedule(deadline: next) }
                return
            }
            timer.cancel()
            handler()
        }
        timer.resume()
    }

    deinit { timer.cancel() }
}
