/// The positions of the members of an ordered relationship: sparse integers, so that most reorderings change few positions.
///
/// An appended member gets a position one step after the last. A member inserted between two others gets the middle of the gap. If the gap is
/// exhausted, neighbors are moved apart, as many as necessary to make room.
package enum ListPositions {
    /// The distance between appended members: it allows for 32 insertions at the same point, and for 2^31 appended members.
    package static let step: Int64 = 1 << 32
    /// The minimum gap after members are moved apart, so that the next insertions do not move them again.
    private static let room: UInt64 = 1 << 16

    /// Returns positions after the last one.
    /// - Returns: nil if the range of integers is exhausted.
    package static func after(_ last: Int64?, count: Int) -> [Int64]? {
        let (first, isTooFar) = last?.addingReportingOverflow(step) ?? (0, false)
        let (span, isTooMany) = Int64(count).multipliedReportingOverflow(by: step)
        guard !isTooFar, !isTooMany, !first.addingReportingOverflow(span).overflow else { return nil }
        return (0..<Int64(count)).map { first + $0 * step }
    }

    /// Returns the position changes that bring members into an order.
    /// - Parameters:
    ///   - wanted: The row ids in the requested order, without duplicates.
    ///   - stored: the positions of those that have one.
    /// - Returns: the changed positions; the minimum number of them unless room must be made.
    package static func changes(_ wanted: [Int64], _ stored: [Int64: Int64]) -> [(rowID: Int64, position: Int64)] {
        let before = wanted.map { stored[$0] }
        var positions = kept(before)
        if !fill(&positions) {
            // The range of integers is exhausted, so all positions are reassigned.
            let step = min(step, Int64.max / Int64(wanted.count + 1))
            for index in positions.indices { positions[index] = Int64(index) * step }
        }
        return wanted.indices.compactMap { index in
            guard let position = positions[index], position != before[index] else { return nil }
            return (wanted[index], position)
        }
    }

    /// Returns the positions of a longest increasing subsequence; the others become nil.
    private static func kept(_ positions: [Int64?]) -> [Int64?] {
        let stored = positions.indices.filter { positions[$0] != nil }
        var kept: [Int64?] = Array(repeating: nil, count: positions.count)
        for index in IncreasingSubsequence.indexes(of: stored.map { positions[$0] ?? 0 }) { kept[stored[index]] = positions[stored[index]] }
        return kept
    }

    /// Assigns positions to all members without one.
    /// - Returns: false if the range of integers is exhausted at an end.
    private static func fill(_ positions: inout [Int64?]) -> Bool {
        var index = 0
        while index < positions.count {
            guard positions[index] == nil else {
                index += 1
                continue
            }
            var gap = index..<(positions[index...].firstIndex { $0 != nil } ?? positions.count)
            var width = 8
            while !hasRoom(gap, positions, least: width == 8 ? 1 : room) {
                // Moves neighbors too, twice as many in each iteration. Beyond the ends of the list the room is unlimited.
                let low = max(0, gap.lowerBound - width)
                var high = min(positions.count, gap.upperBound + width)
                while high < positions.count, positions[high] == nil { high += 1 }
                gap = low..<high
                width *= 2
            }
            guard spread(gap, &positions) else { return false }
            index = gap.upperBound
        }
        return true
    }

    private static func ends(_ gap: Range<Int>, _ positions: [Int64?]) -> (low: Int64?, high: Int64?) {
        (gap.lowerBound > 0 ? positions[gap.lowerBound - 1] : nil, gap.upperBound < positions.count ? positions[gap.upperBound] : nil)
    }

    private static func hasRoom(_ gap: Range<Int>, _ positions: [Int64?], least: UInt64) -> Bool {
        guard case (let low?, let high?) = ends(gap, positions) else { return true }
        return UInt64(bitPattern: high &- low) / UInt64(gap.count + 1) >= least
    }

    /// Distributes members evenly between their neighbors, or in steps from the only neighbor.
    private static func spread(_ gap: Range<Int>, _ positions: inout [Int64?]) -> Bool {
        switch ends(gap, positions) {
        case (let low?, let high?):
            let step = UInt64(bitPattern: high &- low) / UInt64(gap.count + 1)
            for (number, index) in gap.enumerated() { positions[index] = low &+ Int64(bitPattern: UInt64(number + 1) &* step) }
        case (nil, let high?):
            let (first, overflow) = high.subtractingReportingOverflow(Int64(gap.count) * step)
            if overflow { return false }
            for (number, index) in gap.enumerated() { positions[index] = first + Int64(number) * step }
        case (let low, nil):
            guard let following = after(low, count: gap.count) else { return false }
            for (position, index) in zip(following, gap) { positions[index] = position }
        }
        return true
    }
}
