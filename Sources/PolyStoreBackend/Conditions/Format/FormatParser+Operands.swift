extension FormatParser {
    /// An operand that nothing is nested in.
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

    /// What Int64 cannot hold is a UInt64, told by its bits.
    private func integer() throws {
        let value = try lexer.integer(token.range)
        try constant(.integer(Int64(bitPattern: value)), value > UInt64(Int64.max) ? .uint64 : .int64)
    }

    /// `{a, b}`
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

    /// The operator and its right side, the tighter operators in that taken first.
    func arithmetic(_ precedence: Precedence) throws {
        guard let operation = token.kind.arithmetic, case .operand = last.content else { throw arithmeticOfCondition() }
        try advance()
        try expression(precedence == .sum ? .product : .sign)
        try calculate(operation)
    }

    private func calculate(_ operation: ArithmeticOperator) throws {
        let right = try popOperand()
        let left = try popOperand()
        try push(
            .operand(.arithmetic(operation, left.operand, right.operand)), depth: max(left.depth, right.depth) + 1,
            left.range.lowerBound..<right.range.upperBound)
    }

    /// `-5` is a constant, `-age` the difference from 0.
    func negateOperand(_ start: Int) throws {
        let inner = try popOperand()
        let range = start..<inner.range.upperBound
        if let negated = try negated(inner.operand, range) { return try push(.operand(negated), depth: 0, range) }
        try push(.operand(.arithmetic(.subtract, .constant(.integer(0), .int64), inner.operand)), depth: inner.depth + 1, range)
    }

    /// A constant number with the other sign; nil for what is none.
    private func negated(_ operand: Operand, _ range: Range<Int>) throws -> Operand? {
        switch operand {
        case .constant(.integer(let bits), .uint64):
            let value = -Int128(UInt64(bitPattern: bits))
            guard let fits = Int64(exactly: value) else {
                throw error("The number is too small: integers have 64 bits, and \(Int64.min) is the least.", at: range)
            }
            return .constant(.integer(fits), .int64)
        case .constant(.integer, .bool): return nil
        // The least integer's opposite has the same bits.
        case .constant(.integer(.min), _): return .constant(.integer(.min), .uint64)
        case .constant(.integer(let value), _): return .constant(.integer(-value), .int64)
        case .constant(.real(let value), let type) where type != .date: return .constant(.real(-value), type)
        default: return nil
        }
    }
}
