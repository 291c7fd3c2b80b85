import PolyStoreBackend

/// Parses a format string by precedence climbing: ``expression(_:)`` consumes operators of at least the precedence it is given.
///
/// Conditions and operands share one grammar until a term is complete, so the content of a parenthesis is known once it is parsed and nothing is
/// parsed twice: parsing takes time linear in the length. Complete terms stay on ``terms`` until their operator is applied. The recursive
/// functions use small stack frames, so that a thread with a small stack can parse the deepest nesting allowed. The grammar is in
/// `docs/query-language.md`.
final class FormatParser {
    let lexer: FormatLexer
    /// The next token.
    var token = FormatToken(kind: .end, range: 0..<0)
    /// The last consumed token.
    var previous = FormatToken(kind: .end, range: 0..<0)
    /// The complete terms that are not part of another term yet; the latest is last.
    var terms: [Term] = []

    let arguments: [Operand]
    var argumentsUsed = 0
    let variables: [String: Operand]
    /// The nesting depths of the values of variables, cached because a format can refer to a long list many times.
    var variableDepths: [String: Int] = [:]
    /// The variables of the enclosing subqueries; the innermost is last.
    var scope: [String] = []

    /// The number of open parentheses, braces, subqueries and prefixes.
    var nesting = 0
    /// The number of active calls of ``expression(_:)``, which bounds the stack.
    var calls = 0

    /// The maximum length of a format, in bytes of UTF-8.
    static let maximumLength = 1 << 20
    /// The limit of ``calls``. Sufficient for the maximum nesting depth, because a right side in parentheses takes two calls.
    static let maximumCalls = 2 * FetchRequest.maximumDepth + 2

    /// A parsed part of the format.
    struct Term {
        enum Content {
            case condition(Condition)
            case operand(Operand)
        }

        var content: Content
        /// The nesting depth of the result. A comparison of plain operands has depth 1; a junction adds 1.
        var depth: Int
        var range: Range<Int>
    }

    /// The operator precedences, from loosest to tightest.
    enum Precedence: Int, Swift.Comparable {
        case or, and, not, comparison, sum, product, sign, power, atom

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
    /// Parses operators of at least the given precedence and their operands into one term.
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
        // Only after an operand: `a NOT IN {…}`.
        case .not: .comparison
        case .plus, .minus: .sum
        case .times, .divide: .product
        case .power: .power
        case .word: isSearchWord ? .comparison : nil
        default: token.kind.comparison == nil ? nil : .comparison
        }
    }

    /// Parses a prefix operator or a term without a left side.
    private func prefixed(_ loosest: Precedence) throws {
        switch token.kind {
        case .leftParenthesis: try parenthesized(loosest)
        case .not where loosest <= .not: try negatedCondition(start: token.range.lowerBound)
        case .any where loosest <= .comparison, .all where loosest <= .comparison, .none where loosest <= .comparison:
            try modifiedComparison(token)
        case .truePredicate where loosest <= .comparison, .falsePredicate where loosest <= .comparison: try constantCondition()
        case .minus: try negation(start: token.range.lowerBound)
        case .leftBrace: try list()
        case .word where loosest <= .comparison && beginsSearch: try search(token)
        case .word where lexer.peek() == UInt8(ascii: "(") || lexer.continuesFunctionName: try function(token)
        default: try operand()
        }
    }

    /// Parses a parenthesized condition or operand. Its content determines which, except where only an operand is allowed.
    private func parenthesized(_ loosest: Precedence) throws {
        let opening = token.range
        try open()
        try expression(loosest <= .comparison ? .or : .sum)
        try close(.rightParenthesis, opening)
        terms[terms.count - 1].range = opening.lowerBound..<previous.range.upperBound
    }

    /// Parses any number of conditions joined by the same operator into one condition.
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

    /// Parses `-5` or `-age`.
    private func negation(start: Int) throws {
        try open()
        try expression(.sign)
        nesting -= 1
        try negateOperand(start)
    }
}
