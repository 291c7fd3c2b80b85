import PolyStoreBackend

extension FormatLexer {
    func symbol() throws -> FormatToken {
        let next = byte(position + 1)
        switch bytes[position] {
        case UInt8(ascii: "("): return token(.leftParenthesis, 1)
        case UInt8(ascii: ")"): return token(.rightParenthesis, 1)
        case UInt8(ascii: "{"): return token(.leftBrace, 1)
        case UInt8(ascii: "}"): return token(.rightBrace, 1)
        case UInt8(ascii: "["): return token(.leftBracket, 1)
        case UInt8(ascii: "]"): return token(.rightBracket, 1)
        case UInt8(ascii: ","): return token(.comma, 1)
        case UInt8(ascii: "+"): return token(.plus, 1)
        case UInt8(ascii: "-"): return token(.minus, 1)
        case UInt8(ascii: "/"): return token(.divide, 1)
        case UInt8(ascii: "*"):
            return next == UInt8(ascii: "*") ? token(.power, 2) : token(.times, 1)
        case UInt8(ascii: "&"):
            guard next == UInt8(ascii: "&") else {
                throw error("A single \"&\" means nothing. Write && or AND.", at: position..<position + 1)
            }
            return token(.and, 2)
        case UInt8(ascii: "|"):
            guard next == UInt8(ascii: "|") else {
                throw error("A single \"|\" means nothing. Write || or OR.", at: position..<position + 1)
            }
            return token(.or, 2)
        case UInt8(ascii: "="), UInt8(ascii: "!"), UInt8(ascii: "<"), UInt8(ascii: ">"): return try comparison(next)
        default: return try unexpectedCharacter()
        }
    }

    /// Reads a comparison operator of two characters if they form one, otherwise of one.
    private func comparison(_ next: UInt8) throws -> FormatToken {
        switch (bytes[position], next) {
        case (UInt8(ascii: "="), UInt8(ascii: "=")): return try exact(.equal, "==")
        case (UInt8(ascii: "="), UInt8(ascii: "<")): return token(.lessOrEqual, 2)
        case (UInt8(ascii: "="), UInt8(ascii: ">")): return token(.greaterOrEqual, 2)
        case (UInt8(ascii: "="), UInt8(ascii: "~")):
            throw error("\"=~\" is not an operator. For regular expressions write MATCHES.", at: position..<position + 2)
        case (UInt8(ascii: "="), _): return token(.equal, 1)
        case (UInt8(ascii: "!"), UInt8(ascii: "=")): return try exact(.notEqual, "!=")
        case (UInt8(ascii: "!"), _): return token(.not, 1)
        case (UInt8(ascii: "<"), UInt8(ascii: "=")): return token(.lessOrEqual, 2)
        case (UInt8(ascii: "<"), UInt8(ascii: ">")): return token(.notEqual, 2)
        case (UInt8(ascii: "<"), _): return token(.less, 1)
        case (_, UInt8(ascii: "=")): return token(.greaterOrEqual, 2)
        default: return token(.greater, 1)
        }
    }

    /// Rejects `===` and `!==`, which would otherwise be reported as a missing operand.
    private func exact(_ kind: FormatToken.Kind, _ spelling: String) throws -> FormatToken {
        if byte(position + 2) == UInt8(ascii: "=") {
            throw error("\"\(spelling)=\" is not an operator. Write \(spelling).", at: position..<position + 3)
        }
        return token(kind, 2)
    }

    func unexpectedCharacter() throws -> FormatToken {
        guard bytes[position] >= 0x80 || bytes[position] < 0x20 else {
            throw error("\"\(text(of: position..<position + 1))\" means nothing here.", at: position..<position + 1)
        }
        let (scalar, length) = bytes[position] < 0x80 ? (Unicode.Scalar(bytes[position]), 1) : scalar(at: position)
        let code =
            "U+" + String(repeating: "0", count: max(0, 4 - String(scalar.value, radix: 16).count))
            + String(scalar.value, radix: 16, uppercase: true)
        let name = scalar.value < 0x20 ? code : "\"\(scalar)\" (\(code))"
        let hint = "‘’“”„‚«»".unicodeScalars.contains(scalar) ? " Write texts between straight quotes, ' or \"." : ""
        throw error("\(name) means nothing here.\(hint)", at: position..<position + length)
    }
}

// MARK: - Placeholders

extension FormatLexer {
    /// Reads a placeholder: `%@`, `%K`, or a `printf` conversion with its length modifier.
    func argument() throws -> FormatToken {
        var end = position + 1
        while Self.lengths.contains(byte(end)) { end += 1 }
        let conversion = byte(end)
        let isBare = end == position + 1
        if isBare && (conversion == UInt8(ascii: "@") || conversion == UInt8(ascii: "K")) || Self.conversions.contains(conversion) {
            return token(.argument, end + 1 - position)
        }
        if isBare && conversion == UInt8(ascii: "%") {
            throw error("\"%%\" means nothing here. Write a percent sign in a text: '%'.", at: position..<end + 1)
        }
        if isBare && (Self.isDigit(conversion) || Self.flags.contains(conversion)) {
            throw error(
                "Widths, precisions and positions of arguments are not supported: values are taken as they are, in order. Write %@, %K, %d…",
                at: position..<end + 1)
        }
        throw error(
            "Expected an argument's place after \"%\": %@ for a value, %K for a key, or %d, %ld, %u, %x, %f, %g, %s, %c and the like.",
            at: position..<max(end, position + 1))
    }

    private static let lengths = Set("hlqLzjt".utf8)
    private static let flags = Set("+-#'.*".utf8)
    private static let conversions = Set("dDiuUxXoOfFeEgGaAsScC".utf8)
}
