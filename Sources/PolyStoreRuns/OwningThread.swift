import Synchronization

/// The thread that owns a write queue, or none.
package final class OwningThread: AwaitedResource {
    private let number = Atomic<UInt>(0)

    /// Creates a queue's owner: no thread.
    package init() {}

    /// The number of the thread, or 0 if it is unknown.
    package var owner: UInt { number.load(ordering: .acquiring) }

    /// A Boolean value that indicates whether the calling thread is the owner.
    package var isCaller: Bool { owner == currentThreadNumber() }

    /// Makes the calling thread the owner.
    package func setToCaller() { number.store(currentThreadNumber(), ordering: .releasing) }

    /// Makes no thread the owner.
    package func clear() { number.store(0, ordering: .releasing) }
}
