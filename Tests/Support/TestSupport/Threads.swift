internal import Dispatch
internal import Foundation

/// Runs a closure on several threads at the same time, and returns when all of them have ended.
///
/// `DispatchQueue.concurrentPerform` runs the iterations one after another while the threads of the pool are in use, as they are when other tests run.
/// - Parameters:
///   - count: The number of threads.
///   - body: Receives the number of the thread, from 0. No thread begins it before all have started.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let start = DispatchSemaphore(value: 0)
    let end = DispatchGroup()
    for number in 0..<count {
        end.enter()
        Thread.detachNewThread {
            start.wait()
            body(number)
            end.leave()
        }
    }
    for _ in 0..<count { start.signal() }
    end.wait()
}
