extension FormatParser {
    /// Names with dots between them.
    func path() throws {
        let first = token
        let keys = first.kind == .itself ? [] : try self.keys(of: first)
        try advance()
        try path(keys, variable: nil, start: first.range.lowerBound)
    }

    /// `$x.age` in a subquery, elsewhere the value of a variable.
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

    /// The rest of a path, from its first dot.
    private func path(_ first: [String], variable: String?, start: Int) throws {
        var keys = first
        while token.kind == .dot {
            try advance()
            // After a dot no word is reserved.
            guard isName(token) else {
                throw error(
                    "Expected a name after \(describe(previous)), found \(describe(token)).",
                    at: token.range)
            }
            keys.append(contentsOf: try self.keys(of: token))
            try advance()
        }
        if token.kind == .leftBracket {
            throw error(
                "Positions in a path (\"[0]\", \"[FIRST]\", \"[SIZE]\") are not supported; the number of objects is .@count.",
                at: token.range)
        }
        let range = start..<previous.range.upperBound
        let path = PropertyPath(keys, variable: variable, location: FormatLocation(lexer.source, range))
        try push(.operand(.path(path)), depth: 0, range)
    }

    private func isName(_ token: FormatToken) -> Bool {
        switch token.kind {
        case .escapedWord, .quotedName, .collectionOperator: true
        case .argument: isKeyArgument(token)
        default: isWord(token)
        }
    }

    /// One key, or those of a `%K`.
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

// MARK: - Functions

extension FormatParser {
    /// Something in parentheses after a name.
    func function(_ name: FormatToken) throws {
        let word = lexer.text(of: name.range)
        if word.lowercased() == "subquery" { return try subquery(name) }
        try advance()
        try collectionFunction(word, name.range)
    }

    /// `sum(people.age)` is `people.@sum.age`, and `count(people)` is `people.@count`.
    private func collectionFunction(_ word: String, _ name: Range<Int>) throws {
        guard let collectionOperator = Self.collectionOperators[word.lowercased()] else {
            throw error(
                "\(word.clipped)(…) is not supported; known are SUBQUERY, count, countDistinct, sum, average, min, max, stddev and median.",
                at: name)
        }
        let opening = token.range
        try open()
        var path = try pathArgument("\(word)(friends)")
        try close(.rightParenthesis, opening)
        path.keys.insert(collectionOperator, at: collectionOperator == "@count" ? path.keys.count : max(path.keys.count - 1, 0))
        let range = name.lowerBound..<previous.range.upperBound
        path.location = FormatLocation(lexer.source, range)
        try push(.operand(.path(path)), depth: 0, range)
    }

    private static let collectionOperators = [
        "count": "@count", "sum": "@sum", "average": "@avg", "avg": "@avg", "min": "@min", "max": "@max",
        "countdistinct": "@countDistinct", "stddev": "@stddev", "median": "@median",
    ]

    /// `SUBQUERY(path, $x, condition).@count`
    private func subquery(_ name: FormatToken) throws {
        try advance()
        let opening = token.range
        try beginSubquery()
        try expression(.or)
        try requireCondition()
        try close(.rightParenthesis, opening)
        try endSubquery(start: name.range.lowerBound)
    }

    private static let form = "SUBQUERY(friends, $x, $x.age > 30)"

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
        try takeCount()
        let (condition, depth, _) = try popCondition()
        guard case .path(let path) = try popOperand().operand else { return }
        let variable = scope.removeLast()
        try push(.operand(.subquery(path, variable: variable, condition)), depth: depth + 1, start..<previous.range.upperBound)
    }

    private func pathArgument(_ form: String) throws -> PropertyPath {
        let first = token.range
        try operand()
        guard case .path(let path) = try popOperand().operand else { throw error("Expected a key path as in \(form).", at: first) }
        return path
    }

    private func takeComma() throws {
        guard token.kind == .comma else { throw error("Expected \",\" as in \(Self.form), found \(describe(token)).", at: token.range) }
        try advance()
    }

    private func takeCount() throws {
        let dot = token
        if dot.kind == .dot { try advance() }
        guard dot.kind == .dot, token.kind == .collectionOperator, lexer.text(of: token.range).lowercased() == "@count" else {
            throw error("SUBQUERY(…) is compared by its number of objects: write .@count after it.", at: token.range)
        }
        try advance()
    }
}
