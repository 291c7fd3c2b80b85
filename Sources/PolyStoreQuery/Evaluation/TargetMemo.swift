/// Results by the row id of the destination of a relationship, so that rows that share a destination compute a result once.
///
/// The memory is bounded: when the weight of the results exceeds the limit, all of them are discarded. It is a hash table with linear probing in memory of its own,
/// because keeping a result that no other row needs must cost little. For the same reason it can stop keeping results: if each row has a destination of its
/// own, a table of all results would only displace other data from the caches of the processor.
final class TargetMemo<Result> {
    /// The largest weight of all results together. A number weighs 1.
    static var mostWeight: Int { 1 << 16 }

    // Used by one thread, and no access overlaps another.
    /// The number of slots, a power of two, or 0 before the first result. At most half of the slots have a result.
    @exclusivity(unchecked) private var size = 0
    /// The row id of each slot that has a result; nil before the first result.
    @exclusivity(unchecked) private var targets: UnsafeMutablePointer<Int64>?
    @exclusivity(unchecked) private var results: UnsafeMutablePointer<Result?>?
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var weight = 0
    /// The number of results that are kept before one of them must have been used again; `Int.max` after the first such use.
    @exclusivity(unchecked) private var mostUnused: Int

    /// - Parameter mostUnused: The number of kept results after which no more are kept if none of them was used again.
    init(mostUnused: Int = .max) { self.mostUnused = mostUnused }

    deinit { discard() }

    /// Discards all results and keeps no more.
    private func discard() {
        results?.deinitialize(count: size)
        results?.deallocate()
        targets?.deallocate()
        (targets, results, size, mostUnused) = (nil, nil, 0, 0)
    }

    /// Returns the result for a destination; nil if it is not kept.
    subscript(target: Int64) -> Result? {
        guard let targets, let results, let result = results[slot(of: target, targets, results)] else { return nil }
        mostUnused = .max
        return result
    }

    /// Keeps the result for a destination, unless it alone exceeds the limit.
    func keep(_ result: Result, for target: Int64, weight added: Int = 1) {
        guard added <= Self.mostWeight, mostUnused > 0 else { return }
        if count == mostUnused { return discard() }
        weight += added
        if weight > Self.mostWeight {
            results?.update(repeating: nil, count: size)
            (count, weight) = (0, added)
        }
        if 2 * count >= size { grow() }
        guard let targets, let results else { return }
        let slot = slot(of: target, targets, results)
        if case .none = results[slot] { count += 1 }
        targets[slot] = target
        results[slot] = result
    }

    /// Returns the slot that has the result for a destination, or the one to put it into. At least one slot must be empty.
    private func slot(of target: Int64, _ targets: UnsafeMutablePointer<Int64>, _ results: UnsafeMutablePointer<Result?>) -> Int {
        let mask = size &- 1
        var slot = Int(truncatingIfNeeded: Shuffle.value(of: target, seed: 0)) & mask
        while targets[slot] != target, case .some = results[slot] { slot = (slot &+ 1) & mask }
        return slot
    }

    private func grow() {
        let old = (size: size, targets: targets, results: results)
        size = max(16, 2 * old.size)
        let targets = UnsafeMutablePointer<Int64>.allocate(capacity: size)
        let results = UnsafeMutablePointer<Result?>.allocate(capacity: size)
        targets.initialize(repeating: 0, count: size)
        results.initialize(repeating: nil, count: size)
        if let oldTargets = old.targets, let oldResults = old.results {
            for index in 0..<old.size {
                guard let result = (oldResults + index).move() else { continue }
                let slot = slot(of: oldTargets[index], targets, results)
                targets[slot] = oldTargets[index]
                results[slot] = result
            }
            oldResults.deallocate()
            oldTargets.deallocate()
        }
        (self.targets, self.results) = (targets, results)
    }
}
