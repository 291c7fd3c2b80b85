import PolyStoreBackend
import PolyStoreSearchIndex

/// The pages of one full-text index in the transaction of a session. Each call of the protocol is one request.
///
/// Written pages are sent with the next request that reads, or with the commit.
final class SearchPagesTable: SearchPageWriter {
    private unowned let session: Session
    private let number: UInt32
    /// Pages that were read before they are requested, by their keys; nil for a page that does not exist.
    @exclusivity(unchecked) private var kept: [[UInt8]: [UInt8]?] = [:]
    @exclusivity(unchecked) private var ranges: [KnownRange] = []
    /// The end of the pages that were read in their order, and their number.
    @exclusivity(unchecked) private var sequence: (end: [UInt8], count: Int)?
    @exclusivity(unchecked) private var written: [Statement] = []
    @exclusivity(unchecked) private var writtenBytes = 0
    private var table: String { session.tables.searchPages }
    private var index: Parameter { .small(Int32(bitPattern: number)) }

    init(_ session: Session, _ number: UInt32) { (self.session, self.number) = (session, number) }

    // MARK: Reading

    /// Keeps a page that another request has read.
    func keep(_ bytes: [UInt8]?, at key: [UInt8]) { kept.updateValue(bytes, forKey: key) }

    /// The first page of the index, if it is known.
    var structure: [UInt8]? { kept[SearchIndexWriter.structureKey] ?? nil }

    /// Returns whether a page is known.
    func keeps(_ key: [UInt8]) -> Bool { kept[key] != nil }

    /// Keeps the first pages of a range that another request has read.
    /// - Parameter limit: The number of requested pages.
    func keep(_ pages: [SearchPage], from lower: [UInt8], below upper: [UInt8], limit: Int) {
        if ranges.count >= Self.mostRanges { ranges = [] }
        guard pages.count == limit, let last = pages.last else {
            return ranges.append(KnownRange(lower: lower, upper: upper, pages: pages))
        }
        ranges.append(KnownRange(lower: lower, upper: last.key + [0], pages: pages))
    }

    func forgetRanges() { ranges = [] }

    /// Returns the page at a key, if it is known.
    private func known(_ key: [UInt8]) -> [UInt8]?? {
        if let page = kept[key] { return .some(page) }
        guard let range = ranges.first(where: { $0.contains(key) }) else { return nil }
        return .some(range.first(from: key).flatMap { $0.key == key ? $0.bytes : nil })
    }

    private func rows(_ sql: String, _ parameters: [Parameter]) throws -> Rows {
        let statements = takeWritten() + [Statement(sql, [index] + parameters)]
        guard let rows = try session.request({ try $0.run(statements).last }) else {
            throw StoreError(.io, "\(session.connection.location) did not answer a statement.", location: session.connection.location)
        }
        return rows
    }

    func pages(atOrAfter keys: [[UInt8]]) throws -> [SearchPage?] {
        let known = keys.compactMap { key in ranges.first { $0.contains(key) }?.first(from: key) }
        if known.count == keys.count { return known }
        // Up to the last page of the term that a key is part of.
        let ends = keys.map { SearchIndexWriter.endOfTerm($0) ?? $0 }
        let rows = try rows(
            "SELECT q.n, p.k, p.v FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS q(k, e, n) CROSS JOIN LATERAL "
                + "(SELECT k, v FROM \(table) WHERE \"index\" = $1 AND k >= q.k AND k <= "
                + "coalesce((SELECT k FROM \(table) WHERE \"index\" = $1 AND k >= q.e ORDER BY k LIMIT 1), '\\xff') ORDER BY k LIMIT $4) AS p",
            [.byteArrays(keys), .byteArrays(ends), .integer(Int64(Self.termPages))])
        var pages = [[SearchPage]](repeating: [], count: keys.count)
        for row in 0..<rows.count { pages[try position(rows, row, keys.count)].append(page(rows, row, 1)) }
        return zip(keys, pages).map { key, pages in
            let sorted = pages.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            if let last = sorted.last, sorted.count > 1 { keep(sorted, from: key, below: last.key + [0], limit: sorted.count) }
            return sorted.first
        }
    }

    func pages(at keys: [[UInt8]]) throws -> [[UInt8]?] {
        let known = keys.compactMap(known)
        if known.count == keys.count { return known }
        if keys.count == 1, let upper = SearchIndexWriter.endOfSequence(keys[0]) {
            let page = try pages(from: keys[0], below: upper, limit: 1).first
            return [page.flatMap { $0.key == keys[0] ? $0.bytes : nil }]
        }
        let rows = try rows(
            "SELECT q.n, p.v FROM unnest($2::bytea[]) WITH ORDINALITY AS q(k, n) CROSS JOIN LATERAL "
                + "(SELECT v FROM \(table) WHERE \"index\" = $1 AND k = q.k LIMIT 1) AS p", [.byteArrays(keys)])
        var pages = [[UInt8]?](repeating: nil, count: keys.count)
        for row in 0..<rows.count { pages[try position(rows, row, keys.count)] = [UInt8](rows.bytes(row, 1)) }
        return pages
    }

    func pages(from lower: [UInt8], below upper: [UInt8], limit: Int) throws -> [SearchPage] {
        if let range = ranges.first(where: { $0.contains(lower) }) {
            // If only the first pages of a range are known, they serve a request for as many.
            let found = range.pages(from: lower, below: upper, limit: limit)
            if found.count == limit || !range.upper.lexicographicallyPrecedes(upper) { return found }
        }
        // Pages of positions and of lengths are mostly read in their order.
        let end = limit <= Self.readAhead ? SearchIndexWriter.endOfSequence(lower) : nil
        let count = end == nil ? limit : max(limit, ahead(of: lower))
        let rows = try rows(
            "SELECT k, v FROM \(table) WHERE \"index\" = $1 AND k >= $2 AND k < $3 ORDER BY k LIMIT $4",
            [.bytes(lower), .bytes(end ?? upper), .integer(Int64(count))])
        let pages = (0..<rows.count).map { page(rows, $0, 0) }
        guard let end else { return pages }
        keep(pages, from: lower, below: end, limit: count)
        if let last = pages.last { sequence = (last.key + [0], count) }
        return Array(pages.lazy.filter { $0.key.lexicographicallyPrecedes(upper) }.prefix(limit))
    }

    /// Returns the number of pages that are read in their order from a key on: twice as many as the last time, if these ended before it.
    private func ahead(of key: [UInt8]) -> Int {
        guard let last = sequence, last.end.prefix(7) == key.prefix(7), !key.lexicographicallyPrecedes(last.end) else {
            return Self.readAhead
        }
        return min(2 * last.count, Self.mostAhead)
    }

    /// The numbers of pages that are read together in their order, first and at most; of those of a term that are read together; and of ranges that are kept.
    private static let (readAhead, mostAhead, termPages, mostRanges) = (16, 128, 8, 64)

    private func page(_ rows: Rows, _ row: Int, _ column: Int) -> SearchPage {
        SearchPage(key: [UInt8](rows.bytes(row, column)), bytes: [UInt8](rows.bytes(row, column + 1)))
    }

    private func position(_ rows: Rows, _ row: Int, _ count: Int) throws -> Int {
        guard let number = rows.integer(row, 0), number > 0, number <= count else {
            throw StoreError(.io, "\(session.connection.location) did not answer a statement.", location: session.connection.location)
        }
        return Int(number - 1)
    }

    // MARK: Writing

    func write(_ pages: [SearchPage], removing keys: [[UInt8]]) throws {
        for page in pages where kept[page.key] != nil { keep(page.bytes, at: page.key) }
        for key in keys where kept[key] != nil { keep(nil, at: key) }
        ranges.removeAll { range in pages.contains { range.contains($0.key) } || keys.contains(where: range.contains) }
        let sql =
            "INSERT INTO \(table) (\"index\", k, v) SELECT $1, rows.k, rows.v FROM unnest($2::bytea[], $3::bytea[]) AS rows(k, v) "
            + "ON CONFLICT (\"index\", k) DO UPDATE SET v = excluded.v"
        for part in ChangeWriter.parts(pages, { $0.key.count + $0.bytes.count }) {
            try add(
                Statement(sql, [index, .byteArrays(part.map(\.key)), .byteArrays(part.map(\.bytes))]),
                part.reduce(0) { $0 + $1.key.count + $1.bytes.count })
        }
        for part in ChangeWriter.parts(keys, \.count) {
            try add(
                Statement("DELETE FROM \(table) WHERE \"index\" = $1 AND k = ANY($2::bytea[])", [index, .byteArrays(Array(part))]),
                part.reduce(0) { $0 + $1.count })
        }
    }

    func remove(from lower: [UInt8], below upper: [UInt8]) throws {
        for key in kept.keys where !key.lexicographicallyPrecedes(lower) && key.lexicographicallyPrecedes(upper) { keep(nil, at: key) }
        ranges.removeAll { $0.lower.lexicographicallyPrecedes(upper) && lower.lexicographicallyPrecedes($0.upper) }
        try add(
            Statement("DELETE FROM \(table) WHERE \"index\" = $1 AND k >= $2 AND k < $3", [index, .bytes(lower), .bytes(upper)]),
            lower.count)
    }

    private func add(_ statement: Statement, _ count: Int) throws {
        written.append(statement)
        writtenBytes += count
        guard writtenBytes > ChangeWriter.mostBytes else { return }
        let statements = takeWritten()
        _ = try session.request { try $0.run(statements) }
    }

    /// Returns the statements that have not been sent. The caller sends them.
    func takeWritten() -> [Statement] {
        defer { (written, writtenBytes) = ([], 0) }
        return written
    }
}

/// A range of keys whose pages are known.
private struct KnownRange {
    let lower: [UInt8]
    let upper: [UInt8]
    /// All pages of the range, ascending.
    let pages: [SearchPage]

    func contains(_ key: [UInt8]) -> Bool { !key.lexicographicallyPrecedes(lower) && key.lexicographicallyPrecedes(upper) }

    func first(from key: [UInt8]) -> SearchPage? { pages.first { !$0.key.lexicographicallyPrecedes(key) } }

    func pages(from lower: [UInt8], below upper: [UInt8], limit: Int) -> [SearchPage] {
        Array(pages.lazy.filter { !$0.key.lexicographicallyPrecedes(lower) && $0.key.lexicographicallyPrecedes(upper) }.prefix(limit))
    }
}

extension Parameter {
    /// An array of byte strings.
    static func byteArrays(_ values: [[UInt8]]) -> Parameter {
        let array = ArrayParameter(.bytes, capacity: values.reduce(0) { $0 + $1.count + 4 })
        for value in values { array.append { buffer in value.withUnsafeBytes { buffer.append($0) } } }
        return array.parameter
    }
}
