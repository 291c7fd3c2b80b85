/// A merge of all segments of an index into one, in parts; see ``SearchIndexWriter/optimize(_:budget:)``.
public struct SearchIndexMerge: Sendable, Hashable {
    /// The id of the segment that the merge makes; nil while it has not begun.
    var output: UInt64?

    /// Creates a merge that has not begun.
    public init() {}
}

/// Merges.
///
/// A flush does an amount of work in each merge that is proportional to what it writes, so no commit is slow and merges keep pace with the changes.
extension SearchIndexWriter {
    /// The number of bytes of pages after which a step ends and its pages are written.
    private static let stepSize = 1 << 20

    /// Continues the merges that are due.
    /// - Parameter budget: The number of bytes of pages to write. At least one page is written if a merge is due.
    /// - Returns: Whether merges remain.
    @discardableResult
    package func merge(budget: Int) throws -> Bool {
        try flush()
        var structure = try structure()
        structure.plan(fanout: limits.fanout)
        var left = max(1, budget)
        while left > 0,
            let index = structure.merges.indices.min(by: { structure.merges[$0].output.level < structure.merges[$1].output.level })
        {
            left -= try step(index, &structure, budget: left)
            structure.plan(fanout: limits.fanout)
        }
        return !structure.merges.isEmpty
    }

    /// Merges all segments into one.
    public func optimize() throws {
        var merge = SearchIndexMerge()
        while try optimize(&merge, budget: .max) {}
    }

    /// Does a part of a merge of all segments into one. First it ends the merges that have begun. Segments that others add between the parts are not merged.
    /// - Parameters:
    ///   - merge: The merge, the same for all parts, which can be in several transactions.
    ///   - budget: The number of bytes of pages after which the part ends. At least one page is written if there is something to merge.
    /// - Returns: Whether parts remain.
    public func optimize(_ merge: inout SearchIndexMerge, budget: Int) throws -> Bool {
        try flush()
        var structure = try structure()
        var left = max(1, budget)
        while left > 0 {
            if let output = merge.output {
                guard let index = structure.merges.firstIndex(where: { $0.output.id == output }) else { return false }
                left -= try step(index, &structure, budget: left)
            } else if !structure.merges.isEmpty {
                left -= try step(0, &structure, budget: left)
            } else {
                guard structure.segments.count > 1 else { return false }
                merge.output = structure.nextSegment
                structure.begin(0..<structure.segments.count)
            }
        }
        return true
    }

    /// Does a step of a merge and writes it. Returns the number of bytes of pages.
    @discardableResult
    private func step(_ index: Int, _ structure: inout IndexStructure, budget: Int) throws -> Int {
        let (pages, removed) = try stage(index, &structure, budget: budget)
        try write(pages, removing: removed, structure)
        return max(1, pages.reduce(0) { $0 + $1.bytes.count })
    }

    private func stage(_ index: Int, _ structure: inout IndexStructure, budget: Int) throws -> ([SearchPage], [[UInt8]]) {
        let merge = structure.merges[index]
        let inputs = structure.segments.filter { merge.inputs.contains($0.id) }
        let step = try MergeStep(
            merge, inputs, pages: pages, fields: fields, limits: limits, budget: min(budget, Self.stepSize), length: length)
        try step.run()
        for range in step.removedRanges { try self.pages.remove(from: range.lower, below: range.upper) }
        structure.update(index, step.merge, isComplete: step.isComplete)
        return (step.pages, step.removed)
    }

    /// Continues merges in proportion to the bytes that a flush writes. Returns the pages of the last step, which the flush writes with its own.
    ///
    /// Merges of few pages are completed immediately. Others accumulate credit until a step is worth opening the inputs. In a small flush at most one of them makes a
    /// step.
    func advanceMerges(_ structure: inout IndexStructure, flushed: Int) throws -> ([SearchPage], [[UInt8]]) {
        var staged: ([SearchPage], [[UInt8]]) = ([], [])
        for index in structure.merges.indices {
            structure.merges[index].credit = min(structure.merges[index].credit + 2 * flushed, 1 << 40)
        }
        let worth = 12 * limits.page
        let largest = structure.merges.max { $0.credit < $1.credit }?.output.id
        for id in structure.merges.map(\.output.id) {
            guard let merge = structure.merges.first(where: { $0.output.id == id }) else { continue }
            let pages = structure.segments.reduce(0) { $0 + (merge.inputs.contains($1.id) ? $1.pages + $1.positionPages : 0) }
            let isSmall = pages <= 2 * limits.fanout
            guard isSmall || (merge.credit >= worth && (id == largest || flushed >= worth)) else { continue }
            var left = isSmall ? Int.max : flushed >= worth ? merge.credit : min(merge.credit, 2 * worth)
            while left > 0, let index = structure.merges.firstIndex(where: { $0.output.id == id }) {
                // The step reads what the one before wrote.
                if !staged.0.isEmpty || !staged.1.isEmpty { try write(staged.0, removing: staged.1, structure) }
                staged = try stage(index, &structure, budget: left)
                let size = max(1, staged.0.reduce(0) { $0 + $1.bytes.count })
                left = left == .max ? .max : left - size
                if let index = structure.merges.firstIndex(where: { $0.output.id == id }) {
                    structure.merges[index].credit = max(0, structure.merges[index].credit - size)
                }
            }
        }
        return staged
    }

    /// Completes merges while there are more segments than the limit: the one with the fewest postings left. If those are too many for a commit, as in a merge of all segments that has
    /// just begun, some smaller segments are merged instead. If there are too few of them, later commits have to do it.
    func limitSegments(_ structure: inout IndexStructure) throws {
        while structure.visibleSegments > limits.segments {
            let running = structure.merges.map { (id: $0.output.id, left: structure.remaining($0)) }.min { $0.left < $1.left }
            var next = running?.id
            if running.map({ $0.left > limits.merge }) ?? true {
                guard let range = structure.smallestRange(count: limits.fanout) else { return }
                let postings = structure.segments[range].reduce(0) { $0 + $1.postings }
                // With two at a time, each commit would write again what the ones before it wrote.
                if running != nil, postings > limits.merge || range.count < max(2, limits.fanout / 2) { return }
                next = structure.nextSegment
                structure.begin(range)
            }
            guard let id = next else { return }
            while let index = structure.merges.firstIndex(where: { $0.output.id == id }) { try step(index, &structure, budget: .max) }
        }
    }
}
