/// The documents with a phrase and its occurrences, kept after they were counted.
final class PhraseList {
    struct Entry {
        var document: DocumentKey
        var field: UInt32
        var count: UInt32
    }

    /// One entry for each document and field, ascending.
    fileprivate(set) var entries: [Entry] = []
    fileprivate(set) var documents = 0

    init() {}

    /// Adds a document, which must be greater than those before unless ``combine()`` follows.
    func append(_ document: DocumentKey, _ cursor: PhraseCursor) throws {
        documents += 1
        try cursor.forEachField { field, count in
            entries.append(Entry(document: document, field: UInt32(field), count: UInt32(clamping: count)))
        }
    }

    func removeAll() {
        entries = []
        documents = 0
    }

    /// Orders the entries, and adds up those of the same document and field.
    func combine() {
        entries.sort { $0.document != $1.document ? $0.document < $1.document : $0.field < $1.field }
        documents = 0
        var kept = 0
        for index in entries.indices {
            let entry = entries[index]
            let isSame = kept > 0 && entries[kept - 1].document == entry.document
            if !isSame { documents += 1 }
            if isSame, entries[kept - 1].field == entry.field {
                let (sum, overflow) = entries[kept - 1].count.addingReportingOverflow(entry.count)
                entries[kept - 1].count = overflow ? .max : sum
            } else {
                entries[kept] = entry
                kept += 1
            }
        }
        entries.removeLast(entries.count - kept)
    }
}

/// Goes through the documents of a list.
final class ListCursor: PhraseCursor {
    private let list: PhraseList
    private var index = 0

    init(_ list: PhraseList) {
        self.list = list
        super.init()
        settle()
    }

    override var estimate: Int { list.documents }

    private func settle() {
        isAtEnd = index >= list.entries.count
        if !isAtEnd { document = list.entries[index].document }
    }

    override func next() throws {
        let entries = list.entries
        while index < entries.count, entries[index].document == document { index += 1 }
        settle()
    }

    override func skip(to target: DocumentKey) throws {
        if isAtEnd || document >= target { return }
        let entries = list.entries
        index = (index..<entries.count).place { entries[$0].document < target }
        settle()
    }

    override func forEachField(_ body: (Int, Int) throws -> Void) throws {
        var place = index
        while place < list.entries.count, list.entries[place].document == document {
            try body(Int(list.entries[place].field), Int(list.entries[place].count))
            place += 1
        }
    }
}
