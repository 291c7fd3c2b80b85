import PolyStoreBackend

/// Compiles a request into a ``CompiledQuery``. Conditions that PostgreSQL evaluates in another way than this library become the residual condition.
struct QueryCompiler {
    let tables: StoreTables
    /// The constants of the request, which the text refers to by their positions.
    private(set) var parameters: [Parameter] = []
    /// The number of bytes of ``parameters``.
    private var parameterBytes = 0
    /// The columns that are not NaN in the rows that satisfy the rest of the condition.
    var numbers: Set<String> = []
    /// The number of aliases given to tables.
    private var aliases = 0

    /// The maximum nesting depth. Deeper conditions become residual.
    static let deepest = 60

    /// The maximum number of constants. The protocol numbers them with 16 bits, and two are those of a slice. Conditions with more become residual.
    private static let mostParameters = 60_000
    /// A Boolean value that indicates whether the server accepts the number and the bytes of the constants so far.
    var fits: Bool { parameters.count <= Self.mostParameters && parameterBytes <= ChangeWriter.longestMessage }

    init(_ tables: StoreTables) { self.tables = tables }

    /// Compiles a request.
    /// - Parameter counting: Whether the statement returns the number of rows instead of the rows.
    /// - Throws: `invalidPredicate` for a constant of another type than its field.
    func compile(_ request: FetchRequest, counting: Bool = false) throws -> CompiledQuery {
        var compiler = self
        return try compiler.compiled(request, counting)
    }

    private mutating func compiled(_ request: FetchRequest, _ counting: Bool) throws -> CompiledQuery {
        let table = try tables.table(request.entity)
        let scope = newScope(table)
        var conditions: [String] = []
        var evaluated: [QueryPredicate] = []
        var left: [QueryPredicate] = []
        noteNumbers(request.predicate.conjuncts, scope)
        for part in request.predicate.conjuncts {
            let (count, bytes) = (parameters.count, parameterBytes)
            if let text = try condition(part, scope, depth: 0, isTruthEnough: true), fits {
                conditions.append(text)
                evaluated.append(part)
            } else {
                parameters.removeSubrange(count...)
                parameterBytes = bytes
                left.append(part)
            }
        }
        let residual = left.isEmpty ? nil : QueryPredicate.and(left)
        let fields = selection(request, residual)
        let selected = [SQLNames.objectID] + (fields.map { $0.map { table.columns[$0] } } ?? table.columns)
        let list = counting ? "1" : selected.map { "\(scope.alias).\($0)" }.joined(separator: ", ")
        let filled = filledFields(request.predicate.conjuncts, table)
        var source = "\(table.name) AS \(scope.alias)"
        if residual == nil, !counting, let parts = orderedParts(request, scope, source, conditions, filled) {
            source = parts
        } else if !conditions.isEmpty {
            source += " WHERE \(conditions.joined(separator: " AND "))"
        }
        var sql = "SELECT \(list) FROM \(source)"
        if !counting { sql += " ORDER BY \(order(request.sortKeys, scope, filled))" }
        if residual == nil {
            // Not a parameter: for the plan that it keeps, the server would expect a tenth of the rows, and read a whole index in its order for them.
            if let limit = request.limit { sql += " LIMIT \(limit)" }
            if request.offset > 0 { sql += " OFFSET \(bind(.integer(Int64(request.offset))))" }
        }
        // A statement of its own, because the server keeps plans of statements.
        if request.ignoresIndexes { sql = "/* without indexes */ " + sql }
        if counting { sql = "SELECT count(*) FROM (\(sql)) AS rows" }
        return CompiledQuery(
            table: table, statement: Statement(sql, parameters), fields: fields, residual: residual, evaluated: evaluated,
            isShort: isShort(request, table, evaluated, hasLimit: residual == nil))
    }

    /// Returns whether a statement has few rows, and none of them has data, which can be large.
    /// - Parameter hasLimit: Whether the statement contains the limit of the request.
    private func isShort(_ request: FetchRequest, _ table: EntityTable, _ evaluated: [QueryPredicate], hasLimit: Bool) -> Bool {
        guard !table.hasData else { return false }
        if hasLimit, let limit = request.limit, limit <= CompiledQuery.mostAtOnce { return true }
        return evaluated.contains { part in
            guard case .oneOf(let field, let values)? = part.fieldCondition, values.count <= CompiledQuery.mostAtOnce else { return false }
            return field.isObjectID || table.indexes.contains { $0.isUnique && $0.fields == [field.index] }
        }
    }

    /// Returns the fields to select; nil for all.
    private func selection(_ request: FetchRequest, _ residual: QueryPredicate?) -> [Int]? {
        guard request.onlyIDs || request.fields != nil else { return nil }
        var fields = request.onlyIDs ? FieldMask() : request.fields ?? FieldMask()
        residual?.collectFields(into: &fields)
        let count = request.entity.fields.count
        let list = fields.indexes.filter { $0 < count }
        return list.count == count ? nil : list
    }

    // MARK: Parts

    /// A table in a statement.
    struct Scope {
        let table: EntityTable
        let alias: String
        /// A Boolean value that indicates whether the table is that of the request.
        var isOutermost: Bool { alias == "t1" }

        /// Returns the column of a field.
        func column(_ field: FieldReference) -> String { table.value(field.index, in: alias) }
    }

    mutating func newScope(_ table: EntityTable) -> Scope {
        aliases += 1
        return Scope(table: table, alias: "t\(aliases)")
    }

    /// Adds a constant and returns its place in the text.
    mutating func bind(_ parameter: Parameter) -> String {
        parameters.append(parameter)
        parameterBytes += parameter.buffer?.count ?? 0
        return "$\(parameters.count)"
    }
}
