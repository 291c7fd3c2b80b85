import PolyStoreBackend

extension FormatParser {
    /// Parses the parenthesized operands after a function name: `length(name)`, `modulus:by:(age, 2)`, `sum(people.age)`.
    func function(_ name: FormatToken) throws {
        let word = lexer.text(of: name.range) + lexer.restOfFunctionName()
        let range = name.range.lowerBound..<name.range.lowerBound + word.utf8.count
        guard lexer.peek() == UInt8(ascii: "(") else { throw error("Expected \"(\" after \(word.forError).", at: range) }
        let lowercased = word.lowercased()
        switch lowercased {
        case "subquery": return try subquery(name)
        case "ternary": return try conditional(range)
        case "cast": return try cast(range)
        case "now", "now:": return try now(range)
        case "score": return try score(range)
        default: break
        }
        try advance()
        if let function = Self.functions[lowercased] { return try scalarFunction(function, word, range) }
        if let part = Self.dateParts[lowercased] { return try datePart(part, word, range) }
        if let operation = Self.operations[lowercased] { return try operationFunction(operation, word, range) }
        try collectionFunction(word, range)
    }

    /// Parses a collection function: `sum(people.age)` is `people.@sum.age`, and `count(people)` is `people.@count`.
    private func collectionFunction(_ word: String, _ name: Range<Int>) throws {
        guard let collectionOperator = Self.collectionOperators[word.lowercased()] else {
            throw error(
                "\(word.clipped)(…) is not supported\(Self.advice[word.lowercased()] ?? ""). Supported are \(Self.supported).", at: name)
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
        "countdistinct": "@countDistinct", "stddev": "@stddev", "median": "@median", "count:": "@count", "sum:": "@sum",
        "average:": "@avg", "min:": "@min", "max:": "@max", "stddev:": "@stddev", "median:": "@median",
        "mode": "@mode", "mode:": "@mode",
    ]

    private static let functions: [String: ScalarFunction] = [
        "abs": .abs, "ceiling": .ceiling, "floor": .floor, "trunc": .trunc, "sqrt": .sqrt, "length": .length, "uppercase": .uppercase,
        "lowercase": .lowercase, "modulus": .modulus, "power": .power, "abs:": .abs, "ceiling:": .ceiling, "floor:": .floor,
        "trunc:": .trunc, "sqrt:": .sqrt, "length:": .length, "uppercase:": .uppercase, "lowercase:": .lowercase,
        "modulus:by:": .modulus, "raise:topower:": .power, "ln": .ln, "log": .log, "exp": .exp, "ln:": .ln, "log:": .log, "exp:": .exp,
        "distinct": .distinct, "shuffle": .shuffle,
    ]

    /// The parts of dates by their names, which can end in a colon as those of Foundation's functions do.
    private static let dateParts: [String: DatePart] = Dictionary(
        uniqueKeysWithValues: DatePart.allCases.flatMap { [($0.rawValue, $0), ($0.rawValue + ":", $0)] })

    /// The arithmetic operators by their function names.
    private static let operations: [String: ArithmeticOperator] = [
        "add:to:": .add, "from:subtract:": .subtract, "multiply:by:": .multiply, "divide:by:": .divide,
    ]

    private static let supported =
        "SUBQUERY, TERNARY, CAST, SCORE, now, abs, ceiling, floor, trunc, sqrt, ln, log, exp, modulus:by:, raise:toPower:, shuffle, length, uppercase, lowercase, year, "
        + "quarter, month, week, day, weekday, hour, minute, count, countDistinct, sum, average, min, max, stddev, median and mode"

    private static let advice = [
        "function": ": write the function itself, as in length(name)",
        "random": ": write shuffle(objectID, 42), which a seed determines, or pass a number as an argument",
        "canonical:": ": write the option [cd] after the operator", "canonical": ": write the option [cd] after the operator",
    ]

    private func scalarFunction(_ function: ScalarFunction, _ word: String, _ name: Range<Int>) throws {
        let (operands, depth) = try functionOperands(word, name, function.operandCount...function.operandCount)
        try push(.operand(.function(function, operands)), depth: depth + 1, name.lowerBound..<previous.range.upperBound)
    }

    private func operationFunction(_ operation: ArithmeticOperator, _ word: String, _ name: Range<Int>) throws {
        let (operands, depth) = try functionOperands(word, name, 2...2)
        // The first operand of `from:subtract:` is the minuend, as in the other functions.
        try push(
            .operand(.arithmetic(operation, operands[0], operands[1])), depth: depth + 1, name.lowerBound..<previous.range.upperBound)
    }

    /// Parses `year(born)` or, with a time zone, `hour(started, "+05:30")`.
    private func datePart(_ part: DatePart, _ word: String, _ name: Range<Int>) throws {
        let (operands, depth) = try functionOperands(word, name, 1...2)
        var zone: String?
        if operands.count > 1 {
            guard case .constant(.text(let text), _) = operands[1] else {
                throw error(
                    "\(word.clipped)(…) takes a text with a time zone, such as '+05:30' or 'Europe/Berlin', as its second value, not \(describe(operands[1])).",
                    at: name)
            }
            zone = text
        }
        try push(.operand(.datePart(part, operands[0], zone: zone)), depth: depth + 1, name.lowerBound..<previous.range.upperBound)
    }

    /// Parses the operands between the parentheses.
    /// - Parameter counts: the accepted numbers of operands.
    private func functionOperands(_ word: String, _ name: Range<Int>, _ counts: ClosedRange<Int>) throws -> (
        operands: [Operand], depth: Int
    ) {
        let opening = token.range
        let first = terms.count
        try open()
        while token.kind != .rightParenthesis || terms.count > first {
            try expression(.sum)
            try requireOperand()
            guard token.kind == .comma else { break }
            try advance()
        }
        try close(.rightParenthesis, opening)
        let found = terms.count - first
        guard counts.contains(found) else {
            let most = counts.upperBound
            let taken = counts.count > 1 ? "\(counts.lowerBound) or \(most) values" : (most == 1 ? "one value" : "\(most) values")
            throw error("\(word.clipped)(…) takes \(taken), not \(found).", at: name)
        }
        let depth = terms[first...].map(\.depth).max() ?? 0
        let operands = try terms[first...].map { try operand(of: $0) }
        terms.removeSubrange(first...)
        return (operands, depth)
    }

    private static let conditionalForm = "TERNARY(age > 17, fee, 0)"

    /// Parses `TERNARY(condition, first, second)`.
    private func conditional(_ name: Range<Int>) throws {
        try advance()
        let opening = token.range
        try open()
        try expression(.or)
        try requireCondition()
        for _ in 0..<2 {
            try takeComma(Self.conditionalForm)
            try expression(.sum)
            try requireOperand()
        }
        try close(.rightParenthesis, opening)
        let second = try popOperand()
        let first = try popOperand()
        let (condition, depth, _) = try popCondition()
        try push(
            .operand(.conditional(condition, first.operand, second.operand)), depth: max(depth, first.depth, second.depth) + 1,
            name.lowerBound..<previous.range.upperBound)
    }

    /// The types for `CAST`, by the names of the Foundation classes.
    private static let classes: [String: AttributeType] = [
        "nsdate": .date, "date": .date, "nsnumber": .double, "double": .double, "nsdecimalnumber": .decimal, "decimal": .decimal,
        "nsstring": .string, "string": .string, "nsuuid": .uuid, "uuid": .uuid,
    ]

    static func className(of type: AttributeType) -> String {
        switch type {
        case .date: "NSDate"
        case .decimal: "NSDecimalNumber"
        case .uuid: "NSUUID"
        case .string: "NSString"
        default: "NSNumber"
        }
    }

    /// Parses `CAST(value, 'NSDate')`.
    private func cast(_ name: Range<Int>) throws {
        try advance()
        let opening = token.range
        try open()
        try expression(.sum)
        try requireOperand()
        try takeComma("CAST(born, 'NSNumber')")
        let range = token.range
        guard token.kind == .text, let type = Self.classes[try lexer.unescaped(token.range).lowercased()] else {
            throw error("Expected 'NSDate', 'NSNumber', 'NSDecimalNumber', 'NSString' or 'NSUUID', found \(describe(token)).", at: range)
        }
        try advance()
        try close(.rightParenthesis, opening)
        let inner = try popOperand()
        try push(.operand(.cast(inner.operand, type)), depth: inner.depth + 1, name.lowerBound..<previous.range.upperBound)
    }

    private func now(_ name: Range<Int>) throws {
        try advance()
        let opening = token.range
        try open()
        try close(.rightParenthesis, opening)
        try push(.operand(.now), depth: 0, name.lowerBound..<previous.range.upperBound)
    }
}
