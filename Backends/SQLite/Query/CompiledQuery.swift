import PolyStoreBackend

/// A request as the engine executes it: a statement, the values to bind, and what remains for the shared executor.
struct CompiledQuery {
    let table: EntityTable
    /// The request without its constants. It determines the SQL text, and is the key of the statement cache.
    let shape: QueryShape
    /// The values of the statement's parameters, in order.
    let bindings: ContiguousArray<Binding>
    /// The indexes of the fields that the statement selects, in ascending order; `nil` for all fields.
    let selectedFields: [Int]?
    /// A Boolean value that indicates whether the statement selects only row ids.
    let onlyIDs: Bool
    /// The part of the predicate that the statement does not evaluate; `nil` if it evaluates the whole predicate.
    let residual: QueryPredicate?

    /// Returns the SQL text. Call it only if no statement of the shape is cached, because it generates the text.
    func sql(_ tables: StoreTables) -> String { ShapeSQL.query(shape, table, tables) }

    /// The part of the request that remains for the shared executor. A slice can be applied only to rows that match the whole predicate.
    var residualRequest: Scan.Residual { residual.map { Scan.Residual(predicate: $0, slice: true) } ?? .nothing }
}
