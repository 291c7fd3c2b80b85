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
    private let cursors: [SegmentCursor]
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
        cursors = merge.inputs.map { SegmentCursor(source, SegmentView(id: $0, after: merge.progress)) }
        writer = SegmentWriter(merge.output, fields: fields, limits: limits, length: length)
        let first = merge.progress?.term ?? []
        try source.seek(
            merge.inputs.map { id in merge.progress.map { PageKey.terms(id, $0) } ?? PageKey.terms(id, from: first) }
        )
        guard let progress = merge.progress else { return }
        var last: [UInt8]?
        if merge.output.positionPages > 0 {
            let key = PageKey.positions(merge.output.id, merge.output.positionPages - 1)
            last = try store.pages(at: [key])[0]
            guard last != nil else { throw SearchIndexError.damaged("the last page of positions of segment \(merge.output.id) is missing") }
        }
        writer.resume(after: progress, delta: merge.delta, positions: last)
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
        for (index, cursor) in cursors.enumerated() {
            let kept = isComplete ? nil : writer.progress.map { PageKey.terms(cursor.view.id, $0) }
            removed += cursor.pagesRead.filter { key in kept.map { !$0.precedes(key) } ?? true }
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
        var active: [SegmentCursor] = []
        for (index, cursor) in cursors.enumerated() {
            cursor.recordsPages = true
            guard try cursor.start(at: merge.progress?.term ?? []) else { continue }
            active.append(cursor)
            if !cursor.isAtEnd, let first = cursor.block.positionPage { removePositions(index, below: first.number) }
        }
        if let progress = merge.progress, progress.document != nil, !active.contains(where: { $0.term == progress.term }) {
            throw SearchIndexError.damaged("the inputs of a merge do not have the rest of its term")
        }
        while var lowest = active.first?.term {
            for cursor in active.dropFirst() where cursor.term.precedes(lowest) { lowest = cursor.term }
            writer.begin(lowest)
            if try mergeDocuments(active.filter { $0.term == lowest }) { return true }
            try writer.end()
            if writer.hasOutput(budget) { return true }
            var remaining: [SegmentCursor] = []
            for cursor in active {
                if cursor.term == lowest { guard try cursor.nextTerm() else { continue } }
                remaining.append(cursor)
            }
            active = remaining
        }
        return false
    }

    /// Merges the documents of a term. Returns whether the step has done its work before the end.
    /// - Parameter cursors: The inputs with the term, oldest first.
    private func mergeDocuments(_ cursors: [SegmentCursor]) throws -> Bool {
        while true {
            var newest: SegmentCursor?
            for cursor in cursors where !cursor.isAtEnd {
                if let found = newest, found.document < cursor.document { continue }
                newest = cursor
            }
            guard let newest else { return false }
            let document = newest.document
            var sum = 0
            for cursor in cursors where !cursor.isAtEnd && cursor.document == document { sum += try cursor.kind().delta }
            try newest.withPosting { posting in
                var merged = posting
                if posting.kind == .deleted {
                    if sum >= 0 { return }
                } else {
                    merged.kind = sum > 0 ? .added : .replaced
                }
                try writer.add(merged)
            }
            for cursor in cursors where !cursor.isAtEnd && cursor.document == document { try cursor.next() }
            if writer.hasOutput(budget) { return true }
        }
    }
}
