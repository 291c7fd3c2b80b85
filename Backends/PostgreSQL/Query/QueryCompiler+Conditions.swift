import PolyStoreBackend

extension QueryCompiler {
    /// Returns the text of a condition; nil if the shared executor must evaluate it.
    /// - Parameter isTruthEnough: Whether false and unknown are equivalent, because no negation encloses the condition.
    mutating func condition(_ predicate: QueryPredicate, _ scope: Scope, depth: Int, isTruthEnough: Bool) throws -> String? {
        guard depth <= Self.deepest else { return nil }
        if let condition = predicate.fieldCondition { return try self.condition(condition, scope) }
        switch predicate.node {
        case .constant(let value): return value ? "TRUE" : "FALSE"
        case .and(let parts): return try join(parts, " AND ", "TRUE", scope, depth, isTruthEnough)
        case .or(let parts): return try join(parts, " OR ", "FALSE", scope, depth, isTruthEnough)
        case .not(let part): return try condition(part, scope, depth: depth + 1, isTruthEnough: false).map { "NOT \($0)" }
        case .related(let reference, let quantifier, let part):
            return try related(reference, quantifier, part, scope, depth: depth + 1, isTruthEnough: isTruthEnough)
        case .search: return nil
        case .compare(let left, let comparison, let right): return try compare(left, comparison, right, scope, depth)
        case .isNull(let expression): return try operand(expression, scope, depth).map { isNull($0, scope) }
        case .oneOf(let expression, let values):
            guard let operand = try operand(expression, scope, depth), values.allSatisfy({ $0.isNull || operand.holds($0) }) else {
                return nil
            }
            return try oneOf(operand, values, scope)
        case .text(let left, let operation, let right):
            guard case .text(let text)? = right.asConstant, let operand = try operand(left, scope, depth) else { return nil }
            return self.text(operand, operation, text, scope)
        }
    }

    private mutating func join(
        _ parts: [QueryPredicate], _ word: String, _ empty: String, _ scope: Scope, _ depth: Int, _ isTruthEnough: Bool
    ) throws -> String? {
        var texts: [String] = []
        let known = numbers
        defer { numbers = known }
        if word == " AND " { noteNumbers(parts, scope) }
        for part in parts {
            guard let text = try condition(part, scope, depth: depth + 1, isTruthEnough: isTruthEnough) else { return nil }
            texts.append(text)
        }
        return texts.isEmpty ? empty : "(" + texts.joined(separator: word) + ")"
    }

    /// Notes the columns that cannot be NaN where all parts of a conjunction hold, so that ranges with two ends are ranges of an index.
    mutating func noteNumbers(_ parts: [QueryPredicate], _ scope: Scope) {
        for part in parts {
            guard case .compare(let field, let comparison, let value)? = part.fieldCondition, !value.isNull, !value.isNaN(as: field.type),
                [.equal, .greater, .greaterOrEqual].contains(comparison)
            else { continue }
            // NaN is greater than some bytes that are not those of a decimal.
            if case .blob(let bytes) = value, !Self.canHold(bytes, scope.operand(field).form) { continue }
            numbers.insert(scope.operand(field).sql)
        }
    }

    // MARK: Fields

    private mutating func condition(_ condition: FieldCondition, _ scope: Scope) throws -> String? {
        switch condition {
        case .compare(let field, let comparison, let value): return try compare(scope.operand(field), comparison, value, scope)
        case .compareFields(let left, let comparison, let right):
            return compare(scope.operand(left), comparison, scope.operand(right))
        case .isNull(let field): return field.isObjectID ? "FALSE" : isNull(scope.operand(field), scope)
        case .oneOf(let field, let values): return try oneOf(scope.operand(field), values, scope)
        case .text(let field, let operation, let value): return text(scope.operand(field), operation, value, scope)
        }
    }

    private func isNull(_ operand: Operand, _ scope: Scope) -> String {
        if operand.holdsNaN, !scope.table.uniqueOnly.has(operand.index) { return "((\(operand.sql) <> 'NaN') IS NULL)" }
        return "(\(scope.table.prefix(of: operand.sql, operand.index) ?? operand.sql) IS NULL)"
    }

    /// A condition that is true or unknown.
    private func alwaysUnlessNull(_ column: String) -> String { "(\(column) IS NOT NULL OR NULL)" }
    /// A condition that is false or unknown.
    private func neverUnlessNull(_ column: String) -> String { "(\(column) IS NULL AND NULL)" }

    /// Returns a comparison with a constant.
    mutating func compare(_ operand: Operand, _ comparison: ComparisonOperator, _ value: Value, _ scope: Scope) throws -> String? {
        let column = operand.sql
        // Bytes that are not a UUID or a decimal can be compared with one, but not by the server.
        if case .blob(let bytes) = value, !Self.canHold(bytes, operand.form) { return nil }
        guard let parameter = try parameter(value, operand, scope) else { return "NULL::boolean" }
        let isNaN = value.isNaN(as: operand.type)
        if isNaN, !operand.holdsNaN {
            return [.notEqual, .greater, .greaterOrEqual].contains(comparison) ? alwaysUnlessNull(column) : neverUnlessNull(column)
        }
        if operand.holdsNaN {
            // Like the keys of an index on the column. The server would turn a negation into a test that no key serves.
            let isNumber = "\(column) <> 'NaN'"
            let isNoNumber = scope.table.uniqueOnly.has(operand.index) ? "\(column) = 'NaN'" : "(\(isNumber)) < TRUE"
            if isNaN {
                switch comparison {
                case .equal, .lessOrEqual: return "(\(isNoNumber))"
                case .notEqual, .greater: return "(\(isNumber))"
                case .less: return neverUnlessNull(column)
                case .greaterOrEqual: return alwaysUnlessNull(column)
                }
            }
            let plain = "\(column) \(comparison.sql) \(bind(parameter))"
            switch comparison {
            case .less where !numbers.contains(column), .lessOrEqual where !numbers.contains(column):
                return operand.index < 0 ? "(\(plain) OR \(column) = 'NaN')" : "(\(isNoNumber) OR (\(isNumber) AND \(plain)))"
            case .notEqual: return "(\(plain))"
            default: return "(\(isNumber) AND \(plain))"
            }
        }
        if operand.form == .bool {
            if case .integer(let integer) = value, (0...1).contains(integer) {
                return "(\(column) \(comparison.sql) \(bind(.bool(integer == 1))))"
            }
            return "(\(column)::integer \(comparison.sql) \(bind(parameter)))"
        }
        let place = bind(parameter)
        let whole = "\(column) \(comparison.sql) \(place)"
        // An index contains only the beginning of the value.
        if let start = scope.table.prefix(of: column, operand.index), let end = scope.table.prefix(of: place, operand.index),
            let prefixSQL = comparison.prefixSQL
        {
            // Values with the same beginning as a shorter constant equal it or are greater, so that the rows with the constant itself need not be read.
            let sql = scope.table.isShort(value, operand.index) ? comparison.sql : prefixSQL
            return "(\(start) \(sql) \(end) AND \(whole))"
        }
        return "(\(whole))"
    }

    /// Returns whether bytes are a value of a column.
    private static func canHold(_ bytes: [UInt8], _ form: ColumnFormat.Form?) -> Bool {
        switch form {
        case .uuid: bytes.count == 16
        case .decimal: Parameter.decimal(bytes) != nil
        default: true
        }
    }

    private mutating func oneOf(_ operand: Operand, _ values: [Value], _ scope: Scope) throws -> String {
        let column = operand.sql
        let form = operand.form
        let found = values.filter { value in
            // Other bytes equal no value.
            if case .blob(let bytes) = value { return Self.canHold(bytes, form) }
            return !value.isNull
        }
        if let other = found.first(where: { !operand.holds($0) }) { throw incomparable(other, operand, scope) }
        guard !found.isEmpty else { return operand.isObjectID ? "FALSE" : neverUnlessNull(column) }
        let list = bind(Self.array(found, form))
        if form == .bool { return "(\(column)::integer = ANY(\(list)))" }
        let whole = "\(column) = ANY(\(list))"
        if operand.holdsNaN, !found.contains(where: { $0.isNaN(as: operand.type) }) { return "(\(column) <> 'NaN' AND \(whole))" }
        if let start = scope.table.prefix(of: column, operand.index), let end = scope.table.prefix(of: "value", operand.index) {
            return "(\(start) = ANY(ARRAY(SELECT \(end) FROM unnest(\(list)) AS list(value))) AND \(whole))"
        }
        return "(\(whole))"
    }

    /// Returns an array of constants of one type.
    /// - Parameter form: The form of the column; nil for the row id.
    private static func array(_ values: [Value], _ form: ColumnFormat.Form?) -> Parameter {
        let isUnsigned = form == .unsigned
        let type: ParameterType =
            switch values[0] {
            case .integer, .null: isUnsigned ? .numeric : .int8
            case .real: .float8
            case .text: .text
            case .blob: form == .uuid ? .uuid : form == .decimal ? .numeric : .bytes
            }
        let array = ArrayParameter(type)
        for value in values {
            switch value {
            case .null: array.appendNull()
            case .integer(let integer) where isUnsigned: array.append { Numeric.append(UInt64(bitPattern: integer), to: $0) }
            case .integer(let integer): array.append(size: 8) { $0.append(integer) }
            case .real(let real): array.append(size: 8) { $0.append(Value.normalized(real).bitPattern) }
            case .text(var text):
                array.append { buffer in text.withUTF8 { buffer.appendNULFree(UnsafeRawBufferPointer($0)) } }
            case .blob(let bytes) where form == .decimal:
                array.append { buffer in bytes.withUnsafeBytes { _ = Numeric.append(decimal: $0, to: buffer) } }
            case .blob(let bytes): array.append { buffer in bytes.withUnsafeBytes { buffer.append($0) } }
            }
        }
        return array.parameter
    }

    private mutating func text(_ operand: Operand, _ operation: TextOperator, _ value: String, _ scope: Scope) -> String? {
        let column = operand.sql
        guard operand.form == .text else { return nil }
        switch operation {
        case .like: return like(column, LikePattern(value))
        case .matches: return nil
        default: break
        }
        guard !value.isEmpty else { return alwaysUnlessNull(column) }
        switch operation {
        case .beginsWith:
            let place = bind(.text(value))
            guard let end = Self.end(of: NULFreeText.encode(value)) else { return "starts_with(\(column), \(place))" }
            // The end is encoded already, and contains no character that would be encoded again.
            let last = bind(.encoded(end))
            let whole = "\(column) >= \(place) AND \(column) < \(last)"
            guard let start = scope.table.prefix(of: column, operand.index), let low = scope.table.prefix(of: place, operand.index),
                let high = scope.table.prefix(of: last, operand.index)
            else { return "(\(whole))" }
            return "(\(start) >= \(low) AND \(start) <= \(high) AND \(whole))"
        case .contains:
            // A part of an encoded character could be found.
            guard !value.utf8.contains(where: { $0 < 3 }) else { return nil }
            return "(strpos(\(column), \(bind(.text(value)))) > 0)"
        case .endsWith:
            guard !value.utf8.contains(where: { $0 < 3 }) else { return nil }
            return "(right(\(column), \(bind(.small(Int32(clamping: value.unicodeScalars.count))))) = \(bind(.text(value))))"
        default: return nil
        }
    }

    /// Returns the first text after all texts with a prefix; nil if there is none.
    private static func end(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xd7ff ? 0xe000 : last.value + 1
            if let scalar = Unicode.Scalar(next) {
                var result = String.UnicodeScalarView(scalars)
                result.append(scalar)
                return String(result)
            }
        }
        return nil
    }

    /// Returns a constant as a parameter; nil for null.
    /// - Throws: `invalidPredicate` for a constant of another type.
    private func parameter(_ value: Value, _ operand: Operand, _ scope: Scope) throws -> Parameter? {
        switch (value, operand.type.physical) {
        case (.null, _): return nil
        case (.integer(let integer), .integer): return operand.type == .uint64 ? .unsigned(UInt64(bitPattern: integer)) : .integer(integer)
        case (.real(let real), .real): return .real(Value.normalized(real))
        case (.text(let text), .text): return .text(text)
        case (.blob(let bytes), .blob):
            switch operand.form {
            case .uuid: return .uuid(bytes)
            case .decimal: return .decimal(bytes)
            default: return .bytes(bytes)
            }
        default: throw incomparable(value, operand, scope)
        }
    }

    private func incomparable(_ value: Value, _ operand: Operand, _ scope: Scope) -> StoreError {
        StoreError(
            .invalidPredicate, "\(operand.name) is \(operand.type) and cannot be compared with \(value.literal).",
            entity: scope.table.entity.name, attribute: operand.name)
    }
}

extension Value {
    /// Returns whether the value is NaN, as a real number or in the ordered bytes of a decimal.
    fileprivate func isNaN(as type: AttributeType) -> Bool {
        switch self {
        case .real(let real): real.isNaN
        case .blob(let bytes): type == .decimal && bytes == [0x7e]
        default: false
        }
    }
}

extension Parameter {
    /// A text that needs no encoding.
    static func encoded(_ value: String) -> Parameter {
        let buffer = ByteBuffer(capacity: value.utf8.count)
        var value = value
        value.withUTF8 { buffer.append(UnsafeRawBufferPointer($0)) }
        return Parameter(oid: ParameterType.text.oid, buffer: buffer)
    }
}

extension ComparisonOperator {
    /// The operator in SQL.
    var sql: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    /// The operator that holds for the beginnings of two values if this one holds for the values; nil if there is none.
    fileprivate var prefixSQL: String? {
        switch self {
        case .equal: "="
        case .notEqual: nil
        case .less, .lessOrEqual: "<="
        case .greater, .greaterOrEqual: ">="
        }
    }
}
