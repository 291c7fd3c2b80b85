/// A page of a search index: an entry of an ordered map of byte strings.
public struct SearchPage: Sendable, Hashable {
    /// The key. Keys are compared by their bytes.
    public var key: [UInt8]
    /// The bytes of the page.
    public var bytes: [UInt8]

    /// Creates a page.
    public init(key: [UInt8], bytes: [UInt8]) {
        self.key = key
        self.bytes = bytes
    }
}

/// Where an index is stored: an ordered map of byte strings, of one index alone, in one transaction of a store.
///
/// A backend keeps it in its key space or in a table. Requests have many keys so that a server needs one request for them.
public protocol SearchPageReader: AnyObject {
    /// Returns the page with the smallest key that is not below each of some keys, in the order of the keys; nil where there is none.
    func pages(atOrAfter keys: [[UInt8]]) throws -> [SearchPage?]
    /// Returns the pages with exactly these keys, in the order of the keys; nil where there is none.
    func pages(at keys: [[UInt8]]) throws -> [[UInt8]?]
    /// Returns the first pages of a range of keys, ascending.
    /// - Parameters:
    ///   - lower: The first key that may be returned.
    ///   - upper: The first key that may not be returned.
    ///   - limit: The maximum number of pages.
    func pages(from lower: [UInt8], below upper: [UInt8], limit: Int) throws -> [SearchPage]
}

/// Where an index is written.
public protocol SearchPageWriter: SearchPageReader {
    /// Writes pages and removes others, in one request. No key occurs twice.
    func write(_ pages: [SearchPage], removing keys: [[UInt8]]) throws
    /// Removes all pages of a range of keys.
    func remove(from lower: [UInt8], below upper: [UInt8]) throws
}
