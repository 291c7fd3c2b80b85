import PolyStoreBackend

extension ReadTransaction {
    /// Computes aggregates over a cursor. A backend can override this with a faster implementation.
    public func aggregate(_ request: AggregateRequest) throws -> [AggregateRow] {
        try request.validate()
        let evaluator = AggregateEvaluator(request)
        let cursor = try fetch(request.source)
        defer { cursor.close() }
        try evaluator.add(cursor)
        return try evaluator.finish()
    }
}
