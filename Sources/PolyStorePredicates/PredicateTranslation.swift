import Foundation
import PolyStoreBackend
import PolyStoreConditions

/// Translates a Foundation predicate. An extension of each node type translates that node.
struct PredicateTranslation {
    /// The operands that the variables refer to.
    var bases: [PredicateExpressions.VariableID: Operand] = [:]
    private var variables = 0
    private var depth = 0

    enum Term {
        /// A value with alternatives. Exactly one applies to each object.
        case value([Choice])
        /// The objects at the end of a path that satisfy a condition.
        case filtered(PropertyPath, variable: String, Condition)

        static func operand(_ operand: Operand) -> Term { .value([Choice(guards: [], value: .operand(operand))]) }
        static func condition(_ condition: Condition) -> Term { .value([Choice(guards: [], value: .condition(condition))]) }
    }

    /// A value that applies under conditions.
    struct Choice {
        var guards: [Condition]
        var value: Form

        enum Form {
            case operand(Operand)
            /// A Boolean value.
            case condition(Condition)
            /// A missing value, from optional chaining.
            case missing
        }

        func when(_ more: [Condition]) -> Choice { Choice(guards: more + guards, value: value) }
    }

    /// The maximum number of alternatives, which nested `??` and `if … else` multiply.
    private static let maximumChoices = 64

    mutating func term(_ expression: Any) throws -> Term {
        guard let node = expression as? any TranslatablePredicate else { throw Self.unsupported(expression) }
        depth += 1
        defer { depth -= 1 }
        guard depth <= FetchRequest.maximumDepth else {
            throw StoreError(.invalidPredicate, "The #Predicate is nested too deeply; \(FetchRequest.maximumDepth) levels are the limit.")
        }
        return try node.term(&self)
    }

    mutating func choices(_ expression: Any) throws -> [Choice] {
        guard case .value(let choices) = try term(expression) else { throw Self.unsupported(expression) }
        return choices
    }

    mutating func condition(_ expression: Any) throws -> Condition {
        Self.any(try choices(expression)) { Self.condition($0) }
    }

    /// Translates an expression that is a single operand.
    mutating func operand(_ expression: Any) throws -> Operand {
        let choices = try choices(expression)
        guard choices.count == 1, choices[0].guards.isEmpty, case .operand(let operand) = choices[0].value else {
            throw Self.unsupported(expression)
        }
        return operand
    }

    mutating func path(_ expression: Any) throws -> PropertyPath {
        guard case .path(let path) = try operand(expression) else { throw Self.unsupported(expression) }
        return path
    }

    // MARK: Cases

    /// Returns a condition that is true if it is true for the alternative that applies.
    private static func any(_ choices: [Choice], _ condition: (Choice.Form) throws -> Condition) rethrows -> Condition {
        let parts = try choices.map { choice in
            let inner = try condition(choice.value)
            return choice.guards.isEmpty ? inner : Condition.and(choice.guards + [inner])
        }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private static func condition(_ form: Choice.Form) -> Condition {
        switch form {
        case .condition(let condition): condition
        case .operand(.constant(.integer(let value), .bool)): .constant(value != 0)
        // A property of type `Bool`.
        case .operand(let operand): .comparison(Comparison(operand, .equal, true.operand))
        case .missing: unknown
        }
    }

    /// The result of a comparison with a missing value.
    private static let unknown = Condition.comparison(Comparison(.null, .less, .null))

    /// Returns a condition that is true if a value is missing; nil if the value is never missing.
    private static func isMissing(_ form: Choice.Form) -> Condition? {
        switch form {
        case .missing, .operand(.constant(.null, _)): .constant(true)
        case .condition, .operand(.constant), .operand(.object): nil
        case .operand(let operand): .comparison(Comparison(operand, .equal, .null))
        }
    }

    /// Translates `left ?? right`.
    mutating func coalesced(_ left: Any, _ right: Any) throws -> Term {
        let others = try choices(right)
        var found: [Choice] = []
        for choice in try choices(left) {
            guard let isMissing = Self.isMissing(choice.value) else {
                found.append(choice)
                continue
            }
            found += others.map { $0.when(choice.guards + [isMissing]) }
            if case .constant = isMissing { continue }
            found.append(Choice(guards: choice.guards + [.not(isMissing)], value: choice.value))
        }
        return try limited(found)
    }

    /// Translates `if test { first } else { second }`.
    mutating func conditional(_ test: Any, _ first: Any, _ second: Any) throws -> Term {
        let test = try condition(test)
        return try limited(try choices(first).map { $0.when([test]) } + choices(second).map { $0.when([.not(test)]) })
    }

    /// Translates the transformation of an optional value by optional chaining.
    mutating func flatMapped(_ variable: PredicateExpressions.VariableID, _ wrapped: Any, _ transform: Any) throws -> Term {
        var found: [Choice] = []
        for choice in try choices(wrapped) {
            guard case .operand(let operand) = choice.value else {
                guard case .missing = choice.value else { throw Self.unsupported(wrapped) }
                found.append(choice)
                continue
            }
            bases[variable] = operand
            found += try flatMapped(operand, transform).map { $0.when(choice.guards) }
        }
        return try limited(found)
    }

    private mutating func flatMapped(_ operand: Operand, _ transform: Any) throws -> [Choice] {
        let choices = try choices(transform)
        // A path that continues the optional path is null if the optional is null.
        if case .path(let path) = operand, choices.count == 1, choices[0].guards.isEmpty,
            case .operand(.path(let longer)) = choices[0].value,
            longer.variable == path.variable, longer.keys.starts(with: path.keys), !longer.keys.contains(where: { $0.hasPrefix("@") })
        {
            return choices
        }
        guard let isMissing = Self.isMissing(.operand(operand)) else { return choices }
        return choices.map { $0.when([.not(isMissing)]) } + [Choice(guards: [isMissing], value: .missing)]
    }

    /// Translates a value computed from another value.
    mutating func mapped(_ expression: Any, _ make: (Operand) -> Operand) throws -> Term {
        .value(
            try choices(expression).map { choice in
                switch choice.value {
                case .operand(let operand): Choice(guards: choice.guards, value: .operand(make(operand)))
                case .missing: choice
                case .condition: throw Self.unsupported(expression)
                }
            })
    }

    private func limited(_ choices: [Choice]) throws -> Term {
        guard choices.count <= Self.maximumChoices else {
            throw StoreError(
                .invalidPredicate,
                "A value of a #Predicate has more than \(Self.maximumChoices) cases of ??, optional chaining and if … else. Ask for parts of it, joined by && and ||."
            )
        }
        return .value(choices)
    }

    /// Returns every combination of the alternatives of two values.
    private func pairs(_ left: [Choice], _ right: [Choice]) throws -> [(guards: [Condition], Choice.Form, Choice.Form)] {
        guard left.count * right.count <= Self.maximumChoices else {
            _ = try limited(left + right + Array(repeating: left[0], count: Self.maximumChoices))
            return []
        }
        return left.flatMap { first in right.map { (first.guards + $0.guards, first.value, $0.value) } }
    }

    // MARK: Comparisons

    mutating func compare(_ left: Any, _ operation: Comparison.Operator, _ right: Any) throws -> Term {
        let pairs = try pairs(try choices(left), try choices(right))
        let parts = try pairs.map { guards, first, second in
            let inner = try Self.comparison(first, operation, second, left)
            return guards.isEmpty ? inner : Condition.and(guards + [inner])
        }
        return .condition(parts.count == 1 ? parts[0] : .or(parts))
    }

    private static func comparison(
        _ left: Choice.Form, _ operation: Comparison.Operator, _ right: Choice.Form, _ expression: Any
    ) throws -> Condition {
        switch (left, right) {
        case (.operand(let left), .operand(let right)): return .comparison(Comparison(left, operation, right))
        case (.missing, .missing), (.missing, .operand(.constant(.null, _))), (.operand(.constant(.null, _)), .missing):
            return operation == .equal ? .constant(true) : (operation == .notEqual ? .constant(false) : unknown)
        case (.missing, _), (_, .missing): return unknown
        // A Boolean value is never missing.
        case (.condition, .operand(.constant(.null, _))), (.operand(.constant(.null, _)), .condition):
            guard operation == .equal || operation == .notEqual else { throw unsupported(expression) }
            return .constant(operation == .notEqual)
        case (.condition(let condition), .operand(.constant(.integer(let value), .bool))),
            (.operand(.constant(.integer(let value), .bool)), .condition(let condition)):
            guard operation == .equal || operation == .notEqual else { throw unsupported(expression) }
            return (value != 0) == (operation == .equal) ? condition : .not(condition)
        // Comparisons between Boolean values.
        case (.condition, _), (_, .condition):
            let (first, second) = (condition(left), condition(right))
            switch operation {
            case .equal: return .or([.and([first, second]), .and([.not(first), .not(second)])])
            case .notEqual: return .or([.and([first, .not(second)]), .and([.not(first), second])])
            default: throw unsupported(expression)
            }
        }
    }

    /// Translates a value computed from two values.
    mutating func calculated(_ operation: ArithmeticOperator, _ left: Any, _ right: Any) throws -> Term {
        try calculated(left, right) { .arithmetic(operation, $0, $1) }
    }

    mutating func calculated(_ left: Any, _ right: Any, _ make: (Operand, Operand) -> Operand) throws -> Term {
        let pairs = try pairs(try choices(left), try choices(right))
        return try limited(
            try pairs.map { guards, first, second in
                switch (first, second) {
                case (.operand(let first), .operand(let second)):
                    Choice(guards: guards, value: .operand(make(first, second)))
                case (.missing, _), (_, .missing): Choice(guards: guards, value: .missing)
                default: throw Self.unsupported(left)
                }
            })
    }

    /// Translates a range test.
    mutating func within(_ value: Any, _ range: (low: Operand?, high: Operand?, includesHigh: Bool)) throws -> Term {
        .condition(
            try Self.any(try choices(value)) { form in
                switch form {
                case .operand(let operand): .within(operand, range)
                case .missing: Self.unknown
                case .condition: throw Self.unsupported(value)
                }
            })
    }

    /// Translates the condition on the elements of a sequence. Returns it with the name of its variable.
    mutating func inner(_ test: Any, _ variable: PredicateExpressions.VariableID) throws -> (name: String, condition: Condition) {
        variables += 1
        let name = "element\(variables)"
        bases[variable] = .path(PropertyPath([], variable: name))
        return (name, try condition(test))
    }

    static func unsupported(_ expression: Any) -> StoreError {
        let name = String(describing: type(of: expression)).prefix { $0 != "<" }
        return StoreError(
            .invalidPredicate,
            "A store cannot evaluate this \(name) of a #Predicate. Properties, comparisons, &&, ||, !, if … else, if let, flatMap, +, -, *, /, %, contains, "
                + "starts(with:), allSatisfy, filter, count, isEmpty, rawValue, ranges and ?? are supported. Fetch more and filter the objects in Swift, or use a format string."
        )
    }
}

/// A node of a Foundation predicate that a store can evaluate.
protocol TranslatablePredicate {
    func term(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Term
}
