import PolyStoreFormats

/// Rows as JSON, JSON Lines or CSV.
final class RecordOutput: RowOutput {
    private let writer: RecordWriter
    private let columns: [String]

    init(_ columns: [String], _ format: OutputOptions.Format) throws {
        self.columns = columns
        let format: RecordFormat =
            switch format {
            case .json: .json
            case .jsonl: .jsonLines
            case .csv, .table: .csv
            }
        writer = try RecordWriter(to: StandardOutput.shared, format: format, columns: columns)
    }

    func write(_ row: [Cell]) throws { try writer.write(JSONObject(zip(columns, row.lazy.map(\.json)))) }
    func finish() throws { try writer.finish() }
}
