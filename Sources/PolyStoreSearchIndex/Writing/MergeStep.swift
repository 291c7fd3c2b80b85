/// Continues a merge by a number of bytes.
///
/// Of a document's postings of a term the newest is kept. Whether the term is new, replaced or deleted by the merged segments together follows from the sum of their changes: the
/// sum is the difference between the state after them and the state before them. A deletion that undoes an addition among them disappears with it.
final class MergeStep {
    private(set) var merge: Merge
    private(set) var isComplete = false
    private(set) var pages: [SearchPage] = []
    /// The keys of the pages of the inputs that the output replaces.
    private(set) var removed: [[UInt8]] = []
    private let inputs: UnsafeMutablePointer<SegmentInput>
    private let count: Int
    /// The inputs that have more terms, oldest first, and those with the current term.
    private var active: [Int] = []
    private var group: [Int] = []
    private let writer: SegmentWriter
    private let budget: Int

    /// Creates a step.
    /// - Parameters:
    ///   - budget: The number of bytes of pages after which the step ends. It completes at least one page.
    init(
        _ merge: Merge, pages store: any SearchPageReader, fields: Int, limits: SearchIndexLimits, budget: Int,
        length: @escaping SegmentWriter.Length
    ) throws {
        self.merge = merge
        self.budget = budget
        let source = PageSource(store, fields: fields, limits: limits)
        count = merge.inputs.count
        inputs = .allocate(capacity: count)
        for (index, id) in merge.inputs.enumerated() {
            (inputs + index).initialize(to: SegmentInput(source, id, after: merge.progress))
        }
        writer = SegmentWriter(merge.output, fields: fields, limits: limits, length: length)
        try source.seek(merge.inputs.map { id in merge.progress.map { PageKey.terms(id, $0) } ?? PageKey.terms(id) })
        guard let progress = merge.progress else { return }
        var last: [UInt8]?
        if merge.output.positionPages > 0 {
            let key = PageKey.positions(merge.output.id, merge.output.positionPages - 1)
            last = try store.pages(at: [key])[0]
            guard last != nil else { throw SearchIndexError.damaged("the last page of positions of segment \(merge.output.id) is missing") }
        }
        writer.resume(after: progress, delta: merge.delta, positions: last)
    }

    deinit {
        for index in 0..<count { inputs[index].deallocate() }
        inputs.deinitialize(count: count)
        inputs.deallocate()
    }

    /// Does the work.
    /// - Parameter segments: The inputs.
    func run(_ segments: [Segment]) throws {
        let hasMore = try mergeTerms()
        isComplete = !hasMore
        if isComplete { writer.finish() } else { writer.stop() }
        merge.output = writer.segment
        merge.progress = writer.progress
        merge.delta = writer.progressDelta
        pages = writer.takeOutput()
        for index in 0..<count {
            let kept = isComplete ? nil : writer.progress.map { PageKey.terms(inputs[index].segment, $0) }
            removed += inputs[index].pagesRead.filter { key in kept.map { !$0.precedes(key) } ?? true }
            if isComplete { removePositions(index, below: segments[index].positionPages) }
        }
    }

    private func removePositions(_ index: Int, below page: Int) {
        let first = merge.firstPositionPages[index]
        guard first < page else { return }
        removed += (first..<page).map { PageKey.positions(merge.inputs[index], $0) }
        merge.firstPositionPages[index] = page
    }

    /// Merges terms until the step has done its work. Returns whether there is more.
    private func mergeTerms() throws -> Bool {
        for index in 0..<count {
            try inputs[index].start()
            if !inputs[index].isAtEnd { active.append(index) }
            if let first = inputs[index].firstPositionPage { removePositions(index, below: first) }
        }
        if let progress = merge.progress, progress.document != nil, !active.contains(where: { inputs[$0].term.bytes == progress.term }) {
            throw SearchIndexError.damaged("the inputs of a merge do not have the rest of its term")
        }
        while !active.isEmpty {
            findGroup()
            writer.begin(inputs[group[0]].term)
            if try mergeDocuments() { return true }
            try writer.end()
            if writer.hasOutput(budget) { return true }
            var hasEnded = false
            for index in group {
                try inputs[index].nextTerm()
                if inputs[index].isAtEnd { hasEnded = true }
            }
            if hasEnded { active.removeAll { inputs[$0].isAtEnd } }
        }
        return false
    }

    /// Finds the inputs with the lowest term.
    private func findGroup() {
        group.removeAll(keepingCapacity: true)
        for index in active {
            if let first = group.first {
                let order = inputs[index].term.compare(inputs[first].term)
                if order > 0 { continue }
                if order < 0 { group.removeAll(keepingCapacity: true) }
            }
            group.append(index)
        }
    }

    /// Merges the documents of a term. Returns whether the step has done its work before the end.
    private func mergeDocuments() throws -> Bool {
        while true {
            var newest = -1
            var document = DocumentKey.max
            var sum = 0
            for index in group where inputs[index].hasPosting {
                let posting = inputs[index].posting
                if newest >= 0, posting.document > document { continue }
                sum = newest >= 0 && posting.document == document ? sum + posting.kind.delta : posting.kind.delta
                document = posting.document
                newest = index
            }
            if newest < 0 { return false }
            var merged = inputs[newest].posting
            if merged.kind != .deleted {
                merged.kind = sum > 0 ? .added : .replaced
                try writer.add(merged)
            } else if sum < 0 {
                try writer.add(merged)
            }
            for index in group where inputs[index].hasPosting && inputs[index].posting.document == document { try inputs[index].next() }
            if writer.hasOutput(budget) { return true }
        }
    }
}
