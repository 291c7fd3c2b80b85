import PolyStoreBackend

/// A request as the server executes it: a statement, and what remains for the shared executor.
struct CompiledQuery {
    let table: EntityTable
    let statement: Statement
    /// The indexes of the fields that the statement selects after the row id, in ascending order; nil for all fields.
    let fields: [Int]?
    /// The part of the condition that the statement does not evaluate; nil if it evaluates the whole condition.
    let residual: QueryPredicate?
    /// The conditions that the statement evaluates.
    let evaluated: [QueryPredicate]
    /// A Boolean value that indicates whether the result is so short that reading all its rows together needs little memory.
    let isShort: Bool

    /// The maximum number of rows of a short result.
    static let mostAtOnce = 500

    /// The maximum number of rows of a longer result that are in memory together. Data can be large.
    var rowsAtOnce: Int32 { table.hasData ? 1 : 100 }

    /// The part of the request that remains for the shared executor. A slice can be applied only to rows that satisfy the whole condition.
    var residualRequest: Scan.Residual { residual.map { Scan.Residual(predicate: $0, slice: true) } ?? .nothing }
}
