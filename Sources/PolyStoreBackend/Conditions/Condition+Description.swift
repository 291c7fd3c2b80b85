extension Condition: CustomStringConvertible {
    /// A format string that reads back as an equal condition, if all in it can be written: what has no literal (dates, data, decimals, UUIDs,
    /// objects, NaN and infinities, and ``resolved(_:)``) is shown readably in angle brackets or by its own description instead; an integer
    /// or real of another type than `int64` and `double`, or `uint64` past the former, reads back as one of these; null loses its type; and a
    /// list of no conditions or of one becomes what it means.
    public var description: String {
        var printer = ConditionPrinter()
        printer.print(self)
        return printer.text
    }
}

extension Comparison: CustomStringConvertible {
    public var description: String { Condition.comparison(self).description }
}

extension Operand: CustomStringConvertible {
    /// As it is written in a format string; see ``Condition/description``.
    public var description: String {
        var printer = ConditionPrinter()
        printer.print(self)
        return printer.text
    }
}

extension PropertyPath: CustomStringConvertible {
    public var description: String { Operand.path(self).description }
}

/// Writes conditions with the parentheses that they need and no others.
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

    /// In parentheses if it does not bind more tightly than what it is part of: 1 for OR, 2 for AND, 3 for NOT.
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
        print(comparison.left)
        text += " " + comparison.operation.rawValue
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
        case .arithmetic(let operation, let left, let right):
            print(left, parenthesized: left.binding < operation.binding)
            text += " \(operation.rawValue) "
            print(right, parenthesized: right.binding <= operation.binding)
        case .subquery(let path, let variable, let condition):
            text += "SUBQUERY(\(path.literal), $\(variable), "
            print(condition)
            text += ").@count"
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
