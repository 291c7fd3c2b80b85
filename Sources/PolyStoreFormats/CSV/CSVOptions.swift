/// The dialect of comma-separated values. The default is RFC 4180 with a header row.
///
///     .csv(CSVOptions(delimiter: ";", header: .names(["code", "name"]), commentPrefix: "#"))
public struct CSVOptions: Sendable, Hashable {
    /// The source of the column names.
    public enum Header: Sendable, Hashable {
        /// The first row contains the names.
        case firstRow
        /// The given names. `replacingFirstRow`: the first row contains other names and is skipped.
        case names([String], replacingFirstRow: Bool = false)
        /// Generated names `column1`, `column2`, …, one per field of the first row.
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

    /// The handling of a row with more or fewer fields than columns.
    public enum RaggedRow: Sendable, Hashable {
        /// The row is an error. Reading can continue with the next row.
        case error
        /// Missing fields are null. Additional fields are an error unless they are empty.
        case pad
    }

    /// The character between fields, in ASCII. The default is a comma.
    public var delimiter: Unicode.Scalar = ","
    /// The ASCII character around fields that contain delimiters, quotes or line breaks; `nil` for none. It is doubled inside such fields.
    ///
    /// A quote in a field that does not begin with one is a regular character. Text after the closing quote is an error.
    public var quote: Unicode.Scalar? = "\""
    /// The source of the column names.
    public var header: Header = .firstRow
    /// A Boolean value that indicates whether spaces and tabs around fields are removed, outside of quotes.
    public var trimsSpaces = false
    /// The value of an empty field.
    public var emptyField: EmptyField = .nullUnlessQuoted
    /// The prefix of comment lines, which are skipped; `nil` for no comments.
    public var commentPrefix: String?
    /// The handling of a row with more or fewer fields than columns.
    public var raggedRow: RaggedRow = .error
    /// The maximum size of a field in bytes; a longer field is an error. The default is 128 MiB.
    public var longestField = 128 << 20
    /// The maximum size of a row in bytes; a longer row is an error. The default is 256 MiB.
    public var longestRecord = 256 << 20

    /// Creates options.
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

    /// Throws ``RecordError`` if the options are inconsistent.
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
