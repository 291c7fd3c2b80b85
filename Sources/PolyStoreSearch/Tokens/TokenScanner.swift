/// Reads the tokens of a text one after the other. The term of a token is valid until the next one is read.
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
    /// The number of bytes that a scanner needs for terms: the maximum, and what one character can add to it.
    static let bufferBytes = maximumTermBytes + 32

    let text: UnsafePointer<UInt8>
    let count: Int
    let term: UnsafeMutablePointer<UInt8>
    private(set) var termCount = 0
    private(set) var start = 0
    private(set) var end = 0
    /// The end of the first character of a pair.
    private(set) var firstEnd = 0
    private(set) var kind = Kind.word
    private var offset = 0

    init(_ text: UnsafeBufferPointer<UInt8>, term: UnsafeMutablePointer<UInt8>, _ options: SearchOptions) {
        // A pointer to nothing is never read, because the count is 0.
        self.text = text.baseAddress ?? UnsafePointer(term)
        count = text.count
        self.term = term
    }

    /// Reads the next token. Returns false at the end.
    mutating func next() -> Bool {
        while offset < count {
            guard Self.isWord(text[offset]) else {
                offset += 1
                continue
            }
            start = offset
            termCount = 0
            while offset < count, Self.isWord(text[offset]) {
                let byte = text[offset]
                if termCount < Self.maximumTermBytes {
                    term[termCount] = (65...90).contains(byte) ? byte + 32 : byte
                    termCount += 1
                }
                offset += 1
            }
            end = offset
            firstEnd = end
            return true
        }
        return false
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte >= 128 || (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }
}
