import PolyStoreBackend

/// Something that one thread has at a time, and that others wait for.
protocol Awaited: AnyObject, Sendable {
    /// The thread that has it; 0 where none is known to.
    var owner: UInt { get }
}

/// Which thread waits for what, in the whole process: transactions of several stacks, and those in steps, could wait for each other for ever.
///
/// A thread waits for one thing at a time, and a thing is had by one thread, so whoever closes a ring sees it by following the ring.
final class LaneWaits: Sendable {
    static let shared = LaneWaits()

    private let waits = Protected<[UInt: any Awaited]>([:])

    /// Notes that the caller is about to wait.
    /// - Throws: `misuse` where the wait would never end; then nothing is noted.
    func begin(_ awaited: some Awaited) throws {
        let me = currentThreadNumber()
        try waits.withLock { waits in
            var owner = awaited.owner
            // A ring that the caller is not part of has been refused to somebody else, so the walk ends.
            while owner != 0, owner != me, let next = waits[owner] { owner = next.owner }
            guard owner != me else {
                throw StoreError(
                    .misuse,
                    "A transaction was begun inside the body of another one that it would wait for, directly or over a third, for ever. "
                        + "Use the outer transaction, begin those of several stacks in one order everywhere, and open each file with one stack."
                )
            }
            waits[me] = awaited
        }
    }

    func end() { waits.withLock { $0[currentThreadNumber()] = nil } }
}
