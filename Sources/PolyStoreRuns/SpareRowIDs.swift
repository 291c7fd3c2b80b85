import PolyStoreBackend
import Synchronization

/// The reserved row ids of a store that have not been assigned, by entity.
package final class SpareRowIDs: @unchecked Sendable {  // `own` is used only by the owner of the write queue
    /// The row ids that the last commit group left.
    @exclusivity(unchecked) private var own: [ClosedRange<Int64>?]
    /// The row ids that unqueued transactions left.
    private let returned: Protected<[ClosedRange<Int64>?]>
    private let hasReturned = Atomic(false)

    package init(entityCount: Int) {
        own = Array(repeating: nil, count: entityCount)
        returned = Protected(own)
    }

    /// Removes and returns the row ids of an entity. Called by the owner of the write queue.
    package func take(_ entity: Int) -> ClosedRange<Int64>? {
        if let left = own[entity].take() { return left }
        guard hasReturned.load(ordering: .acquiring) else { return nil }
        return returned.withLock { returned in
            defer { hasReturned.store(returned.contains { $0 != nil }, ordering: .releasing) }
            return returned[entity].take()
        }
    }

    /// Keeps the row ids that a commit group has left. Called by the owner of the write queue.
    package func keep(_ left: ClosedRange<Int64>, _ entity: Int) { own[entity] = left }

    /// Keeps the row ids that an unqueued transaction has left, unless there are others. Called by any thread.
    package func giveBack(_ left: ClosedRange<Int64>, _ entity: Int) {
        returned.withLock { returned in
            if returned[entity] == nil { returned[entity] = left }
            hasReturned.store(true, ordering: .releasing)
        }
    }
}
