import PolyStoreSearch

/// Compares an index with the texts of all documents.
///
/// The first pass adds up numbers of all occurrences in the texts and in the index, in groups of documents; the order does not matter, so the memory does not depend on the
/// number of documents. Only if a group differs a second pass compares its documents term by term.
public final class SearchIndexVerifier {
    /// Calls a closure with each document and its texts, in ascending order of the ids.
    public typealias Documents = (_ body: (Int64, [String?]) throws -> Void) throws -> Void

    private static let groups = 4_096
    /// The maximum number of documents that are compared term by term.
    private static let detailed = 1_000

    private let pages: any SearchPageReader
    private let fields: Int
    private let tokenizer: SearchTokenizer
    /// The maximum number of findings.
    private let limit: Int
    private var findings: [String] = []

    /// Creates a verifier.
    /// - Parameter limit: The maximum number of findings.
    public init(_ pages: any SearchPageReader, fields: Int, options: SearchOptions, limit: Int = 100) {
        self.pages = pages
        self.fields = fields
        self.limit = limit
        tokenizer = SearchTokenizer(options)
    }

    /// Returns what is wrong with the index, one sentence each; nothing if it agrees with the texts.
    /// - Parameters:
    ///   - documents: Gives all documents; called once, and again if the index differs.
    ///   - check: Called now and then; an error that it throws ends the verification.
    /// - Throws: What `documents`, `check` and the reading of pages throw. Damaged pages are findings.
    public func verify(_ documents: Documents, check: () throws -> Void) throws -> [String] {
        findings = []
        do {
            try withoutActuallyEscaping(check) { try compare(documents, $0) }
        } catch let error as SearchIndexError {
            report(error.description)
        }
        return findings
    }

    private func report(_ finding: String) { if findings.count < limit { findings.append(finding) } }

    private func compare(_ documents: Documents, _ check: @escaping () throws -> Void) throws {
        let structure =
            try pages.pages(at: [PageKey.structure])[0].map { try IndexStructure($0, fields: fields) } ?? IndexStructure(fields: fields)
        try comparePages(structure, check)
        var sums = [UInt64](repeating: 0, count: Self.groups)
        let lengths = LengthComparison(pages) { [unowned self] in report($0) }
        try documents { document, texts in
            try check()
            var count = 0
            forEachToken(texts) { term, field, position in
                count += 1
                sums[Self.group(document)] &+= Self.number(Self.hash(term), document, field, position)
            }
            try lengths.add(document.documentKey, count)
        }
        try lengths.finish(structure)
        try scan(structure, comparesCounts: true, check) { term, document, positions in
            let hash = term.withUnsafeBufferPointer(Self.hash)
            for position in positions {
                sums[Self.group(document)] &-= Self.number(hash, document, Int(position >> 32), Int(position & 0xffff_ffff))
            }
        }
        guard sums.contains(where: { $0 != 0 }) else { return }
        try compareDocuments(in: Set(sums.indices.filter { sums[$0] != 0 }), structure, documents, check)
    }

    private func forEachToken(_ texts: [String?], _ body: (UnsafeBufferPointer<UInt8>, Int, Int) -> Void) {
        for (field, text) in texts.prefix(fields).enumerated() {
            guard var text else { continue }
            text.withUTF8 { bytes in tokenizer.forEachToken(in: bytes) { term, _, position in body(term, field, position) } }
        }
    }

    private static func group(_ document: Int64) -> Int { Int(mix(UInt64(bitPattern: document)) & UInt64(groups - 1)) }

    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &* 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    private static func hash(_ term: UnsafeBufferPointer<UInt8>) -> UInt64 {
        term.prefix(PageKey.maximumTermLength).reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private static func number(_ term: UInt64, _ document: Int64, _ field: Int, _ position: Int) -> UInt64 {
        mix(mix(term ^ mix(UInt64(bitPattern: document))) ^ UInt64(truncatingIfNeeded: field) << 40 ^ UInt64(truncatingIfNeeded: position))
    }

    static func name(_ term: [UInt8]) -> String { "'\(String(decoding: term, as: UTF8.self))'" }
}

/// The index.
extension SearchIndexVerifier {
    /// Calls a closure with each posting.
    /// - Parameter comparesCounts: Whether to compare the number of documents of each term with that which the segments have, the bounds of blocks with their postings, and the
    ///   numbers of postings of segments.
    private func scan(
        _ structure: IndexStructure, comparesCounts: Bool, _ check: @escaping () throws -> Void,
        _ body: ([UInt8], Int64, [UInt64]) throws -> Void
    ) throws {
        let source = PageSource(pages, fields: fields, limits: SearchIndexLimits())
        let compiler = SearchCompiler(source, structure)
        let frequencies = SearchCompiler(PageSource(pages, fields: fields, limits: SearchIndexLimits()), structure)
        var postings: [UInt64: Int] = [:]
        try compiler.forEachTerm(from: []) { term, scans in
            try check()
            let cursors = try scans.map { try $0.fork() }
            var count = 0
            var isBounded = true
            if case let found = cursors.filter({ !$0.isAtEnd }), !found.isEmpty {
                let cursor = try TermCursor(found, frequency: 0, mask: .max, fields: fields)
                let positions = PositionList()
                while !cursor.isAtEnd {
                    count += 1
                    positions.removeAll()
                    try cursor.appendPositions(to: positions)
                    try body(term, cursor.document.document, positions.array)
                    if comparesCounts, isBounded { isBounded = try self.isBounded(cursor, term, source.lengths) }
                    try cursor.next()
                }
            }
            guard comparesCounts else { return true }
            for cursor in cursors { postings[cursor.view.id, default: 0] += cursor.decoded }
            let known = try frequencies.delta(term)
            if known != count, findings.count < limit / 2 {
                report("The index counts \(known) documents with the term \(Self.name(term)), and \(count) have it.")
            }
            return true
        }
        if comparesCounts { comparePostings(structure, postings) }
    }

    /// Compares the current posting of a term with the bounds of its block. Returns false if it exceeds them.
    private func isBounded(_ cursor: TermCursor, _ term: [UInt8], _ lengths: LengthReader) throws -> Bool {
        guard cursor.hasBounds else { return true }
        let length = try lengths.length(cursor.document)
        // A length that is missing is reported when lengths are compared.
        guard length != LengthChunk.absent, try !cursor.isBounded(length: Int(length)) else { return true }
        report("The index has wrong bounds of the term \(Self.name(term)) for document \(cursor.document.document).")
        return false
    }

    /// Compares the numbers of postings of segments with those that were found. The inputs of an unfinished merge are not compared: they keep the numbers of before the merge.
    private func comparePostings(_ structure: IndexStructure, _ found: [UInt64: Int]) {
        let inputs = Set(structure.merges.flatMap(\.inputs))
        for segment in structure.segments.filter({ !inputs.contains($0.id) }) + structure.merges.map(\.output) {
            let count = found[segment.id] ?? 0
            if segment.postings != count {
                report("Segment \(segment.id) of the index has \(count) postings, and should have \(segment.postings).")
            }
        }
    }

    /// Compares the pages with the segments that have them.
    private func comparePages(_ structure: IndexStructure, _ check: @escaping () throws -> Void) throws {
        var found: [UInt64: (terms: Int, positions: Int)] = [:]
        for (lower, upper) in [([0x50], [0x51]), ([0x54], [0x55])] as [([UInt8], [UInt8])] {
            var next = lower
            while true {
                try check()
                let batch = try pages.pages(from: next, below: upper, limit: 64)
                for page in batch {
                    let id = page.key.dropFirst().prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                    if lower == [0x50] { found[id, default: (0, 0)].positions += 1 } else { found[id, default: (0, 0)].terms += 1 }
                }
                guard let last = batch.last, batch.count == 64 else { break }
                next = last.key + [0]
            }
        }
        for segment in structure.segments + structure.merges.map(\.output) {
            var (terms, positions) = (segment.pages, segment.positionPages)
            for merge in structure.merges {
                // The inputs of an unfinished merge have lost the pages that were merged.
                guard let input = merge.inputs.firstIndex(of: segment.id) else { continue }
                terms -= merge.removedPages[input]
                positions -= merge.firstPositionPages[input]
            }
            let pages = found.removeValue(forKey: segment.id) ?? (0, 0)
            guard pages != (terms, positions) else { continue }
            report(
                "Segment \(segment.id) of the index has \(pages.terms) pages of terms and \(pages.positions) of positions, and should have "
                    + "\(terms) and \(positions)."
            )
        }
        for id in found.keys.sorted() { report("The index has pages of segment \(id), which does not exist.") }
    }
}

/// The second pass.
extension SearchIndexVerifier {
    private struct Occurrence: Hashable {
        var document: Int64
        var term: [UInt8]
    }

    private func compareDocuments(
        in groups: Set<Int>, _ structure: IndexStructure, _ documents: Documents, _ check: @escaping () throws -> Void
    ) throws {
        var expected: [Occurrence: [UInt64]] = [:]
        var compared = Set<Int64>()
        var known = Set<Int64>()
        try documents { document, texts in
            try check()
            guard groups.contains(Self.group(document)) else { return }
            if known.count < 100_000 { known.insert(document) }
            guard compared.count < Self.detailed else { return }
            compared.insert(document)
            forEachToken(texts) { term, field, position in
                let occurrence = Occurrence(document: document, term: Array(term.prefix(PageKey.maximumTermLength)))
                expected[occurrence, default: []].append(UInt64(field) << 32 | UInt64(position))
            }
        }
        let before = findings.count
        try scan(structure, comparesCounts: false, check) { term, document, positions in
            guard groups.contains(Self.group(document)) else { return }
            guard compared.contains(document) else {
                if known.count < 100_000, !known.contains(document) {
                    report("The index has the term \(Self.name(term)) of document \(document), which does not exist.")
                }
                return
            }
            guard let places = expected.removeValue(forKey: Occurrence(document: document, term: term)) else {
                return report("The index has the term \(Self.name(term)) of document \(document), whose texts do not have it.")
            }
            if places != positions { report("The index has wrong positions of the term \(Self.name(term)) in document \(document).") }
        }
        for occurrence in expected.keys.sorted(by: { $0.document != $1.document ? $0.document < $1.document : $0.term.precedes($1.term) }) {
            report("The index does not have the term \(Self.name(occurrence.term)) of document \(occurrence.document).")
        }
        if findings.count == before {
            report("The index differs from the texts of more documents than can be compared. Build it again.")
        }
    }
}
