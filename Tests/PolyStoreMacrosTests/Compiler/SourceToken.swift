/// A token or a comment of Swift source, as precisely as the tests need: a string literal with its interpolations is one token.
struct SourceToken {
    let text: String
    /// The bytes of the token in the source.
    let range: Range<Int>
    /// The line on which it begins, counted from 1.
    let line: Int

    var isComment: Bool { text.hasPrefix("//") || text.hasPrefix("/*") }
    var isWord: Bool { text.utf8.first.map(Scanner.isWord) ?? false }

    static func tokens(of source: String) -> [SourceToken] {
        var scanner = Scanner(bytes: Array(source.utf8))
        var found: [SourceToken] = []
        while let token = scanner.next() { found.append(token) }
        return found
    }
}

private struct Scanner {
    let bytes: [UInt8]
    private var position = 0
    private var line = 1

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the next token, or `nil` at the end.
    mutating func next() -> SourceToken? {
        while let byte = byte(0), byte <= UInt8(ascii: " ") { advance(1) }
        guard let first = byte(0) else { return nil }
        let (start, startLine) = (position, line)
        switch first {
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"): while let byte = byte(0), byte != 10 { advance(1) }
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): skipBlockComment()
        case UInt8(ascii: "`"):
            advance(1)
            while let byte = byte(0), byte != UInt8(ascii: "`") { advance(1) }
            advance(1)
        case _ where beginsString(): skipString()
        case _ where Self.isWord(first): while let byte = byte(0), Self.isWord(byte) { advance(1) }
        case _ where Self.operators.contains(first): while let byte = byte(0), Self.operators.contains(byte) { advance(1) }
        default: advance(1)
        }
        return SourceToken(text: String(decoding: bytes[start..<position], as: UTF8.self), range: start..<position, line: startLine)
    }

    private static let operators = Set("/=-+!*%<>&|^~?.".utf8)

    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    private func byte(_ offset: Int) -> UInt8? { position + offset < bytes.count ? bytes[position + offset] : nil }

    private mutating func advance(_ count: Int) {
        for _ in 0..<count where position < bytes.count {
            if bytes[position] == 10 { line += 1 }
            position += 1
        }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if byte(0) == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
                depth += 1
                advance(2)
            } else if byte(0) == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
                depth -= 1
                advance(2)
            } else {
                advance(1)
            }
        } while depth > 0 && byte(0) != nil
    }

    /// Returns whether a string literal, possibly a raw one, begins here.
    private func beginsString() -> Bool {
        var offset = 0
        while byte(offset) == UInt8(ascii: "#") { offset += 1 }
        return byte(offset) == UInt8(ascii: "\"")
    }

    private mutating func skipString() {
        var signs = 0
        while byte(0) == UInt8(ascii: "#") {
            signs += 1
            advance(1)
        }
        let quotes = byte(1) == UInt8(ascii: "\"") && byte(2) == UInt8(ascii: "\"") ? 3 : 1
        advance(quotes)
        while let first = byte(0) {
            if first == UInt8(ascii: "\""), has(UInt8(ascii: "\""), quotes, at: 0), has(UInt8(ascii: "#"), signs, at: quotes) {
                return advance(quotes + signs)
            }
            guard first == UInt8(ascii: "\\"), has(UInt8(ascii: "#"), signs, at: 1) else {
                advance(1)
                continue
            }
            advance(1 + signs)
            if byte(0) == UInt8(ascii: "(") { skipInterpolation() } else { advance(1) }
        }
    }

    private func has(_ expected: UInt8, _ count: Int, at offset: Int) -> Bool {
        (0..<count).allSatisfy { byte(offset + $0) == expected }
    }

    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            guard let token = next() else { return }
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
        } while depth > 0
    }
}
