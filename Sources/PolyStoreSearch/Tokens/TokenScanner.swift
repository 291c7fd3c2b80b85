/// Reads the tokens of a text one after the other. The term of a token is valid until the next one is read.
///
/// docs/search-tokens.md states the rules. Words of ASCII, which are most, need a look-up for each byte; other characters are in ``ScalarTable``.
struct TokenScanner {
    enum Kind: UInt8 {
        /// A run of letters and digits.
        case word
        /// A character of a script without spaces and the one after it.
        case pair
        /// The last character of a run of a script without spaces.
        case single
        /// An emoji or a flag.
        case emoji
    }

    /// The maximum number of bytes of a term.
    static let maximumTermBytes = 128
    /// The number of bytes that a scanner needs for terms.
    static let bufferBytes = TermBuilder.bufferBytes
    /// The maximum number of bytes of the first character of a pair, with its marks.
    private static let maximumFirstBytes = 64

    /// For each character of ASCII its folded form, or 0 if it is in no word.
    private static let asciiFolds: StaticString =
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\00123456789\0\0\0\0\0\0\0abcdefghijklmnopqrstuvwxyz\0\0\0\0\0\0abcdefghijklmnopqrstuvwxyz\0\0\0\0\0"

    private let text: UnsafePointer<UInt8>
    private let count: Int
    private let folds: UnsafePointer<UInt8>
    private let stems: Bool
    let term: UnsafeMutablePointer<UInt8>
    private(set) var termCount = 0
    private(set) var start = 0
    private(set) var end = 0
    /// The end of the first character of a pair.
    private(set) var firstEnd = 0
    private(set) var kind = Kind.word
    private var offset = 0
    private var builder = TermBuilder()

    init(_ text: UnsafeBufferPointer<UInt8>, term: UnsafeMutablePointer<UInt8>, _ options: SearchOptions) {
        // A pointer to nothing is never read, because the count is 0.
        self.text = text.baseAddress ?? UnsafePointer(term)
        count = text.count
        folds = Self.asciiFolds.utf8Start
        stems = options.stemming == .english
        self.term = term
    }

    /// Reads the next token. Returns false at the end.
    @inline(__always)
    mutating func next() -> Bool {
        while offset < count {
            let byte = text[offset]
            if byte < 0x80 {
                if folds[Int(byte)] != 0 {
                    scanWord()
                    return true
                }
                offset &+= 1
            } else if scanOther() {
                return true
            }
        }
        return false
    }

    // MARK: Words

    /// Reads a word that begins with a character of ASCII.
    @inline(__always)
    private mutating func scanWord() {
        var index = offset
        let limit = min(count, offset &+ Self.maximumTermBytes)
        start = offset
        kind = .word
        while index < limit {
            let byte = text[index]
            if byte >= 0x80 { break }
            let fold = folds[Int(byte)]
            if fold == 0 { break }
            term[index &- start] = fold
            index &+= 1
        }
        if index < count, text[index] >= 0x80 || index == limit { return scanRest(index) }
        termCount = index &- start
        end = index
        offset = index
        if stems { termCount = EnglishStemmer.stem(term, termCount) }
    }

    /// Reads the rest of a word whose characters before an index are in the term.
    private mutating func scanRest(_ from: Int) {
        var index = from
        builder.start(count: index - start)
        end = index
        loop: while index < count {
            let (scalar, length) = UTF8Scalar.decode(text, index, count)
            if scalar < 0x80, folds[Int(scalar)] != 0 {
                builder.append(ascii: folds[Int(scalar)], term)
                index += 1
                end = index
                continue
            }
            let entry = ScalarTable.shared[scalar]
            switch entry.kind {
            case ScalarClass.letter.rawValue, ScalarClass.digit.rawValue:
                builder.append(scalar, entry, term)
            case ScalarClass.mark.rawValue, ScalarClass.spacingMark.rawValue:
                builder.append(mark: scalar, entry, term)
            case ScalarClass.ignorable.rawValue:
                if entry.extends, index == end { end += length }
                index += length
                continue
            default: break loop
            }
            index += length
            end = index
        }
        offset = index
        termCount = builder.end(term, limit: Self.maximumTermBytes)
        if stems, builder.isASCII, !builder.isCut { termCount = EnglishStemmer.stem(term, termCount) }
    }

    /// Reads a token that does not begin with a character of ASCII. Returns false for a character that begins none, which is skipped.
    private mutating func scanOther() -> Bool {
        let (scalar, length) = UTF8Scalar.decode(text, offset, count)
        let entry = ScalarTable.shared[scalar]
        start = offset
        switch entry.kind {
        case ScalarClass.letter.rawValue, ScalarClass.digit.rawValue:
            kind = .word
            scanRest(offset)
        case ScalarClass.ideograph.rawValue: scanPair()
        case ScalarClass.emoji.rawValue, ScalarClass.flag.rawValue: scanEmoji(isFlag: entry.has(.flag))
        default:
            offset += length
            return false
        }
        return true
    }

    // MARK: Scripts without spaces

    /// Reads a character of a script without spaces, and the next one, with which the next token begins.
    private mutating func scanPair() {
        builder.start(count: 0)
        firstEnd = scanCharacter(offset)
        termCount = builder.end(term, limit: Self.maximumFirstBytes)
        var following = firstEnd
        while following < count {
            let (scalar, length) = UTF8Scalar.decode(text, following, count)
            guard ScalarTable.shared[scalar].has(.ignorable) else { break }
            following += length
        }
        let isPair = following < count && ScalarTable.shared[UTF8Scalar.decode(text, following, count).scalar].has(.ideograph)
        kind = isPair ? .pair : .single
        end = firstEnd
        offset = firstEnd
        guard isPair else { return }
        end = scanCharacter(following)
        termCount = builder.end(term, limit: Self.maximumTermBytes)
    }

    /// Adds a character and its marks to the term. Returns the end of the last of them.
    private mutating func scanCharacter(_ from: Int) -> Int {
        let (scalar, length) = UTF8Scalar.decode(text, from, count)
        builder.append(scalar, ScalarTable.shared[scalar], term)
        var index = from + length
        var end = index
        while index < count {
            let (scalar, length) = UTF8Scalar.decode(text, index, count)
            let entry = ScalarTable.shared[scalar]
            guard entry.isMark || entry.has(.ignorable) else { break }
            if entry.isMark { builder.append(mark: scalar, entry, term) }
            if entry.isMark || entry.extends && index == end { end = index + length }
            index += length
        }
        return end
    }

    // MARK: Emoji

    /// Reads an emoji with its modifiers and those that zero width joiners add to it, or the two halves of a flag.
    private mutating func scanEmoji(isFlag: Bool) {
        let joiner: UInt32 = 0x200d
        var index = offset
        kind = .emoji
        builder.start(count: 0)
        let (first, length) = UTF8Scalar.decode(text, index, count)
        builder.append(emoji: first, term)
        index += length
        if isFlag, index < count {
            let (second, length) = UTF8Scalar.decode(text, index, count)
            if ScalarTable.shared[second].has(.flag) {
                builder.append(emoji: second, term)
                index += length
            }
        }
        while index < count {
            let (scalar, length) = UTF8Scalar.decode(text, index, count)
            let isModifier = (0x1f3fb...0x1f3ff).contains(scalar)
            let isTag = (0xe0020...0xe007f).contains(scalar)
            if scalar == joiner, let (joined, joinedLength) = joinedEmoji(index + length) {
                builder.append(emoji: joiner, term)
                builder.append(emoji: joined, term)
                index += joinedLength
            } else if isModifier || isTag {
                builder.append(emoji: scalar, term)
            } else if !ScalarTable.shared[scalar].isMark, !ScalarTable.shared[scalar].has(.ignorable) {
                break
            }
            index += length
        }
        end = index
        offset = index
        termCount = builder.end(term, limit: Self.maximumTermBytes)
    }

    /// Returns the character after a joiner and the number of its bytes if the two are a part of an emoji. The character alone need not be an emoji.
    private func joinedEmoji(_ offset: Int) -> (scalar: UInt32, length: Int)? {
        guard offset < count else { return nil }
        let (scalar, length) = UTF8Scalar.decode(text, offset, count)
        return ScalarTable.shared[scalar].canBeJoined ? (scalar, length) : nil
    }
}
