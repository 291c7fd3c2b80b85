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
    public func merge(budget: Int) throws -> Bool {
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
        try flush()
        var structure = try structure()
        while !structure.merges.isEmpty { try step(0, &structure, budget: .max) }
        guard structure.segments.count > 1 else { return }
        structure.begin(0..<structure.segments.count)
        while !structure.merges.isEmpty { try step(0, &structure, budget: .max) }
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
        let step = try MergeStep(merge, pages: pages, fields: fields, limits: limits, budget: min(budget, Self.stepSize), length: length)
        try step.run(inputs)
        for range in step.removedRanges { try self.pages.remove(from: range.lower, below: range.upper) }
        structure.update(index, step.merge, isComplete: step.isComplete)
        return (step.pages, step.removed)
    }

    /// Continues each merge in proportion to the bytes that a flush writes. Returns the pages of the last steps, which the flush writes with its own.
    func advanceMerges(_ structure: inout IndexStructure, flushed: Int) throws -> ([SearchPage], [[UInt8]]) {
        var staged: ([SearchPage], [[UInt8]]) = ([], [])
        for id in structure.merges.map(\.output.id) {
            guard let merge = structure.merges.first(where: { $0.output.id == id }) else { continue }
            let pages = structure.segments.reduce(0) { $0 + (merge.inputs.contains($1.id) ? $1.pages + $1.positionPages : 0) }
            // Small merges are done at once.
            var left = pages <= 4 * limits.fanout ? Int.max : max(1, 2 * flushed)
            while left > 0, let index = structure.merges.firstIndex(where: { $0.output.id == id }) {
                let (pages, removed) = try stage(index, &structure, budget: left)
                let size = max(1, pages.reduce(0) { $0 + $1.bytes.count })
                left = left == .max ? .max : left - size
                staged = (staged.0 + pages, staged.1 + removed)
                guard left > 0, structure.merges.contains(where: { $0.output.id == id }) else { break }
                // The next step reads what this one wrote.
                try write(staged.0, removing: staged.1, structure)
                staged = ([], [])
            }
        }
        return staged
    }

    /// Completes merges while there are more segments than the limit.
    func limitSegments(_ structure: inout IndexStructure) throws {
        while structure.visibleSegments > limits.segments {
            if structure.merges.isEmpty {
                guard let range = structure.smallestRange(count: limits.fanout) else { return }
                structure.begin(range)
            }
            guard let id = structure.merges.min(by: { size($0, structure) < size($1, structure) })?.output.id else { return }
            while let index = structure.merges.firstIndex(where: { $0.output.id == id }) { try step(index, &structure, budget: .max) }
        }
    }

    private func size(_ merge: Merge, _ structure: IndexStructure) -> Int {
        structure.segments.reduce(0) { $0 + (merge.inputs.contains($1.id) ? $1.postings : 0) }
    }
}
