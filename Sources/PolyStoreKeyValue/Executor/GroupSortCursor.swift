import PolyStoreBackend
import PolyStoreQuery

/// Sorts rows that arrive in the order of the first sort keys: collects and sorts each group of equal keys, until the slice is complete.
final class GroupSortCursor: RecordCursor {
    private let source: RecordCursor
    private let layout: RecordLayout
    private let order: RecordOrder
    private let groups: RecordOrder
    private var arena = RecordArena()
    private var rows: ArraySlice<MaterializedCursor.Row> = []
    /// The arena and the first row of the next group, which ended the previous one.
    private var nextGroup: (arena: RecordArena, row: MaterializedCursor.Row)?
    private var isAtEnd = false
    private var skip: Int
    private var left: Int

    init(_ source: RecordCursor, _ request: FetchRequest, orderedKeys: Int) {
        self.source = source
        layout = request.entity.layout
        order = RecordOrder(request.sortKeys)
        groups = RecordOrder(Array(request.sortKeys.prefix(orderedKeys)))
        skip = request.offset
        left = request.limit ?? .max
        super.init(layout: request.entity.layout)
    }

    deinit { close() }

    override func next() throws -> Bool {
        while left > 0 {
            if let row = rows.popFirst() {
                if skip > 0 {
                    skip -= 1
                    continue
                }
                left -= 1
                setCurrent(row.id, arena.view(row.offset, row.count, layout))
                return true
            }
            guard try readGroup() else { return false }
        }
        return false
    }

    /// - Returns: false at the end.
    private func readGroup() throws -> Bool {
        var group: [MaterializedCursor.Row] = []
        if let nextGroup {
            arena = nextGroup.arena
            group = [nextGroup.row]
            self.nextGroup = nil
        } else {
            arena = RecordArena()
        }
        while !isAtEnd {
            guard try source.next() else {
                isAtEnd = true
                break
            }
            let record = source.record
            if let first = group.first, groups.compare(0, arena.view(first.offset, first.count, layout), 0, record) != 0 {
                let other = RecordArena()
                nextGroup = (other, MaterializedCursor.Row(id: source.rowID, offset: other.append(record.bytes), count: record.count))
                break
            }
            group.append(MaterializedCursor.Row(id: source.rowID, offset: arena.append(record.bytes), count: record.count))
            let most = left &+ skip
            if most > 0, group.count >= 2 * max(most, 64) { cut(&group, most) }
        }
        arena.sort(&group, by: order, layout: layout)
        rows = group[...]
        return !group.isEmpty
    }

    /// Keeps the first rows, in a separate arena.
    private func cut(_ group: inout [MaterializedCursor.Row], _ most: Int) {
        arena.sort(&group, by: order, layout: layout)
        let kept = RecordArena()
        group = group.prefix(most).map {
            MaterializedCursor.Row(id: $0.id, offset: kept.append(arena.bytes($0.offset, $0.count)), count: $0.count)
        }
        arena = kept
    }

    override func close() { source.close() }
    override var rowsExamined: Int { source.rowsExamined }
}
