extension CSVParser {
    /// A row in the buffer.
    struct Row {
        var end: Int
        /// The offset after the row's line break.
        var next: Int
    }

    /// Parses the next row that is neither blank nor a comment; returns nil at the end.
    func readRow() throws -> Row? {
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
            // Scans for the end first, so that the row is parsed only once more.
            while true {
                if scanner?.end(input.buffer.bytes, from: scanned, count: input.buffer.available) != nil { break }
                scanned = input.buffer.available
                if scanned > input.longestRecord { try tooLong() }
                if try !input.buffer.fill() { break }
            }
        }
    }

    /// Moves to the first byte of a row. Returns false at the end.
    func beginRow() throws -> Bool {
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

    /// Consumes bytes up to a line break.
    private func skipLine() throws {
        while true {
            let bytes = input.buffer.buffer
            if let end = bytes.firstIndex(where: { $0 == 0x0a || $0 == 0x0d }) { return input.buffer.consume(end) }
            input.buffer.consume(bytes.count)
            if try !input.buffer.fill() { return }
        }
    }

    func consume(_ row: Row) {
        let bytes = input.buffer.bytes
        var lines = 0
        var previousIsCR = false
        // Counts line breaks inside quotes. Most rows have none, and both searches are fast.
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

    /// Consumes a row without keeping it in memory and returns its length.
    func discardRow() throws -> (Int, CSVBoundaryScanner) {
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

    func unterminated() -> RecordError {
        RecordError(
            .syntax, "a quote that begins a field has no end", position: input.position, byteOffset: input.position?.byteOffset,
            isRecoverable: false)
    }

    func error(_ failure: CSVRowParser.Failure) -> RecordError {
        var error = input.error(failure.code, failure.reason, at: failure.offset, isRecoverable: failure.isRecoverable)
        if failure.field >= 0 {
            error.column = failure.field + 1
            error.field = names.list.indices.contains(failure.field) ? names.list[failure.field] : nil
        }
        return error
    }
}
