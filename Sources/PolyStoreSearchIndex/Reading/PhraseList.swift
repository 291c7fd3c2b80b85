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

    /// Adds a document, which must be greater than those before.
    func append(_ document: DocumentKey, _ cursor: PhraseCursor) throws {
        documents += 1
        try cursor.forEachField { field, count in
            entries.append(Entry(document: document, field: UInt32(field), count: UInt32(clamping: count)))
        }
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
        // Doubles the distance until it passes the target, then searches within it.
        let entries = list.entries
        var step = 1
        while index + step < entries.count, entries[index + step].document < target { step *= 2 }
        var low = index + step / 2
        var high = min(index + step, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].document < target { low = middle + 1 } else { high = middle }
        }
        index = low
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
