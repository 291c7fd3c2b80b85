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
