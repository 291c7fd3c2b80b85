import Foundation
import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel

extension PredicateExpressions.Variable: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        guard let base = translation.bases[key] else { throw PredicateTranslation.unsupported(self) }
        return .operand(base)
    }
}

extension PredicateExpressions.KeyPath: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        // A property of a captured value.
        if let captured = root as? PredicateExpressions.Value<Root.Output> {
            let value = captured.value[keyPath: keyPath]
            guard let operand = Operand(of: value) else { throw PredicateTranslation.unsupported(self) }
            return .operand(operand)
        }
        if Root.Output.self is String.Type, (keyPath as AnyKeyPath) == \String.count {
            return try translation.mapped(root) { .function(.length, [$0]) }
        }
        if let raw = Root.Output.self as? any RawRepresentable.Type, Self.isRawValue(raw, keyPath) { return try translation.term(root) }
        let base = try translation.term(root)
        if case .filtered(let path, let variable, let condition) = base {
            return try counted(.subquery(path, variable: variable, condition), Root.Output.self)
        }
        guard case .value(let choices) = base, choices.count == 1, choices[0].guards.isEmpty, case .operand(let operand) = choices[0].value
        else {
            // A text may have several alternatives.
            if Root.Output.self is String.Type, (keyPath as AnyKeyPath) == \String.isEmpty {
                return try translation.compare(root, .equal, PredicateExpressions.Value(""))
            }
            throw PredicateTranslation.unsupported(self)
        }
        if case .path(let path) = operand {
            if let model = Root.Output.self as? any Model.Type {
                guard let key = Self.key(model, keyPath) else {
                    throw StoreError(
                        .invalidPredicate,
                        "\(keyPath) is not a stored property of \(model._$entityName). Compare stored properties, or filter the objects in Swift.",
                        entity: model._$entityName)
                }
                return .operand(.path(PropertyPath(path.keys + [key], variable: path.variable)))
            }
            if Root.Output.self is any MembersType.Type {
                return try counted(.path(PropertyPath(path.keys + ["@count"], variable: path.variable)), Root.Output.self)
            }
            // A property of a value that is stored as JSON.
            if case .object? = JSONShape.of(Root.Output.self)?.form {
                let key = try JSONShape.name(of: keyPath, in: Root.Output.self)
                _ = try JSONShape.key(key, in: Root.Output.self)
                let type = JSONShape.attributeType(of: Output.self)
                return .operand(.path(PropertyPath(path.keys + [key], variable: path.variable, type: type)))
            }
        }
        if Root.Output.self is String.Type, (keyPath as AnyKeyPath) == \String.isEmpty {
            return .condition(.comparison(Comparison(operand, .equal, "".operand)))
        }
        throw PredicateTranslation.unsupported(self)
    }

    /// Returns the number of related objects, or a test for an empty relationship.
    private func counted(_ count: Operand, _ type: Any.Type) throws -> PredicateTranslation.Term {
        guard let type = type as? any MembersType.Type else { throw PredicateTranslation.unsupported(self) }
        if type.countPath == keyPath { return .operand(count) }
        if type.isEmptyPath == keyPath { return .condition(.comparison(Comparison(count, .equal, 0.operand))) }
        throw PredicateTranslation.unsupported(self)
    }

    private static func isRawValue<R: RawRepresentable>(_ type: R.Type, _ path: AnyKeyPath) -> Bool { path == \R.rawValue }

    private static func key(_ model: any Model.Type, _ path: AnyKeyPath) -> String? {
        func open<M: Model>(_ type: M.Type) -> String? {
            guard let path = path as? PartialKeyPath<M> else { return nil }
            if path == \M.objectID { return "objectID" }
            return M._$properties.knownName(path)
        }
        return open(model)
    }
}

extension PredicateExpressions.Value: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        if let operand = Operand(of: value) { return .operand(operand) }
        throw StoreError(.invalidPredicate, "A value of \(Output.self) cannot be compared with what a store holds.")
    }
}

extension PredicateExpressions.NilLiteral: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) -> PredicateTranslation.Term { .operand(.null) }
}

extension PredicateExpressions.Equal: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.compare(lhs, .equal, rhs)
    }
}

extension PredicateExpressions.NotEqual: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.compare(lhs, .notEqual, rhs)
    }
}

extension PredicateExpressions.Comparison: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let operation: Comparison.Operator =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw PredicateTranslation.unsupported(self)
            }
        return try translation.compare(lhs, operation, rhs)
    }
}

extension PredicateExpressions.Conjunction: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .condition(.and([try translation.condition(lhs), try translation.condition(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .condition(.or([try translation.condition(lhs), try translation.condition(rhs)]))
    }
}

extension PredicateExpressions.Negation: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .condition(.not(try translation.condition(wrapped)))
    }
}

extension PredicateExpressions.Conditional: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.conditional(test, trueBranch, falseBranch)
    }
}

extension PredicateExpressions.Arithmetic: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let operation: ArithmeticOperator =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw PredicateTranslation.unsupported(self)
            }
        return try translation.calculated(operation, lhs, rhs)
    }
}

extension PredicateExpressions.IntDivision: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.calculated(.divide, lhs, rhs)
    }
}

extension PredicateExpressions.IntRemainder: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.calculated(lhs, rhs) { .function(.modulus, [$0, $1]) }
    }
}

extension PredicateExpressions.FloatDivision: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.calculated(.divide, lhs, rhs)
    }
}

extension PredicateExpressions.UnaryMinus: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.calculated(.subtract, PredicateExpressions.Value(0), wrapped)
    }
}

extension PredicateExpressions.ForcedUnwrap: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term { try translation.term(inner) }
}

extension PredicateExpressions.OptionalFlatMap: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.flatMapped(variable.key, wrapped, transform)
    }
}

extension PredicateExpressions.NilCoalesce: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.coalesced(lhs, rhs)
    }
}

extension PredicateExpressions.SequenceContains: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        // A range is not a list of its two bounds.
        if let range = sequence as? any PredicateRange, let bounds = try range.bounds(&translation) {
            return try translation.within(element, bounds)
        }
        return try translation.compare(element, .oneOf, sequence)
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let path = try translation.path(sequence)
        let (variable, condition) = try translation.inner(test, variable.key)
        return .condition(.comparison(Comparison(.subquery(path, variable: variable, condition), .greater, 0.operand)))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let path = try translation.path(sequence)
        let (variable, condition) = try translation.inner(test, variable.key)
        let count = Operand.path(PropertyPath(path.keys + ["@count"], variable: path.variable))
        return .condition(.comparison(Comparison(.subquery(path, variable: variable, condition), .equal, count)))
    }
}

extension PredicateExpressions.Filter: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let path = try translation.path(sequence)
        let (variable, condition) = try translation.inner(filter, variable.key)
        return .filtered(path, variable: variable, condition)
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.compare(base, .text(.beginsWith), prefix)
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.compare(base, .text(.contains), other)
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        guard let range = range as? any PredicateRange, let bounds = try range.bounds(&translation) else {
            throw PredicateTranslation.unsupported(self)
        }
        return try translation.within(element, bounds)
    }
}

/// A range with known bounds.
protocol PredicateRange {
    /// - Returns: nil if the node is not a range.
    func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand?, high: Operand?, includesHigh: Bool)?
}

extension PredicateExpressions.Range: PredicateRange {
    func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand?, high: Operand?, includesHigh: Bool)? {
        (try translation.operand(lower), try translation.operand(upper), false)
    }
}

extension PredicateExpressions.ClosedRange: PredicateRange {
    func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand?, high: Operand?, includesHigh: Bool)? {
        (try translation.operand(lower), try translation.operand(upper), true)
    }
}

extension PredicateExpressions.Value: PredicateRange {
    func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand?, high: Operand?, includesHigh: Bool)? {
        (value as? any QueryRange)?.operands
    }
}
