import PolyStoreBackend

/// Which thread waits for which lane, in the whole process: two stacks whose transactions call each other could wait for each other for ever.
///
/// A thread waits for one lane at a time, and a lane is had by one thread, so whoever closes a ring sees it by following the ring.
final class LaneWaits: Sendable {
    static let shared = LaneWaits()

    private let waits = Protected<[UInt: WriterLane]>([:])

    /// Notes that the caller is about to wait.
    /// - Throws: `misuse` where the wait would never end; then nothing is noted.
    func begin(_ lane: WriterLane) throws {
        let me = currentThreadNumber()
        try waits.withLock { waits in
            var owner = lane.owner
            // A ring that the caller is not part of has been refused to somebody else, so the walk ends.
            while owner != 0, owner != me, let next = waits[owner] { owner = next.owner }
            guard owner != me else {
                throw StoreError(
                    .misuse,
                    "A transaction of one stack was begun inside that of another, which somebody waits for who has the first: neither could go on. "
                        + "Begin the transactions of several stacks in one order everywhere.")
            }
            waits[me] = lane
        }
    }

    func end() { waits.withLock { $0[currentThreadNumber()] = nil } }
}
