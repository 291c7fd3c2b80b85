/// Makes postings of the occurrences that a table collected, in the order of the documents.
final class PostingDecoder {
    private struct Item {
        var order: Int
        var document: DocumentKey
        var hadTerm: Bool
        var hasTerm: Bool
        var total = 0
        var frequencies: Range<Int>
        var positions: Range<Int>
    }

    private let fields: Int
    private let documents: [DocumentKey]
    /// The order of the slots by document, and of equal documents by slot; nil if the slots are in this order.
    private let order: [Int]?
    private let bytes = ByteBuffer(capacity: 4_096)
    private let frequencies = ByteBuffer(capacity: 4_096)
    private let positions = ByteBuffer(capacity: 4_096)
    private var items: [Item] = []
    private var term = TermBuffer()

    init(documents: [DocumentKey], fields: Int) {
        self.documents = documents
        self.fields = fields
        guard zip(documents, documents.dropFirst()).contains(where: { $0 >= $1 }) else {
            order = nil
            return
        }
        var order = [Int](repeating: 0, count: documents.count)
        let sorted = documents.indices.sorted { (documents[$0], $0) < (documents[$1], $1) }
        for (place, slot) in sorted.enumerated() { order[slot] = place }
        self.order = order
    }

    deinit { term.deallocate() }

    /// Adds the postings of a term to a segment.
    func write(_ index: Int, of table: PostingTable, to writer: SegmentWriter) throws {
        bytes.removeAll()
        table.copy(index, to: bytes)
        try decode()
        if order != nil { items.sort { $0.order < $1.order } }
        table.copyTerm(index, to: &term)
        try writer.begin(term)
        var place = 0
        while place < items.count {
            let first = items[place]
            while place + 1 < items.count, items[place + 1].document == first.document { place += 1 }
            try add(items[place], hadTerm: first.hadTerm, to: writer)
            place += 1
        }
        try writer.end()
    }

    private func add(_ item: Item, hadTerm: Bool, to writer: SegmentWriter) throws {
        guard item.hasTerm else {
            guard hadTerm else { return }
            return try writer.add(
                Posting(
                    document: item.document, kind: .deleted, total: 0, frequencies: frequencies.start, frequencyCount: 0,
                    positions: positions.start, positionCount: 0
                )
            )
        }
        try writer.add(
            Posting(
                document: item.document, kind: hadTerm ? .replaced : .added, total: item.total,
                frequencies: frequencies.start + item.frequencies.lowerBound, frequencyCount: item.frequencies.count,
                positions: positions.start + item.positions.lowerBound, positionCount: item.positions.count
            )
        )
    }

    private func decode() throws {
        items.removeAll(keepingCapacity: true)
        frequencies.removeAll()
        positions.removeAll()
        var reader = bytes.reader
        var slot = -1
        var field = 0
        var count = 0
        while !reader.isAtEnd {
            let code = try reader.varint()
            if code & 1 == 0 {
                positions.append(varint: code >> 1)
                count += 1
                continue
            }
            let difference = Int(code >> 2)
            if difference > 0 {
                closeItem(field, count)
                count = 0
                slot += difference
                items.append(
                    Item(
                        order: order?[slot] ?? slot, document: documents[slot], hadTerm: code & 2 != 0, hasTerm: false,
                        frequencies: frequencies.count..<frequencies.count, positions: positions.count..<positions.count
                    )
                )
                if code & 2 != 0 { continue }
            } else {
                closeField(field, count, isLast: false)
            }
            if fields > 1 { field = Int(try reader.varint()) }
            positions.append(varint: try reader.varint())
            count = 1
        }
        closeItem(field, count)
    }

    /// Writes the number of occurrences of a field.
    private func closeField(_ field: Int, _ count: Int, isLast: Bool) {
        guard count > 0, !items.isEmpty else { return }
        items[items.count - 1].total += count
        if fields == 1 { return frequencies.append(varint: count) }
        frequencies.append(varint: count << 1 | (isLast ? 0 : 1))
        frequencies.append(UInt8(truncatingIfNeeded: field))
    }

    private func closeItem(_ field: Int, _ count: Int) {
        closeField(field, count, isLast: true)
        guard !items.isEmpty else { return }
        let last = items.count - 1
        items[last].hasTerm = items[last].total > 0
        items[last].frequencies = items[last].frequencies.lowerBound..<frequencies.count
        items[last].positions = items[last].positions.lowerBound..<positions.count
    }
}
