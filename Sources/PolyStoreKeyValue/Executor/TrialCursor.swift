import PolyStoreBackend
import PolyStoreQuery

/// Scans records for the first matches, and switches to the row ids of an index if it does not find them soon.
final class TrialCursor: RecordCursor {
    private var source: RecordCursor
    private var evaluator: PredicateEvaluator?
    private var wanted: Int
    private var recordLimit: Int
    private let index: IndexSource
    private let others: (Int64) throws -> RecordCursor
    private var examinedBefore = 0

    /// - Parameters:
    ///   - wanted: The number of rows that are usually requested.
    ///   - recordLimit: The number of records that are examined before the index is used.
    ///   - index: The index source, which is closed at the end.
    ///   - others: Returns the rows of the index with row ids greater than the given one.
    init(
        _ source: RecordCursor, _ entity: Entity, _ evaluator: PredicateEvaluator, wanted: Int, recordLimit: Int, _ index: IndexSource,
        others: @escaping (Int64) throws -> RecordCursor
    ) {
        self.source = source
        self.evaluator = evaluator
        self.wanted = wanted
        self.recordLimit = recordLimit
        self.index = index
        self.others = others
        super.init(layout: entity.layout)
    }

    deinit { close() }

    override func next() throws -> Bool {
        while let evaluator {
            guard try source.next() else { return false }
            recordLimit -= 1
            if try evaluator.matches(id: source.rowID, source.record) {
                setCurrent(source.rowID, source.record)
                wanted -= 1
                return true
            }
            if recordLimit <= 0, wanted > 0 {
                let last = source.rowID
                examinedBefore = source.rowsExamined
                source.close()
                source = try others(last)
                self.evaluator = nil
            }
        }
        guard try source.next() else { return false }
        setCurrent(source.rowID, source.record)
        return true
    }

    override func close() {
        source.close()
        index.close()
    }

    override var rowsExamined: Int { index.examined + examinedBefore + source.rowsExamined }
}
