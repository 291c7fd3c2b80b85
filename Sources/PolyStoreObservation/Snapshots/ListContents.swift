import PolyStoreBackend
import PolyStoreKernel

/// The contents of a ``ListSnapshot``, independent of the class of its objects.
final class ListContents: Sendable {
    struct Section: Sendable, Hashable {
        let name: String
        /// The indexes of its rows.
        let range: Range<Int>
    }

    let shape: SnapshotShape
    let isSectioned: Bool
    /// The sections; one for a list without sections.
    let sections: [Section]
    let rows: SnapshotRows
    /// The indexes of the rows, computed on first use.
    private let indexes = Protected<[RowReference: Int]?>(nil)

    init(shape: SnapshotShape, isSectioned: Bool, sections: [Section], rows: SnapshotRows) {
        self.shape = shape
        self.isSectioned = isSectioned
        self.sections = sections
        self.rows = rows
    }

    /// - Parameter sections: The names and row counts.
    convenience init(shape: SnapshotShape, isSectioned: Bool, sections: [(name: String, count: Int)], rows: SnapshotRows) {
        var bounds: [Section] = []
        var start = 0
        for (name, count) in sections {
            bounds.append(Section(name: name, range: start..<start + count))
            start += count
        }
        self.init(shape: shape, isSectioned: isSectioned, sections: bounds, rows: rows)
    }

    /// Creates empty contents, for a list whose values are not kept.
    convenience init(withoutValuesIn context: Context) {
        let shape = SnapshotShape(table: context.table, fields: FieldMask(), logger: context.core.currentLogger)
        self.init(shape: shape, isSectioned: false, sections: [Section](), rows: SnapshotRows())
    }

    /// Reads the values of a list.
    convenience init(_ list: ListRows, _ shape: SnapshotShape, _ context: Context) throws {
        let groups = list.groups
        let rows = groups.flatMap(\.rows)
        let records = try context.records(of: rows, list.query.type, shape)
        self.init(
            shape: shape, isSectioned: list.query.isSectioned, sections: groups.map { ($0.name, $0.rows.count) },
            rows: SnapshotRows(rows.map { SnapshotRow(row: $0, record: records[$0] ?? []) }))
    }

    func index(of row: RowReference) -> Int? {
        indexes.withLock { known in
            if let known { return known[row] }
            var made = [RowReference: Int](minimumCapacity: rows.count)
            for (index, row) in rows.enumerated() { made[row.row] = index }
            known = made
            return made[row]
        }
    }

    /// Returns the position of a row index.
    func position(_ index: Int) -> ListPosition {
        var low = 0
        var high = sections.count
        while low < high {
            let middle = (low + high) / 2
            if sections[middle].range.upperBound > index { high = middle } else { low = middle + 1 }
        }
        return ListPosition(section: low, item: index - (low < sections.count ? sections[low].range.lowerBound : 0))
    }

    /// Returns the index of the row at a position; `nil` if there is none.
    func index(_ position: ListPosition) -> Int? {
        guard sections.indices.contains(position.section) else { return nil }
        let range = sections[position.section].range
        return position.item >= 0 && position.item < range.count ? range.lowerBound + position.item : nil
    }

    /// Returns the change from an earlier state of the list. Rows with different values are updated.
    func delta(from old: ListContents) -> ListDelta {
        let before = Dictionary(old.rows.map { ($0.row, $0.record) }, uniquingKeysWith: { first, _ in first })
        let after = Dictionary(rows.map { ($0.row, $0.record) }, uniquingKeysWith: { first, _ in first })
        return delta(from: old) { row in before[row] != after[row] }
    }

    func delta(from old: ListContents, updated: (RowReference) -> Bool) -> ListDelta {
        ListDiff.delta(from: old.sectionRows, to: sectionRows, updated: updated)
    }

    private var sectionRows: [ListDiff.Section] { sections.map { ($0.name, rows[$0.range].map(\.row)) } }
}

extension ListContents: Equatable {
    static func == (left: ListContents, right: ListContents) -> Bool {
        left === right
            || left.sections == right.sections && left.isSectioned == right.isSectioned && left.shape.fields == right.shape.fields
                && left.rows == right.rows
    }
}
