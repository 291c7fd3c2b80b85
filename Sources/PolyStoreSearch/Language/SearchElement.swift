/// A piece of a query: a word, a quoted text or a parenthesis.
struct SearchElement {
    enum Kind { case word, quoted, open, close }

    var kind: Kind
    /// The bytes of the text, without quotation marks.
    var text: Range<Int>
    /// The bytes of the element, with quotation marks and the `*` that follows them.
    var outer: Range<Int>
    /// A Boolean value that indicates whether a quoted text has a `*` after it.
    var isPrefix = false
    /// The index of the other parenthesis.
    var partner = -1
}

/// Divides a query into elements. A quotation mark or parenthesis without a partner is left out and reported.
struct SearchLexer {
    /// The maximum number of parentheses inside each other.
    static let maximumDepth = 100

    private let bytes: [UInt8]
    private var elements: [SearchElement] = []
    private var mistakes: [(message: String, offset: Int)] = []

    /// Returns the elements of a query, and what is wrong in it.
    static func elements(of bytes: [UInt8]) -> ([SearchElement], [(message: String, offset: Int)]) {
        var lexer = SearchLexer(bytes: bytes)
        lexer.divide()
        lexer.matchParentheses()
        return (lexer.elements, lexer.mistakes)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func divide() {
        var offset = 0
        var wordStart: Int?
        // After the first quotation mark without a partner, no other one has a partner either.
        var hasUnclosedQuote = false
        func endWord(_ elements: inout [SearchElement]) {
            guard let start = wordStart else { return }
            elements.append(SearchElement(kind: .word, text: start..<offset, outer: start..<offset))
            wordStart = nil
        }
        while offset < bytes.count {
            let space = spaceLength(at: offset)
            let quote = space > 0 ? 0 : quoteLength(at: offset)
            if space > 0 {
                endWord(&elements)
                offset += space
            } else if quote > 0 {
                endWord(&elements)
                let close = hasUnclosedQuote ? nil : closingQuote(after: offset + quote)
                if let close {
                    let isPrefix = close.upperBound < bytes.count && bytes[close.upperBound] == UInt8(ascii: "*")
                    let outer = offset..<(close.upperBound + (isPrefix ? 1 : 0))
                    elements.append(
                        SearchElement(kind: .quoted, text: (offset + quote)..<close.lowerBound, outer: outer, isPrefix: isPrefix))
                    offset = outer.upperBound
                } else {
                    hasUnclosedQuote = true
                    mistakes.append(("The quotation mark has no other one after it", offset))
                    offset += quote
                }
            } else if bytes[offset] == UInt8(ascii: "(") || bytes[offset] == UInt8(ascii: ")") {
                endWord(&elements)
                let range = offset..<(offset + 1)
                elements.append(SearchElement(kind: bytes[offset] == UInt8(ascii: "(") ? .open : .close, text: range, outer: range))
                offset += 1
            } else {
                if wordStart == nil { wordStart = offset }
                offset += 1
            }
        }
        endWord(&elements)
    }

    /// Returns the number of bytes of a space or control character, 0 for other characters.
    private func spaceLength(at offset: Int) -> Int {
        let byte = bytes[offset]
        if byte <= 0x20 || byte == 0x7f { return 1 }
        guard byte >= 0xc2 else { return 0 }
        if byte == 0xc2 { return offset + 1 < bytes.count && (bytes[offset + 1] == 0xa0 || bytes[offset + 1] == 0x85) ? 2 : 0 }
        guard byte >= 0xe1, byte <= 0xe3, offset + 2 < bytes.count else { return 0 }
        switch (byte, bytes[offset + 1], bytes[offset + 2]) {
        case (0xe2, 0x80, 0x80...0x8a), (0xe2, 0x80, 0xa8...0xa9), (0xe2, 0x80, 0xaf), (0xe2, 0x81, 0x9f), (0xe3, 0x80, 0x80): return 3
        default: return 0
        }
    }

    /// Returns the number of bytes of a quotation mark, straight or curly; 0 for other characters.
    private func quoteLength(at offset: Int) -> Int {
        if bytes[offset] == UInt8(ascii: "\"") { return 1 }
        guard bytes[offset] == 0xe2, offset + 2 < bytes.count, bytes[offset + 1] == 0x80 else { return 0 }
        return (0x9c...0x9e).contains(bytes[offset + 2]) ? 3 : 0
    }

    private func closingQuote(after start: Int) -> Range<Int>? {
        var offset = start
        while offset < bytes.count {
            let length = quoteLength(at: offset)
            if length > 0 { return offset..<(offset + length) }
            offset += 1
        }
        return nil
    }

    /// Finds the partners of the parentheses, and removes those without one and those that are too deep.
    private mutating func matchParentheses() {
        var open: [Int] = []
        var isDropped = [Bool](repeating: false, count: elements.count)
        for index in elements.indices {
            switch elements[index].kind {
            case .open:
                open.append(index)
                if open.count > Self.maximumDepth {
                    mistakes.append(("More than \(Self.maximumDepth) parentheses are inside each other", elements[index].outer.lowerBound))
                    isDropped[index] = true
                }
            case .close:
                guard let partner = open.popLast() else {
                    mistakes.append(("The parenthesis closes nothing", elements[index].outer.lowerBound))
                    isDropped[index] = true
                    continue
                }
                isDropped[index] = isDropped[partner]
            case .word, .quoted: break
            }
        }
        for index in open {
            mistakes.append(("The parenthesis is not closed", elements[index].outer.lowerBound))
            isDropped[index] = true
        }
        elements = elements.indices.filter { !isDropped[$0] }.map { elements[$0] }
        open = []
        for index in elements.indices {
            if elements[index].kind == .open { open.append(index) }
            if elements[index].kind == .close, let partner = open.popLast() {
                elements[index].partner = partner
                elements[partner].partner = index
            }
        }
    }
}
