import Foundation

/// A closure that runs on another thread.
final class Concurrent<Result: Sendable>: @unchecked Sendable {  // the result is written before the semaphore is signalled, and read after
    private let end = DispatchSemaphore(value: 0)
    private var result: Result?

    init(_ body: @escaping @Sendable () -> Result) {
        Thread { [self] in
            result = body()
            end.signal()
        }.start()
    }

    func wait() -> Result {
        end.wait()
        // Taken, so that the thread does not retain it.
        guard let result = result.take() else { fatalError("The thread has signalled without a result.") }
        return result
    }

    /// Returns whether the closure ends within a time; for closures that must still be running.
    func hasEnded(within milliseconds: Int) -> Bool {
        guard end.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return false }
        end.signal()
        return true
    }
}
