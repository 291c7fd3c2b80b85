import PolyStoreBackend

extension FormatParser {
    /// Parses names separated by dots.
    func path() throws {
        let first = token
        let keys = first.kind == .itself ? [] : try self.keys(of: first)
        try advance()
        try path(keys, variable: nil, start: first.range.lowerBound)
    }

    /// Parses a variable: the start of a path in a subquery (`$x.age`), elsewhere a value.
    func variable() throws {
        let range = token.range
        let name = lexer.text(of: range.lowerBound + 1..<range.upperBound)
        try advance()
        if scope.contains(name) { return try path([], variable: name, start: range.lowerBound) }
        guard let value = variables[name] else { throw unknownVariable(name, range) }
        if token.kind == .dot {
            throw error("$\(name.clipped) is a value; only the variable of a SUBQUERY has properties.", at: range)
        }
        let depth = variableDepths[name] ?? value.depth(upTo: FetchRequest.maximumDepth + 1)
        variableDepths[name] = depth
        try push(.operand(value), depth: depth, range)
    }

    /// Parses the rest of a path, from its first dot.
    private func path(_ first: [String], variable: String?, start: Int) throws {
        var keys = first
        while token.kind == .dot || token.kind == .leftBracket {
            if token.kind == .leftBracket {
                keys.append(try position())
                continue
            }
            try advance()
            // After a dot, no word is reserved.
            guard isName(token) else {
                throw error(
                    "Expected a name after \(describe(previous)), found \(describe(token)).",
                    at: token.range)
            }
            keys.append(contentsOf: try self.keys(of: token))
            try advance()
        }
        let range = start..<previous.range.upperBound
        let path = PropertyPath(keys, variable: variable, location: FormatLocation(lexer.source, range))
        try push(.operand(.path(path)), depth: 0, range)
    }

    /// Parses `[0]`, `[FIRST]`, `[LAST]` or `[SIZE]` as a key.
    private func position() throws -> String {
        let opening = token.range
        try advance()
        let word = lexer.text(of: token.range).uppercased()
        guard token.kind == .integer ? (Int(word).map { $0 >= 0 } ?? false) : ["FIRST", "LAST", "SIZE"].contains(word) else {
            let hint = ["C", "D", "CD", "DC", "N"].contains(word) ? " (Options of a comparison follow its operator: ==[c].)" : ""
            throw error("Expected a position from 0 on, FIRST, LAST or SIZE after \"[\", found \(describe(token)).\(hint)", at: token.range)
        }
        try advance()
        guard token.kind == .rightBracket else { throw expectedClosing(.rightBracket, opening) }
        try advance()
        return "[\(Int(word).map(String.init) ?? word)]"
    }

    private func isName(_ token: FormatToken) -> Bool {
        switch token.kind {
        case .escapedWord, .quotedName, .collectionOperator: true
        case .argument: isKeyArgument(token)
        default: isWord(token)
        }
    }

    /// Returns the key of a name, or the keys of a `%K` argument.
    private func keys(of token: FormatToken) throws -> [String] {
        switch token.kind {
        case .argument: return try keyArgument(token)
        case .escapedWord: return [lexer.text(of: token.range.lowerBound + 1..<token.range.upperBound)]
        case .quotedName:
            let name = try lexer.unescaped(token.range.lowerBound + 1..<token.range.upperBound)
            if name.isEmpty { throw error("A name cannot be empty.", at: token.range) }
            return [name]
        default: return [lexer.text(of: token.range)]
        }
    }
}

// MARK: - Subqueries

extension FormatParser {
    /// Parses `SUBQUERY(path, $x, condition).@count`.
    func subquery(_ name: FormatToken) throws {
        try advance()
        let opening = token.range
        try beginSubquery()
        try expression(.or)
        try requireCondition()
        try close(.rightParenthesis, opening)
        try endSubquery(start: name.range.lowerBound)
    }

    static let form = "SUBQUERY(friends, $x, $x.age > 30)"

    private func beginSubquery() throws {
        try open()
        let path = try pathArgument(Self.form)
        try push(.operand(.path(path)), depth: 0, path.location.range)
        try takeComma()
        guard token.kind == .variable else {
            throw error("Expected a variable as in \(Self.form), found \(describe(token)).", at: token.range)
        }
        scope.append(lexer.text(of: token.range.lowerBound + 1..<token.range.upperBound))
        try advance()
        try takeComma()
    }

    private func endSubquery(start: Int) throws {
        let keys = try subqueryKeys()
        let (condition, depth, _) = try popCondition()
        guard case .path(let path) = try popOperand().operand else { return }
        let variable = scope.removeLast()
        try push(
            .operand(.subquery(path, variable: variable, condition, keys: keys)), depth: depth + 1, start..<previous.range.upperBound)
    }

    /// Parses the aggregate of a subquery: `.@count`, `[SIZE]`, `.@max.age`, `.age.@max`.
    private func subqueryKeys() throws -> [String] {
        let range = token.range
        var keys: [String] = []
        while token.kind == .dot || token.kind == .leftBracket {
            if token.kind == .leftBracket {
                keys.append(try position())
                continue
            }
            try advance()
            guard isName(token) else { throw error("Expected a name after \".\", found \(describe(token)).", at: token.range) }
            keys.append(contentsOf: try self.keys(of: token).map { $0.lowercased() == "@count" ? "@count" : $0 })
            try advance()
        }
        guard keys.contains(where: { $0.hasPrefix("@") || $0 == "[SIZE]" }) else {
            throw error(
                "SUBQUERY(…) is a collection: ask for one value of it, such as .@count for its number of objects, or .@max.age.", at: range)
        }
        return keys
    }

    func pathArgument(_ form: String) throws -> PropertyPath {
        let first = token.range
        try operand()
        guard case .path(let path) = try popOperand().operand else { throw error("Expected a key path as in \(form).", at: first) }
        return path
    }

    func takeComma(_ form: String = FormatParser.form) throws {
        guard token.kind == .comma else { throw error("Expected \",\" as in \(form), found \(describe(token)).", at: token.range) }
        try advance()
    }
}
