import PolyStoreBackend
import PolyStoreQuery

/// The pending records that match a predicate, cached so that repeating the fetch evaluates only records changed since.
struct PendingWatch {
    let predicate: QueryPredicate
    /// A Boolean value that indicates whether an index finds the matching rows, so that they are not tracked here.
    let isIndexed: Bool
    private let evaluator: PredicateEvaluator
    /// The matching pending rows.
    private(set) var selected: Set<Int32> = []
    /// The matching pending rows in requested orders, the most recently used last.
    private var orders: [PendingOrder] = []
    private static let orderLimit = 2
    /// The number of processed entries of the list of changed rows.
    private var position: Int

    /// The number of matching rows in the store; valid while the store shows the same version.
    private var stored: Int?
    /// The number of these rows that this transaction has changed or deleted.
    private var hidden = 0
    private var known: Set<Int64> = []
    private var updatedCount = 0
    private var deletedCount = 0

    /// Creates an empty cache.
    /// - Parameter position: the start of the unprocessed changed rows. The caller adds the rows before it.
    init(_ predicate: QueryPredicate, isIndexed: Bool, position: Int) {
        self.predicate = predicate
        self.isIndexed = isIndexed
        self.position = position
        evaluator = PredicateEvaluator(predicate)
    }

    typealias Living = (Int32) -> (id: Int64, view: RecordView)?

    /// Evaluates the rows changed since the last call.
    /// - Parameters:
    ///   - living: the record of a row; nil if its object is deleted.
    ///   - record: the record of any row.
    mutating func catchUp(_ changed: [Int32], _ living: Living, _ record: PendingOrder.Record) throws {
        if isIndexed { position = changed.count }
        while position < changed.count {
            try look(changed[position], living, record)
            position += 1
        }
    }

    /// Adds a row if it matches the predicate. Rows are removed with `forget` before their records change.
    mutating func look(_ row: Int32, _ living: Living, _ record: PendingOrder.Record) throws {
        guard let (id, view) = living(row), try evaluator.matches(id: id, view), selected.insert(row).inserted else { return }
        for index in orders.indices { orders[index].insert(row, record) }
    }

    /// Called before a row's record is replaced or its object is deleted.
    mutating func forget(_ row: Int32, _ record: PendingOrder.Record) {
        guard selected.remove(row) != nil else { return }
        for index in orders.indices { orders[index].remove(row, record) }
    }

    /// Returns the matching rows: only the first `most` in order if there are enough rows for maintaining an order to pay off, otherwise all of them.
    mutating func first(_ most: Int, by keys: [SortKey], _ record: PendingOrder.Record) -> [Int32] {
        guard selected.count > 64, most < selected.count / 4 else { return selected.sorted() }
        if let known = orders.firstIndex(where: { $0.keys == keys }) {
            orders.append(orders.remove(at: known))
        } else {
            if orders.count == Self.orderLimit { orders.removeFirst() }
            orders.append(PendingOrder(keys, selected, record))
        }
        return orders[orders.count - 1].rows.prefix(most)
    }

    /// Called when the list of changed rows was emptied.
    mutating func didEmpty() { position = 0 }

    /// Returns the number of matching rows in the store that this transaction has not changed.
    /// - Parameters:
    ///   - isFixed: whether the store shows the same version throughout the transaction.
    ///   - count: returns the number of all matching rows in the store.
    ///   - record: returns a record of the store.
    mutating func untouched(
        _ changes: ChangeBuffer.EntityChanges, isFixed: Bool, count: () throws -> Int, record: (Int64) throws -> RecordView?
    ) throws -> Int {
        if !isFixed { (stored, hidden, known, updatedCount, deletedCount) = (nil, 0, [], 0, 0) }
        let total = try stored ?? count()
        stored = total
        while updatedCount < changes.updated.count {
            try hide(changes.updated[updatedCount]._$state.rowID, record)
            updatedCount += 1
        }
        while deletedCount < changes.deleted.count {
            try hide(changes.deleted[deletedCount]._$state.rowID, record)
            deletedCount += 1
        }
        return total - hidden
    }

    /// Discards the cached counts of the store's rows.
    mutating func forgetStored() { (stored, hidden, known, updatedCount, deletedCount) = (nil, 0, [], 0, 0) }

    private mutating func hide(_ rowID: Int64, _ record: (Int64) throws -> RecordView?) throws {
        guard known.insert(rowID).inserted, let view = try record(rowID) else { return }
        if try evaluator.matches(id: rowID, view) { hidden += 1 }
    }
}
