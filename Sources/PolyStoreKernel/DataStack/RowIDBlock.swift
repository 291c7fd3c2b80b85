/// Reserved row ids of one entity that have not been assigned.
final class RowIDBlock {
    // Used by one thread; each access is a single load or store.
    @exclusivity(unchecked) private var next: Int64
    @exclusivity(unchecked) private var last: Int64
    /// The reserved row ids after ``last``, in order.
    @exclusivity(unchecked) private var following: ArraySlice<ClosedRange<Int64>>
    /// The number of row ids of the reservation.
    private let size: Int

    /// Creates a block from reserved row ids, at least one range.
    init(_ ranges: [ClosedRange<Int64>], size: Int = RowIDBlock.smallestSize) {
        (next, last) = (ranges[0].lowerBound, ranges[0].upperBound)
        following = ranges.dropFirst()
        self.size = size
    }

    private static let smallestSize = 16

    /// Returns the number of row ids to reserve after a block is used up. It doubles each time, so that a bulk load makes few reservations and a small commit
    /// wastes few row ids. For a store that waits for a server, each reservation after the first is 16 times as large.
    static func size(after block: RowIDBlock?, in store: PersistentStore) -> Int {
        min((block?.size ?? smallestSize) * (store.waitsForServer && block != nil ? 16 : 2), 4096)
    }

    /// Assigns a row id; nil if the block is used up.
    @inline(__always)
    func take() -> Int64? {
        if next > last {
            guard let range = following.popFirst() else { return nil }
            (next, last) = (range.lowerBound, range.upperBound)
        }
        defer { next += 1 }
        return next
    }

    /// The row ids that have not been assigned, if they are consecutive; nil if there are none.
    var left: ClosedRange<Int64>? { next <= last && following.isEmpty ? next...last : nil }
}
