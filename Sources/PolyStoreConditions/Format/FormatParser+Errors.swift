import PolyStoreBackend

// Syntax errors: what was expected, what was found, and a suggestion.

extension FormatParser {
    func error(_ message: String, at range: Range<Int>) -> StoreError { lexer.error(message, at: range) }

    /// Returns the condition of a term, or throws if the term is an operand.
    func condition(of term: Term) throws -> Condition {
        guard case .condition(let condition) = term.content else { throw expectedOperator(after: term) }
        return condition
    }

    /// Returns the operand of a term, or throws if the term is a condition.
    func operand(of term: Term) throws -> Operand {
        guard case .operand(let operand) = term.content else {
            throw error("Expected a value or a property, found a condition.", at: term.range)
        }
        return operand
    }

    func nestedTooDeeply(_ range: Range<Int>) -> StoreError {
        error("The condition is nested too deeply; \(FetchRequest.maximumDepth) is the limit.", at: range)
    }

    func expectedOperand() -> StoreError {
        let context = previous.range.isEmpty ? "" : " after \(describe(previous))"
        // In `in == 5` and `any == 5`, the reserved word was meant as a name.
        let word = isReserved(token) ? token : previous
        let isName = isReserved(word) && (word.range == token.range || token.kind.comparison != nil && !isWord(token))
        let hint = isName ? " (For a property of that name write #\(lexer.text(of: word.range)).)" : ""
        return error("Expected a value or a property\(context), found \(describe(token)).\(hint)", at: token.range)
    }

    func comparisonOfCondition() -> StoreError {
        error("What stands before \(describe(token)) is a condition already. Comparisons are joined: a < b AND b < c.", at: token.range)
    }

    func arithmeticOfCondition() -> StoreError {
        error("What stands before \(describe(token)) is a condition, and no number.", at: token.range)
    }

    /// Returns the error for an operand without a comparison: used as a condition, or not followed by an operator.
    func expectedOperator(after term: Term) -> StoreError {
        if case .condition = term.content {
            return error("Expected a value or a property and an operator, found a condition.", at: term.range)
        }
        if let misspelt = misspeltOperator(after: term) { return misspelt }
        let left = lexer.text(of: term.range)
        var hint = ""
        switch term.content {
        case .operand(.constant(.integer(let value), .bool)):
            hint = " (What is always \(value == 1 ? "true" : "false") is \(value == 1 ? "TRUEPREDICATE" : "FALSEPREDICATE").)"
        case .operand(.path(let path)):
            if let meant = Spelling.nearest(left, among: ["TRUEPREDICATE", "FALSEPREDICATE"]) {
                hint = " Did you mean \(meant)?"
            } else if !path.keys.isEmpty {
                hint = " (To ask whether it is true write \(left.clipped) == TRUE.)"
            }
        default: break
        }
        return error("Expected an operator such as == after \(left.forError), found \(describe(token)).\(hint)", at: token.range)
    }

    func expectedEndOfCondition() -> StoreError {
        if let misspelt = misspeltOperator(after: nil) { return misspelt }
        if token.kind == .rightParenthesis { return error("There is no \"(\" for this \")\".", at: token.range) }
        return error("Expected AND, OR or the end after \(describe(previous)), found \(describe(token)).", at: token.range)
    }

    func expectedClosing(_ kind: FormatToken.Kind, _ opening: Range<Int>) -> StoreError {
        if kind == .rightParenthesis, let misspelt = misspeltOperator(after: terms.last) { return misspelt }
        let closing =
            switch kind {
            case .rightBrace: "\",\" or \"}\""
            case .rightBracket: "\"]\""
            default: "\")\""
            }
        let start = FormatLocation(lexer.source, opening).lineAndColumn
        var hint = ""
        if kind == .rightParenthesis {
            if token.kind == .comma { hint = " (Lists are written in braces: {1, 2}.)" }
            // In other positions, a condition would have been accepted.
            if [.and, .or].contains(token.kind) || token.kind.comparison != nil { hint = " (Here only a value or a property can stand.)" }
        }
        return error(
            "Expected \(closing) for \(lexer.text(of: opening).forError) at \(start.line):\(start.column), found \(describe(token)).\(hint)",
            at: token.range)
    }

    func unknownVariable(_ name: String, _ range: Range<Int>) -> StoreError {
        let known = (scope + variables.keys.sorted()).map { "$" + $0 }
        return error(
            "There is no value for $\(name.clipped); "
                + (known.isEmpty ? "no variables are given." : "known are \(known.joined(separator: ", "))."),
            at: range)
    }

    /// Returns the error for a word in the position of an operator, if it resembles one.
    /// - Parameter term: the term before the word; nil if it is a condition.
    private func misspeltOperator(after term: Term?) -> StoreError? {
        guard token.kind == .word else { return nil }
        let word = lexer.text(of: token.range)
        var meant = Spelling.nearest(word, among: ["AND", "OR"])
        if case .operand = term?.content {
            let operators = Comparison.Operator.allCases.map(\.symbol).filter { $0.utf8.allSatisfy { $0 >= UInt8(ascii: "A") } }
            meant = Self.foreignOperators[word.uppercased()] ?? Spelling.nearest(word, among: operators)
        }
        return meant.map { error("\(word.forError) is not an operator. Did you mean \($0)?", at: token.range) }
    }

    /// Operators of other languages.
    private static let foreignOperators = [
        "IS": "==", "EQ": "==", "EQUALS": "==", "ISNOT": "!=", "STARTSWITH": "BEGINSWITH", "BEGINS": "BEGINSWITH", "STARTS": "BEGINSWITH",
        "HASPREFIX": "BEGINSWITH", "ENDS": "ENDSWITH", "HASSUFFIX": "ENDSWITH", "HAS": "CONTAINS", "INCLUDES": "CONTAINS",
        "ILIKE": "LIKE[c]",
        "REGEX": "MATCHES", "REGEXP": "MATCHES", "RLIKE": "MATCHES",
    ]
}

// MARK: - Naming things

extension FormatParser {
    /// Returns whether a token is spelled with letters: `AND`, not `&&`.
    func isWord(_ token: FormatToken) -> Bool {
        token.kind == .word || !token.range.isEmpty && (lexer.bytes[token.range.lowerBound] | 0x20) &- UInt8(ascii: "a") < 26
    }

    private func isReserved(_ token: FormatToken) -> Bool { token.kind != .word && isWord(token) }

    func describe(_ token: FormatToken) -> String {
        let text = lexer.text(of: token.range)
        switch token.kind {
        case .end: return "the end"
        case .text: return "the text \(text.clipped)"
        case .integer, .real: return "the number \(text.clipped)"
        default: return text.forError
        }
    }

    func describe(_ operand: Operand) -> String {
        let text = operand.description.clipped
        switch operand {
        case .constant(.null, _): return text
        case .constant(_, .bool): return "the truth value \(text)"
        case .constant(.integer, _): return "the integer \(text)"
        case .constant(.real, let type) where type != .date: return "the real number \(text)"
        case .constant(.text, _): return "the text \(text)"
        case .constant, .object: return text
        case .list: return "the list \(text)"
        case .range: return "the range \(text)"
        case .path: return "the key path \(text)"
        case .query: return "the search query \(text)"
        case .arithmetic, .subquery, .function, .datePart, .aggregate, .conditional, .cast, .now, .score: return "the expression \(text)"
        }
    }
}

extension String {
    /// The text in quotes for an error message, truncated if it is long.
    var forError: String { "\"\(clipped)\"" }

    var clipped: String { utf8.count <= 60 ? self : prefix(40) + "…" }
}
