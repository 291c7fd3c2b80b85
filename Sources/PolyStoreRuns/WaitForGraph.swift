import PolyStoreBackend

/// The wait-for graph of the process. It detects deadlocks between transactions of several stacks and stepwise transactions.
///
/// Each thread waits for at most one resource, and each resource has at most one owner. The thread whose wait would close a cycle detects it by
/// following the graph.
package final class WaitForGraph: Sendable {
    /// The graph of all threads.
    package static let shared = WaitForGraph()

    private let waits = Protected<[UInt: any AwaitedResource]>([:], .waits)

    /// Creates a graph without waits.
    package init() {}

    /// Registers a wait of the calling thread.
    /// - Throws: `misuse` if the wait would deadlock. It is not registered then.
    package func beginWaiting(for resource: some AwaitedResource) throws {
        let caller = currentThreadNumber()
        try waits.withLock { waits in
            var owner = resource.owner
            // A thread that has acquired the write queue remains registered until it removes itself, which can look like a cycle. Each thread is
            // therefore visited once.
            var visited: Set<UInt> = []
            while owner != 0, owner != caller, visited.insert(owner).inserted, let next = waits[owner] { owner = next.owner }
            guard owner != caller else {
                throw StoreError(
                    .misuse,
                    "A transaction was begun inside the body of another one, and both would wait for each other, directly or through a third one. "
                        + "Use the outer transaction, begin those of several stacks in one order everywhere, and open each file with one stack."
                )
            }
            waits[caller] = resource
        }
    }

    /// Removes the wait of the calling thread.
    package func endWaiting() { waits.withLock { $0[currentThreadNumber()] = nil } }
}
