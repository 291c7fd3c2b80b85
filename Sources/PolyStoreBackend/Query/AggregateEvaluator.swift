/// Works out aggregates over records as they come, without making objects: the meaning that every backend must have.
public final class AggregateEvaluator {
    private let request: AggregateRequest
    private let groups: GroupTable
    private let accumulators: [Accumulator]
    /// For each aggregate, whose answer it is.
    private let sources: [Int]

    public init(_ request: AggregateRequest) {
        self.request = request
        groups = GroupTable.make(request.groupBy, request.entity)
        (accumulators, sources) = Accumulator.make(request.aggregates, request.entity)
        if request.groupBy.isEmpty { _ = groups.add() }
        for accumulator in accumulators where request.groupBy.isEmpty { accumulator.grow() }
    }

    /// Takes in every row of a walk.
    public func add(_ cursor: RecordCursor) throws {
        while try cursor.next() { add(id: cursor.id, cursor.record) }
    }

    /// Takes in one row; at least the fields of ``AggregateRequest/source`` must be there.
    public func add(id: Int64, _ record: RecordView) {
        let known = groups.count
        let group = groups.group(of: id, record)
        if groups.count > known { for accumulator in accumulators { accumulator.grow() } }
        for accumulator in accumulators { accumulator.add(group, id, record) }
    }

    /// Takes in the selected rows of a batch.
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
        try zip(request.aggregates, sources).map { try accumulators[$1].value($0.function, group) }
    }

    /// The groups in ascending order, null first.
    /// - Throws: `invalidValue` for a sum of integers that does not fit the field's widest type.
    public func finish() throws -> [AggregateRow] {
        var rows: [AggregateRow] = []
        rows.reserveCapacity(groups.count)
        for group in 0..<groups.count {
            rows.append(AggregateRow(group: groups.key(group), values: try values(group)))
        }
        rows.sort { left, right in
            for (index, field) in request.groupBy.enumerated() {
                let order = left.group[index].order(to: right.group[index], unsigned: field.isUnsigned)
                if order != 0 { return order < 0 }
            }
            return false
        }
        return rows
    }
}

extension ReadTransaction {
    /// On the records of a walk; a backend that can do better implements it.
    public func aggregate(_ request: AggregateRequest) throws -> [AggregateRow] {
        try request.validate()
        let evaluator = AggregateEvaluator(request)
        let cursor = try fetch(request.source)
        defer { cursor.close() }
        try evaluator.add(cursor)
        return try evaluator.finish()
    }
}
