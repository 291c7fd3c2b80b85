import PolyStoreBackend

/// Splits a format string into tokens on demand, in one pass over its bytes.
final class FormatLexer {
    let source: String
    /// The UTF-8 of the source. It is always valid, because the source is a `String`.
    let bytes: [UInt8]
    private(set) var position = 0

    init(_ source: String) {
        self.source = source
        bytes = Array(source.utf8)
    }

    func error(_ message: String, at range: Range<Int>) -> StoreError { FormatLocation(source, range).error(message) }

    func text(of range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Returns the byte at an offset, or 0 past the end. No token begins with NUL, so the two cases need no distinction.
    func byte(_ offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    func next() throws -> FormatToken {
        skipSpace()
        let start = position
        guard start < bytes.count else { return FormatToken(kind: .end, range: start..<start) }
        switch bytes[start] {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): return word()
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return try quoted(.text, from: start)
        case UInt8(ascii: "#"): return try escapedName()
        case UInt8(ascii: "@"): return try collectionOperator()
        case UInt8(ascii: "$"): return try variable()
        case UInt8(ascii: "%"): return try argument()
        case UInt8(ascii: "."): return Self.isDigit(byte(start + 1)) ? try number() : token(.dot, 1)
        case 0x80...: return wordLength(at: start) > 0 ? word() : try unexpectedCharacter()
        default: return try symbol()
        }
    }

    /// Reads the rest of a function name after its first word: the `:by:` of `modulus:by:`.
    /// - Returns: the text that was read; empty if no colon follows.
    func restOfFunctionName() -> String {
        let start = position
        while byte(position) == UInt8(ascii: ":") { position += 1 + wordLength(at: position + 1) }
        return text(of: start..<position)
    }

    /// A Boolean value that indicates whether the last word begins a name such as `modulus:by:`.
    var continuesFunctionName: Bool {
        byte(position) == UInt8(ascii: ":") && (wordLength(at: position + 1) > 0 || byte(position + 1) == UInt8(ascii: "("))
    }

    /// Returns the first byte of the next token, or 0 at the end.
    func peek() -> UInt8 {
        skipSpace()
        return byte(position)
    }

    /// Returns the next `length` bytes as a token.
    func token(_ kind: FormatToken.Kind, _ length: Int) -> FormatToken {
        defer { position += length }
        return FormatToken(kind: kind, range: position..<position + length)
    }

    private func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\t")...UInt8(ascii: "\r"): position += 1
            case 0x80...:
                let (scalar, length) = scalar(at: position)
                guard scalar.properties.isWhitespace else { return }
                position += length
            default: return
            }
        }
    }
}

// MARK: - Words

extension FormatLexer {
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// Returns the length of the word that begins at an offset, or 0 if none does.
    func wordLength(at start: Int) -> Int {
        var end = start
        while end < bytes.count {
            let byte = bytes[end]
            let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
            if isLetter || end > start && Self.isDigit(byte) {
                end += 1
            } else if byte >= 0x80 {
                let (scalar, length) = scalar(at: end)
                guard end == start ? scalar.properties.isXIDStart : scalar.properties.isXIDContinue else { break }
                end += length
            } else {
                break
            }
        }
        return end - start
    }

    private func word() -> FormatToken {
        let length = wordLength(at: position)
        return token(ReservedWord.kind(of: bytes[position..<position + length]) ?? .word, length)
    }

    /// Reads an escaped name: `#any` or `#"first name"`.
    private func escapedName() throws -> FormatToken {
        let start = position
        if byte(start + 1) == UInt8(ascii: "\"") || byte(start + 1) == UInt8(ascii: "'") { return try quoted(.quotedName, from: start) }
        let length = wordLength(at: start + 1)
        guard length > 0 else { throw error("Expected a name after \"#\", as in #any.", at: start..<start + 1) }
        return token(.escapedWord, length + 1)
    }

    private func collectionOperator() throws -> FormatToken {
        let start = position
        let length = wordLength(at: start + 1)
        if length > 0 { return token(.collectionOperator, length + 1) }
        if byte(start + 1) == UInt8(ascii: "\"") {
            throw error("Objective-C's text literals are not supported. Write \"…\" without the @.", at: start..<start + 1)
        }
        throw error("Expected a collection operator such as @count after \"@\".", at: start..<start + 1)
    }

    private func variable() throws -> FormatToken {
        let length = wordLength(at: position + 1)
        guard length > 0 else { throw error("Expected the name of a variable after \"$\".", at: position..<position + 1) }
        return token(.variable, length + 1)
    }

    /// Decodes the scalar at a non-ASCII byte, and returns it with its length.
    func scalar(at start: Int) -> (Unicode.Scalar, Int) {
        var decoder = UTF8()
        var rest = bytes[start...].makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&rest) else { return ("\u{fffd}", 1) }
        return (scalar, UTF8.width(scalar))
    }
}
