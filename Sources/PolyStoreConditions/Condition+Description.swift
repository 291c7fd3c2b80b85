import PolyStoreBackend

extension Condition: CustomStringConvertible {
    /// A format string that parses back to an equal condition, if every part has a literal form. Parts without one (dates, data, decimals, UUIDs,
    /// objects, NaN, infinities and ``resolved(_:)``) are printed in angle brackets or with their own description. Integers and reals of types
    /// other than `int64` and `double` parse back as one of these two, or as `uint64` if they exceed `int64`. Null loses its type. A list of
    /// zero conditions or of one condition is simplified.
    package var description: String {
        var printer = ConditionPrinter()
        printer.print(self)
        return printer.text
    }
}

extension Comparison: CustomStringConvertible {
    /// The comparison in the syntax of format strings; see ``Condition/description``.
    package var description: String { Condition.comparison(self).description }
}

extension Operand: CustomStringConvertible {
    /// The operand in the syntax of format strings; see ``Condition/description``.
    package var description: String {
        var printer = ConditionPrinter()
        printer.print(self)
        return printer.text
    }
}

extension Aggregate.Function {
    /// The name in format strings and in results: `average`, `min`, `countDistinct`.
    package var name: String { self == .countDistinct ? "countDistinct" : rawValue }
}

extension PropertyPath: CustomStringConvertible {
    package var description: String { Operand.path(self).description }
}

/// Prints conditions with the minimum of parentheses.
private struct ConditionPrinter {
    var text = ""

    mutating func print(_ condition: Condition) {
        switch condition {
        case .constant(let value): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): print(comparison)
        case .and(let parts): print(parts, " AND ", nothing: true)
        case .or(let parts): print(parts, " OR ", nothing: false)
        case .not(let part):
            text += "NOT "
            print(part, in: 3)
        case .resolved(let predicate): text += predicate.description
        }
    }

    private mutating func print(_ parts: [Condition], _ separator: String, nothing: Bool) {
        if parts.isEmpty { return print(.constant(nothing)) }
        if parts.count == 1 { return print(parts[0]) }
        for (index, part) in parts.enumerated() {
            if index > 0 { text += separator }
            print(part, in: separator == " AND " ? 2 : 1)
        }
    }

    /// Prints `part` in parentheses unless it binds more tightly than its parent. The precedence `whole` is 1 for OR, 2 for AND, 3 for NOT.
    private mutating func print(_ part: Condition, in whole: Int) {
        let binding =
            switch part {
            case .or(let parts) where parts.count > 1: 1
            case .and(let parts) where parts.count > 1: 2
            case .or(let parts) where parts.count == 1, .and(let parts) where parts.count == 1: 0
            default: 4
            }
        if binding <= whole { text += "(" }
        print(part)
        if binding <= whole { text += ")" }
    }

    private mutating func print(_ comparison: Comparison) {
        if comparison.modifier != .direct { text += comparison.modifier.rawValue + " " }
        if comparison.isSearch { return printSearch(comparison) }
        print(comparison.left)
        text += " " + comparison.operation.symbol
        if !comparison.options.isEmpty {
            text += "["
            if comparison.options.contains(.caseInsensitive) { text += "c" }
            if comparison.options.contains(.diacriticInsensitive) { text += "d" }
            text += "]"
        }
        text += " "
        print(comparison.right)
    }

    mutating func print(_ operand: Operand) {
        // The other operands have a function of their own, so that nested calculations take little of the stack.
        guard case .arithmetic(let operation, let left, let right) = operand else { return printUnlessArithmetic(operand) }
        print(left, parenthesized: left.binding < operation.binding)
        text += " \(operation.rawValue) "
        print(right, parenthesized: right.binding <= operation.binding)
    }

    private mutating func printUnlessArithmetic(_ operand: Operand) {
        switch operand {
        case .path(let path): text += path.literal
        case .constant(let value, let type): text += value.literal(of: type)
        case .object(let entity, let id, _): text += "<\(entity) \(id)>"
        case .list(let elements):
            text += "{"
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                print(element)
            }
            text += "}"
        case .range(let low?, let high?, true): print(.list([low, high]))
        case .range(let low, let high, let includesHigh):
            text += "<"
            if let low { print(low) }
            text += high == nil || includesHigh ? "..." : "..<"
            if let high { print(high) }
            text += ">"
        case .arithmetic: break
        case .subquery(let path, let variable, let condition, let keys):
            text += "SUBQUERY(\(path.literal), $\(variable), "
            print(condition)
            let rest = PropertyPath(keys).restLiteral
            text += rest.hasPrefix("[") ? ")" + rest : ")." + rest
        case .function(let function, let operands):
            text += function.rawValue + "("
            for (index, operand) in operands.enumerated() {
                if index > 0 { text += ", " }
                print(operand)
            }
            text += ")"
        case .datePart(let part, let date, let zone):
            text += part.rawValue + "("
            print(date)
            if let zone { text += ", " + Value.text(zone).literal(of: .string) }
            text += ")"
        case .conditional(let condition, let first, let second):
            text += "TERNARY("
            print(condition)
            text += ", "
            print(first)
            text += ", "
            print(second)
            text += ")"
        case .aggregate(let function, let operand):
            text += "\(function.name)("
            if let operand { print(operand) } else { text += "*" }
            text += ")"
        case .cast(let operand, let type):
            text += "CAST("
            print(operand)
            text += ", '\(FormatParser.className(of: type))')"
        case .now: text += "now()"
        case .query, .score: printSearch(operand)
        }
    }

    private mutating func printSearch(_ comparison: Comparison) {
        if !comparison.searchesFetchedObject {
            print(comparison.left)
            text += " "
        }
        text += comparison.operation.symbol
        if case .search(let index) = comparison.operation, !index.isEmpty { text += index.indexLiteral }
        text += " "
        print(comparison.right)
    }

    private mutating func printSearch(_ operand: Operand) {
        switch operand {
        case .query(let search): text += "<query \(Value.text(search).literal(of: .string))>"
        case .score(let search):
            text += "SCORE("
            print(search)
            text += ")"
        default: break
        }
    }

    private mutating func print(_ operand: Operand, parenthesized: Bool) {
        if parenthesized { text += "(" }
        print(operand)
        if parenthesized { text += ")" }
    }
}

extension ArithmeticOperator {
    fileprivate var binding: Int { self == .add || self == .subtract ? 1 : 2 }
}

extension Operand {
    fileprivate var binding: Int { if case .arithmetic(let operation, _, _) = self { operation.binding } else { 3 } }
}
