import PolyStoreBackend

// Fields of JSON attributes. A path by names does not state the type of a field. The field has the type of the value that it is compared with.

extension QueryExpression {
    /// Returns the same value in JSON with another result: the field of a path, or a JSON attribute itself. Nil for other expressions.
    fileprivate func readingJSON(_ result: JSONField.Result) -> QueryExpression? {
        switch node {
        case .json(let field, let attribute): .json(JSONField(field.keys, result), of: attribute)
        case .field: .json(JSONField([], result), of: self)
        case .related(let relationship, let inner): inner.readingJSON(result).map { .related(relationship, $0) }
        case .element(let relationship, let position, let inner):
            inner.readingJSON(result).map { .element(relationship, at: position, $0) }
        case .outer(let levels, let inner): inner.readingJSON(result).map { .outer(levels, $0) }
        default: nil
        }
    }
}

extension AttributeType {
    /// The type as which a field of JSON without a type is read in order to be compared with a value of this type.
    ///
    /// Numbers are reals, so that fractions are compared too.
    fileprivate var forComparison: AttributeType { isNumber && self != .uint64 ? .double : JSONField.type(for: self) }
}

extension ScalarFunction {
    /// The type as which an operand is read that is a field of JSON without a type.
    var openType: AttributeType {
        switch self {
        case .length, .uppercase, .lowercase: .string
        case .shuffle: .int64
        default: .double
        }
    }
}

extension ConditionResolver.ResolvedValue {
    /// Returns a field of JSON without a type as a field of a type; other values as they are.
    func typed(_ type: AttributeType?) -> ConditionResolver.ResolvedValue {
        guard isOpen, let type, let expression = expression.readingJSON(.value(JSONField.type(for: type))) else { return self }
        return ConditionResolver.ResolvedValue(expression: expression)
    }

    /// Returns a field of JSON without a type as one that can be compared with another value; other values as they are.
    func typed(like other: ConditionResolver.ResolvedValue?) -> ConditionResolver.ResolvedValue {
        guard isOpen, let other, !other.isOpen, other.target == nil else { return self }
        return typed(other.expression.type.forComparison)
    }
}

extension ConditionResolver {
    /// Returns the value of the rest of a path after a JSON attribute.
    func field(_ keys: [String], of attribute: FieldReference, _ entity: Entity, _ path: PropertyPath) throws -> ResolvedValue {
        let field = JSONField(keys, .value(path.type.map { JSONField.type(for: $0) } ?? .json))
        guard let expression = QueryExpression.json(field, of: .field(attribute)) else {
            throw path.location.error(
                "\(entity.name).\(attribute.name) is an attribute and has no \"\(keys.joined(separator: "."))\".", entity: entity.name,
                attribute: attribute.name)
        }
        return ResolvedValue(expression: expression, isOpen: path.type == nil)
    }

    /// Checks that the type of a value is known.
    func closed(_ value: ResolvedValue, _ location: FormatLocation, _ scope: Scope) throws -> ResolvedValue {
        guard value.isOpen else { return value }
        throw location.error(
            "\(value.expression) is a value in JSON, and nothing here says its type. Write CAST(\(value.expression), 'NSString'), 'NSNumber' or 'NSDate'.",
            entity: scope.entity.name)
    }

    /// Returns a value on the left of a comparison. A field of JSON takes the type of the right side.
    func typed(_ value: ResolvedValue, for comparison: Comparison, _ operand: Operand, _ scope: Scope) throws -> ResolvedValue {
        guard value.isOpen else { return value }
        if case .text = comparison.operation { return value.typed(.string) }
        return try closed(value.typed(try type(of: operand, comparison, scope)), comparison.location, scope)
    }

    /// Returns the type as which a field of JSON is read in order to be compared with an operand; nil if the operand does not determine it.
    private func type(of operand: Operand, _ comparison: Comparison, _ scope: Scope) throws -> AttributeType? {
        switch operand {
        case .constant(.null, _): return .json
        // An integer that a real does not represent exactly is compared with integers only.
        case .constant(.integer(let integer), let type) where type.isNumber:
            if type == .uint64, integer < 0 { return .uint64 }
            return integer.magnitude < 1 << 53 ? .double : .int64
        case .constant(_, let type): return type.forComparison
        case .list(let elements): return try type(of: elements, comparison, scope)
        case .range(let low, let high, _): return try type(of: [low, high].compactMap { $0 }, comparison, scope)
        default:
            let value = try value(operand, nil, comparison, scope)
            return value.isOpen || value.target != nil ? nil : value.expression.type.forComparison
        }
    }

    private func type(of elements: [Operand], _ comparison: Comparison, _ scope: Scope) throws -> AttributeType? {
        var found: AttributeType?
        for element in elements {
            if case .constant(.null, _) = element { continue }
            guard let next = try type(of: element, comparison, scope) else { return nil }
            guard let known = found else {
                found = next
                continue
            }
            if known == next { continue }
            guard known.isNumber, next.isNumber else {
                throw comparison.location.error(
                    "The list has values of different types, \(known) and \(next). A field of JSON is compared with values of one type.",
                    entity: scope.entity.name)
            }
            found = .double
        }
        return found ?? .json
    }

    // MARK: Elements of arrays

    /// Returns a test of the elements of an array in JSON: `tags CONTAINS 'x'`, `'x' IN tags`.
    /// - Parameter operand: the operand that provides the array.
    /// - Returns: nil if the operand is not a path to JSON.
    func membership(
        of element: Operand, in array: ResolvedValue, _ operand: Operand, _ comparison: Comparison, _ scope: Scope
    ) throws -> QueryPredicate? {
        guard case .path(let path) = operand, array.isOpen || path.type == nil || path.type == .json, array.target == nil,
            array.expression.type == .json
        else { return nil }
        if !comparison.options.isEmpty {
            // A field can be a text. An attribute is an array.
            if array.isOpen { return nil }
            throw comparison.location.error(
                "\(array.expression) is JSON, and \(comparison.operation.symbol) compares the elements of its array, without options. For its text write CAST(\(array.expression), 'NSString').",
                entity: scope.entity.name)
        }
        let wanted = try value(element, nil, comparison, scope)
        guard wanted.target == nil, let constant = wanted.expression.asConstant else {
            throw comparison.location.error(
                "\(array.expression) is JSON, and the elements of its array can only be compared with a constant, not with \(wanted.expression).",
                entity: scope.entity.name)
        }
        if constant.isNull { return .compare(array.expression, .equal, .constant(.null, .json)) }
        let type = JSONField.type(for: wanted.expression.type)
        guard let test = array.expression.readingJSON(.contains(constant, type)) else {
            throw comparison.location.error(
                "\(array.expression) is JSON, and an array in it has no elements of the type \(wanted.expression.type).",
                entity: scope.entity.name)
        }
        let isElement = QueryPredicate.compare(test, .equal, .constant(.integer(1), .bool))
        guard array.isOpen, case .text = constant, type == .string, let text = array.expression.readingJSON(.value(.string)) else {
            return isElement
        }
        // A field by names can be a text or an array; the other condition is unknown.
        return .or([
            .and([.isNull(test), .text(text, .contains, .constant(constant, .string))]), .and([.not(.isNull(test)), isElement]),
        ])
    }
}
