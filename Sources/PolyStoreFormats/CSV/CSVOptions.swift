/// The dialect of comma-separated values. The default is RFC 4180 with a header row.
///
///     .csv(CSVOptions(delimiter: ";", header: .names(["code", "name"]), commentPrefix: "#"))
public struct CSVOptions: Sendable, Hashable {
    /// Where the names of the columns come from.
    public enum Header: Sendable, Hashable {
        /// The first row has the names.
        case firstRow
        /// The names are given. `replacingFirstRow`: the first row has other names and is skipped.
        case names([String], replacingFirstRow: Bool = false)
        /// There are no names: the columns are `column1`, `column2`, …, as many as the first row has.
        case none
    }

    /// The value of an empty field.
    public enum EmptyField: Sendable, Hashable {
        /// Null for `a,,b` and empty text for `a,"",b`. Writers distinguish null and empty text this way.
        case nullUnlessQuoted
        /// Null.
        case null
        /// Empty text.
        case text
    }

    /// What happens to a row that has more or fewer fields than there are columns.
    public enum RaggedRow: Sendable, Hashable {
        /// The row is an error; reading can continue with the next row.
        case error
        /// Missing fields are null. Additional fields are an error unless they are empty.
        case pad
    }

    /// The character between fields, in ASCII. The default is a comma.
    public var delimiter: Unicode.Scalar = ","
    /// The character around fields that have delimiters, quotes or line ends in them, in ASCII; nil if there is none. It is doubled inside.
    ///
    /// A quote in a field that does not begin with one is an ordinary character. Text after the closing quote is an error.
    public var quote: Unicode.Scalar? = "\""
    /// Where the names of the columns come from.
    public var header: Header = .firstRow
    /// A Boolean value that indicates whether spaces and tabs around fields are removed, outside of quotes.
    public var trimsSpaces = false
    /// The value of an empty field.
    public var emptyField: EmptyField = .nullUnlessQuoted
    /// Lines that begin with this text are skipped. By default there are no comments.
    public var commentPrefix: String?
    /// What happens to a row that has more or fewer fields than there are columns.
    public var raggedRow: RaggedRow = .error
    /// The number of bytes that a field may have; a longer one is an error. The default is 128 MiB.
    public var longestField = 128 << 20
    /// The number of bytes that a row may have; a longer one is an error. The default is 256 MiB.
    public var longestRecord = 256 << 20

    public init(
        delimiter: Unicode.Scalar = ",", quote: Unicode.Scalar? = "\"", header: Header = .firstRow, trimsSpaces: Bool = false,
        emptyField: EmptyField = .nullUnlessQuoted, commentPrefix: String? = nil, raggedRow: RaggedRow = .error
    ) {
        self.delimiter = delimiter
        self.quote = quote
        self.header = header
        self.trimsSpaces = trimsSpaces
        self.emptyField = emptyField
        self.commentPrefix = commentPrefix
        self.raggedRow = raggedRow
    }

    /// Throws ``RecordError`` if the options contradict each other.
    func check() throws {
        let reason: String
        if !delimiter.isASCII || quote.map({ !$0.isASCII }) ?? false {
            reason = "the delimiter and the quote of CSV must be ASCII characters"
        } else if delimiter == quote || ["\n", "\r"].contains(delimiter) || quote.map({ ["\n", "\r"].contains($0) }) ?? false {
            reason = "the delimiter and the quote of CSV must be different characters and no line ends"
        } else if trimsSpaces, delimiter == " " || delimiter == "\t" || quote == " " || quote == "\t" {
            reason = "trimsSpaces removes spaces and tabs, so that neither can be the delimiter or the quote of CSV"
        } else if commentPrefix?.isEmpty ?? false {
            reason = "the comment prefix of CSV must not be empty; pass nil for none"
        } else if case .names(let names, _) = header, names.isEmpty || Set(names).count < names.count {
            reason = "the column names of CSV must be different, and at least one"
        } else {
            return
        }
        throw RecordError(.unsupported, reason, isRecoverable: false)
    }
}
