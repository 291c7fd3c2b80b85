import Foundation

/// A counter that several threads can increment.
final class Counter: @unchecked Sendable {  // the number is accessed under the lock only
    private let lock = NSLock()
    private var number = 0

    var value: Int { lock.withLock { number } }

    func increment() { lock.withLock { number += 1 } }
}
