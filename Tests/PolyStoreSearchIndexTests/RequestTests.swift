import PolyStoreSearch
import PolyStoreSearchIndex
import Testing

/// How often searches ask the store for pages.
@Suite struct SearchRequestTests {
    private func search(_ texts: [String], isPrefix: Bool = false) -> ResolvedSearch {
        let phrases = texts.map { ResolvedSearch.Phrase(terms: [Array($0.utf8)], isPrefix: isPrefix, fields: .max) }
        return ResolvedSearch(phrases: phrases, root: .and(phrases.indices.map { .phrase($0) }))
    }

    /// Returns the documents of a search and the number of requests: all documents, or the best.
    private func run(
        _ subject: SearchIndexSubject, _ search: ResolvedSearch, _ statistics: SearchStatistics?, best: Int? = nil
    ) throws -> (documents: [Int64], requests: Int) {
        let before = subject.map.requests
        let reader = subject.reader
        let hits =
            if let best, let statistics {
                try reader.best(best, search, scoredBy: statistics, weights: [1]) {}
            } else {
                try reader.all(search, scoredBy: statistics, weights: [1]) {}
            }
        return (hits.documents, subject.map.requests - before)
    }

    @Test func unknownPhrasesAreConditionsWithoutDocuments() throws {
        let subject = SearchIndexSubject(fields: 1)
        for document in 0..<20 { try subject.replace(Int64(document), ["alpha beta"]) }
        try subject.writer.flush()
        var search = search(["alpha", "beta"])
        for root in [
            .phrase(2), .phrase(-1), .near([0, 7], distance: 3), .and([.phrase(0), .phrase(9)]), .or([.phrase(9), .phrase(1)]),
            .excluding(.phrase(0), .phrase(5)), .excluding(.phrase(5), .phrase(0)), .phrase(.max),
        ] as [ResolvedSearch.Node] {
            search.root = root
            let known = search.withoutUnknownPhrases
            let reader = subject.reader
            let statistics = try reader.statistics(search) {}
            let expected = try subject.reader.statistics(known) {}
            #expect(statistics == expected)
            #expect(try run(subject, search, statistics).documents == run(subject, known, statistics).documents)
            #expect(try run(subject, search, statistics, best: 5).documents == run(subject, known, statistics, best: 5).documents)
        }
    }

    @Test(arguments: [1, 1_000, 1 << 40]) func lengthsOfManyHitsAreReadTogether(distance: Int64) throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        for document in 0..<Int64(2_000) { try subject.replace(document * distance, ["word", nil]) }
        try subject.writer.flush()
        // With the prefix the best documents are found by scoring all.
        let search = search(["word"], isPrefix: true)
        let statistics = try subject.reader.statistics(search) {}
        let without = try run(subject, search, nil)
        let scored = try run(subject, search, statistics)
        #expect(without.documents.count == 2_000 && scored.documents == without.documents)
        #expect(scored.requests - without.requests <= (distance == 1 ? 3 : 16), "\(scored.requests) and \(without.requests)")
        let best = try run(subject, search, statistics, best: 9)
        #expect(best.documents.count == 9 && best.requests <= scored.requests)
    }

    @Test func lengthsAreRightWhenReadOnesAreForgotten() throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        for document in 0..<Int64(300) {
            try subject.replace(document << 32, [Array(repeating: "word", count: 1 + Int(document % 7)).joined(separator: " ")])
        }
        for document in 0..<Int64(300) { try subject.replace(-1 - document, ["word \(document % 3 == 0 ? "x" : "")"]) }
        try subject.writer.flush()
        try subject.compare(search(["word"]), weights: [1], limit: 20)
        try subject.compare(search(["wo"], isPrefix: true), weights: [1], limit: 20)
    }

    @Test func aRequiredTermThatEndsEndsTheSearch() throws {
        let subject = SearchIndexSubject(fields: 1, limits: .small)
        for document in 0..<Int64(3_000) { try subject.replace(document, [document < 20 ? "common rare" : "common"]) }
        try subject.writer.flush()
        try subject.writer.optimize()
        let search = search(["common", "rare"])
        let statistics = try subject.reader.statistics(search) {}
        let best = try run(subject, search, statistics, best: 5)
        #expect(best.documents == [0, 1, 2, 3, 4] && best.requests <= 16)
    }

    @Test func pagesThatFollowOneAnotherAreReadTogether() throws {
        var limits = SearchIndexLimits.small
        limits.memory = 1 << 20
        let subject = SearchIndexSubject(fields: 1, limits: limits)
        for document in 0..<Int64(4_000) { try subject.replace(document, [document % 4 == 0 ? "common often" : "common"]) }
        try subject.writer.flush()
        try subject.writer.optimize()
        let pages = try subject.reader.summary().pages
        let search = search(["common", "often"])
        let statistics = try subject.reader.statistics(search) {}
        let all = try run(subject, search, nil)
        #expect(all.documents.count == 1_000 && all.requests * 10 < pages, "\(all.requests) requests for \(pages) pages")
        let best = try run(subject, search, statistics, best: 5)
        #expect(best.documents.count == 5 && best.requests * 10 < pages, "\(best.requests) requests for \(pages) pages")
    }

    @Test(arguments: [0, 100, 1 << 20]) func aPrefixOfManyTermsIsScannedOnce(list: Int) throws {
        var limits = SearchIndexLimits()
        limits.list = list
        let subject = SearchIndexSubject(fields: 2, limits: limits)
        for document in 0..<Int64(400) {
            try subject.replace(document, ["wolf word\(document) word\(document % 50)", document % 3 == 0 ? "word\(document + 7)" : nil])
        }
        try subject.writer.flush()
        for document in 0..<Int64(20) { try subject.replace(document * 9, document % 2 == 0 ? nil : ["words word\(document)", "wo"]) }
        try subject.writer.flush()
        let search = search(["wo"], isPrefix: true)
        try subject.compare(search, weights: [1, 3], limit: 10)
        let statistics = try subject.reader.statistics(search) {}
        let terms = try subject.reader.best(5, search, scoredBy: statistics, weights: [1, 3]) {}.costs.terms
        #expect(terms > 400)
        let reader = subject.reader
        let all = try reader.all(search, scoredBy: statistics, weights: [1, 3]) {}
        let repeated = try reader.all(search, scoredBy: statistics, weights: [1, 3]) {}
        #expect(all.costs.terms == terms && repeated.costs.terms == 0 && repeated.scores == all.scores)
    }

    @Test(arguments: [0, 100, 1 << 20], [0, 6, 1_024]) func prefixesOfManyTermsCombineWithOtherConditions(list: Int, cursors: Int) throws {
        var limits = SearchIndexLimits.small
        limits.list = list
        limits.prefixCursors = cursors
        limits.prefixTerms = 3
        limits.prefixPostings = 5
        let subject = SearchIndexSubject(fields: 1, limits: limits)
        for document in 0..<Int64(120) { try subject.replace(document, ["often word\(document) wo\(document % 4) x\(document % 30)"]) }
        try subject.writer.flush()
        var search = search(["wo", "x", "of"], isPrefix: true)
        for root in [
            .and([.phrase(0), .phrase(1)]), .or([.phrase(1), .phrase(2)]), .excluding(.phrase(2), .phrase(1)),
            .and([.near([0, 1], distance: 2), .phrase(2)]),
        ] as [ResolvedSearch.Node] {
            search.root = root
            try subject.compare(search, weights: [1], limit: 7)
        }
    }

    /// Prefixes in phrases and near others, with a list for all occurrences, for some of them, and for those of one document.
    @Test(arguments: [0, 8, 100, 1 << 20], [1, 3]) func prefixesOfManyTermsEndPhrases(list: Int, fields: Int) throws {
        var limits = SearchIndexLimits.small
        limits.list = list
        limits.prefixTerms = 3
        let subject = SearchIndexSubject(fields: fields, limits: limits)
        for document in 0..<Int64(90) {
            let text = "often word\(document) wo\(document % 4) x\(document % 30) often x\(document % 7) wolf wo\(document % 5)"
            let texts = [text, "x\(document % 3) often wo\(document)", document % 2 == 0 ? nil : "wo wo1 wo2 often wo"]
            try subject.replace(document * (document % 9 == 0 ? 1 << 40 : 3), Array(texts.prefix(fields)))
            if document % 40 == 0 { try subject.writer.flush() }
        }
        let changed: [String?] = ["often wo wolf", nil, nil]
        for document in 0..<Int64(12) { try subject.replace(document * 6, document % 2 == 0 ? nil : Array(changed.prefix(fields))) }
        try subject.writer.flush()
        let phrases = [["often", "wo"], ["x"], ["wo"], ["often", "x"], ["wolf"], ["none", "wo"], ["x2", "wo"]].map { terms in
            ResolvedSearch.Phrase(terms: terms.map { Array($0.utf8) }, isPrefix: terms != ["wolf"], fields: terms == ["x"] ? 5 : .max)
        }
        for root in [
            .phrase(0), .near([1, 2], distance: 1), .near([2, 4], distance: 0), .near([0, 4], distance: 3), .phrase(5), .phrase(6),
            .or([.phrase(3), .phrase(6)]), .and([.phrase(0), .near([3, 2], distance: 2)]), .excluding(.phrase(0), .phrase(3)),
        ] as [ResolvedSearch.Node] {
            try subject.compare(ResolvedSearch(phrases: phrases, root: root), weights: [Double](repeating: 2, count: fields), limit: 7)
        }
    }

    /// The occurrences of one document alone exceed the list.
    @Test func aDocumentWithManyTermsOfAPrefixIsFound() throws {
        var limits = SearchIndexLimits()
        limits.list = 10
        let subject = SearchIndexSubject(fields: 1, limits: limits)
        for document in 0..<Int64(5) {
            try subject.replace(document, [(0..<300).map { "a word\($0 * 7 + Int(document)) b" }.joined(separator: " ")])
        }
        try subject.writer.flush()
        let phrases = [["a", "wo"], ["wo"], ["b"]].map { terms in
            ResolvedSearch.Phrase(terms: terms.map { Array($0.utf8) }, isPrefix: terms != ["b"], fields: .max)
        }
        for root in [.phrase(0), .near([1, 2], distance: 0)] as [ResolvedSearch.Node] {
            try subject.compare(ResolvedSearch(phrases: phrases, root: root), weights: [1], limit: 3)
        }
    }

    @Test(arguments: [1, 5]) func conjunctionsOfManyDocumentsAreReadInBatches(segments: Int64) throws {
        let subject = SearchIndexSubject(fields: 2, limits: SearchIndexLimits())
        for document in 0..<Int64(1_200) {
            let words = [document % 2 == 0 ? "even" : "odd", document % 3 == 0 ? "three" : "", document > 600 ? "late" : "", "all"]
            try subject.replace(document, [words.joined(separator: " "), document % 50 == 0 ? "even" : nil])
            if segments > 1, document % 250 == 0 { try subject.writer.flush() }
        }
        if segments > 1 {
            for document in 400..<Int64(500) { try subject.replace(document, document % 2 == 0 ? nil : ["even all", nil]) }
        }
        try subject.writer.flush()
        for texts in [
            ["even", "three"], ["all", "three"], ["late", "odd", "three"], ["all", "even"], ["odd", "even"], ["all", "all"],
        ] {
            try subject.compare(search(texts), weights: [1, 2], limit: 20)
        }
    }
}
