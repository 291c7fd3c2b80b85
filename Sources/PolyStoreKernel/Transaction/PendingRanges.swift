import PolyStoreBackend
import PolyStoreCollections
import PolyStoreQuery

/// Pending rows sorted by single fields, for predicates that compare a field with a constant.
///
/// Sorting costs more than a few full scans. An order is therefore created after enough rows have been scanned.
struct PendingRanges {
    /// A range of an order that contains all matching rows.
    struct Range {
        let order: PendingOrder
        let from: BlockList<Int32>.Position
        let to: BlockList<Int32>.Position

        var count: Int { order.rows.count(from, to) }
        var rows: [Int32] { order.rows.elements(from, to) }
    }

    private static let price = 16

    private let entity: Entity
    /// The orders by field; the last index is the order by row id.
    private var orders: [Int: PendingOrder] = [:]
    /// The number of rows scanned for lack of an order, by field.
    private var walked: [Int: Int] = [:]

    init(_ entity: Entity) { self.entity = entity }

    /// Called before a row's record is replaced or its object is deleted.
    mutating func remove(_ row: Int32, _ record: PendingOrder.Record) {
        for field in orders.keys { orders[field]?.remove(row, record) }
    }

    mutating func insert(_ row: Int32, _ record: PendingOrder.Record) {
        for field in orders.keys { orders[field]?.insert(row, record) }
    }

    /// Called after a full scan for a predicate.
    mutating func didWalk(_ rows: some Collection<Int32>, for predicate: QueryPredicate, _ record: PendingOrder.Record) {
        for part in predicate.conjuncts {
            guard let field = Self.field(part) else { continue }
            let index = fieldIndex(field)
            guard orders[index] == nil else { continue }
            walked[index, default: 0] += rows.count
            if walked[index, default: 0] > Self.price * rows.count { orders[index] = PendingOrder([SortKey(field)], rows, record) }
        }
    }

    /// Returns the smallest range of an order that contains all rows matching a predicate; nil if no order applies.
    func fewest(_ predicate: QueryPredicate, _ record: PendingOrder.Record) throws -> Range? {
        guard !orders.isEmpty else { return nil }
        var found: [Int: Range] = [:]
        for part in predicate.conjuncts {
            guard let field = Self.field(part), let order = orders[fieldIndex(field)] else { continue }
            let (from, to) = try Self.bounds(part, field, order, record)
            let known = found[fieldIndex(field)]
            found[fieldIndex(field)] = Range(order: order, from: max(from, known?.from ?? from), to: min(to, known?.to ?? to))
        }
        return found.values.min { $0.count < $1.count }
    }

    private func fieldIndex(_ field: FieldReference) -> Int { field.isObjectID ? entity.fields.count : field.index }

    /// Returns the field whose order applies to a condition.
    private static func field(_ part: QueryPredicate) -> FieldReference? {
        switch part.fieldCondition {
        case .compare(let field, .less, _)?, .compare(let field, .lessOrEqual, _)?, .compare(let field, .greater, _)?,
            .compare(let field, .greaterOrEqual, _)?, .text(let field, .beginsWith, _)?:
            field
        default: nil
        }
    }

    /// Returns the range of an order in which a condition may be true. The order starts with nulls; among the other rows, the matching ones are
    /// contiguous.
    private static func bounds(
        _ part: QueryPredicate, _ field: FieldReference, _ order: PendingOrder, _ record: PendingOrder.Record
    ) throws -> (from: BlockList<Int32>.Position, to: BlockList<Int32>.Position) {
        let evaluator = PredicateEvaluator(part)
        func isSelected(_ row: Int32) throws -> Bool {
            let (id, view) = record(row)
            return try evaluator.matches(id: id, view)
        }
        func isNull(_ row: Int32) -> Bool { !field.isObjectID && record(row).view.isNull(field.index) }
        switch part.fieldCondition {
        case .compare(_, .less, _)?, .compare(_, .lessOrEqual, _)?:
            return (order.rows.position { isNull($0) }, try order.rows.position { try isNull($0) || isSelected($0) })
        case .text(_, _, let prefix)?:
            let start = PredicateEvaluator(.compare(field, .greaterOrEqual, .text(prefix)))
            func isBefore(_ row: Int32) throws -> Bool {
                let (id, view) = record(row)
                return try !start.matches(id: id, view)
            }
            return (try order.rows.position(behind: isBefore), try order.rows.position { try isBefore($0) || isSelected($0) })
        default: return (try order.rows.position { try !isSelected($0) }, order.rows.end)
        }
    }
}
