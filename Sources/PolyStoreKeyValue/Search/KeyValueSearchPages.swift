import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import PolyStoreSearchIndex

/// The pages of a full-text index in the key space of an engine.
///
/// The value of a page is a 0 and its bytes, sealed like a chunk of a long value. Of a page that is longer than ``EngineTraits/maximumPieceSize`` it is a 1 and the number of the page's
/// chunks, u32, which are stored under keys of their own: ``Keyspace/searchChunk``.
class KeyValueSearchPages: SearchPageReader {
    fileprivate let prefix: [UInt8]
    fileprivate let chunkPrefix: [UInt8]
    fileprivate let layout: StoreLayout
    private let snapshot: any EngineSnapshot

    init(_ number: UInt32, _ layout: StoreLayout, _ snapshot: any EngineSnapshot) {
        prefix = [Keyspace.search.rawValue] + BigEndianInteger.bytes(number)
        chunkPrefix = [Keyspace.searchChunk.rawValue] + BigEndianInteger.bytes(number)
        self.layout = layout
        self.snapshot = snapshot
    }

    func pages(atOrAfter keys: [[UInt8]]) throws -> [SearchPage?] {
        if keys.isEmpty { return [] }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        return try keys.map { key in
            guard try (prefix + key).withUnsafeBytes({ try cursor.seek($0) }), isOwn(cursor.key) else { return nil }
            return try page(cursor)
        }
    }

    func pages(at keys: [[UInt8]]) throws -> [[UInt8]?] {
        try keys.map { key in
            let stored = prefix + key
            guard let value = try stored.withUnsafeBytes({ try snapshot.get($0) }) else { return nil }
            return try bytes(value, stored)
        }
    }

    func pages(from lower: [UInt8], below upper: [UInt8], limit: Int) throws -> [SearchPage] {
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        let end = prefix + upper
        var found: [SearchPage] = []
        var more = try (prefix + lower).withUnsafeBytes { try cursor.seek($0) }
        while more, found.count < limit, end.withUnsafeBytes({ Order.of(cursor.key, $0) < 0 }), isOwn(cursor.key) {
            found.append(try page(cursor))
            more = try cursor.next()
        }
        return found
    }

    fileprivate func isOwn(_ key: UnsafeRawBufferPointer) -> Bool { prefix.withUnsafeBytes { key.starts(with: $0) } }

    private func page(_ cursor: EngineCursor) throws -> SearchPage {
        let key = [UInt8](cursor.key)
        return SearchPage(key: Array(key.dropFirst(prefix.count)), bytes: try bytes(cursor.value, key))
    }

    /// Returns the bytes of a page.
    private func bytes(_ value: UnsafeRawBufferPointer, _ key: [UInt8]) throws -> [UInt8] {
        let opened = key.withUnsafeBytes { Chunk.open(value, $0, layout.traits) }
        guard let opened, let kind = opened.first else { throw damaged }
        if kind == 0 { return [UInt8](opened.dropFirst()) }
        guard kind == 1, let count: UInt32 = BigEndianInteger.read(UnsafeRawBufferPointer(rebasing: opened[1...])) else { throw damaged }
        var bytes: [UInt8] = []
        for number in 0..<count {
            let key = chunkKey(Array(key.dropFirst(prefix.count)), number)
            let part = try key.withUnsafeBytes { key in try snapshot.get(key).flatMap { Chunk.open($0, key, layout.traits) } }
            guard let part else { throw damaged }
            bytes += part
        }
        return bytes
    }

    fileprivate func chunkKey(_ page: [UInt8], _ number: UInt32) -> [UInt8] { chunkPrefix + page + BigEndianInteger.bytes(number) }

    private var damaged: SearchIndexError { .damaged("a page has a wrong checksum or lacks a part") }

    /// Returns the keys of a range, at most a number of them.
    fileprivate func keys(from lower: [UInt8], below upper: [UInt8], limit: Int = .max) throws -> [[UInt8]] {
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        var found: [[UInt8]] = []
        var more = try lower.withUnsafeBytes { try cursor.seek($0) }
        while more, found.count < limit, upper.withUnsafeBytes({ Order.of(cursor.key, $0) < 0 }) {
            found.append([UInt8](cursor.key))
            more = try cursor.next()
        }
        return found
    }
}

/// The pages of a full-text index in a write transaction.
final class KeyValueSearchPageWriter: KeyValueSearchPages, SearchPageWriter {
    private let writer: any EngineWriter
    /// A Boolean value that indicates whether a page of the index has chunks; nil until it is needed.
    private var hasChunks: Bool?

    init(_ number: UInt32, _ layout: StoreLayout, writer: any EngineWriter) {
        self.writer = writer
        super.init(number, layout, writer)
    }

    func write(_ pages: [SearchPage], removing keys: [[UInt8]]) throws {
        var list = WriteList(prefixCount: WriteList.numberedPrefixCount, capacity: pages.count + keys.count)
        if try pagesHaveChunks() {
            for key in pages.map(\.key) + keys { try removeChunks(key) }
        }
        for key in keys { (prefix + key).withUnsafeBytes { list.add($0, nil) } }
        for page in pages {
            let key = prefix + page.key
            guard page.bytes.count > layout.traits.maximumPieceSize else {
                add([0] + page.bytes, key, to: &list)
                continue
            }
            add([1] + BigEndianInteger.bytes(try writeChunks(of: page)), key, to: &list)
        }
        try list.write(to: writer)
    }

    func remove(from lower: [UInt8], below upper: [UInt8]) throws {
        for key in try keys(from: prefix + lower, below: prefix + upper) { try writer.remove(key) }
        guard try pagesHaveChunks() else { return }
        for key in try keys(from: chunkPrefix + lower, below: chunkPrefix + upper) { try writer.remove(key) }
    }

    /// Removes pages of the index and their chunks.
    /// - Parameter limit: The maximum number of keys.
    /// - Returns: Whether none remain.
    func removeAll(limit: Int) throws -> Bool {
        hasChunks = nil
        var count = 0
        for prefix in [prefix, chunkPrefix] {
            let keys = try keys(from: prefix, below: KeyRange.successor(prefix), limit: limit - count)
            for key in keys { try writer.remove(key) }
            count += keys.count
            if count >= limit { return false }
        }
        return true
    }

    private func add(_ bytes: [UInt8], _ key: [UInt8], to list: inout WriteList) {
        key.withUnsafeBytes { key in
            let offset = list.arena.append(key)
            let count = bytes.withUnsafeBytes { Chunk.seal($0, key, layout.traits, into: list.arena) }
            list.add(at: offset, keyCount: key.count, valueCount: count)
        }
    }

    /// Writes the chunks of a long page and returns their number.
    private func writeChunks(of page: SearchPage) throws -> UInt32 {
        hasChunks = true
        let size = layout.traits.maximumPieceSize
        var list = WriteList(prefixCount: WriteList.numberedPrefixCount)
        var number: UInt32 = 0
        for start in stride(from: 0, to: page.bytes.count, by: size) {
            add(Array(page.bytes[start..<min(start + size, page.bytes.count)]), chunkKey(page.key, number), to: &list)
            number += 1
        }
        try list.write(to: writer)
        return number
    }

    private func pagesHaveChunks() throws -> Bool {
        if let hasChunks { return hasChunks }
        let cursor = try writer.cursor()
        defer { cursor.close() }
        let found = try chunkPrefix.withUnsafeBytes { try cursor.seek($0) && cursor.key.starts(with: $0) }
        hasChunks = found
        return found
    }

    private func removeChunks(_ page: [UInt8]) throws {
        let first = chunkPrefix + page
        let keys = try keys(from: first + [0, 0, 0, 0], below: first + [0xff, 0xff, 0xff, 0xff, 0xff])
        for key in keys where key.count == first.count + 4 { try writer.remove(key) }
    }
}

/// The full-text indexes of a store, in a transaction of the record layer.
struct KeyValueSearchStorage: SearchIndexStorage {
    let layout: StoreLayout
    let snapshot: any EngineSnapshot
    /// A Boolean value that indicates whether the snapshot is a writer.
    let isWritten: Bool

    func state(of index: StoredSearchIndex) throws -> SearchIndexState {
        try SearchIndexEntry(index.number, snapshot, location: layout.location).state
    }

    func pages(of index: StoredSearchIndex) -> any SearchPageReader { KeyValueSearchPages(index.number, layout, snapshot) }

    var schema: ResolvedSchema { layout.schema }

    func writablePages(of index: StoredSearchIndex) -> (any SearchPageWriter)? {
        guard isWritten, let writer = snapshot as? any EngineWriter else { return nil }
        return KeyValueSearchPageWriter(index.number, layout, writer: writer)
    }
}

extension SnapshotReader {
    /// Executes a search by the index; returns nil while it is being built.
    func search(_ request: SearchRequest) throws -> SearchHits? {
        try interruption?.check()
        return try search?.search(request) { try interruption?.check() }
    }

    /// Returns the statistics of a search; nil while the index is being built.
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        try interruption?.check()
        return try search?.statistics(condition) { try interruption?.check() }
    }
}
