import PolyStoreBackend

extension Session {
    /// Computes groups with one statement.
    /// - Returns: nil for conditions, functions and types that PostgreSQL evaluates in another way.
    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? {
        try check()
        guard let query = try QueryCompiler(tables).compile(request) else { return nil }
        let found = try rows(query.statement.sql, query.statement.parameters)
        var groups: [AggregateRow] = []
        groups.reserveCapacity(found.count)
        for row in 0..<found.count {
            var group: [Value] = []
            for column in request.groupBy.indices {
                guard let value = try value(found, row, column, query.columns[column], request) else { return nil }
                group.append(value)
            }
            var values: [Value] = []
            for column in request.groupBy.count..<query.columns.count {
                guard let value = try value(found, row, column, query.columns[column], request) else { return nil }
                values.append(value)
            }
            groups.append(AggregateRow(group: group, values: values))
        }
        return GroupScan(all: groups, of: request)
    }

    /// - Returns: nil for a sum of reals that the server cannot compute.
    private func value(
        _ rows: Rows, _ row: Int, _ column: Int, _ form: GroupQuery.Column, _ request: AggregateRequest
    ) throws -> Value? {
        if rows.isNull(row, column) { return form.withoutValues }
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
        case .average:
            let parts = (rows.text(row, column) ?? "").split(separator: "/")
            if parts.count == 2, let sum = Int128(parts[0]), let count = Int64(parts[1]) {
                return count == 0 ? .null : .real(Double(sum) / Double(count))
            }
        case .realSum: return ExactSum(bytes).map { .real(Value.normalized($0.total)) }
        case .realAverage: return ExactSum(bytes).map { .real(Value.normalized($0.total / Double($0.count))) }
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
        /// The digits of a sum of integers, a slash, and those of the number of values.
        case average
        /// The text of an ``ExactSum``.
        case realSum, realAverage

        /// The value of a column that is null because its group has no values.
        var withoutValues: Value { if case .realSum = self { .real(0) } else { .null } }
    }

    let statement: Statement
    let columns: [Column]
}

extension QueryCompiler {
    /// Compiles a request for groups.
    /// - Returns: nil if the shared executor must compute the groups.
    func compile(_ request: AggregateRequest) throws -> GroupQuery? {
        var compiler = self
        return try compiler.compiled(request)
    }

    private mutating func compiled(_ request: AggregateRequest) throws -> GroupQuery? {
        let table = try tables.table(request.entity)
        let scope = newScope(table)
        var selected: [String] = []
        var columns: [GroupQuery.Column] = []
        var keys: [Operand] = []
        for expression in request.groupBy {
            guard let key = try operand(expression, scope, 0) else { return nil }
            let (text, form) = Self.key(key)
            keys.append(key)
            selected.append(text)
            columns.append(form)
        }
        for aggregate in request.aggregates {
            guard let (text, form) = try self.aggregate(aggregate, scope) else { return nil }
            selected.append(text)
            columns.append(form)
        }
        // A statement that selects nothing returns a row for each object.
        guard !selected.isEmpty else { return nil }
        var conditions: [String] = []
        noteNumbers(request.predicate.conjuncts, scope)
        for part in request.predicate.conjuncts {
            guard let text = try condition(part, scope, depth: 0, isTruthEnough: true) else { return nil }
            conditions.append(text)
        }
        guard fits else { return nil }
        var sql = "SELECT \(selected.joined(separator: ", ")) FROM \(table.name) AS \(scope.alias)"
        if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
        if !keys.isEmpty {
            var order: [String] = []
            for key in keys {
                if key.holdsNaN { order.append("(\(key.sql) <> 'NaN') NULLS FIRST") }
                order.append("(\(key.sql)) NULLS FIRST")
            }
            // In parentheses, because a parameter alone would be the position of a column.
            sql += " GROUP BY \(keys.map { "(\($0.sql))" }.joined(separator: ", ")) ORDER BY \(order.joined(separator: ", "))"
        }
        return GroupQuery(statement: Statement(sql, parameters), columns: columns)
    }

    /// Returns a grouping value in the form in which it is read.
    private static func key(_ key: Operand) -> (String, GroupQuery.Column) {
        switch key.form {
        case .bool: ("(\(key.sql))::integer", .integer)
        case .unsigned: (key.sql, .unsigned)
        case .decimal: (key.sql, .decimal)
        case .float4, .float8: ("(\(key.sql))::double precision", .real)
        case .text: (key.sql, .text)
        case .bytes, .uuid: (key.sql, .bytes)
        case .int2, .int4, .int8: (key.sql, .integer)
        }
    }

    /// Returns an aggregate as SQL; nil for one that PostgreSQL computes in another way, or depending on the order of the rows.
    private mutating func aggregate(_ aggregate: Aggregate, _ scope: Scope) throws -> (String, GroupQuery.Column)? {
        guard let expression = aggregate.operand else { return aggregate.function == .count ? ("count(*)", .integer) : nil }
        guard !aggregate.isOverMembers, let operand = try operand(expression, scope, 0) else { return nil }
        let value = operand.sql
        let isColumn = scope.table.columns.indices.contains(operand.index)
        switch (aggregate.function, operand.form) {
        case (.count, _): return ("count(\(value))", .integer)
        case (.countDistinct, _): return ("count(DISTINCT \(value))", .integer)
        case (.sum, .bool): return ("count(*) FILTER (WHERE \(value))", .integer)
        case (.sum, .int2), (.sum, .int4), (.sum, .int8), (.sum, .unsigned):
            let sum = "coalesce(sum((\(value))::numeric), 0)::text"
            return (sum, .sum(isUnsigned: operand.form == .unsigned, name: "\(expression)"))
        case (.average, .int2), (.average, .int4), (.average, .int8), (.average, .unsigned):
            return ("coalesce(sum((\(value))::numeric), 0) || '/' || count(\(value))", .average)
        case (.average, .bool): return ("count(*) FILTER (WHERE \(value)) || '/' || count(\(value))", .average)
        case (.minimum, .bool): return ("bool_and(\(value))::integer", .integer)
        case (.maximum, .bool): return ("bool_or(\(value))::integer", .integer)
        case (.minimum, .int2), (.minimum, .int4), (.minimum, .int8): return ("min(\(value))", .integer)
        case (.maximum, .int2), (.maximum, .int4), (.maximum, .int8): return ("max(\(value))", .integer)
        case (.minimum, .unsigned): return ("min(\(value))", .unsigned)
        case (.maximum, .unsigned): return ("max(\(value))", .unsigned)
        case (.minimum, .text): return ("min(\(value))", .text)
        case (.maximum, .text): return ("max(\(value))", .text)
        // The text repeats the operand, so it must be a column.
        case (.sum, .float4) where isColumn, (.sum, .float8) where isColumn: return (ExactSum.sql(value), .realSum)
        case (.average, .float4) where isColumn, (.average, .float8) where isColumn: return (ExactSum.sql(value), .realAverage)
        // NaN precedes every number here, and follows every number in PostgreSQL, where its negative is the same.
        case (.minimum, .float4), (.minimum, .float8):
            return ("CASE WHEN max(\(value)) = 'NaN' THEN 'NaN' ELSE min(\(value))::double precision END", .real)
        case (.maximum, .float4), (.maximum, .float8): return ("-min(-(\(value)))::double precision", .real)
        case (.minimum, .decimal): return ("CASE WHEN bool_or(\(value) = 'NaN') THEN 'NaN' ELSE min(\(value)) END", .decimal)
        case (.maximum, .decimal): return ("coalesce(max(\(value)) FILTER (WHERE \(value) <> 'NaN'), max(\(value)))", .decimal)
        default: return nil
        }
    }
}
