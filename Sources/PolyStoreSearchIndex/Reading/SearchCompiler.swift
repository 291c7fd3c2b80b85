import PolyStoreSearch

/// Makes cursors of the parts of a search.
final class SearchCompiler {
    let source: PageSource
    /// The segments, newest first.
    let views: [SegmentView]
    let fields: Int
    private let limits: SearchIndexLimits
    /// The lists of phrases that were counted.
    private(set) var lists: [ResolvedSearch.Phrase: PhraseList] = [:]
    /// The prefixes with many terms that are not in ``lists``.
    private var prefixes: [ResolvedSearch.Phrase: PrefixTerms] = [:]
    /// The entries of all lists.
    private(set) var listed = 0
    /// The number of terms that were looked up.
    var terms = 0
    private var frequencies: [[UInt8]: Int] = [:]

    init(_ source: PageSource, _ structure: IndexStructure, _ limits: SearchIndexLimits = SearchIndexLimits()) {
        self.limits = limits
        self.source = source
        views = structure.views.reversed()
        fields = structure.fields
    }

    /// Terms in the index are cut to a maximum length.
    private func cut(_ term: [UInt8]) -> [UInt8] { Array(term.prefix(PageKey.maximumTermLength)) }

    /// Reads the pages with the terms of a search in one request.
    func prefetch(_ search: ResolvedSearch, frequencies: Bool) throws {
        var keys: [[UInt8]] = []
        for phrase in search.phrases {
            for (index, term) in phrase.terms.enumerated() {
                if phrase.isPrefix, index == phrase.terms.count - 1 {
                    keys += views.map { PageKey.terms($0.id, from: cut(term)) }
                    continue
                }
                keys += views.compactMap { SegmentCursor.key($0, cut(term)) }
                if frequencies, phrase.terms.count == 1 { keys += views.compactMap { SegmentCursor.endKey($0, cut(term)) } }
            }
        }
        try source.seek(keys)
    }

    /// The number of documents with a term.
    func frequency(_ term: [UInt8]) throws -> Int {
        let term = cut(term)
        if let known = frequencies[term] { return known }
        let found = max(0, try delta(term))
        frequencies[term] = found
        return found
    }

    /// The sum of the changes of the number of documents with a term.
    func delta(_ term: [UInt8]) throws -> Int {
        var sum = 0
        for view in views { sum &+= try SegmentCursor(source, view).delta(of: term) }
        return sum
    }

    /// A cursor for a term; empty if no document has it.
    func term(_ term: [UInt8], mask: UInt64) throws -> PhraseCursor {
        terms += 1
        let term = cut(term)
        var found: [SegmentCursor] = []
        for view in views {
            let cursor = SegmentCursor(source, view)
            if try cursor.seek(term), !cursor.isAtEnd { found.append(cursor) }
        }
        guard !found.isEmpty else { return EmptyCursor() }
        return try TermCursor(found, frequency: frequencies[term] ?? estimate(found), mask: mask, fields: fields)
    }

    /// The sum of the postings of the first pages is a sufficient order for conjunctions.
    private func estimate(_ cursors: [SegmentCursor]) -> Int { cursors.reduce(0) { $0 + $1.estimate } }

    /// A cursor for the terms that begin with some bytes, which can give positions.
    /// - Parameter others: The terms that each document must have besides, and their fields.
    private func terms(from prefix: [UInt8], mask: UInt64, with others: [RequiredTerm]) throws -> PhraseCursor {
        var found: [[SegmentCursor]] = []
        try forEachTerm(from: prefix) { _, scans in
            found.append(scans.map { $0.copy() })
            return found.count <= limits.prefixTerms
        }
        if found.count <= limits.prefixTerms {
            terms += found.count
            return UnionCursor(try found.compactMap { try cursor($0, mask: mask, mostAhead: Self.ahead) })
        }
        let candidates = others.isEmpty ? nil : try AndCursor(others.map { try term($0.term, mask: $0.fields) })
        return try PrefixCursor(self, prefix, mask: mask, candidates: candidates, givesPositions: true, limit: prefixLimit)
    }

    /// The maximum number of pages that each cursor of a prefix reads together.
    private static let ahead = 4

    /// The number of entries in the list of a prefix.
    private var prefixLimit: Int { max(limits.list / 2, 1) }

    /// A cursor for the term of some segments, which are at the term; nil if none has postings of it.
    func cursor(_ scans: [SegmentCursor], mask: UInt64, mostAhead: Int = 64) throws -> TermCursor? {
        let found = try scans.map { try $0.fork() }.filter { !$0.isAtEnd }
        for cursor in found { cursor.mostAhead = mostAhead }
        return found.isEmpty ? nil : try TermCursor(found, frequency: estimate(found), mask: mask, fields: fields)
    }

    /// A cursor for the documents with a term that begins with some bytes, without positions.
    private func prefix(_ bytes: [UInt8], of phrase: ResolvedSearch.Phrase) throws -> PhraseCursor {
        let found = try prefixes[phrase] ?? scan(bytes, of: phrase)
        if found.isTooLarge {
            prefixes[phrase] = found
            return try PrefixCursor(self, bytes, mask: phrase.fields, candidates: nil, givesPositions: false, limit: prefixLimit)
        }
        if found.isMerged, found.others.isEmpty {
            keep(found.list, of: phrase)
            return ListCursor(found.list)
        }
        if found.isMerged, prefixes.updateValue(found, forKey: phrase) == nil { listed += found.list.entries.count }
        var cursors: [PhraseCursor] = try found.others.compactMap { try cursor($0, mask: phrase.fields, mostAhead: Self.ahead) }
        if found.isMerged { cursors.append(ListCursor(found.list)) }
        return UnionCursor(cursors)
    }

    private func scan(_ bytes: [UInt8], of phrase: ResolvedSearch.Phrase) throws -> PrefixTerms {
        let found = PrefixTerms(limits, room: limits.list - listed)
        try forEachTerm(from: bytes) { _, scans in
            terms += 1
            return try found.add(scans) { try self.cursor($0, mask: phrase.fields) }
        }
        found.finish()
        return found
    }

    /// Keeps the list of all documents with a phrase.
    func keep(_ list: PhraseList, of phrase: ResolvedSearch.Phrase) {
        if let merged = prefixes.removeValue(forKey: phrase) { listed -= merged.list.entries.count }
        lists[phrase] = list
        listed += list.entries.count
    }

    /// Calls a closure with each term that begins with some bytes, ascending, and the segments that have it, newest first, at the term, while it returns true.
    func forEachTerm(from prefix: [UInt8], _ body: ([UInt8], [SegmentCursor]) throws -> Bool) throws {
        let prefix = cut(prefix)
        var scans: [SegmentCursor] = []
        for view in views {
            let scan = SegmentCursor(source, view)
            if try scan.start(at: prefix, entersTerms: false), scan.term.starts(with: prefix) { scans.append(scan) }
        }
        while var lowest = scans.first?.term {
            for scan in scans.dropFirst() where scan.term.precedes(lowest) { lowest = scan.term }
            guard try body(lowest, scans.filter { $0.term == lowest }) else { return }
            var remaining: [SegmentCursor] = []
            for scan in scans {
                if scan.term == lowest { guard try scan.nextTerm(), scan.term.starts(with: prefix) else { continue } }
                remaining.append(scan)
            }
            scans = remaining
        }
    }

    /// A cursor for a phrase that can give positions.
    /// - Parameter others: The terms that each document must have besides.
    private func positioned(_ phrase: ResolvedSearch.Phrase, with others: [RequiredTerm] = []) throws -> PhraseCursor {
        guard let last = phrase.terms.last else { return EmptyCursor() }
        var cursors: [PhraseCursor] = []
        let required = requiredTerms(of: phrase)
        for term in required { cursors.append(try self.term(term.term, mask: term.fields)) }
        if phrase.isPrefix { cursors.append(try terms(from: last, mask: phrase.fields, with: others + required)) }
        return cursors.count == 1 ? cursors[0] : try SequenceCursor(cursors)
    }

    /// A term and the fields in which it must occur.
    private typealias RequiredTerm = (term: [UInt8], fields: UInt64)

    /// The terms of a phrase without its prefix.
    private func requiredTerms(of phrase: ResolvedSearch.Phrase) -> [RequiredTerm] {
        phrase.terms.dropLast(phrase.isPrefix ? 1 : 0).map { ($0, phrase.fields) }
    }

    /// A cursor for a phrase.
    func phrase(_ phrase: ResolvedSearch.Phrase) throws -> PhraseCursor {
        if let list = lists[phrase] { return ListCursor(list) }
        if phrase.isPrefix, phrase.terms.count == 1 { return try prefix(phrase.terms[0], of: phrase) }
        return try positioned(phrase)
    }

    /// A cursor for a condition.
    func condition(_ node: ResolvedSearch.Node, _ search: ResolvedSearch) throws -> DocumentCursor {
        switch node {
        case .nothing: return EmptyCursor()
        case .phrase(let index): return try phrase(search.phrases[index])
        case .near(let phrases, let distance): return try near(phrases, distance, search)
        case .and(let parts):
            guard !parts.isEmpty else { return EmptyCursor() }
            return parts.count == 1 ? try condition(parts[0], search) : try AndCursor(parts.map { try condition($0, search) })
        case .or(let parts): return OrCursor(try parts.map { try condition($0, search) })
        case .excluding(let part, let excluded): return try ExcludingCursor(condition(part, search), condition(excluded, search))
        }
    }

    func near(_ phrases: [Int], _ distance: Int, _ search: ResolvedSearch) throws -> DocumentCursor {
        guard !phrases.isEmpty else { return EmptyCursor() }
        let phrasesAndOthers = phrases.map { index in
            (search.phrases[index], phrases.filter { $0 != index }.flatMap { requiredTerms(of: search.phrases[$0]) })
        }
        return try NearCursor(
            phrasesAndOthers.map { try positioned($0, with: $1) }, lengths: phrases.map { search.phrases[$0].terms.count },
            distance: distance
        )
    }
}
