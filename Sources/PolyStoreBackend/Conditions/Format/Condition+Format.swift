extension Condition {
    /// Reads a condition from a format string, the language of `NSPredicate`; its grammar is in `docs/query-language.md`.
    ///
    ///     try Condition(format: "age > %d AND name BEGINSWITH[c] %@", arguments: [.constant(.integer(30), .int64), .constant(.text("Jo"), .string)])
    ///
    /// Arguments and the values of variables take their places as they are: nothing in them is ever read as part of the format, so that a text
    /// from outside is safe there, as it would not be in the format itself. The time is linear in the length.
    /// - Parameters:
    ///   - format: at most 1 MiB of UTF-8, nested at most ``FetchRequest/maximumDepth`` deep.
    ///   - arguments: for `%@`, `%K`, `%d`, `%ld`, `%f`, `%s` and so on, in order; as many as there are places outside of quotes.
    ///   - variables: for `$name`, by their names without the dollar. Those that are not asked for do not matter.
    /// - Throws: `invalidPredicate`, which tells the place, what was expected there and what was found.
    public init(format: String, arguments: [Operand] = [], variables: [String: Operand] = [:]) throws {
        let parser = FormatParser(format, arguments: arguments, variables: variables)
        self = try parser.parse()
    }
}

extension Operand {
    /// Reads one side of a comparison: `age`, `price * quantity`, `friends.@avg.age`.
    /// - Throws: as ``Condition/init(format:arguments:variables:)`` does.
    public init(format: String, arguments: [Operand] = []) throws {
        let parser = FormatParser(format, arguments: arguments, variables: [:])
        self = try parser.parseOperand()
    }
}

extension FormatParser {
    fileprivate func parseOperand() throws -> Operand {
        guard lexer.bytes.count <= Self.maximumLength else {
            throw error("The expression has more than \(Self.maximumLength) bytes.", at: Self.maximumLength..<Self.maximumLength)
        }
        try advance()
        try expression(.sum)
        try requireOperand()
        guard token.kind == .end else {
            throw error("Expected an operator or the end after \(describe(previous)), found \(describe(token)).", at: token.range)
        }
        try checkAllArgumentsAreUsed()
        return try popOperand().operand
    }
}
