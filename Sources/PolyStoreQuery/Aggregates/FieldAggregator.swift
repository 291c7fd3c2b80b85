import PolyStoreBackend

/// Computes aggregates of fields over records as they are read, without creating objects.
package final class FieldAggregator {
    private let fields: [FieldReference]
    private let aggregates: [Aggregate]
    private let groups: GroupTable
    private let accumulators: [Accumulator]
    /// The index of the accumulator of each aggregate.
    private let sources: [Int]

    /// - Parameters:
    ///   - fields: The grouping fields.
    ///   - aggregates: Aggregates of objects and fields.
    package init(_ entity: Entity, groupBy fields: [FieldReference], _ aggregates: [Aggregate]) {
        self.fields = fields
        self.aggregates = aggregates
        groups = GroupTable.make(fields, entity)
        (accumulators, sources) = Accumulator.make(aggregates, entity)
        if fields.isEmpty { _ = groups.add() }
        for accumulator in accumulators where fields.isEmpty { accumulator.grow() }
    }

    /// Adds every row of a cursor.
    package func add(_ cursor: RecordCursor) throws {
        while try cursor.next() { add(id: cursor.rowID, cursor.record) }
    }

    /// Adds one row. The record must contain at least the fields of `AggregateRequest.source`.
    package func add(id: Int64, _ record: RecordView) {
        let known = groups.count
        let group = groups.group(of: id, record)
        if groups.count > known { for accumulator in accumulators { accumulator.grow() } }
        for accumulator in accumulators { accumulator.add(group, id, record) }
    }

    /// Adds the selected rows of a batch.
    package func add(_ batch: RecordBatch) {
        if batch.selected == 0 { return }
        let known = groups.count
        groups.number(batch)
        if groups.count > known {
            for _ in known..<groups.count { for accumulator in accumulators { accumulator.grow() } }
        }
        for accumulator in accumulators { accumulator.add(batch) }
    }

    private func values(_ group: Int) throws -> [Value] {
        try zip(aggregates, sources).map { try accumulators[$1].value($0.function, group) }
    }

    /// Returns the groups in ascending order, null first.
    /// - Throws: `invalidValue` if a sum of integers overflows the widest type of the field.
    package func finish() throws -> [AggregateRow] {
        var rows: [AggregateRow] = []
        rows.reserveCapacity(groups.count)
        for group in 0..<groups.count {
            rows.append(AggregateRow(group: groups.key(group), values: try values(group)))
        }
        rows.sort { left, right in
            for (index, field) in fields.enumerated() {
                let order = left.group[index].order(to: right.group[index], unsigned: field.isUnsigned)
                if order != 0 { return order < 0 }
            }
            return false
        }
        return rows
    }
}
