import PolyStoreSearch

/// The counts of the contents of an index.
public struct SearchIndexSummary: Sendable, Hashable {
    /// The number of documents.
    public var documents: Int
    /// The number of tokens of all documents.
    public var tokens: Int
    /// The number of segments that a search reads.
    public var segments: Int
    /// The number of merges that are not complete.
    public var merges: Int
    /// The number of postings, those that are replaced or deleted by newer ones included.
    public var postings: Int
    /// The number of pages of postings and positions.
    public var pages: Int
}

/// Searches an index in a transaction.
///
/// Keeps what it read. After a change of the index in the same transaction, create another reader.
public final class SearchIndexReader {
    private let source: PageSource
    private let fields: Int
    private let limits: SearchIndexLimits
    private var known: (structure: IndexStructure, compiler: SearchCompiler)?

    /// Creates a reader. Reads nothing before the first search.
    public convenience init(_ pages: any SearchPageReader, fields: Int) { self.init(pages, fields: fields, limits: SearchIndexLimits()) }

    package init(_ pages: any SearchPageReader, fields: Int, limits: SearchIndexLimits) {
        source = PageSource(pages, fields: fields, limits: limits)
        self.fields = fields
        self.limits = limits
    }

    private func compiler() throws -> SearchCompiler {
        if let known { return known.compiler }
        let structure = try source.store.pages(at: [PageKey.structure])[0].map { try IndexStructure($0, fields: fields) }
        let found = structure ?? IndexStructure(fields: fields)
        let compiler = SearchCompiler(source, found, limits)
        known = (found, compiler)
        return compiler
    }

    /// Calls a closure while a long search can be ended.
    private func checking<T>(_ check: () throws -> Void, _ body: () throws -> T) throws -> T {
        try withoutActuallyEscaping(check) { check in
            source.check = check
            defer { source.check = nil }
            return try body()
        }
    }

    private func costs(since postings: Int, _ compiler: SearchCompiler, terms: Int, scored: Int) -> SearchCosts {
        var costs = SearchCosts()
        costs.terms = compiler.terms - terms
        costs.postings = source.decoded - postings
        costs.scored = scored
        return costs
    }

    /// Returns the documents that a search finds, in ascending order of their ids.
    /// - Parameters:
    ///   - search: The search.
    ///   - statistics: The statistics of the search with which scores are computed; nil for no scores.
    ///   - weights: The weight of each field.
    ///   - check: Called now and then during a long search; an error that it throws ends the search.
    public func all(
        _ search: ResolvedSearch, scoredBy statistics: SearchStatistics?, weights: [Double], check: () throws -> Void
    ) throws -> SearchHits {
        let search = search.withoutUnknownPhrases
        return try checking(check) {
            let compiler = try compiler()
            let (postings, terms) = (source.decoded, compiler.terms)
            try compiler.prefetch(search, frequencies: false)
            let cursor = try compiler.condition(search.root, search)
            let scorer = try statistics.map { try DocumentScorer(search, SearchRank($0, weights: weights), compiler) }
            var hits = SearchHits()
            while !cursor.isAtEnd {
                try check()
                let documents = try cursor.nextDocuments(DocumentScorer.batch)
                for document in documents { hits.documents.append(document.document) }
                try scorer?.scores(documents) { _, score in hits.scores.append(score) }
            }
            hits.costs = costs(since: postings, compiler, terms: terms, scored: scorer?.scored ?? 0)
            return hits
        }
    }

    /// Returns the documents with the highest scores, best first; ascending ids among equal scores.
    /// - Parameter limit: The maximum number of documents.
    public func best(
        _ limit: Int, _ search: ResolvedSearch, scoredBy statistics: SearchStatistics, weights: [Double], check: () throws -> Void
    ) throws -> SearchHits {
        guard limit > 0 else { return SearchHits() }
        let search = search.withoutUnknownPhrases
        return try checking(check) {
            let compiler = try compiler()
            let (postings, terms) = (source.decoded, compiler.terms)
            try compiler.prefetch(search, frequencies: false)
            var best = BestDocuments(limit)
            let rank = SearchRank(statistics, weights: weights)
            let scored: Int
            if let terms = try TermSearch(search, rank, compiler) {
                scored = try terms.run(&best, check)
            } else {
                scored = try Self.scoreAll(search, rank, compiler, &best, check)
            }
            let sorted = best.sorted
            return SearchHits(
                documents: sorted.map(\.document.document), scores: sorted.map(\.score),
                costs: costs(since: postings, compiler, terms: terms, scored: scored)
            )
        }
    }

    /// Returns what the index contains. Reads the structure record only.
    public func summary() throws -> SearchIndexSummary {
        _ = try compiler()
        let structure = known?.structure ?? IndexStructure(fields: fields)
        let segments = structure.segments + structure.merges.map(\.output)
        return SearchIndexSummary(
            documents: structure.documents, tokens: structure.tokens, segments: structure.visibleSegments, merges: structure.merges.count,
            postings: segments.reduce(0) { $0 + $1.postings }, pages: segments.reduce(0) { $0 + $1.pages + $1.positionPages }
        )
    }

    private static func scoreAll(
        _ search: ResolvedSearch, _ rank: SearchRank, _ compiler: SearchCompiler, _ best: inout BestDocuments, _ check: () throws -> Void
    ) throws -> Int {
        let cursor = try compiler.condition(search.root, search)
        let scorer = try DocumentScorer(search, rank, compiler)
        while !cursor.isAtEnd {
            try check()
            try scorer.scores(cursor.nextDocuments(DocumentScorer.batch)) { document, score in best.add(document, score) }
        }
        return scorer.scored
    }

    /// Returns the statistics of a search.
    public func statistics(_ search: ResolvedSearch, check: () throws -> Void) throws -> SearchStatistics {
        let search = search.withoutUnknownPhrases
        return try checking(check) {
            let compiler = try compiler()
            try compiler.prefetch(search, frequencies: true)
            var frequencies = [Int](repeating: 0, count: search.phrases.count)
            for index in Set(search.ranked).sorted() { frequencies[index] = try frequency(search.phrases[index], compiler, check) }
            let structure = known?.structure
            return SearchStatistics(documents: structure?.documents ?? 0, tokens: structure?.tokens ?? 0, frequencies: frequencies)
        }
    }

    /// Returns the number of documents with a phrase. Of a term it is known; others are counted, and the documents are kept for the search that follows.
    private func frequency(_ phrase: ResolvedSearch.Phrase, _ compiler: SearchCompiler, _ check: () throws -> Void) throws -> Int {
        let all: UInt64 = fields >= 64 ? .max : (1 << UInt64(fields)) - 1
        if phrase.terms.count == 1, !phrase.isPrefix, phrase.fields & all == all { return try compiler.frequency(phrase.terms[0]) }
        let cursor = try compiler.phrase(phrase)
        if let known = compiler.lists[phrase] { return known.documents }
        var list: PhraseList? = PhraseList()
        var count = 0
        while !cursor.isAtEnd {
            if count & 1_023 == 0 { try check() }
            count += 1
            try list?.append(cursor.document, cursor)
            if compiler.listed + (list?.entries.count ?? 0) > limits.list { list = nil }
            try cursor.next()
        }
        if let list { compiler.keep(list, of: phrase) }
        return count
    }
}
