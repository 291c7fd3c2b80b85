/// The encoding of records as bytes.
public struct RecordFormat: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case json(path: [String])
        case jsonLines
        case csv(CSVOptions)
    }

    let kind: Kind
    /// The maximum size of a record in bytes; a longer record is an error. The default is 256 MiB.
    public var longestRecord = 256 << 20

    /// A JSON document that is an array of objects.
    public static let json = RecordFormat(kind: .json(path: []))

    /// A JSON document with an array of objects at a path of field names, such as `data.items`. An empty path is the document itself.
    public static func json(at path: String) -> RecordFormat {
        json(path: path.isEmpty ? [] : path.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }

    /// A JSON document with an array of objects at a path of field names, which may contain periods.
    public static func json(path: [String]) -> RecordFormat { RecordFormat(kind: .json(path: path)) }

    /// One JSON object per line. Lines end with LF or CR LF; blank lines are skipped.
    public static let jsonLines = RecordFormat(kind: .jsonLines)

    /// Comma-separated values, RFC 4180, with a header row.
    public static let csv = RecordFormat.csv(CSVOptions())

    /// Values separated by commas or another delimiter.
    public static func csv(_ options: CSVOptions) -> RecordFormat {
        var format = RecordFormat(kind: .csv(options))
        format.longestRecord = options.longestRecord
        return format
    }

    /// Tab-separated values, quoted like CSV.
    public static let tsv = RecordFormat.csv(CSVOptions(delimiter: "\t"))

    /// Creates the format for the extension of a file name: `json`, `jsonl`, `ndjson`, `csv`, `tsv` or `tab`, optionally followed by `.gz`;
    /// nil for any other extension.
    public init?(fileName: String) {
        var parts = fileName.lowercased().split(separator: ".")
        if parts.last == "gz" { parts.removeLast() }
        guard parts.count > 1, let suffix = parts.last else { return nil }
        switch suffix {
        case "json": self = .json
        case "jsonl", "ndjson": self = .jsonLines
        case "csv": self = .csv
        case "tsv", "tab": self = .tsv
        default: return nil
        }
    }

    /// The CSV options; nil for another format.
    public var csvOptions: CSVOptions? { if case .csv(let options) = kind { options } else { nil } }

    private init(kind: Kind) { self.kind = kind }
}
