import PolyStoreBackend

extension QueryCompiler {
    /// Appends a condition.
    /// - Parameter isTruthEnough: Whether false and unknown are equivalent, provided that no NOT encloses the condition.
    /// - Returns: `false` if the condition must remain in the residual predicate; the caller then removes what was appended.
    mutating func condition(
        _ predicate: QueryPredicate, _ table: EntityTable, _ misordered: borrowing MisorderedColumns, depth: Int, isTruthEnough: Bool
    ) throws -> Bool {
        guard depth <= Self.deepest else { return false }
        if let condition = predicate.fieldCondition { return try self.condition(condition, table, misordered) }
        switch predicate.node {
        case .constant(let value): append(ShapeWord(value ? .always : .never))
        case .and(let parts): return try parts.isEmpty ? constant(.always) : join(.and, parts, table, misordered, depth, isTruthEnough)
        case .or(let parts): return try parts.isEmpty ? constant(.never) : join(.or, parts, table, misordered, depth, isTruthEnough)
        case .not(let part):
            // An index serves the opposite comparison, which is unknown for the same rows.
            if case .compare(let field, let comparison, let value)? = part.fieldCondition {
                try compare(field, comparison.negated, value, table, misordered)
                return true
            }
            if case .not(let inner) = part.node {
                return try condition(inner, table, misordered, depth: depth, isTruthEnough: isTruthEnough)
            }
            // The negation holds for the objects whose destination satisfies the negated condition. SQLite would evaluate a negation for every row.
            if isTruthEnough, testsAllRows == true, case .related(let reference, .one, let inner) = part.node, inner.readsMembers {
                append(ShapeWord(.related))
                words.append(RelatedWord(reference.relationship.index, .one, isTruthEnough: true, listsDestinations: true).bits)
                return try condition(
                    .not(inner), destination(reference.relationship), misordered, depth: depth + 3, isTruthEnough: true)
            }
            append(ShapeWord(.not))
            return try condition(part, table, misordered, depth: depth + 1, isTruthEnough: false)
        case .related(let reference, let quantifier, let part):
            append(ShapeWord(.related))
            let isListed = quantifier == .any && isTruthEnough && reference.sharesMembers && part.readsMembers
            words.append(
                RelatedWord(
                    reference.relationship.index, quantifier, isTruthEnough: isTruthEnough, listsDestinations: isListed
                ).bits)
            return try condition(
                part, destination(reference.relationship), misordered, depth: depth + 3, isTruthEnough: quantifier != .one || isTruthEnough)
        case .search: return false
        case .compare(let left, let comparison, let right) where left.fixedDatePart != nil:
            guard let part = left.fixedDatePart, case .integer(let number)? = right.asConstant, right.type != .uint64 else { return false }
            append(part, ShapeWord(.compareDatePart, fieldIndex: part.field.index, comparison: comparison.position))
            bind(.integer(number))
            return true
        case .isNull(let expression):
            if let value = expression.storedJSONField(table) { return condition(on: value, predicate) }
            guard let part = expression.fixedDatePart else { return false }
            append(part, ShapeWord(.datePartIsNull, fieldIndex: part.field.index))
            return true
        case .oneOf(let expression, let values):
            if let value = expression.storedJSONField(table) { return condition(on: value, predicate) }
            guard let part = expression.fixedDatePart, values.count <= Self.mostListed else { return false }
            append(part, ShapeWord(.datePartOneOf, fieldIndex: part.field.index))
            // Null in a list equals nothing.
            let numbers = values.compactMap { if case .integer(let number) = $0 { number } else { nil } }
            append(count: numbers.count)
            for number in numbers { bind(.integer(number)) }
            return true
        case .compare(let left, let comparison, let right):
            if let value = left.storedJSONField(table) { return condition(on: value, predicate) }
            guard case .count(let reference, let part) = left.node, case .integer(let count)? = right.asConstant, right.type != .uint64
            else {
                return false
            }
            append(ShapeWord(.countRelated, fieldIndex: -1, comparison: comparison.position))
            words.append(RelatedWord(reference.relationship.index, .any, isTruthEnough: true).bits)
            guard try condition(part, destination(reference.relationship), misordered, depth: depth + 3, isTruthEnough: true) else {
                return false
            }
            bind(.integer(count))
            return true
        case .text(let left, _, _): return left.storedJSONField(table).map { condition(on: $0, predicate) } ?? false
        }
        return true
    }

    /// Appends a condition on fields.
    private mutating func condition(_ condition: FieldCondition, _ table: EntityTable, _ misordered: borrowing MisorderedColumns) throws
        -> Bool
    {
        switch condition {
        case .compare(let field, let comparison, let value): try compare(field, comparison, value, table, misordered)
        case .compareFields(let left, let comparison, let right):
            let hasNaN = misordered.contains(left, of: table.entity.index) || misordered.contains(right, of: table.entity.index)
            append(ShapeWord(.compareFields, fieldIndex: left.index, comparison: comparison.position, variant: hasNaN ? .nan : .plain))
            append(ShapeWord(.compareFields, fieldIndex: right.index))
        case .isNull(let field): append(field.isObjectID ? ShapeWord(.never) : ShapeWord(.isNull, fieldIndex: field.index))
        case .oneOf(let field, let values): return try oneOf(field, values, table)
        case .text(_, .like, _), .text(_, .matches, _): return false
        case .text(let field, let operation, let value): text(field, operation, value)
        }
        return true
    }

    /// Appends a condition on a part of a date, with the offset of the time zone as its first parameter.
    private mutating func append(_ part: FixedDatePart, _ word: ShapeWord) {
        append(word)
        append(count: DatePartFunction.number(of: part.part))
        bind(.integer(Int64(part.offset)))
    }

    private mutating func constant(_ operation: QueryShape.Operation) -> Bool {
        append(ShapeWord(operation))
        return true
    }

    private mutating func join(
        _ operation: QueryShape.Operation, _ parts: [QueryPredicate], _ table: EntityTable, _ misordered: borrowing MisorderedColumns,
        _ depth: Int,
        _ isTruthEnough: Bool
    ) throws -> Bool {
        append(ShapeWord(operation))
        append(count: parts.count)
        let inner = depth + 1 + ShapeSQL.groupingDepth(parts.count)
        for part in parts where try !condition(part, table, misordered, depth: inner, isTruthEnough: isTruthEnough) { return false }
        return bindings.count <= Self.mostBindings
    }

    private mutating func compare(
        _ field: FieldReference, _ comparison: ComparisonOperator, _ value: Value, _ table: EntityTable,
        _ misordered: borrowing MisorderedColumns
    ) throws {
        guard let constant = try binding(value, field, table) else {
            append(ShapeWord(.unknown))
            return
        }
        var variant = QueryShape.Variant.plain
        switch constant {
        case .real(let real) where real.isNaN:
            // NaN equals NaN and sorts before every number.
            switch comparison {
            case .equal, .lessOrEqual: append(ShapeWord(.isNaN, fieldIndex: field.index))
            case .notEqual, .greater: append(ShapeWord(.isNotNaN, fieldIndex: field.index))
            case .less: append(ShapeWord(.neverUnlessNull, fieldIndex: field.index))
            case .greaterOrEqual: append(ShapeWord(.alwaysUnlessNull, fieldIndex: field.index))
            }
            return
        case .real: if misordered.contains(field, of: table.entity.index) { variant = .nan }
        case .integer(let integer): if field.isUnsigned { variant = integer < 0 ? .unsignedHigh : .unsignedLow }
        default: break
        }
        append(ShapeWord(.compare, fieldIndex: field.index, comparison: comparison.position, variant: variant))
        bind(constant)
    }

    private mutating func oneOf(_ field: FieldReference, _ values: [Value], _ table: EntityTable) throws -> Bool {
        if values.count > Self.mostListed {
            guard field.type.physical == .integer else { return false }
            append(ShapeWord(.oneOfList, fieldIndex: field.index))
            bind(.text(try list(field, values, table)))
            return true
        }
        let wordAt = words.count
        append(ShapeWord(.oneOf, fieldIndex: field.index))
        append(count: 0)
        var count = 0
        var last: Binding?
        for value in values {
            guard let constant = try binding(value, field, table) else { continue }
            bind(constant)
            last = constant
            count += 1
        }
        guard let last else {
            words.removeSubrange(wordAt...)
            append(field.isObjectID ? ShapeWord(.never) : ShapeWord(.neverUnlessNull, fieldIndex: field.index))
            return true
        }
        // Lists of similar length share a statement: the last value is repeated up to the next power of two.
        var rounded = 1
        while rounded < count { rounded *= 2 }
        for _ in count..<rounded { bind(last) }
        words[wordAt + 1] = UInt32(truncatingIfNeeded: rounded)
        return true
    }

    /// Returns a list of values as a JSON array: `[1,2,3]`.
    private func list(_ field: FieldReference, _ values: [Value], _ table: EntityTable) throws -> String {
        var text: [UInt8] = [UInt8(ascii: "[")]
        text.reserveCapacity(values.count * 12)
        for value in values {
            guard case .integer(let integer)? = try binding(value, field, table) else { continue }
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text += String(integer).utf8
        }
        text.append(UInt8(ascii: "]"))
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func text(_ field: FieldReference, _ operation: TextOperator, _ value: String) {
        guard !value.isEmpty else {
            append(ShapeWord(.alwaysUnlessNull, fieldIndex: field.index))
            return
        }
        switch operation {
        case .like, .matches: break  // residual
        case .beginsWith:
            // The range from the prefix to the first text after all texts with the prefix. No byte of UTF-8 is 0xff.
            var end = [UInt8](value.utf8)
            end[end.count - 1] += 1
            append(ShapeWord(.inRange, fieldIndex: field.index))
            bind(.text(value))
            bind(.textBytes(end))
        case .contains:
            append(ShapeWord(.contains, fieldIndex: field.index))
            bind(.blob([UInt8](value.utf8)))
        case .endsWith:
            append(ShapeWord(.endsWith, fieldIndex: field.index))
            bind(.integer(-Int64(value.utf8.count)))
            bind(.blob([UInt8](value.utf8)))
        }
    }

    /// - Returns: `nil` for null.
    /// - Throws: `invalidPredicate` for a constant of another type.
    private func binding(_ value: Value, _ field: FieldReference, _ table: EntityTable) throws -> Binding? {
        switch (value, field.type.physical) {
        case (.null, _): return nil
        case (.integer(let value), .integer): return .integer(value)
        case (.real(let value), .real): return .real(Value.normalized(value))
        case (.text(let value), .text): return .text(value)
        case (.blob(let value), .blob): return .blob(value)
        default:
            throw StoreError(
                .invalidPredicate, "\(field.name) is \(field.type) and cannot be compared with \(value.literal).",
                entity: table.entity.name,
                attribute: field.name)
        }
    }
}

extension ComparisonOperator {
    /// The index in ``ShapeSQL/comparisons``.
    var position: Int {
        switch self {
        case .equal: 0
        case .notEqual: 1
        case .less: 2
        case .lessOrEqual: 3
        case .greater: 4
        case .greaterOrEqual: 5
        }
    }
}

extension RelationshipReference {
    /// A Boolean value that indicates whether an object can be a member of several objects: the relationship has a link table.
    fileprivate var sharesMembers: Bool { if case .link = relationship.storage { true } else { false } }
}

extension QueryPredicate {
    /// A Boolean value that indicates whether the evaluation for one object can read many related ones.
    fileprivate var readsMembers: Bool {
        switch node {
        case .related(let reference, _, let part): reference.isToMany || part.readsMembers
        case .compare(let left, _, _): if case .count = left.node { true } else { false }
        case .and(let parts), .or(let parts): parts.contains(where: \.readsMembers)
        case .not(let part): part.readsMembers
        default: false
        }
    }
}
