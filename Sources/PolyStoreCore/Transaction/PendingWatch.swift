import PolyStoreBackend

/// What a condition that was asked about selects among the pending records, kept so that asking again costs what was changed since.
struct PendingWatch {
    let predicate: QueryPredicate
    /// Whether the pending rows are found in another way, and are not looked at here.
    let isIndexed: Bool
    private let evaluator: PredicateEvaluator
    /// The pending rows that it selects.
    private(set) var selected: Set<Int32> = []
    /// The same in the orders that were asked for, the latest at the end.
    private var orders: [PendingOrder] = []
    private static let orderLimit = 2
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

    typealias Living = (Int32) -> (id: Int64, view: RecordView)?

    /// Looks at the rows that were changed since.
    /// - Parameters:
    ///   - living: the record of a row; nil where its object is deleted.
    ///   - record: the record of any row.
    mutating func catchUp(_ changed: [Int32], _ living: Living, _ record: PendingOrder.Record) throws {
        if isIndexed { position = changed.count }
        while position < changed.count {
            try look(changed[position], living, record)
            position += 1
        }
    }

    /// Selects a row if the condition holds for it. A row that was selected has been forgotten since its record changed.
    mutating func look(_ row: Int32, _ living: Living, _ record: PendingOrder.Record) throws {
        guard let (id, view) = living(row), try evaluator.matches(id: id, view), selected.insert(row).inserted else { return }
        for index in orders.indices { orders[index].insert(row, record) }
    }

    /// Called before a row's record is replaced or its object is deleted.
    mutating func forget(_ row: Int32, _ record: PendingOrder.Record) {
        guard selected.remove(row) != nil else { return }
        for index in orders.indices { orders[index].remove(row, record) }
    }

    /// The rows that it selects: only the first, where so many more are selected that an order is worth keeping.
    mutating func first(_ most: Int, by keys: [SortKey], _ record: PendingOrder.Record) -> [Int32] {
        guard selected.count > 64, most < selected.count / 4 else { return selected.sorted() }
        if let known = orders.firstIndex(where: { $0.keys == keys }) {
            orders.append(orders.remove(at: known))
        } else {
            if orders.count == Self.orderLimit { orders.removeFirst() }
            orders.append(PendingOrder(keys, selected, record))
        }
        return orders[orders.count - 1].prefix(most)
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
