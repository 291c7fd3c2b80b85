import PolyStoreFormats
import SeededRandom

/// A random case for a reader: valid or mutated input, read in several chunkings and written again.
public struct FormatFuzzer {
    /// The names of the readers.
    public static let readers = ["json", "jsonl", "csv"]

    /// The number of inputs, records and errors of the cases.
    public struct Counts: Sendable {
        /// The number of cases.
        public var cases = 0
        /// The number of records read.
        public var records = 0
        /// The number of errors read.
        public var errors = 0
        /// Creates counts of zero.
        public init() {}
    }

    private let reader: String
    private var random: SplitMix64
    private let format: RecordFormat

    /// Creates the case of a seed. `reader` is one of ``readers``.
    public init(reader: String, seed: UInt64) {
        self.reader = reader
        random = SplitMix64(seed: seed)
        switch reader {
        case "csv": format = .csv(RandomRecords.csvOptions(&random))
        case "json":
            var format = RecordFormat.json(at: random.pick(["", "items", "data.items"]))
            if random.once(in: 4) { format.longestRecord = random.below(100) }
            self.format = format
        default:
            var format = RecordFormat.jsonLines
            if random.once(in: 4) { format.longestRecord = random.below(100) }
            self.format = format
        }
    }

    /// Runs the case. Returns a description of a failure, or nil.
    public mutating func run(_ counts: inout Counts) -> String? {
        counts.cases += 1
        var input = validInput()
        if !random.once(in: 5) { input = Mutator.mutate(input, &random) }
        let outcomes = readAll(MemoryByteSource(input), format)
        for case .record in outcomes { counts.records += 1 }
        for case .error in outcomes { counts.errors += 1 }
        let reason =
            checkPositions(outcomes, input) ?? checkChunkings(outcomes, input) ?? checkResuming(outcomes, input) ?? checkWriting(outcomes)
        return reason.map {
            "\($0)\nformat: \(format)\ninput (\(input.count) bytes): \(String(decoding: input, as: UTF8.self).debugDescription)\nbytes: \(input)"
        }
    }

    private mutating func validInput() -> [UInt8] {
        let count = random.below(6)
        let sink = MemoryByteSink()
        do {
            if reader == "csv" {
                let columns = Array(Set((0...random.below(5)).map { _ in random.pick(RandomRecords.names) })).sorted()
                let writer = try RecordWriter(to: sink, format: .csv, columns: columns)
                for _ in 0..<count {
                    var record = JSONObject()
                    for column in columns { record[column] = RandomRecords.value(&random, depth: 1) }
                    // A record that cannot be written is skipped.
                    try? writer.write(record)
                }
                try writer.finish()
            } else {
                let writer = try RecordWriter(to: sink, format: format)
                for _ in 0..<count { try writer.write(RandomRecords.object(&random, depth: 3)) }
                try writer.finish()
            }
        } catch {
            return []
        }
        return sink.bytes
    }

    /// Checks that the positions of records and errors are inside the input and ascending, and that the bytes of a JSON record parse to its fields.
    private func checkPositions(_ outcomes: [Outcome], _ input: [UInt8]) -> String? {
        var (record, end) = (0, Int64(0))
        for outcome in outcomes {
            let position: RecordPosition
            switch outcome {
            case .record(let found):
                position = found.position
                guard position.record == record + 1, position.byteOffset >= end else { return "the position \(position) is out of order" }
                record = position.record
            case .error(let error):
                guard let found = error.position else { return "the error '\(error)' has no position" }
                if let offset = error.byteOffset, offset < 0 || offset > input.count { return "the error '\(error)' is at byte \(offset)" }
                position = found
                record = max(record, position.record)
            }
            guard position.byteOffset >= 0, position.byteCount >= 0, position.byteOffset + position.byteCount <= input.count else {
                return "the position \(position), byte \(position.byteOffset) and \(position.byteCount) more, is outside of the input"
            }
            guard position.line >= 1, position.line <= input.count + 1 else { return "the line of \(position) is outside of the input" }
            let before = input[..<Int(position.byteOffset)]
            let lines = 1 + before.indices.count { before[$0] == 10 && ($0 == 0 || before[$0 - 1] != 13) || before[$0] == 13 }
            if reader != "jsonl", position.line != lines,
                !(position.line == lines - 1 && before.last == 13 && input[before.endIndex...].first == 10)
            {
                return "the line of \(position) should be \(lines)"
            }
            end = position.byteOffset + position.byteCount
            guard reader != "csv", case .record(let found) = outcome else { continue }
            let bytes = Array(input[Int(position.byteOffset)..<Int(end)])
            guard let value = try? JSONValue(parsing: bytes), value.description == found.fields.description else {
                return "the bytes of \(position) are not its fields"
            }
        }
        return nil
    }

    private mutating func checkChunkings(_ outcomes: [Outcome], _ input: [UInt8]) -> String? {
        for largest in [1, 2 + random.below(9), 10 + random.below(200)] {
            let other = readAll(RandomChunks(input, SplitMix64(seed: random.next()), largest: largest), format)
            if other != outcomes { return "chunks of up to \(largest) bytes give\n\(other)\ninstead of\n\(outcomes)" }
        }
        return nil
    }

    /// Checks that reading after the position of a record returns the records that follow it.
    private mutating func checkResuming(_ outcomes: [Outcome], _ input: [UInt8]) -> String? {
        let records = outcomes.indices.filter { if case .record = outcomes[$0] { true } else { false } }
        guard !records.isEmpty else { return nil }
        let index = random.pick(records)
        guard case .record(let record) = outcomes[index] else { return nil }
        let rest = readAll(RandomChunks(input, SplitMix64(seed: random.next()), largest: 50), format, after: record.position)
        let expected = Array(outcomes[(index + 1)...])
        return rest == expected ? nil : "after \(record.position) follow\n\(rest)\ninstead of\n\(expected)"
    }

    /// Returns the fields as they read back: with options that have no null, null reads as empty text.
    private static func readable(_ fields: JSONObject, _ format: RecordFormat) -> JSONObject {
        guard format.csvOptions?.emptyField == .text else { return fields }
        return JSONObject(fields.map { ($0.key, $0.value.isNull ? "" : $0.value) })
    }

    /// Checks that written records read back equal.
    private mutating func checkWriting(_ outcomes: [Outcome]) -> String? {
        let sink = MemoryByteSink()
        var written: [JSONObject] = []
        var format = format
        format.longestRecord = .max
        if var options = format.csvOptions {
            options.longestField = .max
            options.longestRecord = .max
            format = .csv(options)
        }
        do {
            var writer: RecordWriter?
            for case .record(let record) in outcomes {
                if writer == nil { writer = try RecordWriter(to: sink, format: format, columns: record.fields.names) }
                do {
                    try writer?.write(record.fields)
                    written.append(Self.readable(record.fields, format))
                } catch let error as RecordError where error.code == .unsupported {
                    // Text that needs quotes where the options have none, or a blank line.
                    continue
                }
            }
            try writer?.finish()
        } catch let error as RecordError where error.code == .unsupported {
            return nil
        } catch {
            return "writing failed: \(error)"
        }
        if written.isEmpty { return nil }
        let found = readAll(MemoryByteSource(sink.bytes), format)
        let fields = found.compactMap { if case .record(let record) = $0 { record.fields.description } else { nil } }
        if found.count == written.count, fields == written.map(\.description) { return nil }
        return "written: \(sink.text.debugDescription)\nreads back as \(found)\ninstead of \(written)"
    }
}
