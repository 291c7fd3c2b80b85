import PolyStoreBackend

/// Expressions. What the server would compute in another way, to the last bit, remains for the shared executor: logarithms and powers, the order and the number of characters, folded texts, decimals.
extension QueryCompiler {
    /// The longest text of an expression. Operands that are used twice double it.
    private static let longest = 10_000

    /// Returns an expression in SQL; nil if the shared executor must evaluate it.
    mutating func operand(_ expression: QueryExpression, _ scope: Scope, _ depth: Int) throws -> Operand? {
        guard depth <= Self.deepest, let found = try unlimited(expression, scope, depth + 1), found.sql.utf8.count <= Self.longest else {
            return nil
        }
        return found
    }

    private mutating func unlimited(_ expression: QueryExpression, _ scope: Scope, _ depth: Int) throws -> Operand? {
        let type = expression.type
        switch expression.node {
        case .field(let field): return scope.operand(field)
        case .json(let json, let attribute):
            guard let field = attribute.asField else { return nil }
            guard case .contains(let value, let element) = json.result else { return scope.operand(json, field) }
            guard let wanted = constant(value, element) else { return nil }
            let table = scope.table
            return JSONFunction.containing(scope.column(field), json.keys, element, wanted.sql, in: table.namespace).map {
                Operand($0, type)
            }
        case .constant(let value): return constant(value, type)
        case .arithmetic(let operation, let left, let right): return try arithmetic(operation.rawValue, type, left, right, scope, depth)
        case .function(let function, let operands): return try self.function(function, operands, type, scope, depth)
        case .conditional(let predicate, let first, let second):
            guard let first = try alternative(first, type, scope, depth), let second = try alternative(second, type, scope, depth),
                let test = try condition(predicate, scope, depth: depth, isTruthEnough: true)
            else { return nil }
            let cast = type == .double ? "::double precision" : ""
            return Operand("(CASE WHEN \(test) THEN \(first.sql)\(cast) ELSE \(second.sql)\(cast) END)", type)
        case .related(let reference, let inner):
            guard let (row, target) = destination(of: reference, scope), let value = try operand(inner, row, depth) else { return nil }
            return Operand("(SELECT \(value.sql) FROM \(target))", type)
        case .count(let reference, let predicate):
            // The shared executor computes the count of an object at the end of a path once, however many objects lead to it.
            guard scope.isOutermost, let (row, targets) = destination(of: reference, scope) else { return nil }
            guard let test = try condition(predicate, row, depth: depth, isTruthEnough: true) else { return nil }
            return Operand("(SELECT count(*) FROM \(targets) AND \(test))", type)
        case .datePart(let part, let zone, let date):
            guard let offset = zone.offset, let date = try operand(date, scope, depth), date.kind == .real else { return nil }
            return Operand("\(scope.table.namespace).polystore_date_part(\(date.sql), '\(part.rawValue)', \(offset))", type)
        case .aggregate(let function, let reference, let inner):
            guard scope.isOutermost, let (row, targets) = destination(of: reference, scope) else { return nil }
            guard let value = try operand(inner, row, depth), let result = Self.aggregate(function, value, row) else { return nil }
            return Operand("(SELECT \(result) FROM \(targets))", type)
        case .folded, .element, .outer, .score: return nil
        }
    }

    /// Returns one of the values of a conditional value of a type. A null can have another type.
    private mutating func alternative(
        _ expression: QueryExpression, _ type: AttributeType, _ scope: Scope, _ depth: Int
    ) throws -> Operand? {
        if let constant = expression.asConstant, constant.isNull { return self.constant(constant, type) }
        return try operand(expression, scope, depth)
    }

    /// Returns an aggregate of the values of related objects; nil for one that the shared executor must compute.
    private static func aggregate(_ function: Aggregate.Function, _ value: Operand, _ scope: Scope) -> String? {
        switch (function, value.form) {
        case (.count, _): "count(\(value.sql))"
        case (.minimum, .int2), (.minimum, .int4), (.minimum, .int8), (.minimum, .unsigned), (.minimum, .text): "min(\(value.sql))"
        case (.maximum, .int2), (.maximum, .int4), (.maximum, .int8), (.maximum, .unsigned), (.maximum, .text): "max(\(value.sql))"
        case (.sum, .int2), (.sum, .int4), (.sum, .int8):
            "\(scope.table.namespace).polystore_integer(coalesce(sum((\(value.sql))::numeric), 0), '+', 0)"
        case (.average, .int2), (.average, .int4), (.average, .int8), (.average, .unsigned):
            "sum((\(value.sql))::numeric)::double precision / nullif(count(\(value.sql)), 0)::double precision"
        default: nil
        }
    }

    private mutating func constant(_ value: Value, _ type: AttributeType) -> Operand? {
        let format = ColumnFormat(type, isOptional: true)
        guard let parameter = Self.parameter(value, format) else { return nil }
        // A constant of the type Float can be a number that a Float would round.
        let name = (format.form == .float4 ? ParameterType.float8 : format.type).name
        return Operand("\(bind(parameter))::\(name)" + (format.form == .text ? " COLLATE \"C\"" : ""), type)
    }

    /// Returns a constant as a parameter of the type of a column; nil if it is none.
    private static func parameter(_ value: Value, _ format: ColumnFormat) -> Parameter? {
        switch (value, format.form) {
        case (.null, .float4): .null(.float8)
        case (.null, _): .null(format.type)
        case (.integer(let integer), .bool): (0...1).contains(integer) ? .bool(integer == 1) : nil
        case (.integer(let integer), .unsigned): .unsigned(UInt64(bitPattern: integer))
        case (.integer(let integer), .int2), (.integer(let integer), .int4), (.integer(let integer), .int8):
            format.bounds.contains(integer) ? .integer(integer) : nil
        case (.real(let real), .float4), (.real(let real), .float8): .real(Value.normalized(real))
        case (.text(let text), .text): .text(text)
        case (.blob(let bytes), .bytes): .bytes(bytes)
        case (.blob(let bytes), .uuid): bytes.count == 16 ? .uuid(bytes) : nil
        case (.blob(let bytes), .decimal): .decimal(bytes)
        default: nil
        }
    }

    private mutating func arithmetic(
        _ sign: String, _ type: AttributeType, _ left: QueryExpression, _ right: QueryExpression, _ scope: Scope, _ depth: Int
    ) throws -> Operand? {
        let name: String
        switch ColumnFormat(type, isOptional: true).form {
        case .int8: name = "integer"
        case .float8: name = "real"
        default: return nil
        }
        guard let left = try operand(left, scope, depth), let right = try operand(right, scope, depth) else { return nil }
        let number = name == "integer" ? "numeric" : "double precision"
        guard [left, right].allSatisfy({ $0.kind == .integer || name == "real" && $0.kind == .real }) else { return nil }
        let call = "\(scope.table.namespace).polystore_\(name)(\(left.number)::\(number), '\(sign)', \(right.number)::\(number))"
        return Operand(call, type)
    }

    private mutating func function(
        _ function: ScalarFunction, _ operands: [QueryExpression], _ type: AttributeType, _ scope: Scope, _ depth: Int
    ) throws -> Operand? {
        if function == .modulus, type == .int64, operands.count == 2 {
            return try arithmetic("%", type, operands[0], operands[1], scope, depth)
        }
        guard operands.count == 1, [.abs, .ceiling, .floor, .trunc, .sqrt].contains(function),
            let value = try operand(operands[0], scope, depth)
        else { return nil }
        switch (function, value.kind) {
        case (.abs, .integer) where type == .uint64: return Operand(value.sql, type)
        case (.abs, .integer): return Operand("abs(nullif(\(value.sql)::bigint, -9223372036854775808))", type)
        case (.ceiling, .integer), (.floor, .integer), (.trunc, .integer):
            return Operand(type == .uint64 ? value.sql : "\(value.sql)::bigint", type)
        case (.abs, .real): return Operand("abs(\(value.sql)::double precision)", type)
        case (.ceiling, .real): return Operand("ceil(\(value.sql)::double precision)", type)
        case (.floor, .real): return Operand("floor(\(value.sql)::double precision)", type)
        case (.trunc, .real): return Operand("trunc(\(value.sql)::double precision)", type)
        case (.sqrt, .integer), (.sqrt, .real):
            let number = "\(value.number)::double precision"
            // In PostgreSQL NaN is greater than 0, and its root is NaN.
            return Operand("sqrt(CASE WHEN \(number) >= 0 THEN \(number) END)", type)
        default: return nil
        }
    }

    // MARK: Comparisons

    /// Returns a comparison of two expressions; nil if the shared executor must evaluate it.
    mutating func compare(_ left: QueryExpression, _ comparison: ComparisonOperator, _ right: QueryExpression, _ scope: Scope, _ depth: Int)
        throws -> String?
    {
        guard let first = try operand(left, scope, depth) else { return nil }
        if let value = right.asConstant {
            if value.isNull { return "NULL::boolean" }
            let isUnsigned = right.type == .uint64
            switch (value, first.kind) {
            case (.integer(let integer), .integer) where isUnsigned == (first.form == .unsigned) || integer >= 0,
                (.integer(let integer), .integer) where first.form == .bool && integer >= 0:
                return try compare(first, comparison, value, scope)
            case (.real(let real), .integer) where right.type != .date: return compare(first, comparison, real: real)
            case (.integer(let integer), .real) where first.type != .date:
                // Only an integer that is a real is compared as one.
                let real = isUnsigned ? Double(UInt64(bitPattern: integer)) : Double(integer)
                let isExact = isUnsigned ? UInt64(exactly: real) == UInt64(bitPattern: integer) : Int64(exactly: real) == integer
                return isExact ? try compare(first, comparison, .real(real), scope) : nil
            case (.real, .real), (.text, .text), (.blob, .bytes), (.blob, .uuid), (.blob, .decimal):
                return first.holds(value) ? try compare(first, comparison, value, scope) : nil
            default: break
            }
        }
        return try operand(right, scope, depth).flatMap { compare(first, comparison, $0) }
    }

    /// Returns a comparison of two values; nil if the shared executor must evaluate it.
    func compare(_ left: Operand, _ comparison: ComparisonOperator, _ right: Operand) -> String? {
        guard left.kind == right.kind, left.sql.utf8.count + right.sql.utf8.count <= Self.longest else { return nil }
        guard left.kind == .real || left.kind == .decimal, ![.equal, .notEqual].contains(comparison) else {
            return "(\(left.number) \(comparison.sql) \(right.number))"
        }
        // NaN precedes every number here, and follows every number in PostgreSQL.
        return "((\(left.sql) <> 'NaN', \(left.sql)) \(comparison.sql) (\(right.sql) <> 'NaN', \(right.sql)))"
    }

    /// Returns a comparison of an integer with a real, which are compared by value.
    private mutating func compare(_ operand: Operand, _ comparison: ComparisonOperator, real: Double) -> String? {
        let whole = real.rounded(.down)
        // The bounds exceed every integer.
        guard real.isFinite, abs(whole) < 0x1p63 else { return nil }
        let place = bind(.integer(Int64(whole)))
        let value = operand.number
        if whole == real { return "(\(value) \(comparison.sql) \(place))" }
        return switch comparison {
        case .equal: "(\(value) IS NULL AND NULL)"
        case .notEqual: "(\(value) IS NOT NULL OR NULL)"
        case .less, .lessOrEqual: "(\(value) <= \(place))"
        case .greater, .greaterOrEqual: "(\(value) > \(place))"
        }
    }

    // MARK: Patterns

    /// Returns a test of a text by a pattern.
    ///
    /// Texts with U+0000 or U+0001 have two characters for each of them, which a regular expression takes into account.
    /// - Returns: nil for a pattern that may be too long for the server.
    mutating func like(_ column: String, _ pattern: LikePattern) -> String? {
        guard pattern.elements.count <= 1000 else { return nil }
        let plain = bind(.encoded(pattern.sql))
        let expression = bind(.encoded(pattern.regularExpression))
        return "(CASE WHEN strpos(\(column), chr(1)) = 0 THEN \(column) LIKE \(plain) ELSE \(column) ~ \(expression) END)"
    }
}

extension LikePattern {
    /// The pattern for texts without U+0000 and U+0001.
    fileprivate var sql: String {
        var result = String.UnicodeScalarView()
        for element in elements {
            switch element {
            case .one: result.append("_")
            case .many: result.append("%")
            case .scalar(let scalar):
                if ["%", "_", "\\"].contains(scalar) { result.append("\\") }
                result += NULFreeText.encode(String(scalar)).unicodeScalars
            }
        }
        return String(result)
    }

    /// The pattern as a regular expression for the texts of columns.
    fileprivate var regularExpression: String {
        let one = "(?:\\u0001[\\u0001\\u0002]|[^\\u0001])"
        let parts = elements.map { element in
            switch element {
            case .one: return one
            case .many: return one + "*"
            case .scalar(let scalar):
                return NULFreeText.encode(String(scalar)).unicodeScalars.map { scalar in
                    let digits = String(scalar.value, radix: 16)
                    return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
                }.joined()
            }
        }
        return "^" + parts.joined() + "$"
    }
}
