/// Byte ranges by row id, in a hash table with open addressing.
///
/// It takes less time than a dictionary, whose hash function resists chosen keys: row ids come from a store, and their hash depends on all bits.
package struct RowRanges: Sendable {
    package struct Range: Equatable, Sendable {
        package let offset: Int
        package let count: Int
    }

    private struct Entry {
        var rowID: Int64 = 0
        var offset = 0
        /// -1 for an empty entry.
        var count = -1
    }

    /// A power of two; at most three quarters of the entries are used.
    private var entries = ContiguousArray<Entry>()
    package private(set) var count = 0

    package init() {}

    /// Adds the range of a row, or replaces it.
    package mutating func set(_ rowID: Int64, offset: Int, count: Int) {
        if self.count * 4 >= entries.count * 3 { grow() }
        let index = index(of: rowID)
        if entries[index].count < 0 { self.count += 1 }
        entries[index] = Entry(rowID: rowID, offset: offset, count: count)
    }

    package subscript(rowID: Int64) -> Range? {
        guard !entries.isEmpty else { return nil }
        let entry = entries[index(of: rowID)]
        return entry.count < 0 ? nil : Range(offset: entry.offset, count: entry.count)
    }

    /// Returns the index of the entry of a row, or of the empty one that it would get.
    private func index(of rowID: Int64) -> Int {
        let mask = entries.count - 1
        var index = Int(truncatingIfNeeded: RowLocations.hash(rowID)) & mask
        while entries[index].count >= 0, entries[index].rowID != rowID { index = (index + 1) & mask }
        return index
    }

    private mutating func grow() {
        let old = entries
        entries = ContiguousArray(repeating: Entry(), count: max(64, old.count * 2))
        for entry in old where entry.count >= 0 { entries[index(of: entry.rowID)] = entry }
    }
}
