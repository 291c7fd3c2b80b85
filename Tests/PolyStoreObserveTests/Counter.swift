import Foundation

/// Counts from several threads.
final class Counter: @unchecked Sendable {  // the number is only touched under the lock
    private let lock = NSLock()
    private var number = 0

    var value: Int { lock.withLock { number } }

    func increment() { lock.withLock { number += 1 } }
}
