import PolyStoreBackend

extension Session {
    /// Computes groups by fields with one statement.
    /// - Returns: nil for conditions, functions and types that PostgreSQL evaluates in another way.
    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? {
        try check()
        guard let fields = request.fieldGroups else { return nil }
        guard let query = try QueryCompiler(tables).compile(request, groupedBy: fields) else { return nil }
        let found = try rows(query.statement.sql, query.statement.parameters)
        var groups: [AggregateRow] = []
        groups.reserveCapacity(found.count)
        for row in 0..<found.count {
            var group: [Value] = []
            for column in fields.indices { group.append(try value(found, row, column, query.columns[column], request)) }
            var values: [Value] = []
            for column in fields.count..<query.columns.count {
                values.append(try value(found, row, column, query.columns[column], request))
            }
            groups.append(AggregateRow(group: group, values: values))
        }
        return GroupScan(all: groups, of: request)
    }

    private func value(
        _ rows: Rows, _ row: Int, _ column: Int, _ form: GroupQuery.Column, _ request: AggregateRequest
    ) throws -> Value {
        if rows.isNull(row, column) { return .null }
        let bytes = rows.bytes(row, column)
        switch form {
        case .integer: if let integer = rows.integer(row, column) { return .integer(integer) }
        case .real:
            if bytes.count == 8 {
                return .real(Value.normalized(Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))))
            }
        case .text: if let text = rows.text(row, column).flatMap(NULFreeText.decode) { return .text(text) }
        case .bytes: return .blob([UInt8](bytes))
        case .decimal: if let decimal = Numeric.orderedBytes(bytes) { return .blob(decimal) }
        case .unsigned: if let value = Numeric.unsigned(bytes) { return .integer(Int64(bitPattern: value)) }
        case .sum(let isUnsigned, let name):
            let digits = rows.text(row, column) ?? ""
            if let sum = isUnsigned ? UInt64(digits).map({ Int64(bitPattern: $0) }) : Int64(digits) { return .integer(sum) }
            throw StoreError(
                .invalidValue,
                "The sum of \(request.entity.name).\(name) does not fit 64 bits. Sum a part of the objects, or an expression of real numbers.",
                entity: request.entity.name, attribute: name)
        }
        throw StoreError(
            .corrupt, "A group of \(request.entity.name) has a value that does not fit.", entity: request.entity.name,
            location: connection.location)
    }
}

/// A request for groups as the server executes it.
struct GroupQuery {
    /// The form of a column of the result.
    enum Column {
        case integer, real, text, bytes, unsigned, decimal
        /// The digits of a sum of integers.
        case sum(isUnsigned: Bool, name: String)
    }

    let statement: Statement
    let columns: [Column]
}

extension QueryCompiler {
    /// Compiles a request for groups.
    /// - Returns: nil if the shared executor must compute the groups.
    func compile(_ request: AggregateRequest, groupedBy fields: [FieldReference]) throws -> GroupQuery? {
        var compiler = self
        return try compiler.compiled(request, fields)
    }

    private mutating func compiled(_ request: AggregateRequest, _ fields: [FieldReference]) throws -> GroupQuery? {
        let table = try tables.table(request.entity)
        let scope = newScope(table)
        var selected: [String] = []
        var columns: [GroupQuery.Column] = []
        for field in fields {
            let (text, form) = key(field, scope)
            selected.append(text)
            columns.append(form)
        }
        for aggregate in request.aggregates {
            guard let (text, form) = Self.aggregate(aggregate, scope) else { return nil }
            selected.append(text)
            columns.append(form)
        }
        // A statement that selects nothing returns a row for each object.
        guard !selected.isEmpty else { return nil }
        var conditions: [String] = []
        for part in request.predicate.conjuncts {
            guard let text = try condition(part, scope, depth: 0, isTruthEnough: true) else { return nil }
            conditions.append(text)
        }
        var sql = "SELECT \(selected.joined(separator: ", ")) FROM \(table.name) AS \(scope.alias)"
        if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
        if !fields.isEmpty {
            let names = fields.map { scope.column($0) }
            var order: [String] = []
            for (field, name) in zip(fields, names) {
                if scope.format(field)?.holdsNaN ?? false { order.append("(\(name) <> 'NaN') NULLS FIRST") }
                order.append("\(name) NULLS FIRST")
            }
            sql += " GROUP BY \(names.joined(separator: ", ")) ORDER BY \(order.joined(separator: ", "))"
        }
        return GroupQuery(statement: Statement(sql, parameters), columns: columns)
    }

    /// Returns a grouping field in the form in which it is read.
    private func key(_ field: FieldReference, _ scope: Scope) -> (String, GroupQuery.Column) {
        let column = scope.column(field)
        switch scope.format(field)?.form {
        case .bool: return ("\(column)::integer", .integer)
        case .unsigned: return (column, .unsigned)
        case .decimal: return (column, .decimal)
        case .float4, .float8: return ("\(column)::double precision", .real)
        case .text: return (column, .text)
        case .bytes, .uuid: return (column, .bytes)
        case .int2, .int4, .int8, nil: return (column, .integer)
        }
    }

    /// Returns an aggregate as SQL; nil for one that PostgreSQL computes in another way, or depending on the order of the rows.
    private static func aggregate(_ aggregate: Aggregate, _ scope: Scope) -> (String, GroupQuery.Column)? {
        guard let field = aggregate.field else {
            return aggregate.function == .count && aggregate.operand == nil ? ("count(*)", .integer) : nil
        }
        let column = scope.column(field)
        let form = scope.format(field)?.form ?? .int8
        switch (aggregate.function, form) {
        case (.count, _): return ("count(\(column))", .integer)
        case (.countDistinct, _): return ("count(DISTINCT \(column))", .integer)
        case (.sum, .bool): return ("count(*) FILTER (WHERE \(column))", .integer)
        case (.sum, .int2), (.sum, .int4), (.sum, .int8), (.sum, .unsigned):
            return ("coalesce(sum(\(column)::numeric), 0)::text", .sum(isUnsigned: form == .unsigned, name: field.name))
        case (.minimum, .bool): return ("bool_and(\(column))::integer", .integer)
        case (.maximum, .bool): return ("bool_or(\(column))::integer", .integer)
        case (.minimum, .int2), (.minimum, .int4), (.minimum, .int8): return ("min(\(column))", .integer)
        case (.maximum, .int2), (.maximum, .int4), (.maximum, .int8): return ("max(\(column))", .integer)
        case (.minimum, .unsigned): return ("min(\(column))", .unsigned)
        case (.maximum, .unsigned): return ("max(\(column))", .unsigned)
        case (.minimum, .text): return ("min(\(column))", .text)
        case (.maximum, .text): return ("max(\(column))", .text)
        // NaN precedes every number here, and follows every number in PostgreSQL.
        case (.minimum, .float4), (.minimum, .float8):
            return ("CASE WHEN bool_or(\(column) = 'NaN') THEN 'NaN' ELSE min(\(column))::double precision END", .real)
        case (.maximum, .float4), (.maximum, .float8):
            return ("coalesce(max(\(column)) FILTER (WHERE \(column) <> 'NaN'), max(\(column)))::double precision", .real)
        case (.minimum, .decimal): return ("CASE WHEN bool_or(\(column) = 'NaN') THEN 'NaN' ELSE min(\(column)) END", .decimal)
        case (.maximum, .decimal): return ("coalesce(max(\(column)) FILTER (WHERE \(column) <> 'NaN'), max(\(column)))", .decimal)
        default: return nil
        }
    }
}
