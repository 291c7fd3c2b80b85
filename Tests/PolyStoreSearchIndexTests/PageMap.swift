import PolyStoreSearchIndex

/// An ordered map in memory: the keys in a sorted array.
final class PageMap: SearchPageWriter {
    private(set) var keys: [[UInt8]] = []
    private(set) var values: [[UInt8]] = []
    /// The number of requests.
    private(set) var requests = 0
    /// The number of pages that were written.
    private(set) var written = 0

    init() {}

    /// Creates a copy.
    init(_ other: PageMap) {
        keys = other.keys
        values = other.values
    }

    private func place(_ key: [UInt8]) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func pages(atOrAfter sought: [[UInt8]]) throws -> [SearchPage?] {
        requests += 1
        return sought.map { key in
            let place = place(key)
            return place < keys.count ? SearchPage(key: keys[place], bytes: values[place]) : nil
        }
    }

    func pages(at sought: [[UInt8]]) throws -> [[UInt8]?] {
        requests += 1
        return sought.map { key in
            let place = place(key)
            return place < keys.count && keys[place] == key ? values[place] : nil
        }
    }

    func pages(from lower: [UInt8], below upper: [UInt8], limit: Int) throws -> [SearchPage] {
        requests += 1
        var found: [SearchPage] = []
        var place = place(lower)
        while place < keys.count, found.count < limit, keys[place].lexicographicallyPrecedes(upper) {
            found.append(SearchPage(key: keys[place], bytes: values[place]))
            place += 1
        }
        return found
    }

    func write(_ pages: [SearchPage], removing removed: [[UInt8]]) throws {
        requests += 1
        written += pages.count
        for page in pages {
            let place = place(page.key)
            if place < keys.count, keys[place] == page.key {
                values[place] = page.bytes
            } else {
                keys.insert(page.key, at: place)
                values.insert(page.bytes, at: place)
            }
        }
        for key in removed {
            let place = place(key)
            guard place < keys.count, keys[place] == key else { continue }
            keys.remove(at: place)
            values.remove(at: place)
        }
    }

    func remove(from lower: [UInt8], below upper: [UInt8]) throws {
        requests += 1
        let (first, last) = (place(lower), place(upper))
        guard first < last else { return }
        keys.removeSubrange(first..<last)
        values.removeSubrange(first..<last)
    }

    /// Changes a page.
    func change(_ index: Int, _ body: (inout [UInt8]) -> Void) { body(&values[index]) }
}
