/// Documents.
extension SegmentCursor {
    /// Goes to the next posting of the term.
    @inline(__always)
    func next() throws {
        index += 1
        if index < block.count {
            document = documents[index]
        } else {
            try nextDecodedBlock()
        }
    }

    @inline(never)
    private func nextDecodedBlock() throws {
        guard try nextBlock() else {
            isAtEnd = true
            return
        }
        try enterBlock()
    }

    /// Goes to the first posting whose document is not below a document.
    func skip(to target: DocumentKey) throws {
        if isAtEnd || document >= target { return }
        guard try moveBlock(to: target) else {
            isAtEnd = true
            return
        }
        if !isDecoded { try enterBlock() }
        while documents[index] < target { index += 1 }
        document = documents[index]
    }

    /// Appends the current document and those after it in the block, without those that are deleted, up to a number, and goes to the posting after them.
    func appendDocuments(to list: inout [DocumentKey], _ limit: Int) throws {
        guard block.kind < PostingKind.deleted.rawValue else {
            if try kind() != .deleted { list.append(document) }
            return try next()
        }
        let count = min(limit, block.count - index)
        list.append(contentsOf: UnsafeBufferPointer(start: documents + index, count: count))
        index += count - 1
        try next()
    }

    /// Keeps those of some ascending documents that have a posting which is not a deletion, and goes to the first posting that is not below the last of them.
    func retain(_ list: inout [DocumentKey]) throws {
        var kept = 0
        var next = 0
        while next < list.count {
            try skip(to: list[next])
            guard !isAtEnd else { break }
            let (last, documents) = (block.last, documents)
            let mayBeDeleted = block.kind >= PostingKind.deleted.rawValue
            var place = index
            while next < list.count, list[next] <= last {
                let target = list[next]
                next += 1
                while documents[place] < target { place += 1 }
                guard documents[place] == target, try !mayBeDeleted || kind(of: place) != .deleted else { continue }
                list[kept] = target
                kept += 1
            }
            index = place
            document = documents[place]
        }
        list.removeLast(list.count - kept)
    }

    /// Goes to the block with the first document that is not below a document, without decoding it. Only ``skip(to:)`` may follow.
    ///
    /// Returns the last document for which the block's bounds hold. ``isInBlock`` is whether these documents are in the block.
    func shallow(to target: DocumentKey) throws -> DocumentKey {
        isInBlock = false
        if isAtEnd { return .max }
        guard try moveBlock(to: target) else {
            isAtEnd = true
            return .max
        }
        guard target >= block.first else { return block.first - 1 }
        isInBlock = true
        return block.last
    }

    /// The bounds of the block; nil if it has none.
    func bounds() throws -> ImpactLine? {
        guard block.impactCount > 0 else { return nil }
        if block.hasReadImpacts { return line }
        let read = line ?? ImpactLine()
        line = read
        try read.read(block.impactCount, block.impacts)
        block.hasReadImpacts = true
        return read
    }

    /// Decodes the documents of the block and goes to the first.
    func enterBlock() throws {
        if capacity < block.count { grow() }
        var content = block.content
        documents[0] = block.first
        var value = block.first
        for place in 1..<max(block.count, 1) {
            let difference = try content.varint()
            let (sum, overflow) = value.addingReportingOverflow(difference)
            guard difference > 0, !overflow else { throw SearchIndexError.damaged("the documents of a block are not in order") }
            value = sum
            documents[place] = value
        }
        guard value == block.last else { throw SearchIndexError.damaged("the documents of a block exceed its bounds") }
        kinds = block.kind == 3 ? try content.take((block.count + 3) / 4) : nil
        frequencies = content
        hasFrequencies = false
        isDecoded = true
        positionReader = nil
        index = 0
        document = block.first
        source.decoded += block.count
        decoded += block.count
    }

    private func grow() {
        documents.deallocate()
        totals.deallocate()
        frequencyOffsets.deallocate()
        capacity = max(block.count, min(capacity * 4, 128))
        documents = .allocate(capacity: capacity)
        totals = .allocate(capacity: capacity)
        frequencyOffsets = .allocate(capacity: capacity + 1)
    }

    /// The kind of the current posting.
    func kind() throws -> PostingKind { block.kind == 0 ? .added : try kind(of: index) }

    private func kind(of place: Int) throws -> PostingKind { try kind(kind(at: place)) }

    private func kind(_ value: UInt8) throws -> PostingKind {
        guard let kind = PostingKind(rawValue: value) else { throw SearchIndexError.damaged("a posting has an unknown kind") }
        return kind
    }

    private func kind(at place: Int) -> UInt8 { kinds.map { $0[place >> 2] >> UInt8((place & 3) * 2) & 3 } ?? block.kind }

    private func decodeFrequencies() throws {
        var reader = frequencies
        for place in 0..<block.count {
            frequencyOffsets[place] = UInt32(reader.next - frequencies.next)
            totals[place] = 0
            if kind(at: place) == PostingKind.deleted.rawValue { continue }
            let total = try Frequencies.read(&reader, fields: fields)
            guard total <= Int(UInt32.max) else { throw SearchIndexError.damaged("a posting has too many occurrences") }
            totals[place] = UInt32(total)
        }
        guard reader.isAtEnd else { throw SearchIndexError.trailingBytes("a block of postings") }
        frequencyOffsets[block.count] = UInt32(reader.next - frequencies.next)
        hasFrequencies = true
    }

    /// The number of occurrences in all fields.
    @inline(__always)
    func total() throws -> Int {
        if !hasFrequencies { try decodeFrequencies() }
        return Int(totals[index])
    }

    /// Goes to the first posting of the block, from the current one on, with a number of occurrences or more, which is positive, up to a document. Returns false if there is none.
    func find(_ frequency: Int, upTo last: DocumentKey) throws -> Bool {
        if !hasFrequencies { try decodeFrequencies() }
        let (count, totals, documents) = (block.count, totals, documents)
        let sought = UInt32(clamping: frequency)
        var place = index
        while place < count, totals[place] < sought { place += 1 }
        guard place < count, documents[place] <= last else { return false }
        index = place
        document = documents[place]
        return true
    }

    /// Calls a closure with each field that has occurrences and their number.
    @inline(__always)
    func forEachField(_ body: (Int, Int) throws -> Void) throws {
        let total = try self.total()
        guard total > 0 else { return }
        if fields == 1 { return try body(0, total) }
        var reader = ByteReader(frequencies.next + Int(frequencyOffsets[index]), end: frequencies.end)
        try Frequencies.forEach(&reader, fields: fields, body)
    }

    /// The bytes of the positions of the current posting.
    private func positionBytes(_ total: Int) throws -> ByteReader {
        if positionReader == nil {
            positionReader = try blockPositions()
            positionIndex = 0
        }
        guard var reader = positionReader else { throw SearchIndexError.damaged("a block has no positions") }
        while positionIndex < index {
            try reader.skipVarints(Int(totals[positionIndex]))
            positionIndex += 1
        }
        positionReader = reader
        return reader
    }

    private func blockPositions() throws -> ByteReader {
        if let inline = block.positions { return inline }
        guard let place = block.positionPage else { return ByteReader(block.content.end, end: block.content.end) }
        if positionBytes?.number != place.number {
            positionBytes = (place.number, try source.positions(of: view.id, page: place.number))
        }
        guard let page = positionBytes?.bytes, place.offset <= page.count else {
            throw SearchIndexError.damaged("a page of positions is too short")
        }
        return ByteReader(page.start + place.offset, end: page.start + page.count)
    }

    /// Appends the positions of the current posting: the field in the upper half, the position in the lower half, ascending.
    func appendPositions(to list: PositionList) throws {
        let total = try self.total()
        guard total > 0 else { return }
        var reader = try positionBytes(total)
        guard fields > 1 else { return try Self.read(total, field: 0, from: &reader, to: list) }
        try forEachField { field, count in try Self.read(count, field: UInt64(field) << 32, from: &reader, to: list) }
    }

    @inline(__always)
    private static func read(_ count: Int, field: UInt64, from reader: inout ByteReader, to list: PositionList) throws {
        guard count <= reader.remaining else { throw SearchIndexError.damaged("a page of positions is too short") }
        let target = list.extend(count)
        var position: UInt64 = 0
        var isOrdered = true
        for place in 0..<count {
            let difference = try reader.varint()
            if difference == 0, place > 0 { isOrdered = false }
            position &+= difference
            if position > UInt64(UInt32.max) { isOrdered = false }
            target[place] = field | (position & 0xffff_ffff)
        }
        guard isOrdered else { throw SearchIndexError.damaged("the positions of a posting are not in order") }
    }
}
