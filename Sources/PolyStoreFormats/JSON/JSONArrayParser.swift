/// A parser for the objects of an array that is the document or a part of it.
final class JSONArrayParser: RecordParsing {
    private enum State {
        case first
        case next
        case afterValue
        case done
    }

    private let input: RecordInput
    private let parser = JSONParser()
    private var envelope: JSONEnvelope
    private var state = State.first

    init(_ input: RecordInput, path: [String]) {
        self.input = input
        envelope = JSONEnvelope(path: path)
    }

    /// Reads the document up to the first element of the array.
    func prepare() throws { try runEnvelope() }

    func restart(at offset: Int64) throws -> Bool {
        guard state == .first else { return false }
        state = .next
        return try input.buffer.skip(to: offset)
    }

    /// Advances to the next element. Returns false after the last one, when the whole document has been read.
    private func begin() throws -> Bool {
        while state != .done {
            guard let byte = try nextByte() else {
                input.position = nil
                throw input.error(
                    .syntax, "the array is cut off: expected \(state == .afterValue ? "',' or ']'" : "a value")", at: 0,
                    isRecoverable: false)
            }
            switch (byte, state) {
            case (UInt8(ascii: ","), .afterValue):
                input.consume(1)
                state = .next
            case (UInt8(ascii: "]"), .afterValue), (UInt8(ascii: "]"), .first):
                input.consume(1)
                state = .done
                envelope.leaveArray()
                try runEnvelope()
            case (_, .afterValue):
                input.position = nil
                throw input.error(.syntax, "expected ',' or ']', found \(JSONCursor.name(of: byte))", at: 0, isRecoverable: false)
            default:
                input.record += 1
                return true
            }
        }
        return false
    }

    /// Consumes whitespace and returns the byte after it; nil at the end of the source.
    private func nextByte() throws -> UInt8? {
        while true {
            let (bytes, count) = (input.buffer.bytes, input.buffer.available)
            var index = 0
            while index < count {
                let byte = bytes[index]
                if byte > 0x20 || !(byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09) { break }
                index &+= 1
            }
            if index > 0 { input.consume(index) }
            if index < count { return input.buffer.bytes[0] }
            if try !input.buffer.fill() { return nil }
        }
    }

    private func runEnvelope() throws {
        input.position = nil
        while true {
            let (consumed, event) = envelope.run(input.buffer.buffer)
            if case .failure(let reason) = event {
                input.consume(consumed)
                throw input.error(.syntax, reason, at: 0, isRecoverable: false)
            }
            input.consume(consumed)
            if case .array = event { return }
            if try !input.buffer.fill() {
                guard let reason = envelope.end() else { return }
                throw input.error(.syntax, reason, at: 0, isRecoverable: false)
            }
        }
    }

    func skip() throws -> Bool {
        guard try begin() else { return false }
        input.begin(count: 0)
        var scanner = JSONBoundaryScanner()
        var count = 0
        while true {
            let available = input.buffer.available
            if let end = scanner.end(input.buffer.bytes, from: 0, count: available) {
                input.consume(end)
                input.position?.byteCount = Int64(count + end)
                state = .afterValue
                if count + end > 0 { return true }
                throw input.error(
                    .syntax, "expected a value, found \(JSONCursor.name(of: input.buffer.bytes[0]))", at: 0, isRecoverable: false)
            }
            input.consume(available)
            count += available
            guard try input.buffer.fill() else {
                throw input.error(.syntax, "the value is cut off", at: 0, isRecoverable: false)
            }
        }
    }

    func next() throws -> JSONObject? {
        guard try begin() else { return nil }
        var scanner = JSONBoundaryScanner()
        var scanned = 0
        while true {
            switch parser.parse(input.buffer.buffer, from: 0, isComplete: input.buffer.isAtEnd) {
            case .value(let value, let end):
                try checkLength(end)
                guard case .object(let object) = value else {
                    throw finish(end, .wrongType, "a record must be an object, found \(value.shortDescription)", at: 0)
                }
                input.begin(count: end)
                input.consume(end)
                state = .afterValue
                return object
            case .failure(let failure):
                try checkLength(failure.end ?? failure.offset)
                if let end = failure.end {
                    throw finish(end, failure.code, failure.reason, at: failure.offset).with(field: failure.field)
                }
                input.begin(count: failure.offset)
                throw input.error(failure.code, failure.reason, at: failure.offset, isRecoverable: false).with(field: failure.field)
            case .needsMore:
                try checkLength(input.buffer.available)
            }
            // Scans for the end first, so that the value is parsed only once more.
            while true {
                if try !input.buffer.fill() { break }
                if scanner.end(input.buffer.bytes, from: scanned, count: input.buffer.available) != nil { break }
                scanned = input.buffer.available
                if scanned > input.longestRecord { break }
            }
        }
    }

    /// Consumes a syntactically valid element and returns its error.
    private func finish(_ end: Int, _ code: RecordError.Code, _ reason: String, at offset: Int) -> RecordError {
        input.begin(count: end)
        let error = input.error(code, reason, at: offset)
        input.consume(end)
        state = .afterValue
        return error
    }

    private func checkLength(_ count: Int) throws {
        guard count > input.longestRecord else { return }
        input.begin(count: input.longestRecord)
        throw input.error(
            .limit, "the record has more than \(input.longestRecord) bytes, the limit of a record", at: 0, isRecoverable: false)
    }
}
