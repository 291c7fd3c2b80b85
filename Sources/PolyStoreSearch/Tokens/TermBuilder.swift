/// Writes the folded characters of a term, and then composes and cuts it. Words that are canonically equivalent are cut at the same character.
struct TermBuilder {
    /// The number of bytes that are kept before they are composed, which needs at most three times as many bytes as the composed form has.
    ///
    /// A character at the border has room for more marks than the 30 that Unicode expects at most (https://www.unicode.org/reports/tr15/tr15-53.html,
    /// section 13).
    static let bufferBytes = 1024
    /// Diacritical marks are removed after letters of scripts before this character: Latin, Greek and Cyrillic. So does `[d]`.
    private static let foldedScriptsEnd: UInt32 = 0x510

    private var count = 0
    /// The start of the part that was not ended yet.
    private var partStart = 0
    /// A Boolean value that indicates whether a character did not fit into the buffer, so that all others are left out too.
    private var isFull = false
    /// A Boolean value that indicates whether characters were left out.
    private(set) var isCut = false
    /// A Boolean value that indicates whether all characters are of ASCII.
    private(set) var isASCII = true
    /// A Boolean value that indicates whether marks after the last character are removed.
    private var removesMarks = false
    /// The last character if it is a mark with a combining class, or 0.
    private var lastMark: UInt32 = 0
    /// The last character without a combining class, or 0.
    private var lastStarter: UInt32 = 0
    private var needsComposition = false

    /// Begins a term that has a number of bytes of ASCII already.
    mutating func start(count: Int) {
        self.count = count
        partStart = 0
        isFull = false
        isCut = false
        isASCII = true
        removesMarks = count > 0
        lastMark = 0
        lastStarter = 0
        needsComposition = false
    }

    /// Ends the term, or its first part: brings the characters since the last end into normalization form C, and leaves out those that do not fit.
    /// - Returns: The number of bytes of the term, at most `limit`.
    @inline(__always)
    mutating func end(_ term: UnsafeMutablePointer<UInt8>, limit: Int) -> Int {
        if needsComposition || count > limit { compose(term, limit) }
        partStart = count
        isFull = false
        lastMark = 0
        lastStarter = 0
        return count
    }

    private mutating func compose(_ term: UnsafeMutablePointer<UInt8>, _ limit: Int) {
        if needsComposition {
            count = partStart + ScalarComposition.shared.normalize(term + partStart, count: count - partStart, limit: limit - partStart)
            needsComposition = false
        } else {
            count = limit
            while count > partStart, term[count] & 0xc0 == 0x80 { count -= 1 }
            isCut = true
        }
    }

    /// Adds a folded character of ASCII.
    @inline(__always)
    mutating func append(ascii: UInt8, _ term: UnsafeMutablePointer<UInt8>) {
        write(UInt32(ascii), term)
        removesMarks = true
        lastMark = 0
        // An earlier starter may stay: then a word is composed that has nothing to compose.
    }

    /// Adds the folded form of a letter, digit or ideograph.
    @inline(__always)
    mutating func append(_ scalar: UInt32, _ entry: ScalarEntry, _ term: UnsafeMutablePointer<UInt8>) {
        if entry.composes { noteComposition() }
        lastMark = 0
        if entry.isLong { return appendSequence(entry, term) }
        let fold = entry.fold == 0 ? scalar : entry.fold
        write(fold, term)
        removesMarks = fold < Self.foldedScriptsEnd
        lastStarter = fold
    }

    private mutating func noteComposition() {
        if ScalarComposition.begins(lastStarter) { needsComposition = true }
    }

    private mutating func appendSequence(_ entry: ScalarEntry, _ term: UnsafeMutablePointer<UInt8>) {
        for part in ScalarTable.shared.sequence(entry) {
            let entry = ScalarTable.shared[part]
            if entry.composes { noteComposition() }
            write(part, term)
            removesMarks = part < Self.foldedScriptsEnd
            lastMark = entry.isCombining ? part : 0
            if !entry.isCombining { lastStarter = part }
        }
    }

    /// Adds a mark, unless folding removes it.
    mutating func append(mark scalar: UInt32, _ entry: ScalarEntry, _ term: UnsafeMutablePointer<UInt8>) {
        if scalar < Self.foldedScriptsEnd || removesMarks && entry.has(.mark) { return }
        if entry.composes { noteComposition() }
        if lastMark != 0, entry.isCombining, ScalarComposition.combiningClass(lastMark) > ScalarComposition.combiningClass(scalar) {
            needsComposition = true
        }
        removesMarks = false
        if entry.isLong { return appendSequence(entry, term) }
        let fold = entry.fold == 0 ? scalar : entry.fold
        write(fold, term)
        lastMark = entry.isCombining ? scalar : 0
        if !entry.isCombining { lastStarter = fold }
    }

    /// Adds a character of an emoji.
    mutating func append(emoji scalar: UInt32, _ term: UnsafeMutablePointer<UInt8>) { write(scalar, term) }

    @inline(__always)
    private mutating func write(_ scalar: UInt32, _ term: UnsafeMutablePointer<UInt8>) {
        if scalar >= 0x80 { isASCII = false }
        if isFull || count + UTF8Scalar.length(scalar) > Self.bufferBytes {
            isFull = true
            isCut = true
            return
        }
        count += UTF8Scalar.encode(scalar, term + count)
    }
}
