import PolyStoreBackend
import PolyStoreCollections
import PolyStoreKernel
import PolyStoreQuery

extension ListRows {
    /// A changed row that is in the list before or after the changes.
    private struct Candidate {
        let row: CommittedStep.Row
        /// The position before the changes; `nil` if the row was not in the list.
        var old: Int?
        var oldPosition: ListPosition?
        var oldSection: Int?
        /// The new sort key and section; `nil` if the row leaves the list.
        var key: OrderedRows.Key?
        var section = ""
        /// A Boolean value that indicates whether the row keeps its position.
        var isFixed = false
        var new: Int?
    }

    /// Removes and inserts the rows that changed.
    mutating func follow(_ rows: [CommittedStep.Row], _ context: Context) throws -> ListDelta? {
        let part = resolved.parts[0]
        let related = part.needsRelated ? try context.related(part.entry.store, part.options) : nil
        let evaluator = part.needsRelated ? PredicateEvaluator(part.request.predicate, related) : reusableEvaluator(part)
        let encoder = SortKeyEncoder(part.request.sortKeys, related)
        let namer = SectionNamer(query, part, related)
        let storage = try context.storage(part.entry.store)
        var candidates: [Candidate] = []
        var copy: RecordArena?
        for row in rows {
            defer { withExtendedLifetime(copy) {} }
            var candidate = Candidate(row: row, old: ordered.position(of: row.rowID))
            if let record = try currentRecord(row, part, storage, &copy) {
                if try evaluator.matches(id: row.rowID, record) {
                    try locate(&candidate, record, part, encoder, namer)
                } else if candidate.old == nil {
                    continue
                }
            } else if candidate.old == nil {
                continue
            }
            candidates.append(candidate)
        }
        guard !candidates.isEmpty else { return nil }
        return try place(&candidates, encoder, storage, part, context)
    }

    /// Returns the current record of a row; `nil` for a deleted object.
    /// - Parameter copy: Owns the record if it was read from the store, because reading other objects would invalidate the view.
    private func currentRecord(
        _ row: CommittedStep.Row, _ part: ResolvedList.Part, _ storage: any ReadTransaction, _ copy: inout RecordArena?
    ) throws -> RecordView? {
        if let record = row.record { return record }
        guard let record = try row.record(part.entry.entity, storage) else { return nil }
        let arena = RecordArena(capacity: record.count)
        copy = arena
        return arena.view(arena.append(record.bytes), record.count, part.entry.entity.layout)
    }

    /// Determines the new position of a row.
    private func locate(
        _ candidate: inout Candidate, _ record: RecordView, _ part: ResolvedList.Part, _ encoder: SortKeyEncoder, _ namer: SectionNamer?
    ) throws {
        let row = candidate.row
        candidate.isFixed =
            candidate.old != nil && !part.needsRelated && !row.wasInserted && !row.wasDeleted && row.mask.isDisjoint(with: part.placing)
        if candidate.isFixed { return }
        var key: [UInt8] = []
        try encoder.encode(row.rowID, record, into: &key)
        candidate.section = try namer?.name(row.rowID, record) ?? ""
        candidate.key = OrderedRows.Key(row.rowID, key)
    }

    private mutating func reusableEvaluator(_ part: ResolvedList.Part) -> PredicateEvaluator {
        if let evaluator { return evaluator }
        let made = PredicateEvaluator(part.request.predicate)
        evaluator = made
        return made
    }

    private mutating func place(
        _ candidates: inout [Candidate], _ encoder: SortKeyEncoder, _ storage: any ReadTransaction, _ part: ResolvedList.Part,
        _ context: Context
    ) throws -> ListDelta {
        sections.beginChanges()
        for index in candidates.indices {
            guard let flat = candidates[index].old else { continue }
            let position = sections.position(flat)
            candidates[index].oldPosition = position
            candidates[index].oldSection = sections.serial(position.section)
        }
        do {
            for candidate in candidates where !candidate.isFixed {
                guard let flat = ordered.position(of: candidate.row.rowID) else { continue }
                sections.removeRow(at: flat)
                ordered.remove(candidate.row.rowID)
            }
            candidates.sort { Self.precedes($0.key, $1.key) }
            var buffer: [UInt8] = []
            for candidate in candidates {
                guard let key = candidate.key else { continue }
                let flat = try ordered.insert(key) { rowID in
                    guard let record = try storage.record(part.entry.entity, rowID: rowID) else { return true }
                    try encoder.encode(rowID, record, into: &buffer)
                    return buffer == key.bytes ? rowID < key.rowID : buffer.lexicographicallyPrecedes(key.bytes)
                }
                if !sections.insertRow(at: flat, candidate.section) {
                    return try regroup(groupsBefore(candidates), candidates.map(\.row), context)
                }
            }
        } catch {
            restore(groupsBefore(candidates))
            throw error
        }
        return delta(&candidates)
    }

    /// Returns the groups before the changes, reconstructed while the changes are being applied.
    private func groupsBefore(_ candidates: [Candidate]) -> [ListDiff.Section] {
        let changed = Set(candidates.lazy.filter { !$0.isFixed }.map(\.row.rowID))
        let removed = candidates.filter { !$0.isFixed && $0.old != nil }.sorted { ($0.old ?? 0) < ($1.old ?? 0) }
        var rows: [Int64] = []
        var next = removed[...]
        for rowID in ordered[0..<ordered.count] where !changed.contains(rowID) {
            while let first = next.first, first.old == rows.count {
                rows.append(first.row.rowID)
                next.removeFirst()
            }
            rows.append(rowID)
        }
        rows += next.map(\.row.rowID)
        var start = 0
        return sections.beforeChanges(rowCount: rows.count).map { name, count in
            defer { start += count }
            return (name, rows[start..<start + count].map { RowReference(entityIndex: entityIndex, rowID: $0) })
        }
    }

    /// Returns whether a key precedes another one; rows without a key come first.
    private static func precedes(_ left: OrderedRows.Key?, _ right: OrderedRows.Key?) -> Bool {
        guard let left else { return right != nil }
        guard let right else { return false }
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        return left.bytes == right.bytes ? left.rowID < right.rowID : left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    private mutating func delta(_ candidates: inout [Candidate]) -> ListDelta {
        var delta = ListDelta()
        (delta.insertedSections, delta.deletedSections) = sections.finishChanges()
        for index in candidates.indices { candidates[index].new = ordered.position(of: candidates[index].row.rowID) }
        let fixed = stationary(candidates)
        for (index, candidate) in candidates.enumerated() {
            let row = RowReference(entityIndex: entityIndex, rowID: candidate.row.rowID)
            let new = candidate.new.map(sections.position)
            switch (candidate.oldPosition, new) {
            case (let old?, nil): delta.deleted.append(ListDelta.RowChange(row: row, position: old))
            case (nil, let new?): delta.inserted.append(ListDelta.RowChange(row: row, position: new))
            case (let old?, let new?):
                if candidate.isFixed || fixed.contains(index) {
                    if candidate.row.isUpdate { delta.updated.append(ListDelta.RowChange(row: row, position: new)) }
                } else {
                    delta.moved.append(ListDelta.Move(row: row, from: old, to: new, isUpdated: candidate.row.isUpdate))
                }
            case (nil, nil): break
            }
        }
        delta.deleted.sort { $0.position < $1.position }
        delta.inserted.sort { $0.position < $1.position }
        delta.updated.sort { $0.position < $1.position }
        delta.moved.sort { $0.to < $1.to }
        return delta
    }

    /// Returns the candidates that were removed and reinserted without a change of their relative order, which have not moved.
    private func stationary(_ candidates: [Candidate]) -> Set<Int> {
        let removed = candidates.lazy.filter { !$0.isFixed }.compactMap(\.old).sorted()
        let inserted = candidates.lazy.filter { !$0.isFixed }.compactMap(\.new).sorted()
        let both = candidates.indices.filter { index in
            let candidate = candidates[index]
            guard !candidate.isFixed, let old = candidate.old, let new = candidate.new,
                candidate.oldSection == sections.serial(sections.position(new).section)
            else { return false }
            // The number of preceding rows that were not removed must be the same before and after.
            return old - Self.rank(old, in: removed) == new - Self.rank(new, in: inserted)
        }.sorted { (candidates[$0].old ?? 0) < (candidates[$1].old ?? 0) }
        guard both.count > 1 else { return Set(both) }
        return Set(IncreasingSubsequence.indexes(of: both.map { candidates[$0].new ?? 0 }).map { both[$0] })
    }

    /// Returns the number of positions in an ascending list that precede a position.
    private static func rank(_ position: Int, in positions: [Int]) -> Int {
        (0..<positions.count).partition { positions[$0] < position }
    }
}

extension CommittedStep.Row {
    /// Returns the current record; `nil` for a deleted object.
    func record(_ entity: Entity, _ storage: any ReadTransaction) throws -> RecordView? {
        if let record { return record }
        return wasDeleted ? nil : try storage.record(entity, rowID: rowID)
    }
}
