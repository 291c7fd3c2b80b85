import PolyStoreKernel

/// A row of a list with its values.
struct SnapshotRow: Sendable, Equatable {
    let row: RowReference
    /// The values; see ``ObjectSnapshot``.
    var record: [UInt8]
}

/// The rows of a list snapshot: a two-level tree with parts that consecutive snapshots share. A change copies the affected chunks, the references of their
/// groups and those of all groups: several hundred references for a list of a million rows.
struct SnapshotRows: Sendable {
    /// Consecutive chunks.
    private struct Group: Sendable, Equatable {
        /// The nonempty chunks.
        var chunks: [[SnapshotRow]] = []
        /// The end index of each chunk.
        var ends: [Int] = []

        var count: Int { ends.last ?? 0 }

        mutating func append(_ chunk: [SnapshotRow]) {
            guard !chunk.isEmpty else { return }
            chunks.append(chunk)
            ends.append(count + chunk.count)
        }

        /// Appends rows in chunks of balanced size.
        mutating func appendMerging(_ rows: [SnapshotRow]) {
            if let last = chunks.last, last.count + rows.count <= SnapshotRows.chunkSize,
                Swift.min(last.count, rows.count) < SnapshotRows.chunkSize / 4
            {
                chunks.removeLast()
                ends.removeLast()
                return append(last + rows)
            }
            guard rows.count > 2 * SnapshotRows.chunkSize else { return append(rows) }
            for start in stride(from: 0, to: rows.count, by: SnapshotRows.chunkSize) {
                append(Array(rows[start..<Swift.min(start + SnapshotRows.chunkSize, rows.count)]))
            }
        }
    }

    /// The nonempty groups.
    private var groups: [Group] = []
    /// The end index of each group.
    private var ends: [Int] = []

    /// The target number of rows per chunk.
    private static var chunkSize: Int { 256 }
    /// The target number of chunks per group.
    private static var groupSize: Int { 64 }

    init(_ rows: [SnapshotRow] = []) {
        var all = Group()
        for start in stride(from: 0, to: rows.count, by: Self.chunkSize) {
            all.append(Array(rows[start..<Swift.min(start + Self.chunkSize, rows.count)]))
        }
        appendMerging(all)
    }

    private mutating func append(_ group: Group) {
        guard group.count > 0 else { return }
        groups.append(group)
        ends.append(count + group.count)
    }

    /// Appends chunks in groups of balanced size.
    private mutating func appendMerging(_ group: Group) {
        var group = group
        if let last = groups.last, last.chunks.count + group.chunks.count <= Self.groupSize,
            Swift.min(last.chunks.count, group.chunks.count) < Self.groupSize / 4
        {
            groups.removeLast()
            ends.removeLast()
            let added = group.chunks
            group = last
            for chunk in added { group.append(chunk) }
        }
        guard group.chunks.count > 2 * Self.groupSize else { return append(group) }
        for start in stride(from: 0, to: group.chunks.count, by: Self.groupSize) {
            var part = Group()
            for chunk in group.chunks[start..<Swift.min(start + Self.groupSize, group.chunks.count)] { part.append(chunk) }
            append(part)
        }
    }

    /// Replaces the values of a row.
    mutating func setRecord(_ record: [UInt8], at index: Int) {
        let (group, chunk, offset) = location(index)
        groups[group].chunks[chunk][offset].record = record
    }

    /// Returns the rows with some removed and others inserted.
    /// - Parameters:
    ///   - removed: The indexes to remove, ascending.
    ///   - inserted: The rows to insert with their indexes in the result, ascending.
    /// - Returns: `nil` if an index is out of bounds.
    func replacing(_ removed: [Int], _ inserted: [(index: Int, row: SnapshotRow)]) -> SnapshotRows? {
        var result = SnapshotRows()
        var edit = Edit(removed: removed[...], inserted: inserted[...])
        var start = 0
        for group in groups {
            defer { start += group.count }
            guard edit.concerns(group.count, from: start, to: result.count) else {
                result.append(group)
                continue
            }
            var new = Group()
            var chunkStart = start
            for chunk in group.chunks {
                let position = result.count + new.count
                if edit.concerns(chunk.count, from: chunkStart, to: position) {
                    new.appendMerging(edit.applied(to: chunk, from: chunkStart, to: position))
                } else {
                    new.append(chunk)
                }
                chunkStart += chunk.count
            }
            result.appendMerging(new)
        }
        var rest = Group()
        rest.appendMerging(edit.rest(at: result.count))
        result.appendMerging(rest)
        return edit.isEmpty ? result : nil
    }

    private static func firstEnd(above index: Int, in ends: [Int]) -> (part: Int, offset: Int) {
        var low = 0
        var high = ends.count - 1
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > index { high = middle } else { low = middle + 1 }
        }
        return (low, index - (low == 0 ? 0 : ends[low - 1]))
    }

    private func location(_ index: Int) -> (group: Int, chunk: Int, offset: Int) {
        let (group, rest) = Self.firstEnd(above: index, in: ends)
        let (chunk, offset) = Self.firstEnd(above: rest, in: groups[group].ends)
        return (group, chunk, offset)
    }
}

extension SnapshotRows {
    /// The remaining part of a change that is being applied from the first row to the last.
    private struct Edit {
        /// The indexes to remove, before the change, ascending.
        var removed: ArraySlice<Int>
        /// The rows to insert with their indexes after the change, ascending.
        var inserted: ArraySlice<(index: Int, row: SnapshotRow)>

        var isEmpty: Bool { removed.isEmpty && inserted.isEmpty }

        /// Returns whether the change affects a range of rows.
        /// - Parameters:
        ///   - start: The index of the first row before the change.
        ///   - position: The index of the first row after the change.
        func concerns(_ count: Int, from start: Int, to position: Int) -> Bool {
            removed.first.map { $0 < start + count } ?? false || inserted.first.map { $0.index < position + count } ?? false
        }

        /// Returns a chunk after removals and after insertions among its rows. For the parameters see ``concerns(_:from:to:)``.
        mutating func applied(to chunk: [SnapshotRow], from start: Int, to position: Int) -> [SnapshotRow] {
            var rows: [SnapshotRow] = []
            rows.reserveCapacity(chunk.count + 1)
            for (offset, row) in chunk.enumerated() {
                if removed.first == start + offset {
                    removed = removed.dropFirst()
                    continue
                }
                rows += rest(at: position + rows.count)
                rows.append(row)
            }
            return rows
        }

        /// Returns the consecutive rows that are inserted from an index on.
        mutating func rest(at index: Int) -> [SnapshotRow] {
            var rows: [SnapshotRow] = []
            while let next = inserted.first, next.index == index + rows.count {
                rows.append(next.row)
                inserted = inserted.dropFirst()
            }
            return rows
        }
    }
}

extension SnapshotRows: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { ends.last ?? 0 }

    subscript(position: Int) -> SnapshotRow {
        precondition(indices.contains(position), "Index \(position) is out of bounds: the list has \(count) objects.")
        let (group, chunk, offset) = location(position)
        return groups[group].chunks[chunk][offset]
    }

    func makeIterator() -> FlattenSequence<FlattenSequence<[[[SnapshotRow]]]>>.Iterator {
        groups.map(\.chunks).joined().joined().makeIterator()
    }
}

extension SnapshotRows: Equatable {
    static func == (left: SnapshotRows, right: SnapshotRows) -> Bool {
        // The comparison of arrays with shared storage takes constant time.
        left.ends == right.ends && left.groups == right.groups || left.count == right.count && left.elementsEqual(right)
    }
}
