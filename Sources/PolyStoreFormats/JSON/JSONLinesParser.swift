/// A parser for one object per line.
final class JSONLinesParser: RecordParsing {
    private let input: RecordInput
    private let parser = JSONParser()

    init(_ input: RecordInput) { self.input = input }

    func prepare() {}

    func restart(at offset: Int64) throws -> Bool { try input.buffer.skip(to: offset) }

    func skip() throws -> Bool { try nextLine { _ in true } != nil }

    func next() throws -> JSONObject? { try nextLine { try parse($0) } }

    /// Finds the next nonblank line, passes its length to `body`, and consumes it, even if the body throws.
    @inline(__always)
    private func nextLine<T>(_ body: (Int) throws -> T) throws -> T? {
        while true {
            let (length, hasEnd) = try findLine()
            if length == 0, !hasEnd { return nil }
            let bytes = input.buffer.bytes
            var first = 0
            while first < length, Self.isSpace(bytes[first]) { first &+= 1 }
            if first == length {
                input.buffer.consume(length + (hasEnd ? 1 : 0))
                if hasEnd { input.line += 1 }
                continue
            }
            var last = length
            while Self.isSpace(bytes[last &- 1]) { last &-= 1 }
            input.record += 1
            input.buffer.consume(first)
            input.begin(count: last - first)
            defer {
                input.buffer.consume(length - first + (hasEnd ? 1 : 0))
                if hasEnd { input.line += 1 }
            }
            return try body(last - first)
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0d || byte == 0x09 }

    /// Returns the length of the next line, which begins at the first unconsumed byte, and whether an LF follows it.
    private func findLine() throws -> (length: Int, hasEnd: Bool) {
        var scanned = 0
        while true {
            let end = ByteScan.first(0x0a, input.buffer.bytes, scanned, input.buffer.available)
            if end < input.buffer.available {
                if end > input.longestRecord { try discardLine() }
                return (end, true)
            }
            if end > input.longestRecord { try discardLine() }
            scanned = end
            if try !input.buffer.fill() { return (scanned, false) }
        }
    }

    /// Consumes a line that exceeds the limit and throws its error.
    private func discardLine() throws -> Never {
        input.record += 1
        input.begin(count: 0)
        var count = 0
        while true {
            let end = ByteScan.first(0x0a, input.buffer.bytes, 0, input.buffer.available)
            count += end
            let hasEnd = end < input.buffer.available
            input.buffer.consume(hasEnd ? end + 1 : end)
            if hasEnd { input.line += 1 }
            if try hasEnd || !input.buffer.fill() { break }
        }
        input.position?.byteCount = Int64(count)
        throw RecordError(
            .limit, "the line has \(count) bytes, and the limit of a record is \(input.longestRecord)", position: input.position,
            byteOffset: input.position?.byteOffset)
    }

    private func parse(_ count: Int) throws -> JSONObject {
        let bytes = UnsafeBufferPointer(start: input.buffer.bytes, count: count)
        switch parser.parse(bytes, from: 0, isComplete: true) {
        case .value(let value, let end):
            var extra = end
            while extra < count, Self.isSpace(bytes[extra]) { extra += 1 }
            if extra < count {
                throw input.error(
                    .syntax, "expected the end of the line after the value, found \(JSONCursor.name(of: bytes[extra]))", at: extra)
            }
            guard case .object(let object) = value else {
                throw input.error(.wrongType, "a record must be an object, found \(value.shortDescription)", at: 0)
            }
            return object
        case .failure(let failure):
            // If a line has several errors, the first one is reported.
            throw input.error(failure.code, failure.reason, at: failure.offset).with(field: failure.field)
        case .needsMore:
            throw input.error(.syntax, "the value is cut off", at: count)
        }
    }
}

extension RecordError {
    func with(field: String?) -> RecordError {
        var error = self
        error.field = field
        return error
    }
}
