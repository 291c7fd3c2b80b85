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
