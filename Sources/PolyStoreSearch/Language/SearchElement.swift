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

/// Divides a query into elements, and reports quotation marks and parentheses without a partner.
///
/// One that is not closed ends with the query, so a query has its meaning already while it is typed. A parenthesis that closes nothing is left out.
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
        func endWord(_ elements: inout [SearchElement]) {
            guard let start = wordStart else { return }
            elements.append(SearchElement(kind: .word, text: start..<offset, outer: start..<offset))
            wordStart = nil
        }
        while offset < bytes.count {
            let space = UTF8Scalar.spaceLength(bytes, at: offset)
            let quote = space > 0 ? 0 : quoteLength(at: offset)
            if space > 0 {
                endWord(&elements)
                offset += space
            } else if quote > 0 {
                endWord(&elements)
                let partner = closingQuote(after: offset + quote)
                if partner == nil { mistakes.append(("The quotation mark has no other one after it", offset)) }
                let close = partner ?? bytes.count..<bytes.count
                let isPrefix = close.upperBound < bytes.count && bytes[close.upperBound] == UInt8(ascii: "*")
                let outer = offset..<(close.upperBound + (isPrefix ? 1 : 0))
                elements.append(SearchElement(kind: .quoted, text: (offset + quote)..<close.lowerBound, outer: outer, isPrefix: isPrefix))
                offset = outer.upperBound
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

    /// Finds the partners of the parentheses, closes those that are open at the end, and removes those that close nothing or are too deep.
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
        for index in open.reversed() {
            mistakes.append(("The parenthesis is not closed", elements[index].outer.lowerBound))
            elements.append(SearchElement(kind: .close, text: bytes.count..<bytes.count, outer: bytes.count..<bytes.count))
            isDropped.append(isDropped[index])
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
