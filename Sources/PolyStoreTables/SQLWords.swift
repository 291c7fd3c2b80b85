/// The words of a statement that creates something.
struct SQLWords {
    private enum Word: Equatable {
        case name(String)
        case symbol(Unicode.Scalar)
        case text(String)
    }

    private let words: [(word: Word, range: Range<Int>)]
    private let characters: [Unicode.Scalar]

    init(_ sql: String) {
        let characters = Array(sql.unicodeScalars)
        var words: [(Word, Range<Int>)] = []
        var at = 0
        func end(of quote: Unicode.Scalar, from start: Int) -> Int {
            var at = start + 1
            while at < characters.count {
                if characters[at] == quote {
                    guard at + 1 < characters.count, characters[at + 1] == quote, quote != "]" else { return at + 1 }
                    at += 1
                }
                at += 1
            }
            return characters.count
        }
        while at < characters.count {
            let (start, character) = (at, characters[at])
            switch character {
            case "'", "\"", "`", "[":
                at = end(of: character == "[" ? "]" : character, from: at)
                let plain = Self.unquoted(characters[min(start + 1, at)..<max(start + 1, at - 1)], character)
                words.append((character == "'" ? .text(plain) : .name(plain), start..<at))
            case "-" where at + 1 < characters.count && characters[at + 1] == "-":
                while at < characters.count, characters[at] != "\n" { at += 1 }
            case "/" where at + 1 < characters.count && characters[at + 1] == "*":
                at += 2
                while at < characters.count, !(characters[at] == "*" && at + 1 < characters.count && characters[at + 1] == "/") { at += 1 }
                at = min(at + 2, characters.count)
            case _ where Self.isPartOfName(character) && !("0"..."9").contains(character):
                while at < characters.count, Self.isPartOfName(characters[at]) { at += 1 }
                words.append((.name(Self.text(characters[start..<at])), start..<at))
            default:
                at += 1
                if !character.properties.isWhitespace { words.append((.symbol(character), start..<at)) }
            }
        }
        self.words = words
        self.characters = characters
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    private static func unquoted(_ scalars: ArraySlice<Unicode.Scalar>, _ quote: Unicode.Scalar) -> String {
        guard quote != "[" else { return text(scalars) }
        var view = String.UnicodeScalarView()
        var isSecond = false
        for scalar in scalars {
            isSecond = scalar == quote && !isSecond
            if !isSecond { view.append(scalar) }
        }
        return String(view)
    }

    /// Every character that is not in ASCII can be part of a name.
    private static func isPartOfName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
        default: !scalar.isASCII
        }
    }

    /// The names and keywords.
    var names: [String] { words.compactMap { if case .name(let name) = $0.word { name } else { nil } } }

    private func isKeyword(_ index: Int, _ keyword: String) -> Bool {
        guard words.indices.contains(index), case .name(let name) = words[index].word, name.uppercased() == keyword else { return false }
        return words[index].range.count == keyword.count
    }

    /// The expressions of CHECK constraints.
    var checks: [String] {
        words.indices.compactMap { index in
            guard isKeyword(index, "CHECK"), index + 1 < words.count, words[index + 1].word == .symbol("(") else { return nil }
            var depth = 0
            for end in (index + 1)..<words.count {
                if words[end].word == .symbol("(") { depth += 1 }
                if words[end].word == .symbol(")") { depth -= 1 }
                if depth == 0 { return Self.text(characters[words[index + 1].range.upperBound..<words[end].range.lowerBound]) }
            }
            return nil
        }
    }

    /// The collating sequences that columns declare.
    var collations: [(column: String, collation: String)] {
        var found: [(String, String)] = []
        var (depth, column): (Int, String?) = (0, nil)
        for (index, part) in words.enumerated() {
            switch part.word {
            case .symbol("("):
                depth += 1
                if depth == 1 { column = nil }
            case .symbol(")"): depth -= 1
            case .symbol(",") where depth == 1: column = nil
            case .name(let name) where depth == 1:
                if column == nil { column = name }
                if isKeyword(index, "COLLATE"), let column, index + 1 < words.count, case .name(let collation) = words[index + 1].word {
                    found.append((column, collation))
                }
            default: break
            }
        }
        return found
    }
}
