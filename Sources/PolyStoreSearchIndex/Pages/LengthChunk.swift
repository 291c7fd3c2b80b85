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

    /// The bytes of the chunk: for few documents their offsets and lengths, otherwise 256 numbers of two or four bytes, all bits of which are set where there is no document.
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
        // Documents are mostly asked for in ascending order; where they are near each other, the chunks that follow are read too.
        guard let last, last.number < number, number - last.number <= 4 else {
            let chunk = try pages.pages(at: [PageKey.lengths(number)])[0].map { try LengthChunk($0) } ?? LengthChunk()
            chunks[number] = chunk
            self.last = (number, chunk)
            return chunk
        }
        let chunk = LengthChunk()
        chunks[number] = chunk
        for page in try pages.pages(from: PageKey.lengths(number), below: PageKey.lengths(number + 16), limit: 16) {
            let key = page.key.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if key == number || chunks[key] == nil { chunks[key] = try LengthChunk(page.bytes) }
        }
        let result = chunks[number] ?? chunk
        self.last = (number, result)
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
