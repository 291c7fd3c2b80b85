import PolyStoreSearch
import SeededRandom
import TestSupport
import Testing

@testable import PolyStoreSearchIndex

/// What a writer refuses, and merges of all segments in parts.
@Suite struct SearchIndexWriterTests {
    private func findings(_ subject: SearchIndexSubject, _ map: PageMap? = nil) throws -> [String] {
        try SearchIndexVerifier(map ?? subject.map, fields: subject.fields, options: SearchOptions()).verify(
            { body in for (document, texts) in subject.model.documents.sorted(by: { $0.key < $1.key }) { try body(document, texts) } },
            check: {}
        )
    }

    private func writer(_ map: PageMap, _ subject: SearchIndexSubject) -> SearchIndexWriter {
        SearchIndexWriter(map, fields: subject.fields, options: SearchOptions(), limits: subject.limits)
    }

    /// An index of documents at the borders of chunks of lengths.
    private func subject() throws -> SearchIndexSubject {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        for document in [.min, -1, 0, 1, 255, 256, .max] as [Int64] { try subject.replace(document, ["alpha beta"]) }
        try subject.replace(7, [""])
        try subject.writer.flush()
        return subject
    }

    @Test(
        arguments: [
            (300, ["alpha beta"], ["gamma"], "it does not have document 300, whose texts are changed or removed"),
            (300, ["alpha beta"], nil, "it does not have document 300, whose texts are changed or removed"),
            (300, [""], nil, "it does not have document 300, whose texts are changed or removed"),
            (5_000, ["alpha"], nil, "it does not have document 5000, whose texts are changed or removed"),
            (.min, ["alpha"], ["gamma"], "it has 2 tokens of document -9223372036854775808, whose texts before the change have 1"),
            (.max, [""], nil, "it has 2 tokens of document 9223372036854775807, whose texts before the change have 0"),
            (7, ["alpha"], nil, "it has 0 tokens of document 7, whose texts before the change have 1"),
        ] as [(Int64, [String?]?, [String?]?, String)])
    func changeOfOtherTextsThanThoseOfTheIndexIsRefused(_ document: Int64, _ old: [String?]?, _ new: [String?]?, _ reason: String) throws {
        let subject = try subject()
        let copy = PageMap(subject.map)
        let writer = writer(copy, subject)
        // Beside changes that are right, and after them in the same flush.
        try writer.replace(1, old: ["alpha beta"], new: ["beta"])
        try writer.replace(document, old: old, new: new)
        #expect(throws: SearchIndexError.damaged(reason)) { try writer.flush() }
        #expect(copy.written == 0, "nothing is written")
        #expect(try findings(subject, copy) == [])
        // Until the changes are given again, the writer refuses.
        #expect(throws: SearchIndexError.self) { try writer.flush() }
        writer.reset()
        try writer.replace(1, old: ["alpha beta"], new: ["beta"])
        try writer.flush()
        #expect(try findings(subject, copy) != [])
        try writer.replace(1, old: ["beta"], new: ["alpha beta"])
        try writer.flush()
        #expect(try findings(subject, copy) == [])
    }

    /// Several changes of a document in one flush are compared with each other.
    @Test func laterChangesOfADocumentAreComparedWithEarlierOnes() throws {
        let subject = try subject()
        let writer = writer(subject.map, subject)
        try writer.replace(300, old: nil, new: ["one two three"])
        try writer.replace(300, old: ["one two three"], new: nil)
        try writer.replace(300, old: nil, new: ["four"])
        try writer.replace(300, old: ["four"], new: nil)
        try writer.flush()
        #expect(try findings(subject) == [])
        try writer.replace(300, old: nil, new: ["one two three"])
        try writer.replace(300, old: ["four"], new: nil)
        #expect(throws: SearchIndexError.damaged("it has 3 tokens of document 300, whose texts before the change have 1")) {
            try writer.flush()
        }
    }

    @Test func comparingNeedsNoRequest() throws {
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        for document in 1...300 { try subject.replace(Int64(document), ["alpha beta"]) }
        try subject.writer.flush()
        let writer = writer(subject.map, subject)
        let before = subject.map.requests
        try writer.replace(7, old: ["alpha beta"], new: ["gamma"])
        try writer.flush()
        // The structure, the lengths, and the write.
        #expect(subject.map.requests - before == 3)
    }

    // MARK: Merges of all segments in parts

    /// An index of many segments that are not merged.
    private func segments(_ seed: UInt64) throws -> (SearchIndexSubject, SearchSamples) {
        var samples = SearchSamples(seed: seed, fields: 2)
        var limits = SearchIndexLimits.small
        (limits.segments, limits.fanout) = (1_000, 1_000)
        let subject = SearchIndexSubject(fields: 2, limits: limits)
        for _ in 0..<24 {
            try subject.replace(samples.document(), samples.random.once(in: 4) ? nil : samples.texts())
            try subject.writer.flush()
        }
        return (subject, samples)
    }

    @Test func allSegmentsAreMergedInParts() throws {
        for seed in 0..<UInt64(Ring.size(2, thorough: 6)) {
            var (subject, samples) = try segments(seed)
            #expect(try subject.reader.summary().segments > 4)
            var merge = SearchIndexMerge()
            var parts = 0
            // Each part in a transaction of its own.
            while try writer(subject.map, subject).optimize(&merge, budget: 1) {
                #expect(try findings(subject) == [], "seed \(seed), part \(parts)")
                try subject.compare(samples.search(), weights: [1, 2], limit: 3)
                parts += 1
                try #require(parts < 2_000, "The merge does not end.")
            }
            #expect(parts > 5)
            #expect(try findings(subject) == [])
            let summary = try subject.reader.summary()
            #expect((summary.segments, summary.merges) == (1, 0))
            // A merged index has nothing to merge.
            var again = SearchIndexMerge()
            let written = subject.map.written
            #expect(try !writer(subject.map, subject).optimize(&again, budget: 1))
            #expect(subject.map.written == written)
        }
    }

    /// Others write between the parts. The merge ends although they add segments.
    @Test func mergeInPartsEndsWhileOthersWrite() throws {
        for seed in 0..<UInt64(Ring.size(2, thorough: 6)) {
            var (subject, samples) = try segments(seed)
            var merge = SearchIndexMerge()
            var parts = 0
            while try writer(subject.map, subject).optimize(&merge, budget: 1) {
                parts += 1
                try #require(parts < 2_000, "The merge does not end.")
                subject.reopen()
                try subject.replace(samples.document(), samples.random.once(in: 4) ? nil : samples.texts())
                try subject.writer.flush()
                if parts % 7 == 0 { #expect(try findings(subject) == [], "seed \(seed), part \(parts)") }
            }
            #expect(try findings(subject) == [])
            #expect(try subject.reader.summary().merges == 0)
        }
    }

    /// A commit beside the merge does not complete it, although there are more segments than the limit.
    @Test(arguments: [8, 11, 12]) func writersBesideAMergeInPartsMergeSmallSegments(_ count: Int) throws {
        var limits = SearchIndexLimits.small
        (limits.segments, limits.fanout) = (1_000, 1_000)
        let subject = SearchIndexSubject(fields: 1, limits: limits)
        for document in 0..<count {
            try subject.replace(Int64(document), [(0..<400).map { "word\($0) other\(document)x\($0)" }.joined(separator: " ")])
            try subject.writer.flush()
        }
        var merge = SearchIndexMerge()
        #expect(try writer(subject.map, subject).optimize(&merge, budget: 1))
        (limits.segments, limits.fanout, limits.merge) = (12, 8, 1_000)
        for document in 100..<140 {
            let before = subject.map.written
            let writer = SearchIndexWriter(subject.map, fields: 1, options: SearchOptions(), limits: limits)
            try writer.replace(Int64(document), old: nil, new: ["small \(document)"])
            try writer.flush()
            subject.model.documents[Int64(document)] = ["small \(document)"]
            #expect(subject.map.written - before < 40, "document \(document)")
            // All segments at first, the output of the merge, and those that are too few to be merged.
            #expect(try subject.reader.summary().segments <= count + 1 + limits.fanout)
        }
        #expect(try findings(subject) == [])
        // The merge in parts is not complete yet.
        #expect(try writer(subject.map, subject).optimize(&merge, budget: 1))
        while try writer(subject.map, subject).optimize(&merge, budget: 1_000) {}
        #expect(try findings(subject) == [])
    }

    /// Single commits, so many that the number of segments often reaches its limit, write each page a few times only.
    @Test func commitsWriteInProportionToTheirTexts() throws {
        var samples = SearchSamples(seed: 5, fields: 1)
        var limits = SearchIndexLimits.small
        (limits.memory, limits.fanout, limits.segments) = (32 << 20, 3, 10)
        let subject = SearchIndexSubject(fields: 1, limits: limits)
        let count = 1_500
        for document in 0..<count {
            let writer = SearchIndexWriter(subject.map, fields: 1, options: SearchOptions(), limits: limits)
            try writer.replace(
                Int64(document), old: nil, new: [(0..<6).map { _ in "w\(samples.random.below(3_000))" }.joined(separator: " ")])
            try writer.flush()
        }
        #expect(subject.map.written < count * 12, "\(subject.map.written / count) pages a commit")
    }

    /// A merge whose index was built again meanwhile has ended.
    @Test func mergeOfAnIndexThatWasEmptiedEnds() throws {
        let (subject, _) = try segments(1)
        var merge = SearchIndexMerge()
        #expect(try writer(subject.map, subject).optimize(&merge, budget: 1))
        let empty = PageMap()
        #expect(try !writer(empty, subject).optimize(&merge, budget: 1))
        #expect(empty.keys == [])
        var first = SearchIndexMerge()
        #expect(try !writer(empty, subject).optimize(&first, budget: 1))
        #expect(empty.keys == [])
    }
}
