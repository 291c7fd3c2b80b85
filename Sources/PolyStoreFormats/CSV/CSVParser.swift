/// The rows of comma-separated values.
final class CSVParser: RecordParsing {
    let input: RecordInput
    let row: CSVRowParser
    let comment: [UInt8]?
    var names = FieldNames.empty
    private let options: CSVOptions
    /// A Boolean value that indicates whether the last line ended with a CR, so that an LF at the first byte belongs to it.
    var endedWithCR = false

    init(_ input: RecordInput, _ options: CSVOptions) {
        self.input = input
        self.options = options
        row = CSVRowParser(options)
        comment = options.commentPrefix.map { Array($0.utf8) }
    }

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
            // The first valid row determines the number of columns.
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
}
