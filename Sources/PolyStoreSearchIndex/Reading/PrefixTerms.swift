import PolyStoreSearch

/// The terms that begin with some bytes. If there are many, the documents of those with few are kept in one list, in place of a cursor for each term.
final class PrefixTerms {
    private let limits: SearchIndexLimits
    /// The number of entries that the list may have.
    private let room: Int
    private var isFull = false
    /// The number of terms.
    private(set) var count = 0
    /// The documents of terms with few documents, once there are many terms.
    let list = PhraseList()
    /// Of the other terms the cursors before their first postings, newest segment first.
    private(set) var others: [[SegmentCursor]] = []
    /// The number of cursors of the other terms, once there are many terms.
    private var cursors = 0

    /// Creates a set without terms.
    /// - Parameter room: The maximum number of entries of the list. The terms that do not fit keep cursors.
    init(_ limits: SearchIndexLimits, room: Int) {
        self.limits = limits
        self.room = room
        isFull = room <= 0
    }

    /// A Boolean value that indicates whether there are so many terms with many documents that no list and no cursors are kept.
    private(set) var isTooLarge = false

    /// A Boolean value that indicates whether there are so many terms that they are merged.
    var isMerged: Bool { count > limits.prefixTerms }

    /// Adds a term. Returns false if the terms are too many, and none has to be added any more.
    /// - Parameters:
    ///   - scans: The segments that have it, newest first, at the term.
    ///   - cursor: Makes a cursor of those segments; nil if they have no postings.
    func add(_ scans: [SegmentCursor], _ cursor: ([SegmentCursor]) throws -> TermCursor?) throws -> Bool {
        count += 1
        guard isMerged else {
            others.append(scans.map { $0.copy() })
            return true
        }
        if count == limits.prefixTerms + 1 {
            let first = others
            others = []
            for term in first where try !merge(term, cursor) { keep(term) }
        }
        if try !merge(scans, cursor) { keep(scans.map { $0.copy() }) }
        guard cursors > limits.prefixCursors else { return true }
        isTooLarge = true
        others = []
        list.removeAll()
        return false
    }

    private func keep(_ term: [SegmentCursor]) {
        others.append(term)
        cursors += term.count
    }

    /// Ends the addition of terms.
    func finish() { list.combine() }

    /// Adds the documents of a term to the list. Returns false if they are too many.
    private func merge(_ scans: [SegmentCursor], _ make: ([SegmentCursor]) throws -> TermCursor?) throws -> Bool {
        guard let cursor = try make(scans) else { return true }
        guard !isFull, cursor.estimate <= limits.prefixPostings else { return false }
        while !cursor.isAtEnd {
            try list.append(cursor.document, cursor)
            try cursor.next()
        }
        if list.entries.count > room {
            list.combine()
            isFull = list.entries.count > room / 2
        }
        return true
    }
}
