import PolyStoreCollections
import PolyStoreKernel

/// Computes the difference between two complete states of a list.
enum ListDiff {
    typealias Section = (name: String, rows: [RowReference])

    /// Returns the delta that turns `old` into `new`, with as few moves as possible in each section.
    ///
    /// Sections are identified by name and rows by their identity; both must be unique within a list. Sections that keep their relative order stay, the
    /// others are deleted and inserted. A row that stays in its section and keeps its order relative to other such rows is not moved; it is an update if
    /// `updated` returns true. Every other row that is in both lists is one move.
    ///
    /// Takes O(n log n) time. Additional memory is proportional to the parts of the sections between their common prefixes and suffixes.
    static func delta(from old: [Section], to new: [Section], updated: (RowReference) -> Bool) -> ListDelta {
        let pairs = keptSections(from: old, to: new)
        var work = ListDiffWork(old: old, new: new, pairs: pairs)
        for section in new.indices { work.compare(section, updated: updated) }
        work.collectDeleted()
        return work.delta
    }

    /// Returns, for every section of `new`, the index of the section of `old` that it continues, or nil if it is inserted.
    private static func keptSections(from old: [Section], to new: [Section]) -> [Int?] {
        var oldIndexes: [String: Int] = [:]
        for (index, section) in old.enumerated() { oldIndexes[section.name] = index }
        let candidates = new.indices.filter { oldIndexes[new[$0].name] != nil }
        let positions = candidates.map { oldIndexes[new[$0].name] ?? 0 }
        var pairs = [Int?](repeating: nil, count: new.count)
        for index in IncreasingSubsequence.indexes(of: positions) { pairs[candidates[index]] = positions[index] }
        return pairs
    }
}

/// The state of one comparison of two lists: see ``ListDiff``.
struct ListDiffWork {
    private let old: [ListDiff.Section]
    private let new: [ListDiff.Section]
    /// For every new section, the index of the old section that it continues.
    private let pairs: [Int?]
    /// For every old section, the range of rows without the prefix and suffix that it shares with its continuation.
    private var oldRanges: [Range<Int>]
    /// For every new section, the corresponding range.
    private var newRanges: [Range<Int>]
    /// The old positions of the rows in `oldRanges` that have not been found in the new list yet.
    private var oldPositions: [RowReference: ListPosition] = [:]
    private(set) var delta = ListDelta()

    init(old: [ListDiff.Section], new: [ListDiff.Section], pairs: [Int?]) {
        self.old = old
        self.new = new
        self.pairs = pairs
        oldRanges = old.map { $0.rows.indices }
        newRanges = new.map { $0.rows.indices }
        trimRanges()
        recordSections()
        for (section, range) in oldRanges.enumerated() {
            for item in range { oldPositions[old[section].rows[item]] = ListPosition(section: section, item: item) }
        }
    }

    /// Excludes the common prefixes and suffixes of continued sections from the comparison, because most changes affect few rows.
    private mutating func trimRanges() {
        for (index, pair) in pairs.enumerated() {
            guard let pair else { continue }
            let before = old[pair].rows
            let after = new[index].rows
            let shorter = min(before.count, after.count)
            var start = 0
            while start < shorter, before[start] == after[start] { start += 1 }
            var common = 0
            while common < shorter - start, before[before.count - 1 - common] == after[after.count - 1 - common] { common += 1 }
            oldRanges[pair] = start..<before.count - common
            newRanges[index] = start..<after.count - common
        }
    }

    private mutating func recordSections() {
        let kept = Set(pairs.compactMap { $0 })
        for (index, section) in old.enumerated() where !kept.contains(index) {
            delta.deletedSections.append(.init(index: index, name: section.name))
        }
        for (index, section) in new.enumerated() where pairs[index] == nil {
            delta.insertedSections.append(.init(index: index, name: section.name))
        }
    }

    /// Records the insertions, the moves and the updates of a section of the new list. Sections must be passed in ascending order.
    mutating func compare(_ section: Int, updated: (RowReference) -> Bool) {
        let rows = new[section].rows
        let range = newRanges[section]
        recordUpdates(rows, in: 0..<range.lowerBound, of: section, updated: updated)
        let sources = range.map { oldPositions.removeValue(forKey: rows[$0]) }
        var staying = stayingItems(sources, from: pairs[section]).makeIterator()
        var nextStaying = staying.next()
        for (offset, source) in sources.enumerated() {
            let item = range.lowerBound + offset
            let position = ListPosition(section: section, item: item)
            if offset == nextStaying {
                nextStaying = staying.next()
                recordUpdates(rows, in: item..<item + 1, of: section, updated: updated)
            } else if let source {
                delta.moved.append(.init(row: rows[item], from: source, to: position, isUpdated: updated(rows[item])))
            } else {
                delta.inserted.append(.init(row: rows[item], position: position))
            }
        }
        recordUpdates(rows, in: range.upperBound..<rows.count, of: section, updated: updated)
    }

    /// Returns the offsets in `sources` of the rows that stay in the section and keep their order, ascending.
    private func stayingItems(_ sources: [ListPosition?], from pair: Int?) -> [Int] {
        guard let pair else { return [] }
        var offsets: [Int] = []
        var items: [Int] = []
        for (offset, source) in sources.enumerated() {
            guard let source, source.section == pair else { continue }
            offsets.append(offset)
            items.append(source.item)
        }
        return IncreasingSubsequence.indexes(of: items).map { offsets[$0] }
    }

    private mutating func recordUpdates(_ rows: [RowReference], in range: Range<Int>, of section: Int, updated: (RowReference) -> Bool) {
        for item in range where updated(rows[item]) {
            delta.updated.append(.init(row: rows[item], position: ListPosition(section: section, item: item)))
        }
    }

    /// Records the rows of the old list that no section of the new list contains. All sections must have been compared.
    mutating func collectDeleted() {
        guard !oldPositions.isEmpty else { return }
        for (section, range) in oldRanges.enumerated() {
            for item in range {
                let row = old[section].rows[item]
                let position = ListPosition(section: section, item: item)
                if oldPositions[row] == position { delta.deleted.append(.init(row: row, position: position)) }
            }
        }
    }
}
