import PolyStoreRuns
import Synchronization

/// The thread that owns a write queue, or none.
final class OwningThread: AwaitedResource {
    private let number = Atomic<UInt>(0)

    /// The number of the thread, or 0 if it is unknown.
    var owner: UInt { number.load(ordering: .acquiring) }

    /// A Boolean value that indicates whether the calling thread is the owner.
    var isCaller: Bool { owner == currentThreadNumber() }

    func setToCaller() { number.store(currentThreadNumber(), ordering: .releasing) }

    func clear() { number.store(0, ordering: .releasing) }
}
