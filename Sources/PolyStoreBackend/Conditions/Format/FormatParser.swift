/// Reads a format string by precedence climbing: ``expression(_:)`` takes operators as long as they bind at least as tightly as it is told.
///
/// Conditions and operands share one grammar until a piece of it is complete, so that what a parenthesis holds is known once it is read and
/// nothing is ever read twice: the time is linear in the length. What has been read waits on ``terms`` for the operator that it belongs to.
/// The functions that call each other hold little else than their place, so that a thread with a small stack bears the deepest nesting that
/// is allowed. The grammar is in `docs/query-language.md`.
final class FormatParser {
    let lexer: FormatLexer
    /// What comes next.
    var token = FormatToken(kind: .end, range: 0..<0)
    /// What was read last.
    var previous = FormatToken(kind: .end, range: 0..<0)
    /// What is complete and not yet part of anything, the latest last.
    var terms: [Term] = []

    let arguments: [Operand]
    var argumentsUsed = 0
    let variables: [String: Operand]
    /// How deeply the values of variables are nested: a format may ask for a long list often.
    var variableDepths: [String: Int] = [:]
    /// The variables of the subqueries around, the innermost last.
    var scope: [String] = []

    /// How many parentheses, braces, subqueries and prefixes are open.
    var nesting = 0
    /// How many calls of ``expression(_:)`` there are: they bound the stack.
    var calls = 0

    /// The longest format, in bytes of UTF-8.
    static let maximumLength = 1 << 20
    /// Enough for whatever is not nested too deeply: a right side in parentheses takes two calls.
    static let maximumCalls = 2 * FetchRequest.maximumDepth + 2

    /// A piece of the grammar that has been read.
    struct Term {
        enum Content {
            case condition(Condition)
            case operand(Operand)
        }

        var content: Content
        /// How deeply the result is nested: a comparison of plain operands is 1 deep, what joins conditions one more.
        var depth: Int
        var range: Range<Int>
    }

    /// The looser first.
    enum Precedence: Int, Swift.Comparable {
        case or, and, not, comparison, sum, product, sign

        static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }
    }

    init(_ format: String, arguments: [Operand], variables: [String: Operand]) {
        lexer = FormatLexer(format)
        self.arguments = arguments
        self.variables = variables
    }

    func parse() throws -> Condition {
        let length = lexer.bytes.count
        guard length <= Self.maximumLength else {
            throw error(
                "The format has \(length) bytes; \(Self.maximumLength) is the limit. Pass long lists as arguments.",
                at: Self.maximumLength..<Self.maximumLength)
        }
        try advance()
        if token.kind == .end { throw error("The format is empty. To select everything write TRUEPREDICATE.", at: token.range) }
        try expression(.or)
        try requireCondition()
        guard token.kind == .end else { throw expectedEndOfCondition() }
        try checkAllArgumentsAreUsed()
        return try popCondition().condition
    }

    func advance() throws {
        previous = token
        token = try lexer.next()
    }
}

// MARK: - Climbing

extension FormatParser {
    /// Reads operators that bind at least so tightly, and what they join: one term.
    func expression(_ loosest: Precedence) throws {
        try beginCall()
        try prefixed(loosest)
        while let precedence = precedenceOfToken, precedence >= loosest {
            switch precedence {
            case .or, .and: try junction(precedence)
            case .comparison: try comparison(.direct, start: last.range.lowerBound)
            default: try arithmetic(precedence)
            }
        }
        calls -= 1
    }

    private var precedenceOfToken: Precedence? {
        switch token.kind {
        case .or: .or
        case .and: .and
        // After an operand only: `a NOT IN {…}`.
        case .not: .comparison
        case .plus, .minus: .sum
        case .times, .divide: .product
        default: token.kind.comparison == nil ? nil : .comparison
        }
    }

    /// What needs nothing on its left.
    private func prefixed(_ loosest: Precedence) throws {
        switch token.kind {
        case .leftParenthesis: try parenthesized(loosest)
        case .not where loosest <= .not: try negatedCondition(start: token.range.lowerBound)
        case .any where loosest <= .comparison, .all where loosest <= .comparison, .none where loosest <= .comparison:
            try modifiedComparison(token)
        case .truePredicate where loosest <= .comparison, .falsePredicate where loosest <= .comparison: try constantCondition()
        case .minus: try negation(start: token.range.lowerBound)
        case .leftBrace: try list()
        case .word where lexer.peek() == UInt8(ascii: "("): try function(token)
        default: try operand()
        }
    }

    /// A condition or an operand: its content decides. Where only an operand can stand, it can only be one.
    private func parenthesized(_ loosest: Precedence) throws {
        let opening = token.range
        try open()
        try expression(loosest <= .comparison ? .or : .sum)
        try close(.rightParenthesis, opening)
        terms[terms.count - 1].range = opening.lowerBound..<previous.range.upperBound
    }

    /// Any number of conditions joined by one operator, as one.
    private func junction(_ precedence: Precedence) throws {
        let kind = token.kind
        let first = terms.count - 1
        try requireCondition()
        while token.kind == kind {
            try advance()
            try expression(precedence == .or ? .and : .not)
            try requireCondition()
        }
        try join(first, kind)
    }

    private func join(_ first: Int, _ kind: FormatToken.Kind) throws {
        let range = terms[first].range.lowerBound..<last.range.upperBound
        var depth = 0
        let parts = try terms[first...].map { part in
            depth = max(depth, part.depth)
            return try condition(of: part)
        }
        terms.removeSubrange(first...)
        try push(.condition(kind == .or ? .or(parts) : .and(parts)), depth: depth + 1, range)
    }

    private func negatedCondition(start: Int) throws {
        try open()
        try expression(.not)
        try requireCondition()
        nesting -= 1
        try negateCondition(start)
    }

    private func negateCondition(_ start: Int) throws {
        let (condition, depth, range) = try popCondition()
        try push(.condition(.not(condition)), depth: depth + 1, start..<range.upperBound)
    }

    private func constantCondition() throws {
        try advance()
        try push(.condition(.constant(previous.kind == .truePredicate)), depth: 1, previous.range)
    }

    /// `-5` or `-age`
    private func negation(start: Int) throws {
        try open()
        try expression(.sign)
        nesting -= 1
        try negateOperand(start)
    }
}
