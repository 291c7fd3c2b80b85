/// The tokens of a condition up to the caret. It need not be complete or valid.
struct FilterTokens {
    enum Token: Equatable {
        /// A name, path or keyword, as it is written.
        case word(String)
        /// A text without its quotes.
        case text(String)
        case number
        case symbol(String)
    }

    /// The tokens before the one at the caret.
    private(set) var complete: [Token] = []
    /// The word or text that ends at the caret; nil if none does.
    private(set) var current: Token?
    /// The characters of the word or text at the caret, also behind it.
    private(set) var replaced: Range<Int>

    private let characters: [Character]
    private let caret: Int
    private var position = 0

    init(_ text: String, caret: Int) {
        characters = Array(text)
        self.caret = max(0, min(caret, characters.count))
        replaced = self.caret..<self.caret
        while position < self.caret { step() }
    }

    private mutating func step() {
        let (start, first) = (position, characters[position])
        if first.isWhitespace {
            position += 1
        } else if first == "'" || first == "\"" {
            readText(first, from: start)
        } else if Self.beginsWord(first) {
            skipWord()
            finish(.word(String(characters[start..<min(position, caret)])), start)
        } else if first.isNumber {
            while position < characters.count, characters[position].isNumber || "._eExX".contains(characters[position]) { position += 1 }
            finish(.number, start)
        } else if first == "[" {
            while position < caret, characters[position] != "]" { position += 1 }
            position += 1
        } else {
            let pair = position + 1 < caret ? String(characters[position...(position + 1)]) : ""
            let symbol = ["==", "!=", "<=", ">=", "=<", "=>", "<>", "&&", "||", "**"].contains(pair) ? pair : String(first)
            position += symbol.count
            complete.append(.symbol(symbol))
        }
    }

    /// Adds a token, which is that at the caret if it reaches it.
    private mutating func finish(_ token: Token, _ start: Int) {
        guard position >= caret else { return complete.append(token) }
        (current, replaced) = (token, start..<position)
    }

    private mutating func readText(_ quote: Character, from start: Int) {
        position += 1
        var content = ""
        while position < caret, characters[position] != quote {
            if characters[position] == "\\", position + 1 < caret { position += 1 }
            content.append(characters[position])
            position += 1
        }
        if position < caret {
            position += 1
            return complete.append(.text(content))
        }
        // The rest of an open text is replaced up to its quote.
        var end = caret
        while end < characters.count, characters[end] != quote, characters[end] != "\n" { end += 1 }
        let isClosed = end < characters.count && characters[end] == quote
        (current, replaced) = (.text(content), start..<(isClosed ? end + 1 : caret))
        position = caret
    }

    private static func beginsWord(_ character: Character) -> Bool {
        character.isLetter || "_#@$".contains(character)
    }

    /// Skips a path: names, quoted names, and dots between them.
    private mutating func skipWord() {
        while position < characters.count {
            let character = characters[position]
            if character == "#", position + 1 < characters.count, characters[position + 1] == "\"" {
                position += 2
                while position < characters.count, characters[position] != "\"" { position += characters[position] == "\\" ? 2 : 1 }
                position = min(position + 1, characters.count)
            } else if character.isLetter || character.isNumber || "_#@$.".contains(character) {
                position += 1
            } else {
                return
            }
        }
    }
}
