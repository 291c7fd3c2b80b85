import PolyStoreBackend

extension ReadTransaction {
    /// Returns the groups of a request in order. Computes what the backend leaves.
    /// - Throws: the `invalidPredicate` errors of `AggregateRequest.validate()`; `invalidValue` if a sum of integers overflows 64 bits.
    public func aggregate(_ request: AggregateRequest) throws -> [AggregateRow] {
        try request.validate()
        let request = try searched(request)
        if let scan = try scanGroups(request) { return try scan.completed(for: request, self) }
        let evaluator = try AggregateEvaluator(request)
        let cursor = try fetch(request.source)
        defer { cursor.close() }
        try evaluator.add(cursor, of: request, self)
        return try evaluator.finish(self)
    }

    /// Returns a request in which the full-text searches of the condition are replaced by the ids of the objects that the indexes find, and whose scores have
    /// their statistics: they are not counted while a cursor is at a record.
    private func searched(_ request: AggregateRequest) throws -> AggregateRequest {
        var copy = request
        if request.predicate.searches {
            var rows = FetchRequest(request.entity, predicate: request.predicate)
            rows.ignoresIndexes = request.ignoresIndexes
            copy.predicate = try searched(rows).request.predicate
        }
        copy.groupBy = try request.groupBy.map { try scored($0) }
        copy.aggregates = try request.aggregates.map { aggregate in
            guard let operand = aggregate.operand, operand.searches else { return aggregate }
            let scored = try scored(operand)
            return aggregate.isOverMembers ? .overMembers(aggregate.function, scored) : .of(aggregate.function, scored)
        }
        return copy
    }
}

extension GroupScan {
    /// Returns the groups after the residual parts of the request.
    /// - Parameter related: Looks up the related objects that the condition on groups and the sort keys refer to.
    func completed(for request: AggregateRequest, _ related: (any RelatedRecords)?) throws -> [AggregateRow] {
        if residual.isNothing { return rows }
        var groups = rows
        if residual.predicate != nil || residual.sort { groups = try selected(try request.columns(), request.sortKeys, related) }
        guard residual.slice else { return groups }
        let rest = groups.dropFirst(request.offset)
        return Array(request.limit.map { rest.prefix($0) } ?? rest)
    }

    private func selected(_ columns: Entity, _ sortKeys: [SortKey], _ related: (any RelatedRecords)?) throws -> [AggregateRow] {
        let arena = RecordArena()
        let evaluator = residual.predicate.map { PredicateEvaluator($0, related) }
        let sortKeys = residual.sort ? sortKeys : []
        let values = SortValues(sortKeys, related)
        var wanted: [(index: Int, values: [Value])] = []
        for (index, group) in rows.enumerated() {
            arena.removeAll()
            var builder = RecordBuilder(arena)
            builder.begin(columns.layout)
            for (field, value) in zip(columns.fields, group.group + group.values) { try builder.set(field, value) }
            let record = try builder.finishedView()
            if try evaluator?.matches(id: 0, record) ?? true { wanted.append((index, try values.values(0, record))) }
        }
        let order = RecordOrder(sortKeys)
        wanted.sort { order.compare(Int64($0.index), $0.values, Int64($1.index), $1.values) < 0 }
        return wanted.map { rows[$0.index] }
    }
}
