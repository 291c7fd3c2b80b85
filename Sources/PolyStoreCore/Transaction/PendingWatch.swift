import PolyStoreBackend

/// What a condition that was asked about selects among the pending records, kept so that asking again costs what was changed since.
struct PendingWatch {
    let predicate: QueryPredicate
    /// Whether the pending rows are found in another way, and are not looked at here.
    let isIndexed: Bool
    private let evaluator: PredicateEvaluator
    /// The pending rows that it selects.
    private(set) var selected: Set<Int32> = []
    /// How far the list of changed rows was read.
    private var position: Int

    /// Among the store's rows, as long as the store shows the same version: how many it selects…
    private var stored: Int?
    /// … and how many of these this transaction has changed or deleted.
    private var hidden = 0
    private var known: Set<Int64> = []
    private var updatedCount = 0
    private var deletedCount = 0

    /// - Parameter position: rows that were changed before are for the caller to tell of.
    init(_ predicate: QueryPredicate, isIndexed: Bool, position: Int) {
        self.predicate = predicate
        self.isIndexed = isIndexed
        self.position = position
        evaluator = PredicateEvaluator(predicate)
    }

    /// Looks at the rows that were changed since.
    /// - Parameter record: of a row; nil where its object is deleted.
    mutating func catchUp(_ changed: [Int32], _ record: (Int32) -> (id: Int64, view: RecordView)?) throws {
        if isIndexed { position = changed.count }
        while position < changed.count {
            try look(changed[position], record)
            position += 1
        }
    }

    mutating func look(_ row: Int32, _ record: (Int32) -> (id: Int64, view: RecordView)?) throws {
        if let (id, view) = record(row), try evaluator.matches(id: id, view) { selected.insert(row) } else { selected.remove(row) }
    }

    /// The list of changed rows was emptied.
    mutating func didEmpty() { position = 0 }

    /// How many of the store's rows it selects that this transaction has not touched.
    /// - Parameters:
    ///   - isFixed: whether the store shows the same version all the time.
    ///   - count: of all that the store has.
    ///   - record: the store's.
    mutating func untouched(
        _ own: Transaction.Pending, isFixed: Bool, count: () throws -> Int, record: (Int64) throws -> RecordView?
    ) throws -> Int {
        if !isFixed { (stored, hidden, known, updatedCount, deletedCount) = (nil, 0, [], 0, 0) }
        let total = try stored ?? count()
        stored = total
        while updatedCount < own.updated.count {
            try hide(own.updated[updatedCount]._$state.key, record)
            updatedCount += 1
        }
        while deletedCount < own.deleted.count {
            try hide(own.deleted[deletedCount]._$state.key, record)
            deletedCount += 1
        }
        return total - hidden
    }

    /// What the store has is to be looked at anew.
    mutating func forgetStored() { (stored, hidden, known, updatedCount, deletedCount) = (nil, 0, [], 0, 0) }

    private mutating func hide(_ key: Int64, _ record: (Int64) throws -> RecordView?) throws {
        guard known.insert(key).inserted, let view = try record(key) else { return }
        if try evaluator.matches(id: key, view) { hidden += 1 }
    }
}
