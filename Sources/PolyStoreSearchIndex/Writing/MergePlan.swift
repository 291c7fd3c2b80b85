/// Which segments are merged.
///
/// A segment has a level by its size. As soon as some segments of one level follow one another, smaller ones between them aside, they are merged into one of the next level.
extension IndexStructure {
    /// The number of segments that a search sees.
    var visibleSegments: Int { segments.count + merges.count }

    /// The level of a new segment.
    static func level(pages: Int, fanout: Int) -> Int {
        var level = 0
        var size = max(2, fanout)
        while pages >= size, level < 32 {
            size *= max(2, fanout)
            level += 1
        }
        return level
    }

    /// Begins the merges that are due.
    mutating func plan(fanout: Int) {
        while let range = dueRange(fanout: max(2, fanout)) { begin(range) }
    }

    /// Begins a merge of segments that follow one another.
    mutating func begin(_ range: Range<Int>) {
        let inputs = segments[range]
        let level = (inputs.map(\.level).max() ?? 0) + 1
        merges.append(
            Merge(
                inputs: inputs.map(\.id), output: Segment(id: nextSegment, level: min(level, 60)), progress: nil,
                firstPositionPages: inputs.map { _ in 0 }, removedPages: inputs.map { _ in 0 }
            )
        )
        nextSegment += 1
    }

    private func dueRange(fanout: Int) -> Range<Int>? {
        let merging = Set(merges.flatMap(\.inputs))
        for level in Set(segments.map(\.level)).sorted() {
            var first: Int?
            var count = 0
            for (index, segment) in segments.enumerated() {
                guard segment.level <= level, !merging.contains(segment.id) else {
                    (first, count) = (nil, 0)
                    continue
                }
                guard segment.level == level else { continue }
                count += 1
                let start = first ?? index
                first = start
                if count == fanout { return start..<index + 1 }
            }
        }
        return nil
    }

    /// Returns the adjacent segments, none of them in a merge, whose merge is cheapest for each segment that it removes; nil without two such segments.
    /// - Parameter count: The maximum number of segments; at least two are considered.
    func smallestRange(count: Int) -> Range<Int>? {
        let merging = Set(merges.flatMap(\.inputs))
        var best: (size: Int, range: Range<Int>)?
        for start in segments.indices {
            var size = 0
            for end in start..<min(start + max(2, count), segments.count) {
                guard !merging.contains(segments[end].id) else { break }
                size += segments[end].postings
                guard end > start else { continue }
                // Longer ranges are preferred unless they cost more for each segment that they remove.
                let cost = size / (end - start)
                if best.map({ cost < $0.size }) ?? true { best = (cost, start..<end + 1) }
            }
        }
        return best?.range
    }

    /// The number of postings of the inputs of a merge that it has not moved to its output, approximately.
    func remaining(_ merge: Merge) -> Int {
        segments.reduce(-merge.output.postings) { $0 + (merge.inputs.contains($1.id) ? $1.postings : 0) }
    }

    /// Replaces a merge by its state after a step.
    mutating func update(_ index: Int, _ merge: Merge, isComplete: Bool) {
        guard isComplete else {
            merges[index] = merge
            return
        }
        merges.remove(at: index)
        let place = segments.firstIndex { $0.id == merge.inputs.first } ?? segments.count
        segments.removeAll { merge.inputs.contains($0.id) }
        if merge.output.postings > 0 || merge.output.pages > 0 { segments.insert(merge.output, at: place) }
    }
}
