import PolyStoreSearch
import PolyStoreSearchIndex
import SeededRandom
import TestSupport
import Testing

@Suite struct SearchSegmentTests {
    private func term(_ text: String) -> ResolvedSearch {
        ResolvedSearch(phrases: [.init(terms: [Array(text.utf8)], isPrefix: false, fields: .max)], root: .phrase(0))
    }

    private func terms(_ texts: [String], any: Bool = false) -> ResolvedSearch {
        let phrases = texts.map { ResolvedSearch.Phrase(terms: [Array($0.utf8)], isPrefix: false, fields: .max) }
        let nodes = phrases.indices.map { ResolvedSearch.Node.phrase($0) }
        return ResolvedSearch(phrases: phrases, root: any ? .or(nodes) : .and(nodes))
    }

    private func documents(_ subject: SearchIndexSubject, _ text: String) throws -> [Int64] {
        try subject.reader.all(term(text), scoredBy: nil, weights: [1]) {}.documents
    }

    private func findings(_ subject: SearchIndexSubject) throws -> [String] {
        try SearchIndexVerifier(subject.map, fields: subject.fields, options: SearchOptions()).verify(
            { body in for (document, texts) in subject.model.documents.sorted(by: { $0.key < $1.key }) { try body(document, texts) } },
            check: {}
        )
    }

    @Test func aDocumentCommitWritesFewPages() throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        var samples = SearchSamples(seed: 1, fields: 1)
        for document in 1...7 {
            let before = subject.map.written
            try subject.replace(Int64(document), [(0..<200).map { _ in samples.word() }.joined(separator: " ")])
            try subject.writer.flush()
            #expect(subject.map.written - before <= 4)
        }
    }

    @Test func segmentsAreBounded() throws {
        let subject = SearchIndexSubject(fields: 1)
        var samples = SearchSamples(seed: 2, fields: 1)
        for _ in 0..<Ring.size(120, thorough: 300) {
            try subject.replace(samples.document(), samples.random.once(in: 6) ? nil : samples.texts())
            try subject.writer.flush()
            #expect(try subject.reader.summary().segments <= subject.limits.segments)
        }
    }

    @Test func mergesCanBeInterruptedAfterEachPage() throws {
        for seed in 0..<UInt64(Ring.size(1, thorough: 4)) {
            var samples = SearchSamples(seed: seed, fields: 2)
            var limits = SearchIndexLimits.small
            limits.segments = 1_000
            limits.fanout = 1_000
            let subject = SearchIndexSubject(fields: 2, limits: limits)
            for _ in 0..<24 {
                try subject.replace(samples.document(), samples.random.once(in: 4) ? nil : samples.texts())
                try subject.writer.flush()
            }
            limits.fanout = 4
            var steps = 0
            while true {
                let writer = SearchIndexWriter(subject.map, fields: 2, options: SearchOptions(), limits: limits)
                let remains = try writer.merge(budget: 1)
                let found = try findings(subject)
                #expect(found == [], "seed \(seed), step \(steps) \(found)")
                try subject.compare(samples.search(), weights: [1, 2], limit: 3)
                steps += 1
                if !remains { break }
                guard steps < 2_000 else {
                    Issue.record("The merges do not end.")
                    break
                }
            }
            #expect(steps > 5)
        }
    }

    @Test func removedDocumentsLeaveNothingAfterOptimizing() throws {
        var samples = SearchSamples(seed: 3, fields: 2)
        let subject = SearchIndexSubject(fields: 2)
        for document in 0..<60 {
            try subject.replace(Int64(document), samples.texts())
            if document % 7 == 0 { try subject.writer.flush() }
        }
        for document in 0..<60 {
            try subject.replace(Int64(document), nil)
            if document % 5 == 0 { try subject.writer.flush() }
        }
        try subject.writer.optimize()
        #expect(subject.map.keys == [[0x53]])
        let summary = try subject.reader.summary()
        #expect(
            [summary.documents, summary.tokens, summary.segments, summary.merges, summary.postings, summary.pages] == [0, 0, 0, 0, 0, 0])
    }

    @Test func deletionsDoNotResurrectAcrossSegments() throws {
        let subject = SearchIndexSubject(fields: 1)
        for text in ["apple pear", nil, "pear plum", "plum", nil, nil, "apple apple"] as [String?] {
            try subject.replace(5, text.map { [$0] })
            try subject.writer.flush()
            for word in ["apple", "pear", "plum"] {
                let expected: [Int64] = text?.contains(word) == true ? [5] : []
                #expect(try documents(subject, word) == expected)
                #expect(try subject.reader.statistics(term(word)) {}.frequencies == [expected.count])
            }
        }
        try subject.writer.optimize()
        #expect(try documents(subject, "apple") == [5])
        #expect(try documents(subject, "pear") == [])
        #expect(try findings(subject) == [])
    }

    @Test func theLastOfSeveralChangesInOneFlushCounts() throws {
        let subject = SearchIndexSubject(fields: 1)
        try subject.replace(1, ["one"])
        try subject.writer.flush()
        for text in ["two", "one two", nil, "three one", "one three"] as [String?] { try subject.replace(1, text.map { [$0] }) }
        try subject.replace(2, ["gone"])
        try subject.replace(2, nil)
        try subject.writer.flush()
        #expect(try documents(subject, "one") == [1])
        #expect(try documents(subject, "two") == [])
        #expect(try documents(subject, "three") == [1])
        #expect(try documents(subject, "gone") == [])
        #expect(try findings(subject) == [])
    }

    @Test func documentsInAnyOrderAreFoundInAscendingOrder() throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        let ids: [Int64] = [.max, 3, .min, 0, -1, 1 << 40, 255, 256, -257]
        for id in ids { try subject.replace(id, ["word"]) }
        try subject.writer.flush()
        #expect(try documents(subject, "word") == ids.sorted())
        #expect(try findings(subject) == [])
    }

    @Test func documentsWithoutTokensCount() throws {
        let subject = SearchIndexSubject(fields: 2)
        try subject.replace(1, [nil, ""])
        try subject.replace(2, ["word", nil])
        try subject.writer.flush()
        #expect(try subject.reader.statistics(term("word")) {} == SearchStatistics(documents: 2, tokens: 1, frequencies: [1]))
        #expect(try findings(subject) == [])
    }

    @Test(arguments: [false, true]) func theBestDocumentsOfCommonTermsNeedFewScores(any: Bool) throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        var random = SplitMix64(seed: 4)
        for document in 0..<Ring.size(3_000, thorough: 6_000) {
            let words = (0..<5 + random.below(20)).map { _ in "w\(min(random.below(40), random.below(40), random.below(40)))" }
            try subject.writer.replace(Int64(document), old: nil, new: [words.joined(separator: " ")])
        }
        try subject.writer.flush()
        let search = terms(["w0", "w1"], any: any)
        let statistics = try subject.reader.statistics(search) {}
        let best = try subject.reader.best(10, search, scoredBy: statistics, weights: [1]) {}
        let all = try subject.reader.all(search, scoredBy: statistics, weights: [1]) {}
        let expected = zip(all.scores, all.documents).sorted { ($1.0, $0.1) < ($0.0, $1.1) }.prefix(10)
        #expect(best.documents == expected.map(\.1))
        #expect(best.scores == expected.map(\.0))
        #expect(best.costs.scored * (any ? 5 : 10) < statistics.frequencies[0] + statistics.frequencies[1])
    }

    @Test func aSearchNeedsFewRequests() throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        for document in 0..<30 {
            try subject.replace(Int64(document), ["alpha beta gamma word\(document)"])
            try subject.writer.flush()
        }
        let before = subject.map.requests
        let reader = subject.reader
        let search = terms(["alpha", "beta", "gamma"])
        _ = try reader.best(10, search, scoredBy: reader.statistics(search) {}, weights: [1]) {}
        // The structure, the terms in all segments, and the lengths.
        #expect(subject.map.requests - before <= 4)
    }

    /// A page with the postings of another one, as after a write to the wrong place.
    @Test func postingsThatAreNotInOrderAreErrors() throws {
        let subject = SearchIndexSubject(fields: 1)
        for document in 1...400 { try subject.replace(Int64(document * 70_000), ["word"]) }
        try subject.writer.flush()
        let pages = subject.map.keys.indices.filter { subject.map.keys[$0].first == 0x54 }
        try #require(pages.count > 6)
        // Pages within the term.
        let (first, second) = (pages[2], pages[4])
        let (one, other) = (subject.map.values[first], subject.map.values[second])
        subject.map.change(first) { $0 = other }
        #expect(throws: SearchIndexError.self) { try documents(subject, "word") }
        subject.map.change(first) { $0 = one }
        #expect(try documents(subject, "word").count == 400)
        subject.map.change(second) { $0 = one }
        #expect(throws: SearchIndexError.self) { try documents(subject, "word") }
    }

    @Test func unknownFormatsAndOtherFieldsAreErrors() throws {
        let subject = SearchIndexSubject(fields: 1)
        try subject.replace(1, ["word"])
        try subject.writer.flush()
        let other = SearchIndexReader(subject.map, fields: 2)
        #expect(throws: SearchIndexError.damaged("it has 1 fields and not 2")) { try other.statistics(term("word")) {} }
        let place = try #require(subject.map.keys.firstIndex(of: [0x53]))
        subject.map.change(place) { $0[0] = 99 }
        #expect(throws: SearchIndexError.unknownFormat(99)) { try documents(subject, "word") }
        #expect(throws: SearchIndexError.unknownFormat(99)) {
            subject.reopen()
            try subject.writer.replace(2, old: nil, new: ["word"])
            try subject.writer.flush()
        }
    }

    @Test func aSearchCanBeEnded() throws {
        struct Ended: Error {}
        let subject = SearchIndexSubject(fields: 1)
        for document in 0..<20 { try subject.replace(Int64(document), ["word other"]) }
        try subject.writer.flush()
        #expect(throws: Ended.self) { try subject.reader.all(term("word"), scoredBy: nil, weights: [1]) { throw Ended() } }
        let statistics = try subject.reader.statistics(term("word")) {}
        #expect(throws: Ended.self) { try subject.reader.best(3, term("word"), scoredBy: statistics, weights: [1]) { throw Ended() } }
        #expect(throws: Ended.self) { try subject.reader.statistics(term("word")) { throw Ended() } }
    }

    @Test func longTermsAndManyOccurrencesFitIntoPages() throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        let long = String(repeating: "x", count: 10_000)
        try subject.replace(1, [long + " " + Array(repeating: "again", count: 20_000).joined(separator: " ")])
        for document in 2..<400 { try subject.replace(Int64(document), [Array(repeating: "again", count: 60).joined(separator: " ")]) }
        try subject.writer.flush()
        #expect(try documents(subject, "again").count == 399)
        #expect(try findings(subject) == [])
        #expect(subject.map.keys.allSatisfy { $0.count < 500 })
        try subject.replace(1, nil)
        try subject.writer.optimize()
        #expect(try documents(subject, "again").count == 398)
        #expect(try findings(subject) == [])
    }

    @Test func lengthsSurviveManyFlushesOfOneWriter() throws {
        let subject = SearchIndexSubject(fields: 1)
        for round in 0..<Ring.size(3, thorough: 8) {
            for document in 0..<300 { try subject.replace(Int64(document * 100 + round), ["word of round\(round)"]) }
            try subject.writer.flush()
            #expect(try findings(subject) == [], "round \(round)")
        }
    }

    @Test func deletionsThatUndoAllAdditionsAreMergedInSteps() throws {
        var limits = SearchIndexLimits.small
        limits.fanout = 1_000
        limits.segments = 1_000
        limits.memory = 1 << 20
        let subject = SearchIndexSubject(fields: 1, limits: limits)
        for document in 0..<800 { try subject.replace(Int64(document), ["word number\(document)"]) }
        try subject.writer.flush()
        for document in 0..<800 { try subject.replace(Int64(document), nil) }
        try subject.writer.flush()
        limits.fanout = 2
        var steps = 0
        while try SearchIndexWriter(subject.map, fields: 1, options: SearchOptions(), limits: limits).merge(budget: 1) {
            steps += 1
            if steps % Ring.size(16, thorough: 4) == 0 { #expect(try findings(subject) == []) }
        }
        #expect(steps > 5)
        #expect(try findings(subject) == [])
        // A step that ends within a term leaves the end of the term.
        #expect(try subject.reader.summary().pages <= 1)
    }

    @Test func aFailedFlushIsNotContinued() throws {
        let subject = SearchIndexSubject(fields: 1)
        try subject.replace(1, ["word"])
        try subject.writer.flush()
        let place = try #require(subject.map.keys.firstIndex(of: [0x53]))
        subject.map.change(place) { $0[0] = 99 }
        subject.reopen()
        try subject.replace(2, ["word"])
        #expect(throws: SearchIndexError.self) { try subject.writer.flush() }
        subject.map.change(place) { $0[0] = 1 }
        #expect(throws: SearchIndexError.self) { try subject.writer.flush() }
        subject.writer.reset()
        try subject.writer.replace(2, old: nil, new: ["word"])
        try subject.writer.flush()
        #expect(try documents(subject, "word") == [1, 2])
        #expect(try findings(subject) == [])
    }
}
