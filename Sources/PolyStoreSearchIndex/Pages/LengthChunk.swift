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

    /// The bytes of the chunk: for few documents their offsets, otherwise a set of bits, and the lengths.
    var bytes: [UInt8] {
        let buffer = ByteBuffer(capacity: 600)
        let count = self.count
        buffer.append(count <= 24 ? 0 : 1)
        if count <= 24 {
            buffer.append(UInt8(count))
            for offset in 0..<256 where lengths[offset] != Self.absent {
                buffer.append(UInt8(offset))
                buffer.append(varint: UInt64(lengths[offset]))
            }
            return buffer.bytes
        }
        for group in 0..<32 {
            var bits: UInt8 = 0
            for bit in 0..<8 where lengths[group * 8 + bit] != Self.absent { bits |= 1 << UInt8(bit) }
            buffer.append(bits)
        }
        for offset in 0..<256 where lengths[offset] != Self.absent { buffer.append(varint: UInt64(lengths[offset])) }
        return buffer.bytes
    }

    /// Decodes a chunk.
    convenience init(_ bytes: [UInt8]) throws {
        self.init()
        let page = PageBytes(bytes)
        var reader = page.reader
        switch try reader.byte() {
        case 0:
            for _ in 0..<(try reader.byte()) {
                let offset = Int(try reader.byte())
                lengths[offset] = UInt32(try reader.count(atMost: Int(UInt32.max - 1)))
            }
        case 1:
            let bits = try reader.take(32)
            for offset in 0..<256 where bits[offset >> 3] & 1 << UInt8(offset & 7) != 0 {
                lengths[offset] = UInt32(try reader.count(atMost: Int(UInt32.max - 1)))
            }
        default: throw SearchIndexError.damaged("a page of lengths has an unknown form")
        }
        guard reader.isAtEnd else { throw SearchIndexError.trailingBytes("a page of lengths") }
    }
}

/// Finds the lengths of documents, and keeps the chunks that it read.
final class LengthReader {
    private let pages: any SearchPageReader
    private var chunks: [UInt64: LengthChunk] = [:]
    private var last: (number: UInt64, chunk: LengthChunk)?
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
        if let chunk = chunks[number] {
            last = (number, chunk)
            return chunk
        }
        if chunks.count >= limit { chunks.removeAll(keepingCapacity: true) }
        // Documents are mostly asked for in ascending order, so the chunks that follow are read too.
        let ahead = last.map { $0.number < number && number - $0.number <= 4 } == true
        let upper = number.addingReportingOverflow(ahead ? 16 : 1)
        let found = try pages.pages(
            from: PageKey.lengths(number), below: upper.overflow ? [0x4d] : PageKey.lengths(upper.partialValue), limit: 16
        )
        let chunk = LengthChunk()
        chunks[number] = chunk
        for page in found {
            let key = page.key.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            chunks[key] = try LengthChunk(page.bytes)
        }
        let result = chunks[number] ?? chunk
        last = (number, result)
        return result
    }

    /// Reads the chunks of some documents in one request.
    func load(_ numbers: [UInt64]) throws {
        let missing = numbers.filter { chunks[$0] == nil }
        guard !missing.isEmpty else { return }
        for (number, bytes) in zip(missing, try pages.pages(at: missing.map(PageKey.lengths))) {
            chunks[number] = try bytes.map { try LengthChunk($0) } ?? LengthChunk()
        }
    }

    /// Returns a chunk that ``load(_:)`` read.
    func chunk(_ number: UInt64) throws -> LengthChunk { try load(number) }
}
