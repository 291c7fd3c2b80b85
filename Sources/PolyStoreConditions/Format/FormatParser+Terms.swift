import PolyStoreBackend

// The stacks of the parser: open constructs are on the call stack, complete terms in ``FormatParser/terms``.

extension FormatParser {
    /// Consumes a token that opens a nested construct.
    func open() throws {
        nesting += 1
        if nesting > FetchRequest.maximumDepth { throw nestedTooDeeply(token.range) }
        try advance()
    }

    /// Consumes the token that closes a construct opened by ``open()``.
    func close(_ kind: FormatToken.Kind, _ opening: Range<Int>) throws {
        guard token.kind == kind else { throw expectedClosing(kind, opening) }
        nesting -= 1
        try advance()
    }

    func beginCall() throws {
        calls += 1
        if calls > Self.maximumCalls { throw nestedTooDeeply(token.range) }
    }
}

// MARK: - Terms

extension FormatParser {
    func push(_ content: Term.Content, depth: Int, _ range: Range<Int>) throws {
        if depth > FetchRequest.maximumDepth { throw nestedTooDeeply(range) }
        terms.append(Term(content: content, depth: depth, range: range))
    }

    /// The term that was parsed last.
    var last: Term { terms[terms.count - 1] }

    func popCondition() throws -> (condition: Condition, depth: Int, range: Range<Int>) {
        let term = terms.removeLast()
        return (try condition(of: term), term.depth, term.range)
    }

    func popOperand() throws -> (operand: Operand, depth: Int, range: Range<Int>) {
        let term = terms.removeLast()
        return (try operand(of: term), term.depth, term.range)
    }

    /// Checks that the last term is a condition, before the next token is consumed, so that the error can name that token.
    func requireCondition() throws { _ = try condition(of: last) }

    func requireOperand() throws { _ = try operand(of: last) }
}
