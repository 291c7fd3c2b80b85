import PolyStoreBackend

extension FormatParser {
    /// Parses an operand that contains no other terms.
    func operand() throws {
        switch token.kind {
        case .word, .escapedWord, .quotedName, .collectionOperator, .itself: try path()
        case .variable: try variable()
        case .argument: if isKeyArgument(token) { try path() } else { try argument() }
        case .text: try constant(.text(lexer.unescaped(token.range)), .string)
        case .integer: try integer()
        case .real: try constant(.real(lexer.real(token.range)), .double)
        case .true, .false: try constant(.integer(token.kind == .true ? 1 : 0), .bool)
        case .null: try constant(.null, .int64)
        default: throw expectedOperand()
        }
    }

    private func constant(_ value: Value, _ type: AttributeType) throws {
        try advance()
        try push(.operand(.constant(value, type)), depth: 0, previous.range)
    }

    /// Parses an integer. A value above the range of Int64 becomes a UInt64 with the same bit pattern.
    private func integer() throws {
        let value = try lexer.integer(token.range)
        try constant(.integer(Int64(bitPattern: value)), value > UInt64(Int64.max) ? .uint64 : .int64)
    }

    /// Parses a list: `{a, b}`.
    func list() throws {
        let opening = token.range
        let first = terms.count
        try open()
        while token.kind != .rightBrace || terms.count > first {
            try expression(.sum)
            try requireOperand()
            guard token.kind == .comma else { break }
            try advance()
        }
        try close(.rightBrace, opening)
        try collect(first, opening.lowerBound..<previous.range.upperBound)
    }

    private func collect(_ first: Int, _ range: Range<Int>) throws {
        let depth = terms[first...].map(\.depth).max() ?? 0
        let elements = try terms[first...].map { try operand(of: $0) }
        terms.removeSubrange(first...)
        try push(.operand(.list(elements)), depth: depth + 1, range)
    }

    /// Parses an operator and its right side, including operators of higher precedence.
    func arithmetic(_ precedence: Precedence) throws {
        let operation = token.kind
        guard case .operand = last.content else { throw arithmeticOfCondition() }
        try advance()
        try expression(precedence == .sum ? .product : (precedence == .product ? .sign : .atom))
        try calculate(operation)
    }

    private func calculate(_ operation: FormatToken.Kind) throws {
        let right = try popOperand()
        let left = try popOperand()
        let result =
            operation.arithmetic.map { Operand.arithmetic($0, left.operand, right.operand) }
            ?? .function(.power, [left.operand, right.operand])
        try push(
            .operand(result), depth: max(left.depth, right.depth) + 1,
            left.range.lowerBound..<right.range.upperBound)
    }

    /// Negates an operand: `-5` is a constant, `-age` is `0 - age`.
    func negateOperand(_ start: Int) throws {
        let inner = try popOperand()
        let range = start..<inner.range.upperBound
        if let negated = try negated(inner.operand, range) { return try push(.operand(negated), depth: 0, range) }
        try push(.operand(.arithmetic(.subtract, .constant(.integer(0), .int64), inner.operand)), depth: inner.depth + 1, range)
    }

    /// Returns a numeric constant with the opposite sign; nil for any other operand.
    private func negated(_ operand: Operand, _ range: Range<Int>) throws -> Operand? {
        switch operand {
        case .constant(.integer(let bits), .uint64):
            let value = -Int128(UInt64(bitPattern: bits))
            guard let fits = Int64(exactly: value) else {
                throw error("The number is too small: integers have 64 bits, and \(Int64.min) is the least.", at: range)
            }
            return .constant(.integer(fits), .int64)
        case .constant(.integer, .bool): return nil
        // The negation of `Int64.min` has the same bit pattern.
        case .constant(.integer(.min), _): return .constant(.integer(.min), .uint64)
        case .constant(.integer(let value), _): return .constant(.integer(-value), .int64)
        case .constant(.real(let value), let type) where type != .date: return .constant(.real(-value), type)
        default: return nil
        }
    }
}
