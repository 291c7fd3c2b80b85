import Foundation
import PolyStoreBackend

/// Limits the number of concurrent cases to the number of processors. A test runner may start all of them together.
final class CaseGate: @unchecked Sendable {  // All mutable state is accessed under the lock.
    static let shared = CaseGate(width: max(2, ProcessInfo.processInfo.activeProcessorCount))

    private let lock = Lock()
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var firstWaiting = 0

    private init(width: Int) { free = width }

    func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = lock.withLock {
                if free > 0 {
                    free -= 1
                    return true
                }
                waiting.append(continuation)
                return false
            }
            if mayEnter { continuation.resume() }
        }
    }

    func leave() {
        let next: CheckedContinuation<Void, Never>? = lock.withLock {
            guard firstWaiting < waiting.count else {
                free += 1
                return nil
            }
            defer {
                firstWaiting += 1
                if firstWaiting == waiting.count { (waiting, firstWaiting) = ([], 0) }
            }
            return waiting[firstWaiting]
        }
        next?.resume()
    }
}
