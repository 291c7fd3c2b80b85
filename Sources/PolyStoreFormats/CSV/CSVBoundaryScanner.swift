/// Finds the end of a CSV row whose bytes arrive in parts, by the same rules as ``CSVRowParser``.
struct CSVBoundaryScanner {
    private enum State {
        case fieldStart
        case unquoted
        case quoted
        /// After a quote in a quoted field, which ends the field or begins a doubled quote.
        case quote
    }

    private let delimiter: UInt8
    private let quote: UInt8
    private let hasQuote: Bool
    private let trims: Bool
    private var state = State.fieldStart
    /// The number of line breaks inside quoted fields.
    private(set) var lines = 0
    private var previousIsCR = false

    init(_ parser: CSVRowParser) {
        delimiter = parser.delimiter
        quote = parser.quote
        hasQuote = parser.hasQuote
        trims = parser.trims
    }

    /// A Boolean value that indicates whether the scanned bytes end inside quotes.
    var isQuoted: Bool { if case .quoted = state { true } else { false } }

    /// Returns the offset of the row's line break, or nil if the row continues after these bytes.
    ///
    /// - Parameter start: The offset of the first unscanned byte.
    mutating func end(_ bytes: UnsafePointer<UInt8>, from start: Int, count: Int) -> Int? {
        var index = start
        while index < count {
            let byte = bytes[index]
            if case .quoted = state {
                if byte == quote {
                    state = .quote
                } else if byte == 0x0d || (byte == 0x0a && !previousIsCR) {
                    lines &+= 1
                }
                previousIsCR = byte == 0x0d
                index &+= 1
                continue
            }
            if case .quote = state, byte == quote {
                state = .quoted
            } else if byte == 0x0a || byte == 0x0d {
                return index
            } else if byte == delimiter {
                state = .fieldStart
            } else if case .fieldStart = state {
                if hasQuote, byte == quote {
                    state = .quoted
                } else if !trims || (byte != 0x20 && byte != 0x09) {
                    state = .unquoted
                }
            } else if case .quote = state {
                state = .unquoted
            }
            previousIsCR = false
            index &+= 1
        }
        return nil
    }
}
