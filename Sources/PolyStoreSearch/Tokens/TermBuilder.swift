/// Writes the folded characters of a term, up to a number of bytes.
struct TermBuilder {
    /// Diacritical marks are removed after letters of scripts before this character: Latin, Greek and Cyrillic. So does `[d]`.
    private static let foldedScriptsEnd: UInt32 = 0x510

    private var count = 0
    /// A Boolean value that indicates whether a character did not fit, so that all others are left out too.
    var isFull = false
    /// A Boolean value that indicates whether all characters are of ASCII.
    private(set) var isASCII = true
    /// A Boolean value that indicates whether marks after the last character are removed.
    private var removesMarks = false
    /// The last character if it is a mark with a combining class, or 0.
    private var lastMark: UInt32 = 0
    private var needsComposition = false

    /// Begins a term that has a number of bytes of ASCII already.
    mutating func start(count: Int) {
        self.count = count
        isFull = false
        isASCII = true
        removesMarks = count > 0
        lastMark = 0
        needsComposition = false
    }

    /// Returns the number of bytes of the term, in normalization form C.
    mutating func finish(_ term: UnsafeMutablePointer<UInt8>) -> Int {
        needsComposition ? ScalarComposition.shared.normalize(term, count: count) : count
    }

    /// Adds a folded character of ASCII.
    @inline(__always)
    mutating func append(ascii: UInt8, _ term: UnsafeMutablePointer<UInt8>) {
        write(UInt32(ascii), term, TokenScanner.maximumTermBytes)
        removesMarks = true
        lastMark = 0
    }

    /// Adds the folded form of a letter, digit or ideograph.
    @inline(__always)
    mutating func append(_ scalar: UInt32, _ entry: ScalarEntry, _ term: UnsafeMutablePointer<UInt8>, limit: Int) {
        if entry.composes { needsComposition = true }
        lastMark = 0
        if entry.isLong { return appendSequence(entry, term, limit) }
        let fold = entry.fold == 0 ? scalar : entry.fold
        write(fold, term, limit)
        removesMarks = fold < Self.foldedScriptsEnd
    }

    private mutating func appendSequence(_ entry: ScalarEntry, _ term: UnsafeMutablePointer<UInt8>, _ limit: Int) {
        for part in ScalarTable.shared.sequence(entry) {
            write(part, term, limit)
            removesMarks = part < Self.foldedScriptsEnd
            lastMark = ScalarTable.shared[part].isCombining ? part : 0
        }
    }

    /// Adds a mark, unless folding removes it.
    mutating func append(mark scalar: UInt32, _ entry: ScalarEntry, _ term: UnsafeMutablePointer<UInt8>, limit: Int) {
        if scalar < Self.foldedScriptsEnd || removesMarks && entry.has(.mark) { return }
        if entry.composes { needsComposition = true }
        if lastMark != 0, entry.isCombining, ScalarComposition.combiningClass(lastMark) > ScalarComposition.combiningClass(scalar) {
            needsComposition = true
        }
        removesMarks = false
        if entry.isLong { return appendSequence(entry, term, limit) }
        write(entry.fold == 0 ? scalar : entry.fold, term, limit)
        lastMark = entry.isCombining ? scalar : 0
    }

    /// Adds a character of an emoji.
    mutating func append(emoji scalar: UInt32, _ term: UnsafeMutablePointer<UInt8>) { write(scalar, term, TokenScanner.maximumTermBytes) }

    @inline(__always)
    private mutating func write(_ scalar: UInt32, _ term: UnsafeMutablePointer<UInt8>, _ limit: Int) {
        if scalar >= 0x80 { isASCII = false }
        if isFull || count + UTF8Scalar.length(scalar) > limit {
            isFull = true
            return
        }
        count += UTF8Scalar.encode(scalar, term + count)
    }
}
