/// The rows of a list snapshot, in chunks that consecutive snapshots share: a change copies the chunks that it touches, and not the list.
struct SnapshotRows: Sendable {
    /// None is empty.
    private var chunks: [[SnapshotRow]] = []
    /// For each chunk, the index behind its last row.
    private var ends: [Int] = []

    /// The usual number of rows of a chunk.
    private static var size: Int { 256 }

    init(_ rows: [SnapshotRow] = []) {
        for start in stride(from: 0, to: rows.count, by: Self.size) {
            append(Array(rows[start..<Swift.min(start + Self.size, rows.count)]))
        }
    }

    private mutating func append(_ chunk: [SnapshotRow]) {
        guard !chunk.isEmpty else { return }
        chunks.append(chunk)
        ends.append(count + chunk.count)
    }

    /// Adds rows at the end, in chunks that are neither very short nor very long.
    private mutating func appendMerging(_ rows: [SnapshotRow]) {
        if let last = chunks.last, last.count + rows.count <= Self.size, Swift.min(last.count, rows.count) < Self.size / 4 {
            chunks.removeLast()
            ends.removeLast()
            return append(last + rows)
        }
        guard rows.count > 2 * Self.size else { return append(rows) }
        for start in stride(from: 0, to: rows.count, by: Self.size) {
            append(Array(rows[start..<Swift.min(start + Self.size, rows.count)]))
        }
    }

    /// Replaces the values of a row.
    mutating func setRecord(_ record: [UInt8], at index: Int) {
        let (chunk, offset) = location(index)
        chunks[chunk][offset].record = record
    }

    /// The rows without some and with others.
    /// - Parameters:
    ///   - removed: indexes, ascending.
    ///   - inserted: rows with their indexes in the result, ascending.
    /// - Returns: nil if the indexes do not fit.
    func replacing(_ removed: [Int], _ inserted: [(index: Int, row: SnapshotRow)]) -> SnapshotRows? {
        var result = SnapshotRows()
        var removed = removed[...]
        var inserted = inserted[...]
        var start = 0
        for chunk in chunks {
            let end = start + chunk.count
            let isTouched = removed.first.map { $0 < end } ?? false || inserted.first.map { $0.index < result.count + chunk.count } ?? false
            if isTouched {
                result.appendMerging(Self.merged(chunk, from: start, to: result.count, &removed, &inserted))
            } else {
                result.append(chunk)
            }
            start = end
        }
        var rest: [SnapshotRow] = []
        while let next = inserted.first, next.index == result.count + rest.count {
            rest.append(next.row)
            inserted = inserted.dropFirst()
        }
        result.appendMerging(rest)
        return removed.isEmpty && inserted.isEmpty ? result : nil
    }

    /// A chunk without the rows that are removed, and with those that are inserted among the others.
    /// - Parameters:
    ///   - start: the index of the chunk's first row.
    ///   - position: the index of the result's first row.
    private static func merged(
        _ chunk: [SnapshotRow], from start: Int, to position: Int, _ removed: inout ArraySlice<Int>,
        _ inserted: inout ArraySlice<(index: Int, row: SnapshotRow)>
    ) -> [SnapshotRow] {
        var rows: [SnapshotRow] = []
        rows.reserveCapacity(chunk.count + 1)
        for (offset, row) in chunk.enumerated() {
            if removed.first == start + offset {
                removed = removed.dropFirst()
                continue
            }
            while let next = inserted.first, next.index == position + rows.count {
                rows.append(next.row)
                inserted = inserted.dropFirst()
            }
            rows.append(row)
        }
        return rows
    }

    private func location(_ index: Int) -> (chunk: Int, offset: Int) {
        var low = 0
        var high = ends.count - 1
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > index { high = middle } else { low = middle + 1 }
        }
        return (low, index - (low == 0 ? 0 : ends[low - 1]))
    }
}

extension SnapshotRows: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { ends.last ?? 0 }

    subscript(position: Int) -> SnapshotRow {
        precondition(indices.contains(position), "Index \(position) is out of bounds: the list has \(count) objects.")
        let (chunk, offset) = location(position)
        return chunks[chunk][offset]
    }

    func makeIterator() -> FlattenSequence<[[SnapshotRow]]>.Iterator { chunks.joined().makeIterator() }
}

extension SnapshotRows: Equatable {
    static func == (left: SnapshotRows, right: SnapshotRows) -> Bool {
        // Arrays that share their storage are found equal at once.
        left.ends == right.ends ? left.chunks == right.chunks : left.count == right.count && left.elementsEqual(right)
    }
}
