/// Where the objects of an ordered relationship stand: sparse numbers, so that most changes move few objects.
///
/// What is appended comes a step behind the last; what is put between two stands in the middle between them. Only where two have no room left
/// between them are their neighbours moved apart, as many as make it roomy again.
package enum ListPositions {
    /// Between objects that are appended: room for 32 insertions at one and the same place, and for 2^31 objects behind one another.
    package static let step: Int64 = 1 << 32
    /// What must be left between objects after they were moved apart, so that it does not happen again at once.
    private static let room: UInt64 = 1 << 16

    /// Positions behind a last one.
    /// - Returns: nil where there are no such numbers any more.
    package static func after(_ last: Int64?, count: Int) -> [Int64]? {
        let (first, isTooFar) = last?.addingReportingOverflow(step) ?? (0, false)
        let (span, isTooMany) = Int64(count).multipliedReportingOverflow(by: step)
        guard !isTooFar, !isTooMany, !first.addingReportingOverflow(span).overflow else { return nil }
        return (0..<Int64(count)).map { first + $0 * step }
    }

    /// The positions that bring objects into an order.
    /// - Parameters:
    ///   - wanted: keys, each once, in order.
    ///   - stored: the positions that some of them have.
    /// - Returns: those that must change; as few as can be, unless room has to be made.
    package static func changes(_ wanted: [Int64], _ stored: [Int64: Int64]) -> [(key: Int64, position: Int64)] {
        let before = wanted.map { stored[$0] }
        var places = kept(before)
        if !fill(&places) {
            // The numbers are used up at an end: all anew.
            let step = min(step, Int64.max / Int64(wanted.count + 1))
            for index in places.indices { places[index] = Int64(index) * step }
        }
        return wanted.indices.compactMap { index in
            guard let place = places[index], place != before[index] else { return nil }
            return (wanted[index], place)
        }
    }

    /// The longest ascending run of positions among those that are there; the others become nil. (Patience sorting.)
    private static func kept(_ positions: [Int64?]) -> [Int64?] {
        /// By length of the run: the index at which the run with the least last position ends.
        var ends: [Int] = []
        var previous: [Int?] = Array(repeating: nil, count: positions.count)
        for (index, position) in positions.enumerated() {
            guard let position else { continue }
            var (low, high) = (0, ends.count)
            if let last = ends.last, let greatest = positions[last], greatest < position {
                low = high  // as in a list that is in order already
            }
            while low < high {
                let middle = (low + high) / 2
                if positions[ends[middle]] ?? .min < position { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var kept: [Int64?] = Array(repeating: nil, count: positions.count)
        var at = ends.last
        while let index = at {
            kept[index] = positions[index]
            at = previous[index]
        }
        return kept
    }

    /// Gives a position to all that have none.
    /// - Returns: false where the numbers at an end are used up.
    private static func fill(_ places: inout [Int64?]) -> Bool {
        var index = 0
        while index < places.count {
            guard places[index] == nil else {
                index += 1
                continue
            }
            var gap = index..<(places[index...].firstIndex { $0 != nil } ?? places.count)
            var width = 8
            while !hasRoom(gap, places, least: width == 8 ? 1 : room) {
                // Its neighbours are moved too: twice as many each time, up to the ends, beyond which there is room without end.
                let low = max(0, gap.lowerBound - width)
                var high = min(places.count, gap.upperBound + width)
                while high < places.count, places[high] == nil { high += 1 }
                gap = low..<high
                width *= 2
            }
            guard spread(gap, &places) else { return false }
            index = gap.upperBound
        }
        return true
    }

    private static func ends(_ gap: Range<Int>, _ places: [Int64?]) -> (low: Int64?, high: Int64?) {
        (gap.lowerBound > 0 ? places[gap.lowerBound - 1] : nil, gap.upperBound < places.count ? places[gap.upperBound] : nil)
    }

    private static func hasRoom(_ gap: Range<Int>, _ places: [Int64?], least: UInt64) -> Bool {
        guard case (let low?, let high?) = ends(gap, places) else { return true }
        return UInt64(bitPattern: high &- low) / UInt64(gap.count + 1) >= least
    }

    /// Spreads objects evenly between their neighbours, or from the one neighbour on.
    private static func spread(_ gap: Range<Int>, _ places: inout [Int64?]) -> Bool {
        switch ends(gap, places) {
        case (let low?, let high?):
            let step = UInt64(bitPattern: high &- low) / UInt64(gap.count + 1)
            for (number, index) in gap.enumerated() { places[index] = low &+ Int64(bitPattern: UInt64(number + 1) &* step) }
        case (nil, let high?):
            let (first, overflow) = high.subtractingReportingOverflow(Int64(gap.count) * step)
            if overflow { return false }
            for (number, index) in gap.enumerated() { places[index] = first + Int64(number) * step }
        case (let low, nil):
            guard let positions = after(low, count: gap.count) else { return false }
            for (position, index) in zip(positions, gap) { places[index] = position }
        }
        return true
    }
}
