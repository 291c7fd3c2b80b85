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
    /// The same, as ranges of keys.
    private(set) var removedRanges: [(lower: [UInt8], upper: [UInt8])] = []
    private let inputs: UnsafeMutablePointer<SegmentInput>
    private let count: Int
    private let segments: [Segment]
    private let writer: SegmentWriter
    private let budget: Int

    /// Creates a step.
    /// - Parameters:
    ///   - segments: The inputs.
    ///   - budget: The number of bytes of pages after which the step ends. It completes at least one page.
    init(
        _ merge: Merge, _ segments: [Segment], pages store: any SearchPageReader, fields: Int, limits: SearchIndexLimits, budget: Int,
        length: @escaping SegmentWriter.Length
    ) throws {
        self.merge = merge
        self.segments = segments
        self.budget = budget
        let source = PageSource(store, fields: fields, limits: limits)
        count = merge.inputs.count
        inputs = .allocate(capacity: count)
        for (index, id) in merge.inputs.enumerated() {
            let pages = max(1, segments[index].pages - merge.removedPages[index])
            (inputs + index).initialize(to: SegmentInput(source, id, pages: pages, after: merge.progress))
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
    func run() throws {
        let hasMore = try mergeTerms()
        isComplete = !hasMore
        if isComplete { writer.finish() } else { writer.stop() }
        merge.output = writer.segment
        merge.progress = writer.progress
        merge.delta = writer.progressDelta
        pages = writer.takeOutput()
        for index in 0..<count {
            let kept = isComplete ? nil : writer.progress.map { PageKey.terms(inputs[index].segment, $0) }
            let done = inputs[index].pagesRead.filter { key in kept.map { !$0.precedes(key) } ?? true }
            removed += done
            merge.removedPages[index] += done.count
            if isComplete { removePositions(index, below: segments[index].positionPages) }
        }
    }

    private func removePositions(_ index: Int, below page: Int) {
        let first = merge.firstPositionPages[index]
        guard first < page else { return }
        let segment = merge.inputs[index]
        if page - first > 4_096 {
            removedRanges.append((PageKey.positions(segment, first), PageKey.positions(segment, page)))
        } else {
            removed += (first..<page).map { PageKey.positions(segment, $0) }
        }
        merge.firstPositionPages[index] = page
    }

    /// Merges terms until the step has done its work. Returns whether there is more.
    private func mergeTerms() throws -> Bool {
        // The inputs that have more terms, oldest first, and those with the current term.
        var active = MergeGroup(capacity: count)
        var group = MergeGroup(capacity: count)
        defer {
            active.deallocate()
            group.deallocate()
        }
        for index in 0..<count {
            try inputs[index].start()
            if !inputs[index].isAtEnd { active.append(index) }
            if let first = inputs[index].firstPositionPage { removePositions(index, below: first) }
        }
        if let progress = merge.progress, progress.document != nil,
            !(0..<count).contains(where: { !inputs[$0].isAtEnd && inputs[$0].term.bytes == progress.term })
        {
            throw SearchIndexError.damaged("the inputs of a merge do not have the rest of its term")
        }
        while active.count > 0 {
            findGroup(active, &group)
            if group.count == 1, inputs[group[0]].isSingle {
                try writer.addSingle(inputs[group[0]].term, inputs[group[0]].posting)
                if writer.hasOutput(budget) { return true }
                try inputs[group[0]].nextTerm()
                if inputs[group[0]].isAtEnd { active.retain { !inputs[$0].isAtEnd } }
                continue
            }
            try writer.begin(inputs[group[0]].term)
            if group.count == 1 {
                if try copyDocuments(group[0]) { return true }
            } else {
                if try mergeDocuments(group) { return true }
            }
            try writer.end()
            if writer.hasOutput(budget) { return true }
            for place in 0..<group.count { try inputs[group[place]].nextTerm() }
            active.retain { !inputs[$0].isAtEnd }
        }
        return false
    }

    /// Finds the inputs with the lowest term.
    @inline(__always)
    private func findGroup(_ active: MergeGroup, _ group: inout MergeGroup) {
        group.count = 0
        for place in 0..<active.count {
            let index = active[place]
            if group.count > 0 {
                let order = inputs[index].term.compare(inputs[group[0]].term)
                if order > 0 { continue }
                if order < 0 { group.count = 0 }
            }
            group.append(index)
        }
    }

    /// Copies the documents of a term that one input has. Returns whether the step has done its work before the end.
    private func copyDocuments(_ index: Int) throws -> Bool {
        while inputs[index].hasPosting {
            try writer.add(inputs[index].posting)
            try inputs[index].next()
            if writer.hasOutput(budget) { return true }
        }
        return false
    }

    /// Merges the documents of a term. Returns whether the step has done its work before the end.
    private func mergeDocuments(_ group: MergeGroup) throws -> Bool {
        while true {
            var newest = -1
            var document = DocumentKey.max
            var sum = 0
            for place in 0..<group.count {
                let index = group[place]
                guard inputs[index].hasPosting else { continue }
                let (other, kind) = (inputs[index].posting.document, inputs[index].posting.kind)
                if newest >= 0, other > document { continue }
                sum = newest >= 0 && other == document ? sum + kind.delta : kind.delta
                document = other
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
            for place in 0..<group.count {
                let index = group[place]
                if inputs[index].hasPosting, inputs[index].posting.document == document { try inputs[index].next() }
            }
            if writer.hasOutput(budget) { return true }
        }
    }
}

/// Indexes of inputs, in memory that the merge allocates.
struct MergeGroup {
    private let indexes: UnsafeMutablePointer<Int>
    var count = 0

    init(capacity: Int) { indexes = .allocate(capacity: max(capacity, 1)) }

    func deallocate() { indexes.deallocate() }

    @inline(__always)
    subscript(place: Int) -> Int { indexes[place] }

    @inline(__always)
    mutating func append(_ index: Int) {
        indexes[count] = index
        count += 1
    }

    @inline(__always)
    mutating func retain(_ isKept: (Int) -> Bool) {
        var kept = 0
        for place in 0..<count where isKept(indexes[place]) {
            indexes[kept] = indexes[place]
            kept += 1
        }
        count = kept
    }
}
