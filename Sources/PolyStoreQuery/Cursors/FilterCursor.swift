import PolyStoreBackend

/// A cursor that applies a residual predicate, limit and offset.
final class FilterCursor: RecordCursor {
    private let source: RecordCursor
    private let evaluator: PredicateEvaluator?
    private var skip: Int
    private var left: Int

    init(
        _ source: RecordCursor, layout: RecordLayout, predicate: QueryPredicate?, _ related: any RelatedRecords, offset: Int, limit: Int?
    ) {
        let (rows, found) = source.ahead(
            predicate, [], related, layout, limit: limit.map { Int(clamping: $0.magnitude + offset.magnitude) })
        self.source = rows
        evaluator = predicate.map { PredicateEvaluator($0, found) }
        skip = offset
        left = limit ?? .max
        super.init(layout: layout)
    }

    override func next() throws -> Bool {
        while left > 0, try source.next() {
            if let evaluator, try !evaluator.matches(id: source.rowID, source.record) { continue }
            if skip > 0 {
                skip -= 1
                continue
            }
            left -= 1
            setCurrent(source.rowID, source.record)
            return true
        }
        return false
    }

    override func close() { source.close() }

    override var rowsExamined: Int { source.rowsExamined }
}
