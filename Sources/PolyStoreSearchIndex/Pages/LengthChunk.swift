/// The number of tokens of each of 256 documents with consecutive ids.
final class LengthChunk {
    /// The value of a document that the index does not have.
    static let absent = UInt32.max
    private let lengths: UnsafeMutablePointer<UInt32>

    /// Creates a chunk without documents.
    init() {
        lengths = .allocate(capacity: 256)
        lengths.initialize(repeating: Self.absent, count: 256)
    }

    deinit { lengths.deallocate() }

    @inline(__always)
    subscript(document: DocumentKey) -> UInt32 {
        get { lengths[Int(document & 255)] }
        set { lengths[Int(document & 255)] = newValue }
    }

    /// The number of documents.
    var count: Int { (0..<256).reduce(0) { $0 + (lengths[$1] == Self.absent ? 0 : 1) } }

    /// The bytes of the chunk: for few documents their offsets and lengths, otherwise 256 numbers of two or four bytes. A number without a document has all bits set.
    var bytes: [UInt8] {
        let buffer = ByteBuffer(capacity: 600)
        let count = self.count
        if count <= 24 {
            buffer.append(0)
            buffer.append(UInt8(count))
            for offset in 0..<256 where lengths[offset] != Self.absent {
                buffer.append(UInt8(offset))
                buffer.append(varint: UInt64(lengths[offset]))
            }
            return buffer.bytes
        }
        let isShort = (0..<256).allSatisfy { lengths[$0] == Self.absent || lengths[$0] < UInt16.max }
        buffer.append(isShort ? 2 : 4)
        for offset in 0..<256 {
            for byte in 0..<(isShort ? 2 : 4) { buffer.append(UInt8(truncatingIfNeeded: lengths[offset] >> UInt32(byte * 8))) }
        }
        return buffer.bytes
    }

    /// Decodes a chunk.
    init(_ bytes: [UInt8]) throws {
        lengths = .allocate(capacity: 256)
        try bytes.withUnsafeBytes { buffer in
            guard let form = buffer.first else { throw SearchIndexError.damaged("a page of lengths is empty") }
            if form == 0 { return try decodeFew(bytes) }
            guard form == 2 || form == 4, buffer.count == 1 + 256 * Int(form) else {
                throw SearchIndexError.damaged("a page of lengths has an unknown form")
            }
            for offset in 0..<256 {
                if form == 2 {
                    let value = UInt16(littleEndian: buffer.loadUnaligned(fromByteOffset: 1 + offset * 2, as: UInt16.self))
                    lengths[offset] = value == .max ? Self.absent : UInt32(value)
                } else {
                    lengths[offset] = UInt32(littleEndian: buffer.loadUnaligned(fromByteOffset: 1 + offset * 4, as: UInt32.self))
                }
            }
        }
    }

    private func decodeFew(_ bytes: [UInt8]) throws {
        lengths.initialize(repeating: Self.absent, count: 256)
        let page = PageBytes(bytes)
        var reader = page.reader
        _ = try reader.byte()
        for _ in 0..<(try reader.byte()) {
            let offset = Int(try reader.byte())
            lengths[offset] = UInt32(try reader.count(atMost: Int(UInt32.max - 1)))
        }
        guard reader.isAtEnd else { throw SearchIndexError.trailingBytes("a page of lengths") }
    }
}

/// Finds the lengths of documents, and keeps the chunks that it read.
final class LengthReader {
    private let pages: any SearchPageReader
    private var chunks: [UInt64: LengthChunk] = [:]
    private var last: (number: UInt64, chunk: LengthChunk)?
    /// Chunks that were changed and not written yet. They are never read again from the pages.
    private var changed: [UInt64: LengthChunk] = [:]
    /// The number of chunks that are kept.
    private let limit: Int

    init(_ pages: any SearchPageReader, limit: Int = 4_096) {
        self.pages = pages
        self.limit = limit
    }

    /// Returns the number of tokens of a document; ``LengthChunk/absent`` if the index does not have the document.
    @inline(__always)
    func length(_ document: DocumentKey) throws -> UInt32 {
        let number = PageKey.chunk(document)
        if let last, last.number == number { return last.chunk[document] }
        return try load(number)[document]
    }

    @inline(never)
    private func load(_ number: UInt64) throws -> LengthChunk {
        if let chunk = changed[number] {
            last = (number, chunk)
            return chunk
        }
        if let chunk = chunks[number] {
            last = (number, chunk)
            return chunk
        }
        if chunks.count >= limit { chunks.removeAll(keepingCapacity: true) }
        // Documents are mostly requested in ascending order. If they are near each other, the next chunks are read too.
        guard let last, last.number < number, number - last.number <= 4 else {
            let chunk = try pages.pages(at: [PageKey.lengths(number)])[0].map { try LengthChunk($0) } ?? LengthChunk()
            chunks[number] = chunk
            self.last = (number, chunk)
            return chunk
        }
        try loadSequence(from: number)
        let chunk = chunks[number] ?? LengthChunk()
        chunks[number] = chunk
        self.last = (number, chunk)
        return chunk
    }

    /// The number of chunks that are read in sequence in one request.
    private static let sequence: UInt64 = 16

    /// Reads a chunk and those that follow it, in one request.
    private func loadSequence(from number: UInt64) throws {
        let upper = PageKey.lengths(number + Self.sequence)
        for page in try pages.pages(from: PageKey.lengths(number), below: upper, limit: Int(Self.sequence)) {
            let key = page.key.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if changed[key] == nil, chunks[key] == nil { chunks[key] = try LengthChunk(page.bytes) }
        }
    }

    /// Reads the lengths of some ascending documents in one request.
    /// - Parameter readsAhead: Whether documents that follow are expected, whose lengths are read too if they are near.
    func load(_ documents: [DocumentKey], readsAhead: Bool) throws {
        var numbers: [UInt64] = []
        for number in documents.lazy.map(PageKey.chunk) where numbers.last != number { numbers.append(number) }
        guard readsAhead, let first = numbers.first(where: { chunks[$0] == nil && changed[$0] == nil }), let last = numbers.last,
            first <= last, last - first < Self.sequence
        else { return try load(numbers) }
        if chunks.count + Int(Self.sequence) > limit { evict(keeping: numbers) }
        try loadSequence(from: first)
        for number in numbers where chunks[number] == nil && changed[number] == nil { chunks[number] = LengthChunk() }
    }

    /// Forgets chunks that were read, except some.
    private func evict(keeping kept: [UInt64]) {
        let all = chunks
        chunks.removeAll(keepingCapacity: true)
        for number in kept { if let chunk = all[number] { chunks[number] = chunk } }
    }

    /// Reads chunks, many in one request.
    func load(_ numbers: [UInt64]) throws {
        var rest = numbers.filter { chunks[$0] == nil && changed[$0] == nil }[...]
        if chunks.count + rest.count > limit { evict(keeping: numbers) }
        while !rest.isEmpty {
            let part = Array(rest.prefix(512))
            for (number, bytes) in zip(part, try pages.pages(at: part.map(PageKey.lengths))) {
                chunks[number] = try bytes.map { try LengthChunk($0) } ?? LengthChunk()
            }
            rest = rest.dropFirst(512)
        }
    }

    /// Returns the chunks of some documents in order to change them. They are kept until ``writeEnded()``.
    func change(_ numbers: [UInt64]) throws -> [UInt64: LengthChunk] {
        last = nil
        try load(numbers)
        for number in numbers {
            guard changed[number] == nil else { continue }
            changed[number] = chunks.removeValue(forKey: number) ?? LengthChunk()
        }
        return changed
    }

    /// Keeps changed chunks as read ones, after they were written.
    func writeEnded() {
        if chunks.count + changed.count > limit { chunks.removeAll(keepingCapacity: true) }
        if changed.count <= limit { chunks.merge(changed) { $1 } }
        changed.removeAll()
        last = nil
    }
}
