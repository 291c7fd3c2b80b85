import PolyStoreBackend
import PolyStoreKernel

/// The values of the objects of an observed list, updated from the changes of the list.
struct ListRecorder<T: Model> {
    private(set) var contents: ListContents

    /// Reads the values of the current list.
    /// - Parameter sections: The rows by section; one section for a list without sections.
    init(
        _ sections: [ListDiff.Section], isSectioned: Bool, _ content: SnapshotContent<T>, reading context: Context
    ) throws {
        let shape = try context.snapshotShape(content)
        contents = try Self.contents(sections, isSectioned: isSectioned, shape, context)
    }

    /// Applies a change and reads the values of the inserted and updated objects.
    /// - Returns: The change without updates that did not affect the content; `nil` if the change does not apply to the list.
    mutating func apply(_ delta: ListDelta, reading context: Context) throws -> ListDelta? {
        let shape = contents.shape.updated(to: context.table)
        let rows = delta.inserted.map(\.row) + delta.updated.map(\.row) + delta.moved.lazy.filter(\.isUpdated).map(\.row)
        let records = try context.records(of: rows, T.self, shape)
        var unchanged: Set<RowReference> = []
        let changed = contents.applying(delta, shape: shape) { row, _, old in
            let record = records[row] ?? []
            if record == old { unchanged.insert(row) }
            return record
        }
        guard let changed else { return nil }
        contents = changed
        return unchanged.isEmpty ? delta : delta.withoutUpdates(of: unchanged)
    }

    /// Reads the list again.
    /// - Returns: The resulting change.
    mutating func reload(_ sections: [ListDiff.Section], reading context: Context) throws -> ListDelta {
        let old = contents
        let shape = old.shape.updated(to: context.table)
        contents = try Self.contents(sections, isSectioned: old.isSectioned, shape, context)
        return contents.delta(from: old)
    }

    private static func contents(
        _ sections: [ListDiff.Section], isSectioned: Bool, _ shape: SnapshotShape, _ context: Context
    ) throws -> ListContents {
        let rows = sections.flatMap(\.rows)
        let records = try context.records(of: rows, T.self, shape)
        return ListContents(
            shape: shape, isSectioned: isSectioned, sections: sections.map { ($0.name, $0.rows.count) },
            rows: SnapshotRows(rows.map { SnapshotRow(row: $0, record: records[$0] ?? []) }))
    }
}

extension ListDelta {
    fileprivate func withoutUpdates(of rows: Set<RowReference>) -> ListDelta {
        var delta = self
        delta.updated.removeAll { rows.contains($0.row) }
        delta.moved = moved.map { move in
            guard rows.contains(move.row) else { return move }
            return Move(row: move.row, from: move.from, to: move.to, isUpdated: false)
        }
        return delta
    }
}
