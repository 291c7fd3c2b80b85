import Foundation
import PolyStoreBackend

extension Where {
    /// A condition of Foundation: `Where(#Predicate<Person> { $0.age > 30 && $0.department?.title == "Research" })`.
    ///
    /// It means what the same condition means in every other dialect, so a comparison with something that is missing is unknown, also where
    /// Swift would say false. What a store cannot be asked (a method, a subscript, a cast) is an error that the fetch throws.
    public init(_ predicate: Foundation.Predicate<T>) {
        self.init {
            var translation = PredicateTranslation()
            translation.bases[predicate.variable.key] = PropertyPath([])
            return try translation.condition(predicate.expression)
        }
    }
}

/// Goes over the tree of a Foundation predicate. Each kind of its nodes says in an extension what it becomes.
private struct PredicateTranslation {
    /// What variables stand for.
    var bases: [PredicateExpressions.VariableID: PropertyPath] = [:]
    private var variables = 0

    enum Term {
        case operand(Operand)
        case condition(Condition)
        /// An operand, or another where it is missing.
        case coalesced(Operand, Operand)
        /// Objects at the end of a path that satisfy a condition.
        case filtered(PropertyPath, variable: String, Condition)
    }

    mutating func term(_ expression: Any) throws -> Term {
        guard let node = expression as? any TranslatablePredicate else { throw Self.unsupported(expression) }
        return try node.term(&self)
    }

    mutating func condition(_ expression: Any) throws -> Condition {
        switch try term(expression) {
        case .condition(let condition): condition
        // A property that is true or false by itself.
        case .operand(.constant(.integer(let value), .bool)): .constant(value != 0)
        case .operand(let operand): .comparison(Comparison(operand, .equal, true.queryOperand))
        case .coalesced(let operand, let other): Self.comparison(.coalesced(operand, other), .equal, .operand(true.queryOperand))
        case .filtered: throw Self.unsupported(expression)
        }
    }

    mutating func operand(_ expression: Any) throws -> Operand {
        guard case .operand(let operand) = try term(expression) else { throw Self.unsupported(expression) }
        return operand
    }

    mutating func path(_ expression: Any) throws -> PropertyPath {
        guard case .operand(.path(let path)) = try term(expression) else { throw Self.unsupported(expression) }
        return path
    }

    static func comparison(_ left: Term, _ operation: Comparison.Operator, _ right: Term) -> Condition {
        switch (left, right) {
        case (.operand(let left), .operand(let right)): .comparison(Comparison(left, operation, right))
        case (.coalesced(let operand, let other), let right):
            .or([
                comparison(.operand(operand), operation, right),
                .and([.comparison(Comparison(operand, .equal, .null)), comparison(.operand(other), operation, right)]),
            ])
        case (let left, .coalesced(let operand, let other)):
            .or([
                comparison(left, operation, .operand(operand)),
                .and([.comparison(Comparison(operand, .equal, .null)), comparison(left, operation, .operand(other))]),
            ])
        // Truth values that are compared with each other.
        case (.condition(let left), .condition(let right)):
            operation == .equal
                ? .or([.and([left, right]), .and([.not(left), .not(right)])])
                : .or([.and([left, .not(right)]), .and([.not(left), right])])
        case (.condition(let condition), .operand(.constant(.integer(let value), .bool))),
            (.operand(.constant(.integer(let value), .bool)), .condition(let condition)):
            (value != 0) == (operation == .equal) ? condition : .not(condition)
        default: .constant(false)
        }
    }

    mutating func compare(_ left: Any, _ operation: Comparison.Operator, _ right: Any) throws -> Term {
        let (first, second) = (try term(left), try term(right))
        for side in [first, second] { if case .filtered = side { throw Self.unsupported(left) } }
        return .condition(Self.comparison(first, operation, second))
    }

    /// The condition on the elements of a sequence, with the variable that stands for them.
    mutating func inner(_ test: Any, _ variable: PredicateExpressions.VariableID) throws -> (name: String, condition: Condition) {
        variables += 1
        let name = "element\(variables)"
        bases[variable] = PropertyPath([], variable: name)
        return (name, try condition(test))
    }

    static func unsupported(_ expression: Any) -> StoreError {
        let name = String(describing: type(of: expression)).prefix { $0 != "<" }
        return StoreError(
            .invalidPredicate,
            "A store cannot be asked for \(name) of a #Predicate. Properties, comparisons, &&, ||, !, +, -, *, contains, starts(with:), "
                + "allSatisfy, filter, count, isEmpty, ranges and ?? are understood.")
    }
}

/// A node of Foundation's tree that a store can be asked about.
private protocol TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term
}

extension PredicateExpressions.Variable: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        guard let base = translation.bases[key] else { throw PredicateTranslation.unsupported(self) }
        return .operand(.path(base))
    }
}

extension PredicateExpressions.KeyPath: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
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
private protocol ObjectSet {}
extension Set: ObjectSet where Element: Model {}

extension PredicateExpressions.Value: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        if let argument = value as? any QueryArgument { return .operand(argument.queryOperand) }
        if let raw = (value as? any RawRepresentable)?.rawValue as? any QueryArgument { return .operand(raw.queryOperand) }
        throw StoreError(.invalidPredicate, "A value of \(Output.self) cannot be compared with what a store holds.")
    }
}

extension PredicateExpressions.NilLiteral: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) -> PredicateTranslation.Term { .operand(.null) }
}

extension PredicateExpressions.Equal: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.compare(lhs, .equal, rhs)
    }
}

extension PredicateExpressions.NotEqual: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.compare(lhs, .notEqual, rhs)
    }
}

extension PredicateExpressions.Comparison: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
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
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .condition(.and([try translation.condition(lhs), try translation.condition(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .condition(.or([try translation.condition(lhs), try translation.condition(rhs)]))
    }
}

extension PredicateExpressions.Negation: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .condition(.not(try translation.condition(wrapped)))
    }
}

extension PredicateExpressions.Conditional: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let test = try translation.condition(test)
        return .condition(
            .or([.and([test, try translation.condition(trueBranch)]), .and([.not(test), try translation.condition(falseBranch)])]))
    }
}

extension PredicateExpressions.Arithmetic: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
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
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .operand(.arithmetic(.divide, try translation.operand(lhs), try translation.operand(rhs)))
    }
}

extension PredicateExpressions.FloatDivision: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .operand(.arithmetic(.divide, try translation.operand(lhs), try translation.operand(rhs)))
    }
}

extension PredicateExpressions.UnaryMinus: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .operand(.arithmetic(.subtract, 0.queryOperand, try translation.operand(wrapped)))
    }
}

extension PredicateExpressions.ForcedUnwrap: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term { try translation.term(inner) }
}

extension PredicateExpressions.OptionalFlatMap: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        translation.bases[variable.key] = try translation.path(wrapped)
        return try translation.term(transform)
    }
}

extension PredicateExpressions.NilCoalesce: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .coalesced(try translation.operand(lhs), try translation.operand(rhs))
    }
}

extension PredicateExpressions.SequenceContains: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        .condition(.comparison(Comparison(try translation.operand(element), .oneOf, try translation.operand(sequence))))
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let path = try translation.path(sequence)
        let (variable, condition) = try translation.inner(test, variable.key)
        return .condition(.comparison(Comparison(.subquery(path, variable: variable, condition), .greater, 0.queryOperand)))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let path = try translation.path(sequence)
        let (variable, condition) = try translation.inner(test, variable.key)
        let count = Operand.path(PropertyPath(path.keys + ["@count"], variable: path.variable))
        return .condition(.comparison(Comparison(.subquery(path, variable: variable, condition), .equal, count)))
    }
}

extension PredicateExpressions.Filter: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        let path = try translation.path(sequence)
        let (variable, condition) = try translation.inner(filter, variable.key)
        return .filtered(path, variable: variable, condition)
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.compare(base, .beginsWith, prefix)
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
        try translation.compare(base, .contains, other)
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatablePredicate {
    fileprivate func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term {
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
private protocol PredicateRange {
    func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand, high: Operand, isClosed: Bool)
}

extension PredicateExpressions.Range: PredicateRange {
    fileprivate func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand, high: Operand, isClosed: Bool) {
        (try translation.operand(lower), try translation.operand(upper), false)
    }
}

extension PredicateExpressions.ClosedRange: PredicateRange {
    fileprivate func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand, high: Operand, isClosed: Bool) {
        (try translation.operand(lower), try translation.operand(upper), true)
    }
}

extension PredicateExpressions.Value: PredicateRange {
    fileprivate func bounds(_ translation: inout PredicateTranslation) throws -> (low: Operand, high: Operand, isClosed: Bool) {
        if let range = value as? any RangeArgument { return range.operands }
        throw PredicateTranslation.unsupported(self)
    }
}

/// A range that is captured whole.
private protocol RangeArgument {
    var operands: (low: Operand, high: Operand, isClosed: Bool) { get }
}
extension ClosedRange: RangeArgument where Bound: QueryArgument {
    fileprivate var operands: (low: Operand, high: Operand, isClosed: Bool) { (lowerBound.queryOperand, upperBound.queryOperand, true) }
}
extension Range: RangeArgument where Bound: QueryArgument {
    fileprivate var operands: (low: Operand, high: Operand, isClosed: Bool) { (lowerBound.queryOperand, upperBound.queryOperand, false) }
}
