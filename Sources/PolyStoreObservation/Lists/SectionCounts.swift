import PolyStoreCollections
import PolyStoreKernel

/// The sections of a list in order, with their row counts. A list without sections has one permanent, unnamed section.
struct SectionCounts: Sendable {
    private struct Section: Sendable {
        /// A number that distinguishes a deleted and an inserted section with the same name.
        let serial: Int
        let name: String
    }

    private let isSectioned: Bool
    private var sections: [Section] = []
    private var counts = PrefixCounts()
    private var byName: [String: Int] = [:]
    private var lastSerial = 0
    /// The last serial number before the changes began.
    private var lastOldSerial = 0
    /// A Boolean value that indicates whether a section lost its last row since the changes began.
    private var mayBeEmpty = false
    /// The number of rows that sections have gained since the changes began, by serial number.
    private var gains: [Int: Int] = [:]

    init(isSectioned: Bool) {
        self.isSectioned = isSectioned
        if !isSectioned {
            sections = [Section(serial: 0, name: "")]
            counts = PrefixCounts([0])
        }
    }

    var count: Int { sections.count }
    var rowCount: Int { counts.total }
    func name(_ section: Int) -> String { sections[section].name }
    func serial(_ section: Int) -> Int { sections[section].serial }
    func rowCount(_ section: Int) -> Int { counts.counts[section] }
    func start(_ section: Int) -> Int { counts.sum(before: section) }
    func contains(_ name: String) -> Bool { byName[name] != nil }

    /// Returns the positions of a section's rows in the whole list.
    func range(_ section: Int) -> Range<Int> {
        let start = start(section)
        return start..<start + rowCount(section)
    }

    func position(_ flat: Int) -> ListPosition {
        guard isSectioned else { return ListPosition(section: 0, item: flat) }
        let (section, item) = counts.group(at: flat)
        return ListPosition(section: section, item: item)
    }

    // MARK: Loading

    /// Appends a row.
    /// - Returns: `false`, without appending, if its section exists and is not the last one.
    mutating func append(_ name: String) -> Bool {
        guard isSectioned else {
            loading[0] += 1
            return true
        }
        if sections.last?.name != name {
            guard byName[name] == nil else { return false }
            add(name)
        }
        loading[loading.count - 1] += 1
        return true
    }

    /// Appends a section with its rows.
    mutating func append(_ name: String, rowCount: Int) {
        if isSectioned { add(name) }
        loading[loading.count - 1] += rowCount
    }

    private var loading: [Int] = [0]

    private mutating func add(_ name: String) {
        lastSerial += 1
        byName[name] = lastSerial
        if sections.isEmpty { loading = [] }
        sections.append(Section(serial: lastSerial, name: name))
        loading.append(0)
    }

    mutating func finishLoading() {
        counts = PrefixCounts(sections.isEmpty ? [] : loading)
        loading = [0]
    }

    // MARK: Changes

    /// Begins a series of changes. Sections without rows are kept until ``finishChanges()``.
    mutating func beginChanges() {
        lastOldSerial = lastSerial
        gains = [:]
    }

    /// Returns the sections before the changes began. Valid until ``finishChanges()``.
    /// - Parameter rowCount: The number of rows before the changes.
    func beforeChanges(rowCount: Int) -> [(name: String, rowCount: Int)] {
        guard isSectioned else { return [("", rowCount)] }
        return zip(sections, counts.counts).filter { $0.0.serial <= lastOldSerial }.map { ($0.name, $1 - (gains[$0.serial] ?? 0)) }
    }

    private mutating func add(_ change: Int, at section: Int) {
        counts.add(change, at: section)
        if isSectioned { gains[sections[section].serial, default: 0] += change }
    }

    /// Removes a row at a position of the whole list.
    mutating func removeRow(at flat: Int) {
        let section = isSectioned ? counts.group(at: flat).group : 0
        add(-1, at: section)
        if counts.counts[section] == 0 { mayBeEmpty = true }
    }

    /// Inserts a row at a position of the whole list, and its section if it does not exist. Rows must be inserted in ascending order.
    /// - Returns: `false`, without changes, if the section with the name is at another position.
    mutating func insertRow(at flat: Int, _ name: String) -> Bool {
        guard isSectioned else {
            add(1, at: 0)
            return true
        }
        // The sections that end, begin or are empty at the position.
        var first = flat == 0 ? 0 : counts.group(at: flat - 1).group
        let end = flat == 0 ? 0 : start(first) + rowCount(first)
        if end > flat {
            guard sections[first].name == name else { return false }
            add(1, at: first)
            return true
        }
        let begin = flat == 0 ? 0 : first + 1
        while first < sections.count {
            if sections[first].name == name {
                add(1, at: first)
                return true
            }
            if first >= begin, rowCount(first) > 0 { break }
            first += 1
        }
        guard byName[name] == nil else { return false }
        insertSection(at: begin, name)
        return true
    }

    private mutating func insertSection(at index: Int, _ name: String) {
        lastSerial += 1
        byName[name] = lastSerial
        sections.insert(Section(serial: lastSerial, name: name), at: index)
        var all = counts.counts
        all.insert(1, at: index)
        counts = PrefixCounts(all)
    }

    /// Ends a series of changes and removes empty sections.
    /// - Returns: The inserted sections with their new indexes, and the deleted sections with their old indexes.
    mutating func finishChanges() -> (inserted: [ListDelta.SectionChange], deleted: [ListDelta.SectionChange]) {
        guard isSectioned else { return ([], []) }
        guard lastSerial > lastOldSerial || mayBeEmpty else { return ([], []) }
        mayBeEmpty = false
        var (inserted, deleted): ([ListDelta.SectionChange], [ListDelta.SectionChange]) = ([], [])
        var (kept, keptCounts): ([Section], [Int]) = ([], [])
        var old = 0
        for (section, count) in zip(sections, counts.counts) {
            let isNew = section.serial > lastOldSerial
            if count == 0 {
                byName[section.name] = nil
                if !isNew { deleted.append(ListDelta.SectionChange(index: old, name: section.name)) }
            } else {
                if isNew { inserted.append(ListDelta.SectionChange(index: kept.count, name: section.name)) }
                kept.append(section)
                keptCounts.append(count)
            }
            if !isNew { old += 1 }
        }
        sections = kept
        counts = PrefixCounts(keptCounts)
        return (inserted, deleted)
    }
}
