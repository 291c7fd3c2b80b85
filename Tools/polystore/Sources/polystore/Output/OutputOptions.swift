import ArgumentParser

/// The options of every command that prints rows.
struct OutputOptions: ParsableArguments {
    /// A form of rows.
    enum Format: String, ExpressibleByArgument, CaseIterable, Sendable {
        case table, json, jsonl, csv
    }

    @Option(
        help: ArgumentHelp(
            "The form of the output.",
            discussion:
                "table is for reading. json, jsonl and csv contain every value exactly: dates in ISO 8601, data in base64, ids as numbers.")
    )
    var format = Format.table

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The width of tables in columns; 0 for no limit.",
            discussion: "The default is the terminal's width, and no limit in a pipe or file."))
    var width: Int?

    func validate() throws {
        if let width, width < 0 { throw ValidationError("--width is a number of columns, or 0 for no limit.") }
    }

    /// Begins an output of rows.
    /// - Throws: `usage` for two columns of one name.
    func rows(_ columns: [String]) throws -> any RowOutput {
        var seen: Set<String> = []
        if let twice = columns.first(where: { !seen.insert($0).inserted }) {
            throw ToolError(.usage, "The column \"\(twice)\" is there twice; name it once.")
        }
        guard format != .table else { return TableOutput(columns, width: width ?? StandardStreams.outputWidth ?? 0) }
        return try RecordOutput(columns, format)
    }
}

extension OutputOptions {
    /// Checks, before anything is written, that the form has a row.
    /// - Throws: `usage` for a null in the only column of CSV, which would be a blank line that readers skip.
    func check(_ row: [Cell], _ columns: [String]) throws {
        guard format == .csv, row.count == 1, row[0].isNull else { return }
        throw ToolError(.usage, Self.nullInSingleColumn(columns[0]))
    }

    /// Returns the message about a null in the only column of CSV.
    static func nullInSingleColumn(_ column: String) -> String {
        "CSV cannot contain a null in its only column, \"\(column)\": its line would be blank, and readers skip it. Choose --format jsonl, or add a column."
    }
}

/// A destination for rows.
protocol RowOutput: AnyObject {
    /// Writes a row, with a cell for each column.
    func write(_ row: [Cell]) throws
    /// Writes what is left, and the end of the output.
    func finish() throws
}
