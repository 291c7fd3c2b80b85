import PolyStoreBackend

extension FormatParser {
    /// The parts of a comparison that precede its right side.
    private struct Pending {
        var operation: Comparison.Operator
        var modifier: Comparison.Modifier
        var isNegated: Bool
        var options: TextOptions
    }

    /// Parses a quantified comparison: `ANY path operator operand`.
    func modifiedComparison(_ word: FormatToken) throws {
        try advance()
        try expression(.sum)
        guard token.kind == .not || comparisonOfToken != nil else { throw expectedOperator(after: last) }
        try comparison(word.kind.modifier ?? .direct, start: word.range.lowerBound)
    }

    /// Parses the operator and the right side of a comparison.
    func comparison(_ modifier: Comparison.Modifier, start: Int) throws {
        let pending = try comparisonOperator(modifier)
        try expression(.sum)
        try compare(pending, start)
    }

    private func comparisonOperator(_ modifier: Comparison.Modifier) throws -> Pending {
        guard case .operand = last.content else { throw comparisonOfCondition() }
        let isNegated = try negatesOperator()
        guard var operation = comparisonOfToken else { throw expectedOperator(after: last) }
        try advance()
        var options: TextOptions = []
        if case .search = operation {
            operation = .search(index: try searchIndex())
        } else if token.kind == .leftBracket {
            options = try textOptions()
        }
        guard isNegated else { return Pending(operation: operation, modifier: modifier, isNegated: false, options: options) }
        let inside = modifier.negatedInside
        return Pending(operation: operation, modifier: inside.modifier, isNegated: inside.isNegated, options: options)
    }

    private func compare(_ pending: Pending, _ start: Int) throws {
        let right = try popOperand()
        let left = try popOperand()
        if pending.operation == .between { try checkBounds(right.operand, right.range) }
        let range = start..<right.range.upperBound
        let comparison = Condition.comparison(
            Comparison(
                left.operand, pending.operation, right.operand, modifier: pending.modifier, options: pending.options,
                location: FormatLocation(lexer.source, range)))
        let depth = max(left.depth, right.depth) + 1
        try push(.condition(pending.isNegated ? .not(comparison) : comparison), depth: pending.isNegated ? depth + 1 : depth, range)
    }

    /// Parses the NOT of `a NOT IN {…}`. Only operators that are words can be negated this way.
    private func negatesOperator() throws -> Bool {
        guard token.kind == .not else { return false }
        guard isWord(token) else {
            throw error("\"!\" stands before a condition: !(a IN {…}). Before an operator write NOT.", at: token.range)
        }
        try advance()
        guard comparisonOfToken != nil, isWord(token) else {
            throw error(
                "Expected IN, BETWEEN, CONTAINS, BEGINSWITH, ENDSWITH, LIKE, MATCHES or SEARCH after \"NOT\", found \(describe(token)).",
                at: token.range)
        }
        return true
    }

    /// Parses text options: `[cd]`.
    private func textOptions() throws -> TextOptions {
        try advance()
        let word = token
        guard isWord(word) else { throw unknownOption(word.range, describe(word)) }
        var options: TextOptions = []
        for at in word.range {
            switch lexer.bytes[at] | 0x20 {
            case UInt8(ascii: "c"): options.insert(.caseInsensitive)
            case UInt8(ascii: "d"): options.insert(.diacriticInsensitive)
            // Comparing plain bytes is the default.
            case UInt8(ascii: "n") where word.range.count == 1: break
            default: throw unknownOption(word.range, describe(word))
            }
        }
        try advance()
        guard token.kind == .rightBracket else {
            throw error("Expected \"]\" after the option \(describe(word)), found \(describe(token)).", at: token.range)
        }
        try advance()
        return options
    }

    private func unknownOption(_ range: Range<Int>, _ name: String) -> StoreError {
        error(
            "Expected an option, found \(name). Known are [c] (case does not count), [d] (accents do not count), [cd], and [n] alone (every byte counts).",
            at: range)
    }

    /// Rejects `BETWEEN 1 AND 5`, which would otherwise be reported as a missing comparison after the 5.
    private func checkBounds(_ operand: Operand, _ range: Range<Int>) throws {
        switch operand {
        case .list(let bounds) where bounds.count == 2: return
        case .list(let bounds): throw error("BETWEEN takes two bounds, not \(bounds.count): BETWEEN {1, 5}.", at: range)
        case .constant, .object: throw error("BETWEEN takes its bounds in braces: BETWEEN {1, 5}.", at: range)
        default: return
        }
    }
}

extension Comparison.Modifier {
    /// Moves the negation of `ANY a NOT IN b` before the modifier or into it: "some are not in b" equals "not all are in b".
    fileprivate var negatedInside: (modifier: Comparison.Modifier, isNegated: Bool) {
        switch self {
        case .direct: (.direct, true)
        case .any: (.all, true)
        case .all: (.none, false)
        case .none: (.all, false)
        }
    }
}
