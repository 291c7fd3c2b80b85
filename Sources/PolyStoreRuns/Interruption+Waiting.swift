import Dispatch
import PolyStoreBackend

extension Interruption {
    /// The deadline for waits of Dispatch, one millisecond later, so that the limit has ended by every clock; nil without a limit.
    package var dispatchDeadline: DispatchTime? {
        remaining.map { .now() + .milliseconds(min($0, .seconds(Int32.max)).inMilliseconds + 1) }
    }

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
        // Repeated for limits that are longer than a wait of Dispatch can be.
        timer.schedule(deadline: deadline, repeating: .milliseconds(10))
        timer.setEventHandler { [timer] in
            guard interruption.error != nil else { return }
            timer.cancel()
            handler()
        }
        timer.resume()
    }

    deinit { timer.cancel() }
}
