/// A page of postings and its key.
final class TermPage {
    let key: [UInt8]
    let bytes: PageBytes

    init(_ page: SearchPage) {
        key = page.key
        bytes = PageBytes(page.bytes)
    }
}

/// Reads the pages of an index, and keeps pages that were requested by key, up to a number of bytes.
final class PageSource {
    let store: any SearchPageReader
    let fields: Int
    let lengths: LengthReader
    private let limit: Int
    private var sought: [[UInt8]: TermPage?] = [:]
    private var positionPages: [[UInt8]: PageBytes] = [:]
    private var size = 0
    /// The number of postings that were decoded.
    var decoded = 0
    /// Called before pages are read; an error ends the search.
    var check: (() throws -> Void)?

    init(_ store: any SearchPageReader, fields: Int, limits: SearchIndexLimits) {
        self.store = store
        self.fields = fields
        limit = limits.cache
        lengths = LengthReader(store)
    }

    private func keep(_ bytes: Int) {
        size += bytes + 64
        guard size > limit else { return }
        sought.removeAll()
        positionPages.removeAll()
        size = bytes + 64
    }

    /// Seeks pages of postings in one request.
    func seek(_ keys: [[UInt8]]) throws {
        let missing = keys.filter { sought[$0] == nil }
        guard !missing.isEmpty else { return }
        try check?()
        for (key, page) in zip(missing, try store.pages(atOrAfter: missing)) {
            keep(page?.bytes.count ?? 0)
            sought[key] = .some(page.map(TermPage.init))
        }
    }

    /// Returns the page of a segment with the smallest key that is not below a key; nil if the segment has none.
    func page(of segment: UInt64, atOrAfter key: [UInt8]) throws -> TermPage? {
        let page: TermPage?
        if let known = sought[key] {
            page = known
        } else {
            try check?()
            page = try store.pages(atOrAfter: [key])[0].map(TermPage.init)
            keep(page?.bytes.count ?? 0)
            sought[key] = .some(page)
        }
        return page.flatMap { $0.key.starts(with: PageKey.terms(segment)) ? $0 : nil }
    }

    /// Returns pages of postings of a segment from a key on.
    func pages(of segment: UInt64, from key: [UInt8], limit: Int) throws -> [TermPage] {
        try check?()
        return try store.pages(from: key, below: PageKey.afterTerms(segment), limit: limit).map(TermPage.init)
    }

    /// Returns a page of positions.
    func positions(of segment: UInt64, page: Int) throws -> PageBytes {
        let key = PageKey.positions(segment, page)
        if let known = positionPages[key] { return known }
        try check?()
        guard let bytes = try store.pages(at: [key])[0] else {
            throw SearchIndexError.damaged("page \(page) of the positions of segment \(segment) is missing")
        }
        let result = PageBytes(bytes)
        keep(bytes.count)
        positionPages[key] = result
        return result
    }
}
