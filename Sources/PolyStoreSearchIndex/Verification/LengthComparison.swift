/// Compares the lengths of the documents with those of the texts, in ascending order of the documents.
final class LengthComparison {
    private let pages: any SearchPageReader
    private let report: (String) -> Void
    private var chunk = LengthChunk()
    private var number: UInt64?
    private var next: [UInt8] = [0x4c]
    private var ahead: [SearchPage] = []
    private var documents = 0
    private var tokens = 0

    init(_ pages: any SearchPageReader, _ report: @escaping (String) -> Void) {
        self.pages = pages
        self.report = report
    }

    /// Compares the length of a document with the number of its tokens.
    func add(_ document: DocumentKey, _ count: Int) throws {
        documents += 1
        tokens += count
        try move(to: PageKey.chunk(document))
        let known = number == PageKey.chunk(document) ? chunk[document] : LengthChunk.absent
        if known == LengthChunk.absent {
            report("The index has no length of document \(document.document).")
        } else if Int(known) != count {
            report("The index has the length \(known) of document \(document.document), whose texts have \(count) tokens.")
        }
        if number == PageKey.chunk(document) { chunk[document] = LengthChunk.absent }
    }

    /// Compares the counts of all documents.
    func finish(_ structure: IndexStructure) throws {
        try move(to: .max)
        if structure.documents != documents { report("The index counts \(structure.documents) documents, and there are \(documents).") }
        if structure.tokens != tokens { report("The index counts \(structure.tokens) tokens, and the texts have \(tokens).") }
    }

    /// Goes to the first chunk that is not below a number. What remains in the chunks before it has no document.
    private func move(to sought: UInt64) throws {
        while number.map({ $0 < sought }) ?? true {
            if let number {
                for offset in 0..<UInt64(256) where chunk[offset] != LengthChunk.absent {
                    report("The index has a length of document \((number << 8 | offset).document), which does not exist.")
                }
            }
            if ahead.isEmpty {
                ahead = try pages.pages(from: next, below: [0x4d], limit: 32).reversed()
                if let last = ahead.first { next = last.key + [0] }
            }
            guard let page = ahead.popLast() else {
                number = .max
                chunk = LengthChunk()
                return
            }
            number = page.key.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            chunk = try LengthChunk(page.bytes)
        }
    }
}
