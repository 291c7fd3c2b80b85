import PolyStoreBackend

/// The kind of argument that a placeholder takes.
private enum ArgumentKind {
    case any, key, integer, number, text, character

    /// Determines the kind from the last byte of the placeholder. Length modifiers such as the `l` of `%ld` are ignored.
    init(conversion: UInt8) {
        switch conversion {
        case UInt8(ascii: "@"): self = .any
        case UInt8(ascii: "K"): self = .key
        case UInt8(ascii: "s"), UInt8(ascii: "S"): self = .text
        case UInt8(ascii: "c"), UInt8(ascii: "C"): self = .character
        default: self = "fFeEgGaA".utf8.contains(conversion) ? .number : .integer
        }
    }

    var name: String {
        switch self {
        case .any: "a value"
        case .key: "a text with the name of a property"
        case .integer: "an integer"
        case .number: "a number"
        case .text: "a text"
        case .character: "a text of one character"
        }
    }

    func accepts(_ operand: Operand) -> Bool {
        if self == .any { return true }
        guard case .constant(let value, let type) = operand else { return false }
        switch (self, value) {
        case (.key, .text), (.text, .text): return true
        case (.character, .text(let text)): return text.count == 1
        case (.integer, .integer), (.number, .integer): return true
        case (.number, .real): return type != .date
        case (.number, .blob): return type == .decimal
        default: return false
        }
    }
}

extension FormatParser {
    func isKeyArgument(_ token: FormatToken) -> Bool {
        token.kind == .argument && lexer.bytes[token.range.upperBound - 1] == UInt8(ascii: "K")
    }

    /// Parses a placeholder for a value. The argument is never parsed as part of the format.
    func argument() throws {
        let operand = try takeArgument(token)
        try advance()
        try push(.operand(operand), depth: operand.depth(upTo: FetchRequest.maximumDepth + 1), previous.range)
    }

    /// Returns the keys of a `%K` argument. Dots separate the keys; all other characters belong to the names.
    func keyArgument(_ token: FormatToken) throws -> [String] {
        guard case .constant(.text(let text), _) = try takeArgument(token) else { return [] }
        let keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if keys.contains("") {
            throw error(
                "Argument \(argumentsUsed) is \(text.forError): \(text.isEmpty ? "a key cannot be empty" : "there is an empty key beside a dot").",
                at: token.range)
        }
        return keys.first?.lowercased() == "self" ? Array(keys.dropFirst()) : keys
    }

    private func takeArgument(_ token: FormatToken) throws -> Operand {
        let name = lexer.text(of: token.range)
        let kind = ArgumentKind(conversion: lexer.bytes[token.range.upperBound - 1])
        guard argumentsUsed < arguments.count else {
            let given = arguments.isEmpty ? "there are none" : "there are only \(arguments.count)"
            throw error("Argument \(argumentsUsed + 1), for \(name), is missing: \(given).", at: token.range)
        }
        let argument = arguments[argumentsUsed]
        argumentsUsed += 1
        guard kind.accepts(argument) else {
            throw error("Argument \(argumentsUsed) is \(describe(argument)), but \(name) takes \(kind.name).", at: token.range)
        }
        return argument
    }

    func checkAllArgumentsAreUsed() throws {
        guard argumentsUsed < arguments.count else { return }
        let used = argumentsUsed == 0 ? "no place for any" : "places for \(argumentsUsed) only"
        let isQuoted = lexer.bytes.split(separator: UInt8(ascii: "%")).count > argumentsUsed + 1
        throw error(
            "Argument \(argumentsUsed + 1), \(describe(arguments[argumentsUsed])), is left over: the format has \(used)."
                + (isQuoted ? " (Between quotes, %@ is text: write it without quotes.)" : ""),
            at: lexer.bytes.count..<lexer.bytes.count)
    }
}

extension Operand {
    /// Returns the nesting depth. Stops at the limit, because arguments are untrusted.
    func depth(upTo limit: Int) -> Int {
        guard limit > 0 else { return 1 }
        switch self {
        case .path, .constant, .object, .now, .query: return 0
        case .score(let search): return search.depth(upTo: limit)
        case .range(let low, let high, _): return 1 + max(low?.depth(upTo: limit - 1) ?? 0, high?.depth(upTo: limit - 1) ?? 0)
        case .list(let elements): return 1 + (elements.lazy.map { $0.depth(upTo: limit - 1) }.max() ?? 0)
        case .arithmetic(_, let left, let right): return 1 + max(left.depth(upTo: limit - 1), right.depth(upTo: limit - 1))
        case .subquery(_, _, let condition, _): return 1 + condition.depth(upTo: limit - 1)
        case .function(_, let operands): return 1 + (operands.lazy.map { $0.depth(upTo: limit - 1) }.max() ?? 0)
        case .conditional(let condition, let first, let second):
            return 1 + max(condition.depth(upTo: limit - 1), first.depth(upTo: limit - 1), second.depth(upTo: limit - 1))
        case .aggregate(_, let inner): return 1 + (inner?.depth(upTo: limit - 1) ?? 0)
        case .cast(let inner, _), .datePart(_, let inner, _): return 1 + inner.depth(upTo: limit - 1)
        }
    }
}

extension Condition {
    func depth(upTo limit: Int) -> Int {
        guard limit > 0 else { return 1 }
        switch self {
        case .constant: return 1
        case .resolved(let predicate): return predicate.depth(upTo: limit)
        case .comparison(let comparison):
            return 1 + max(comparison.left.depth(upTo: limit - 1), comparison.right.depth(upTo: limit - 1))
        case .and(let parts), .or(let parts): return 1 + (parts.lazy.map { $0.depth(upTo: limit - 1) }.max() ?? 0)
        case .not(let part): return 1 + part.depth(upTo: limit - 1)
        }
    }
}
