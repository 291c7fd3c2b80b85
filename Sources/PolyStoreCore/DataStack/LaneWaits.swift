import PolyStoreBackend

/// A resource owned by one thread at a time, for which other threads wait.
protocol Awaited: AnyObject, Sendable {
    /// The owning thread, or 0 if it is unknown.
    var owner: UInt { get }
}

/// The wait-for graph of the process. It detects deadlocks between transactions of several stacks and stepwise transactions.
///
/// Each thread waits for at most one resource, and each resource has at most one owner. The thread whose wait would close a cycle detects it by
/// following the graph.
final class LaneWaits: Sendable {
    static let shared = LaneWaits()

    private let waits = Protected<[UInt: any Awaited]>([:])

    /// Registers a wait of the calling thread.
    /// - Throws: `misuse` if the wait would deadlock. It is not registered then.
    func begin(_ awaited: some Awaited) throws {
        let me = currentThreadNumber()
        try waits.withLock { waits in
            var owner = awaited.owner
            // A thread that has acquired the write queue remains registered until it removes itself, which can look like a cycle. Each thread is
            // therefore visited once.
            var seen: Set<UInt> = []
            while owner != 0, owner != me, seen.insert(owner).inserted, let next = waits[owner] { owner = next.owner }
            guard owner != me else {
                throw StoreError(
                    .misuse,
                    "A transaction was begun inside the body of another one, and both would wait for each other, directly or through a third one. "
                        + "Use the outer transaction, begin those of several stacks in one order everywhere, and open each file with one stack."
                )
            }
            waits[me] = awaited
        }
    }

    func end() { waits.withLock { $0[currentThreadNumber()] = nil } }
}
