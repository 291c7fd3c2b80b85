import Foundation
import PolyStoreBackend

extension PredicateExpressions.Variable: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        guard let base = translation.bases[key] else { throw PredicateTranslation.unsupported(self) }
        return .operand(.path(base))
    }
}

extension PredicateExpressions.KeyPath: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let root = try translation.term(root)
        if let model = Root.Output.self as? any Model.Type, case .operand(.path(let path)) = root {
            guard let key = Self.key(model, keyPath) else {
                throw StoreError(
                    .invalidPredicate, "\(keyPath) is no stored property of \(model._$entityName).", entity: model._$entityName)
            }
            return .operand(.path(PropertyPath(path.keys + [key], variable: path.variable)))
        }
        // Of sets: how many there are. Of texts: whether there is anything.
        let isCount = Output.self is Int.Type
        switch root {
        case .operand(.path(let path)) where Root.Output.self is any ObjectSet.Type:
            let count = Operand.path(PropertyPath(path.keys + ["@count"], variable: path.variable))
            return isCount ? .operand(count) : .condition(.comparison(Comparison(count, .equal, 0.queryOperand)))
        case .filtered(let path, let variable, let condition):
            let count = Operand.subquery(path, variable: variable, condition)
            return isCount ? .operand(count) : .condition(.comparison(Comparison(count, .equal, 0.queryOperand)))
        case .operand(let text) where Root.Output.self is String.Type && (keyPath as AnyKeyPath) == \String.isEmpty:
            return .condition(.comparison(Comparison(text, .equal, "".queryOperand)))
        default: throw PredicateTranslation.unsupported(self)
        }
    }

    private static func key(_ model: any Model.Type, _ path: AnyKeyPath) -> String? {
        func open<M: Model>(_ type: M.Type) -> String? {
            guard let path = path as? PartialKeyPath<M> else { return nil }
            if path == \M.objectID { return "objectID" }
            return M._$properties.knownField(path)?.name ?? M._$properties.knownRelationship(path)
        }
        return open(model)
    }
}

/// A to-many relationship's value.
protocol ObjectSet {}
extension Set: ObjectSet where Element: Model {}

extension PredicateExpressions.Value: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        if let argument = value as? any QueryArgument { return .operand(argument.queryOperand) }
        if let raw = (value as? any RawRepresentable)?.rawValue as? any QueryArgument { return .operand(raw.queryOperand) }
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
        let test = try translation.condition(test)
        return .condition(
            .or([.and([test, try translation.condition(trueBranch)]), .and([.not(test), try translation.condition(falseBranch)])]))
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
        return .operand(.arithmetic(operation, try translation.operand(lhs), try translation.operand(rhs)))
    }
}

extension PredicateExpressions.IntDivision: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .operand(.arithmetic(.divide, try translation.operand(lhs), try translation.operand(rhs)))
    }
}

extension PredicateExpressions.FloatDivision: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .operand(.arithmetic(.divide, try translation.operand(lhs), try translation.operand(rhs)))
    }
}

extension PredicateExpressions.UnaryMinus: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .operand(.arithmetic(.subtract, 0.queryOperand, try translation.operand(wrapped)))
    }
}

extension PredicateExpressions.ForcedUnwrap: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term { try translation.term(inner) }
}

extension PredicateExpressions.OptionalFlatMap: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        translation.bases[variable.key] = try translation.path(wrapped)
        return try translation.term(transform)
    }
}

extension PredicateExpressions.NilCoalesce: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .coalesced(try translation.operand(lhs), try translation.operand(rhs))
    }
}

extension PredicateExpressions.SequenceContains: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .condition(.comparison(Comparison(try translation.operand(element), .oneOf, try translation.operand(sequence))))
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let path = try translation.path(sequence)
        let (variable, condition) = try translation.inner(test, variable.key)
        return .condition(.comparison(Comparison(.subquery(path, variable: variable, condition), .greater, 0.queryOperand)))
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
        try translation.compare(base, .beginsWith, prefix)
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.compare(base, .contains, other)
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        guard let range = range as? any PredicateRange else { throw PredicateTranslation.unsupported(self) }
        let (low, high, isClosed) = try range.bounds(&translation)
        let element = try translation.operand(element)
        return .condition(
            .and([
                .comparison(Comparison(element, .greaterOrEqual, low)),
                .comparison(Comparison(element, isClosed ? .lessOrEqual : .less, high)),
            ]))
    }
}

/// A range whose ends are known.
protocol PredicateRange {
    func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand, high: Operand, isClosed: Bool)
}

extension PredicateExpressions.Range: PredicateRange {
    func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand, high: Operand, isClosed: Bool) {
        (try translation.operand(lower), try translation.operand(upper), false)
    }
}

extension PredicateExpressions.ClosedRange: PredicateRange {
    func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand, high: Operand, isClosed: Bool) {
        (try translation.operand(lower), try translation.operand(upper), true)
    }
}

extension PredicateExpressions.Value: PredicateRange {
    func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand, high: Operand, isClosed: Bool) {
        if let range = value as? any RangeArgument { return range.operands }
        throw PredicateTranslation.unsupported(self)
    }
}

/// A range that is captured whole.
protocol RangeArgument {
    var operands: (low: Operand, high: Operand, isClosed: Bool) { get }
}
extension ClosedRange: RangeArgument where Bound: QueryArgument {
    var operands: (low: Operand, high: Operand, isClosed: Bool) { (lowerBound.queryOperand, upperBound.queryOperand, true) }
}
extension Range: RangeArgument where Bound: QueryArgument {
    var operands: (low: Operand, high: Operand, isClosed: Bool) { (lowerBound.queryOperand, upperBound.queryOperand, false) }
}
