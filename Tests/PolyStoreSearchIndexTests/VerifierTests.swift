import PolyStoreSearch
import SeededRandom
import TestSupport
import Testing

@testable import PolyStoreSearchIndex

extension [UInt8] {
    /// Returns the first index at which some bytes begin.
    fileprivate func firstIndex(of bytes: [UInt8]) -> Int? { indices.dropLast(bytes.count - 1).first { self[$0...].starts(with: bytes) } }
}

@Suite struct SearchIndexVerifierTests {
    private func findings(_ map: PageMap, _ documents: [Int64: [String?]], fields: Int) throws -> [String] {
        try SearchIndexVerifier(map, fields: fields, options: SearchOptions()).verify(
            { body in for (document, texts) in documents.sorted(by: { $0.key < $1.key }) { try body(document, texts) } }, check: {}
        )
    }

    /// An index after random changes.
    private func subject(seed: UInt64, fields: Int, steps: Int = 80) throws -> SearchIndexSubject {
        var samples = SearchSamples(seed: seed, fields: fields)
        let subject = SearchIndexSubject(fields: fields, limits: .random(&samples.random))
        for _ in 0..<steps {
            try subject.replace(samples.document(), samples.random.once(in: 5) ? nil : samples.texts())
            if samples.random.once(in: 3) { try subject.writer.flush() }
        }
        try subject.writer.flush()
        return subject
    }

    @Test(arguments: [1, 3]) func indexesAfterRandomChangesHaveNoFindings(fields: Int) throws {
        for seed in 0..<UInt64(Ring.size(3, thorough: 8)) {
            let subject = try subject(seed: seed, fields: fields)
            #expect(try findings(subject.map, subject.model.documents, fields: fields) == [], "seed \(seed)")
            try subject.writer.optimize()
            #expect(try findings(subject.map, subject.model.documents, fields: fields) == [], "seed \(seed), optimized")
        }
    }

    @Test func emptyIndexHasNoFindings() throws { #expect(try findings(PageMap(), [:], fields: 1) == []) }

    @Test func differencesAreNamedByDocumentAndTerm() throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        for document in 1...300 { try subject.replace(Int64(document), ["alpha beta number\(document)"]) }
        try subject.writer.flush()
        var documents = subject.model.documents
        documents[7] = ["alpha beta gamma"]
        documents[9] = ["beta alpha number9"]
        documents[11] = nil
        documents[500] = ["delta"]
        let found = try findings(subject.map, documents, fields: 1)
        for expected in [
            "The index has the term 'number7' of document 7, whose texts do not have it.",
            "The index does not have the term 'gamma' of document 7.",
            "The index has wrong positions of the term 'alpha' in document 9.",
            "The index has a length of document 11, which does not exist.",
            "The index has the term 'number11' of document 11, which does not exist.",
            "The index has no length of document 500.",
            "The index does not have the term 'delta' of document 500.",
        ] { #expect(found.contains(expected), "\(expected) not in \(found)") }
    }

    @Test func countsAndLengthsAreCompared() throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        try subject.replace(1, ["alpha beta"])
        try subject.writer.flush()
        // The old text of the call differs from the one that the index has, and has as many words.
        try subject.writer.replace(1, old: ["beta delta"], new: ["gamma"])
        try subject.writer.flush()
        let found = try findings(subject.map, [1: ["gamma"]], fields: 1)
        #expect(found.contains("The index has the term 'alpha' of document 1, whose texts do not have it."))
        // A document that is added again, after its length was lost, counts twice.
        let other = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        try other.replace(1, ["alpha beta"])
        try other.writer.flush()
        try other.map.write([], removing: other.map.keys.filter { $0[0] == 0x4c })
        let writer = SearchIndexWriter(other.map, fields: 1, options: SearchOptions(), limits: other.limits)
        try writer.replace(1, old: nil, new: ["alpha beta"])
        try writer.flush()
        let counts = try findings(other.map, [1: ["alpha beta"]], fields: 1)
        #expect(counts.contains("The index counts 2 documents, and there are 1."))
        #expect(counts.contains("The index counts 4 tokens, and the texts have 2."))
        #expect(counts.contains("The index counts 2 documents with the term 'alpha', and 1 have it."))
    }

    @Test func boundsOfBlocksAreComparedWithTheirPostings() throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        let text = (Array(repeating: "alpha", count: 77) + Array(repeating: "beta", count: 22)).joined(separator: " ")
        for document in 1...40 { try subject.replace(Int64(document), [text]) }
        try subject.writer.flush()
        #expect(try findings(subject.map, subject.model.documents, fields: 1) == [])
        // The one pair of the frequency and the length that bound the postings of the block.
        for (offset, change) in [(1, -1), (2, 1)] {
            let copy = PageMap(subject.map)
            let page = try #require(copy.values.firstIndex { $0.firstIndex(of: [1, 77, 99]) != nil })
            copy.change(page) { bytes in
                if let place = bytes.firstIndex(of: [1, 77, 99]) { bytes[place + offset] = UInt8(Int(bytes[place + offset]) + change) }
            }
            let found = try findings(copy, subject.model.documents, fields: 1)
            #expect(found == ["The index has wrong bounds of the term 'alpha' for document 1."])
        }
    }

    @Test func numbersOfPostingsAreCompared() throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        for document in 1...40 { try subject.replace(Int64(document), ["alpha beta"]) }
        try subject.writer.flush()
        let place = try #require(subject.map.keys.firstIndex(of: [0x53]))
        var structure = try IndexStructure(subject.map.values[place], fields: 1)
        structure.segments[0].postings += 1
        subject.map.change(place) { $0 = structure.bytes }
        #expect(
            try findings(subject.map, subject.model.documents, fields: 1)
                == ["Segment 1 of the index has 80 postings, and should have 81."])
    }

    @Test func missingPagesAreFound() throws {
        for seed in 0..<UInt64(Ring.size(1, thorough: 4)) {
            let subject = try subject(seed: seed, fields: 1)
            for key in subject.map.keys where key[0] != 0x53 {
                let copy = PageMap(subject.map)
                try copy.write([], removing: [key])
                #expect(try !findings(copy, subject.model.documents, fields: 1).isEmpty, "seed \(seed), page \(key)")
            }
        }
    }

    @Test func changedBytesGiveFindingsOrErrorsAndNoTrap() throws {
        for seed in 0..<UInt64(Ring.size(1, thorough: 3)) {
            let subject = try subject(seed: seed, fields: 2, steps: 50)
            var samples = SearchSamples(seed: seed, fields: 2)
            let searches = (0..<6).map { _ in samples.search() }
            for _ in 0..<Ring.size(60, thorough: 200) {
                let copy = PageMap(subject.map)
                copy.change(samples.random.below(copy.keys.count)) { bytes in
                    switch samples.random.below(4) {
                    case 0: bytes.removeLast(min(bytes.count, 1 + samples.random.below(4)))
                    case 1: bytes.append(UInt8(samples.random.below(256)))
                    default: if !bytes.isEmpty { bytes[samples.random.below(bytes.count)] ^= UInt8(1 + samples.random.below(255)) }
                    }
                }
                _ = try findings(copy, subject.model.documents, fields: 2)
                for search in searches {
                    let reader = SearchIndexReader(copy, fields: 2, limits: subject.limits)
                    do {
                        let statistics = try reader.statistics(search) {}
                        _ = try reader.best(3, search, scoredBy: statistics, weights: [1, 2]) {}
                        _ = try reader.all(search, scoredBy: statistics, weights: [1, 2]) {}
                    } catch is SearchIndexError {}
                }
                let writer = SearchIndexWriter(copy, fields: 2, options: SearchOptions(), limits: subject.limits)
                do {
                    try writer.replace(3, old: subject.model.documents[3], new: ["a b c", nil])
                    try writer.flush()
                    try writer.optimize()
                } catch is SearchIndexError {}
            }
        }
    }
}
