import PolyStoreKernel

extension ListContents {
    /// Applies a change of the list, and reads the values of the inserted and updated objects.
    /// - Returns: The new contents, and the change without updates that did not affect the values; `nil` if the change does not apply to the list.
    func following(_ delta: ListDelta, _ type: any Model.Type, _ context: Context) throws -> (contents: ListContents, delta: ListDelta)? {
        let shape = shape.updated(to: context.table)
        let rows = delta.inserted.map(\.row) + delta.updated.map(\.row) + delta.moved.lazy.filter(\.isUpdated).map(\.row)
        let records = try context.records(of: rows, type, shape)
        var unchanged: Set<RowReference> = []
        let changed = applying(delta, shape: shape) { row, _, old in
            let record = records[row] ?? []
            if record == old { unchanged.insert(row) }
            return record
        }
        return changed.map { ($0, unchanged.isEmpty ? delta : delta.withoutUpdates(of: unchanged)) }
    }

    /// Returns the list after a change, which is applied in the order that ``ListDelta`` documents.
    /// - Parameter record: Returns the values of an inserted or updated row. For an updated row it receives the old values.
    /// - Returns: `nil` if the change does not apply to the list.
    func applying(
        _ delta: ListDelta, shape: SnapshotShape, record: (RowReference, ListPosition, [UInt8]?) throws -> [UInt8]
    ) rethrows -> ListContents? {
        guard let bounds = bounds(after: delta), let removed = removed(by: delta) else { return nil }
        let after = ListContents(shape: shape, isSectioned: isSectioned, sections: bounds, rows: SnapshotRows())
        guard let inserted = try inserted(by: delta, in: after, record) else { return nil }
        guard var rows = rows.replacing(removed, inserted) else { return nil }
        for change in delta.updated {
            guard let index = after.index(change.position), rows.indices.contains(index), rows[index].row == change.row else { return nil }
            rows.setRecord(try record(change.row, change.position, rows[index].record), at: index)
        }
        guard rows.count == bounds.reduce(0, { $0 + $1.count }) else { return nil }
        return ListContents(shape: shape, isSectioned: isSectioned, sections: after.sections, rows: rows)
    }

    /// Returns the sections after a change; `nil` if it does not apply.
    private func bounds(after delta: ListDelta) -> [(name: String, count: Int)]? {
        var counts = sections.map(\.range.count)
        for section in (delta.deleted.map(\.position.section) + delta.moved.map(\.from.section)) {
            guard counts.indices.contains(section) else { return nil }
            counts[section] -= 1
        }
        var bounds = zip(sections, counts).map { (name: $0.name, count: $1) }
        for section in delta.deletedSections.reversed() {
            guard bounds.indices.contains(section.index), bounds[section.index].count == 0 else { return nil }
            bounds.remove(at: section.index)
        }
        for section in delta.insertedSections {
            guard section.index <= bounds.count else { return nil }
            bounds.insert((section.name, 0), at: section.index)
        }
        for section in (delta.inserted.map(\.position.section) + delta.moved.map(\.to.section)) {
            guard bounds.indices.contains(section) else { return nil }
            bounds[section].count += 1
        }
        return bounds.allSatisfy { $0.count >= 0 } ? bounds : nil
    }

    /// Returns the indexes of the rows that are removed from their positions, ascending.
    private func removed(by delta: ListDelta) -> [Int]? {
        var indexes: [Int] = []
        for (row, position) in delta.deleted.map({ ($0.row, $0.position) }) + delta.moved.map({ ($0.row, $0.from) }) {
            guard let index = index(position), rows[index].row == row else { return nil }
            indexes.append(index)
        }
        return indexes.sorted()
    }

    /// Returns the rows that are inserted at new positions, ascending.
    private func inserted(
        by delta: ListDelta, in after: ListContents, _ record: (RowReference, ListPosition, [UInt8]?) throws -> [UInt8]
    ) rethrows -> [(index: Int, row: SnapshotRow)]? {
        var found: [(index: Int, row: SnapshotRow)] = []
        for change in delta.inserted {
            guard let index = after.index(change.position) else { return nil }
            found.append((index, SnapshotRow(row: change.row, record: try record(change.row, change.position, nil))))
        }
        for move in delta.moved {
            guard let index = after.index(move.to), let old = self.index(move.from) else { return nil }
            var row = rows[old]
            if move.isUpdated { row.record = try record(move.row, move.to, row.record) }
            found.append((index, row))
        }
        return found.sorted { $0.index < $1.index }
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
