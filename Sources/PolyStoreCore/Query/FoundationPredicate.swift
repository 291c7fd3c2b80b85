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
struct PredicateTranslation {
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
protocol TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term
}
