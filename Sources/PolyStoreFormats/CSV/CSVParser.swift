/// The rows of comma-separated values.
final class CSVParser: RecordParsing {
    private let input: RecordInput
    private let options: CSVOptions
    private let row: CSVRowParser
    private let comment: [UInt8]?
    private var names = FieldNames.empty
    /// The last line ended with a CR: an LF at the first byte belongs to it.
    private var endedWithCR = false

    init(_ input: RecordInput, _ options: CSVOptions) {
        self.input = input
        self.options = options
        row = CSVRowParser(options)
        comment = options.commentPrefix.map { Array($0.utf8) }
    }

    // MARK: Header

    func prepare() throws {
        switch options.header {
        case .names(let given, let replacingFirstRow):
            names = FieldNames(given)
            if replacingFirstRow, let next = try readRow() {
                input.begin(count: next.end)
                consume(next)
            }
            input.position = nil
        case .firstRow:
            try readHeader()
            input.position = nil
        case .none: break
        }
    }

    private func readHeader() throws {
        guard let next = try readRow() else { return }
        input.begin(count: next.end)
        if var failure = row.failure {
            failure.isRecoverable = false
            throw error(failure)
        }
        var list: [String] = []
        for (index, value) in row.values.pop(from: 0).enumerated() {
            let name = value.string ?? ""
            if list.contains(name) {
                let reason = "the header has the name '\(JSONValue.shortened(name))' twice; pass the names of the columns"
                throw error(.init(code: .duplicateField, reason: reason, offset: 0, field: index, isRecoverable: false))
            }
            list.append(name)
        }
        names = FieldNames(list)
        consume(next)
    }

    // MARK: Records

    func next() throws -> JSONObject? {
        guard let next = try readRow() else { return nil }
        input.record += 1
        input.begin(count: next.end)
        defer { consume(next) }
        if let failure = row.failure { throw error(failure) }
        if names.list.isEmpty, case .none = options.header {
            names = FieldNames((1...row.values.count).map { "column\($0)" })
        }
        let count = names.list.count
        if row.values.count != count {
            guard options.raggedRow == .pad, row.values.count < count || row.values.truncateNulls(to: count) else {
                throw error(
                    .init(
                        code: .fieldCount, reason: "the row has \(row.values.count) fields, and there are \(count) columns", offset: 0,
                        field: -1))
            }
            while row.values.count < count { row.values.push(.null) }
        }
        return JSONObject(names: names, values: row.values.pop(from: 0))
    }

    func skip() throws -> Bool {
        if case .none = options.header, names.list.isEmpty {
            // The first row that is no error tells the number of columns.
            do {
                return try next() != nil
            } catch let error as RecordError where error.isRecoverable {
                return true
            }
        }
        guard try beginRow() else { return false }
        input.record += 1
        input.begin(count: 0)
        let line = input.line
        let (count, scanner) = try discardRow()
        input.position?.byteCount = Int64(count)
        input.position?.line = line
        if scanner.isQuoted { throw unterminated() }
        return true
    }

    func restart(at offset: Int64) throws -> Bool {
        if case .none = options.header {
            while names.list.isEmpty, try beginRow(), input.buffer.offset < offset { _ = try skip() }
        }
        endedWithCR = false
        return try input.buffer.skip(to: offset)
    }

    // MARK: Rows

    /// A row in the buffer.
    private struct Row {
        var end: Int
        /// The offset after the line end.
        var next: Int
    }

    /// Parses the next row that is neither blank nor a comment; nil at the end.
    private func readRow() throws -> Row? {
        guard try beginRow() else { return nil }
        var scanner: CSVBoundaryScanner?
        var scanned = 0
        while true {
            let isAtEnd = input.buffer.isAtEnd
            if case .row(let end, let next) = row.parse(input.buffer.bytes, count: input.buffer.available, isComplete: isAtEnd) {
                if end > input.longestRecord { try tooLong() }
                return Row(end: end, next: next)
            }
            if scanner == nil { scanner = CSVBoundaryScanner(row) }
            // Scan for the end, so that the row is parsed only once more.
            while true {
                if scanner?.end(input.buffer.bytes, from: scanned, count: input.buffer.available) != nil { break }
                scanned = input.buffer.available
                if scanned > input.longestRecord { try tooLong() }
                if try !input.buffer.fill() { break }
            }
        }
    }

    /// Moves to the first byte of a row. Returns false at the end.
    private func beginRow() throws -> Bool {
        while true {
            if input.buffer.available == 0, try !input.buffer.fill() { return false }
            let byte = input.buffer.bytes[0]
            if byte == 0x0a || byte == 0x0d {
                if !(byte == 0x0a && endedWithCR) { input.line += 1 }
                endedWithCR = byte == 0x0d
                input.buffer.consume(1)
                continue
            }
            endedWithCR = false
            guard let comment else { return true }
            try input.buffer.require(comment.count)
            guard input.buffer.buffer.starts(with: comment) else { return true }
            try skipLine()
        }
    }

    /// Consumes bytes up to a line end.
    private func skipLine() throws {
        while true {
            let bytes = input.buffer.buffer
            if let end = bytes.firstIndex(where: { $0 == 0x0a || $0 == 0x0d }) { return input.buffer.consume(end) }
            input.buffer.consume(bytes.count)
            if try !input.buffer.fill() { return }
        }
    }

    private func consume(_ row: Row) {
        let bytes = input.buffer.bytes
        var lines = 0
        var previousIsCR = false
        // Line ends inside of quotes; most rows have none, and both searches are fast.
        if ByteScan.first(0x0a, bytes, 0, row.end) < row.end || ByteScan.first(0x0d, bytes, 0, row.end) < row.end {
            for index in 0..<row.end {
                if bytes[index] == 0x0d || (bytes[index] == 0x0a && !previousIsCR) { lines += 1 }
                previousIsCR = bytes[index] == 0x0d
            }
        }
        input.line += lines
        if row.next > row.end {
            input.line += 1
            endedWithCR = bytes[row.end] == 0x0d
        }
        input.buffer.consume(row.next)
    }

    /// Consumes a row without keeping it in memory, and returns its length.
    private func discardRow() throws -> (Int, CSVBoundaryScanner) {
        var scanner = CSVBoundaryScanner(row)
        var count = 0
        while true {
            let available = input.buffer.available
            if let end = scanner.end(input.buffer.bytes, from: 0, count: available) {
                input.line += scanner.lines + 1
                endedWithCR = input.buffer.bytes[end] == 0x0d
                input.buffer.consume(end + 1)
                return (count + end, scanner)
            }
            input.buffer.consume(available)
            count += available
            if try !input.buffer.fill() {
                input.line += scanner.lines
                return (count, scanner)
            }
        }
    }

    // MARK: Errors

    /// Consumes a row that exceeds the limit and throws its error.
    private func tooLong() throws -> Never {
        input.record += 1
        input.begin(count: 0)
        let (count, scanner) = try discardRow()
        input.position?.byteCount = Int64(count)
        if scanner.isQuoted { throw unterminated() }
        throw RecordError(
            .limit, "the row has \(count) bytes, and the limit of a record is \(input.longestRecord)", position: input.position,
            byteOffset: input.position?.byteOffset)
    }

    private func unterminated() -> RecordError {
        RecordError(
            .syntax, "a quote that begins a field has no end", position: input.position, byteOffset: input.position?.byteOffset,
            isRecoverable: false)
    }

    private func error(_ failure: CSVRowParser.Failure) -> RecordError {
        var error = input.error(failure.code, failure.reason, at: failure.offset, isRecoverable: failure.isRecoverable)
        if failure.field >= 0 {
            error.column = failure.field + 1
            error.field = names.list.indices.contains(failure.field) ? names.list[failure.field] : nil
        }
        return error
    }
}
