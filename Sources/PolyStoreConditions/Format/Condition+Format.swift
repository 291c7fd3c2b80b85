import PolyStoreBackend

extension Condition {
    /// Parses a format string in the language of `NSPredicate`; the grammar is in `docs/query-language.md`.
    ///
    /// An example is `age > %d AND name BEGINSWITH[c] %@` with two arguments.
    ///
    /// Arguments and the values of variables are never parsed as part of the format, so untrusted text is safe there. It is not safe in the format
    /// itself. Parsing takes time linear in the length.
    /// - Parameters:
    ///   - format: at most 1 MiB of UTF-8, nested at most ``FetchRequest/maximumDepth`` deep.
    ///   - arguments: the values for `%@`, `%K`, `%d`, `%ld`, `%f`, `%s` and so on, in order; exactly one for each placeholder outside quotes.
    ///   - variables: the values for `$name`, by name without the dollar sign. Unused variables are ignored.
    /// - Throws: `invalidPredicate` with the position, what was expected there and what was found.
    package init(format: String, arguments: [Operand] = [], variables: [String: Operand] = [:]) throws {
        let parser = FormatParser(format, arguments: arguments, variables: variables)
        self = try parser.parse()
    }
}

extension Operand {
    /// Parses one side of a comparison: `age`, `price * quantity`, `friends.@avg.age`.
    /// - Throws: the errors of ``Condition/init(format:arguments:variables:)``.
    package init(format: String, arguments: [Operand] = []) throws {
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
