/// Encodes rows of comma-separated values. Arrays and objects in a field are written as JSON text.
final class CSVEncoder: RecordEncoding {
    private let options: CSVOptions
    private let columns: [String]
    private let names: Set<String>
    private let delimiter: UInt8
    private let quote: UInt8?
    private let comment: [UInt8]?

    init(_ options: CSVOptions, columns: [String]) throws {
        try options.check()
        var columns = columns
        if columns.isEmpty, case .names(let given, _) = options.header { columns = given }
        guard !columns.isEmpty else {
            throw RecordError(
                .unsupported, "CSV needs the names of its columns before the first record: pass columns.", isRecoverable: false)
        }
        self.options = options
        self.columns = columns
        names = Set(columns)
        guard names.count == columns.count else {
            throw RecordError(.duplicateField, "The columns of CSV must have different names.", isRecoverable: false)
        }
        delimiter = UInt8(options.delimiter.value)
        quote = options.quote.map { UInt8($0.value) }
        comment = options.commentPrefix.map { Array($0.utf8) }
        // Detects an invalid header before anything is written.
        var header: [UInt8] = []
        if case .firstRow = options.header { try appendHeader(&header) }
    }

    func begin(_ bytes: inout [UInt8]) {
        switch options.header {
        // The header was validated when the encoder was created.
        case .firstRow, .names(_, replacingFirstRow: true): try? appendHeader(&bytes)
        case .names, .none: break
        }
    }

    func end(isEmpty: Bool, _ bytes: inout [UInt8]) {}

    private func appendHeader(_ bytes: inout [UInt8]) throws { try appendRow(columns.map { .string($0) }, &bytes) }

    func append(_ record: JSONObject, isFirst: Bool, _ bytes: inout [UInt8]) throws {
        if let extra = record.names.first(where: { !names.contains($0) }) {
            throw RecordError(.fieldCount, "the record has a field that is not a column", field: extra)
        }
        try appendRow(columns.map { record[$0] ?? .null }, &bytes)
    }

    private func appendRow(_ values: [JSONValue], _ bytes: inout [UInt8]) throws {
        let start = bytes.count
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(delimiter) }
            do {
                try append(value, isFirst: index == 0, &bytes)
            } catch let error as RecordError {
                throw error.inField(columns[index])
            }
        }
        // A row with one empty field would be a blank line, which readers skip.
        if bytes.count == start {
            guard let quote, options.emptyField != .nullUnlessQuoted else {
                throw RecordError(.unsupported, "null in a single column is a blank line, which CSV readers skip", field: columns.first)
            }
            bytes.append(contentsOf: [quote, quote])
        }
        bytes.append(contentsOf: [0x0d, 0x0a])
    }

    private func append(_ value: JSONValue, isFirst: Bool, _ bytes: inout [UInt8]) throws {
        switch value {
        case .null: break
        case .bool(let value): try append(value ? "true" : "false", isFirst: isFirst, &bytes)
        case .number(let number): try append(number.text, isFirst: isFirst, &bytes)
        case .string(let text): try append(text, isFirst: isFirst, &bytes)
        case .array, .object: try append(value.description, isFirst: isFirst, &bytes)
        }
    }

    private func append(_ text: String, isFirst: Bool, _ bytes: inout [UInt8]) throws {
        guard needsQuotes(text, isFirst: isFirst) else { return bytes.append(contentsOf: text.utf8) }
        guard let quote else {
            throw RecordError(.unsupported, "the text \"\(JSONValue.shortened(text))\" needs quotes, and the options have none")
        }
        bytes.append(quote)
        for byte in text.utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
    }

    private func needsQuotes(_ text: String, isFirst: Bool) -> Bool {
        let utf8 = text.utf8
        // Distinguishes empty text from null.
        guard let first = utf8.first, let last = utf8.last else { return options.emptyField == .nullUnlessQuoted }
        if [0x20, 0x09].contains(first) || [0x20, 0x09].contains(last) { return quote != nil || options.trimsSpaces }
        if isFirst, let comment, utf8.starts(with: comment) { return true }
        // Quotes a first field that begins with a byte order mark, which readers would skip.
        if isFirst, utf8.starts(with: [0xef, 0xbb, 0xbf]) { return true }
        return utf8.contains { $0 == delimiter || $0 == 0x0a || $0 == 0x0d || $0 == quote }
    }
}
