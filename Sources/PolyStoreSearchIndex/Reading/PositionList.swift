/// Places of a term or phrase in a document: the field in the upper half, the position in the lower half, ascending.
final class PositionList {
    private(set) var start: UnsafeMutablePointer<UInt64>
    private(set) var count = 0
    private var capacity = 64

    init() { start = .allocate(capacity: capacity) }

    deinit { start.deallocate() }

    var array: [UInt64] { Array(UnsafeBufferPointer(start: start, count: count)) }

    @inline(__always)
    subscript(place: Int) -> UInt64 { start[place] }

    func removeAll() { count = 0 }

    /// Removes the places from an index on.
    func truncate(_ kept: Int) { count = kept }

    /// Adds places, which the caller sets.
    @inline(__always)
    func extend(_ more: Int) -> UnsafeMutablePointer<UInt64> {
        if count + more > capacity { grow(more) }
        defer { count += more }
        return start + count
    }

    func append(_ place: UInt64) { extend(1).pointee = place }

    func append(_ other: PositionList) { extend(other.count).update(from: other.start, count: other.count) }

    /// Sorts the places from an index on.
    func sort(from first: Int) {
        var places = UnsafeMutableBufferPointer(start: start + first, count: count - first)
        places.sort()
    }

    /// Keeps the places that a number of tokens later are in another list.
    func retain(followedBy other: PositionList, offset: UInt64) {
        var kept = 0
        var index = 0
        for place in 0..<count {
            let sought = start[place] + offset
            while index < other.count, other.start[index] < sought { index += 1 }
            guard index < other.count else { break }
            if other.start[index] == sought {
                start[kept] = start[place]
                kept += 1
            }
        }
        count = kept
    }

    @inline(never)
    private func grow(_ more: Int) {
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
    }
}
