/// Splits one CSV row into fields, from contiguous bytes.
///
/// The bytes may be incomplete: the outcome depends only on the bytes.
final class CSVRowParser {
    enum Outcome {
        /// A row, the offset after its last field, and the offset after its line break.
        case row(end: Int, next: Int)
        case needsMore
    }

    struct Failure {
        var code: RecordError.Code
        var reason: String
        var offset: Int
        /// The index of the field in the row.
        var field: Int
        var isRecoverable = true
    }

    let delimiter: UInt8
    /// The quote character; equal to the delimiter if quoting is disabled.
    let quote: UInt8
    let hasQuote: Bool
    let trims: Bool
    let longestField: Int
    let emptyField: CSVOptions.EmptyField
    var values = ValueStack()
    var failure: Failure?
    private var scratch: [UInt8] = []

    init(_ options: CSVOptions) {
        delimiter = UInt8(options.delimiter.value)
        quote = options.quote.map { UInt8($0.value) } ?? delimiter
        hasQuote = options.quote != nil
        trims = options.trimsSpaces
        longestField = options.longestField
        emptyField = options.emptyField
    }

    /// Parses the row at the first byte. Stores its values in ``values`` and the first error in ``failure``.
    ///
    /// - Parameter isComplete: A Boolean value that indicates whether these are all remaining bytes.
    func parse(_ bytes: UnsafePointer<UInt8>, count: Int, isComplete: Bool) -> Outcome {
        values.removeAll()
        failure = nil
        var index = 0
        while true {
            if trims { while index < count, bytes[index] == 0x20 || bytes[index] == 0x09 { index &+= 1 } }
            guard index < count || isComplete else { return .needsMore }
            if hasQuote, index < count, bytes[index] == quote {
                guard let end = quoted(bytes, index, count, isComplete) else { return .needsMore }
                index = end
            } else {
                index = unquoted(bytes, index, count)
            }
            guard index < count else { return isComplete ? .row(end: count, next: count) : .needsMore }
            if bytes[index] != delimiter { return .row(end: index, next: index &+ 1) }
            index &+= 1
        }
    }

    /// Parses an unquoted field and returns the offset of the byte that ends it, or `count`.
    @inline(__always)
    private func unquoted(_ bytes: UnsafePointer<UInt8>, _ start: Int, _ count: Int) -> Int {
        var index = start
        while true {
            index = ByteScan.fieldEnd(delimiter, bytes, index, count)
            if index == count || bytes[index] < 0x80 { break }
            index = characters(bytes, index, count)
        }
        var end = index
        if trims { while end > start, bytes[end &- 1] == 0x20 || bytes[end &- 1] == 0x09 { end &-= 1 } }
        if end == start {
            values.push(emptyField == .text ? .string("") : .null)
        } else {
            checkLength(end &- start, start)
            values.push(.string(String(decoding: UnsafeBufferPointer(start: bytes + start, count: end &- start), as: UTF8.self)))
        }
        return index
    }

    /// Parses a field that begins with a quote and returns the offset of the byte that ends it, or `count`; nil if the field is incomplete.
    @inline(never)
    private func quoted(_ bytes: UnsafePointer<UInt8>, _ start: Int, _ count: Int, _ isComplete: Bool) -> Int? {
        var index = start + 1
        var copied = index
        var isCopied = false
        while true {
            index = ByteScan.quoteEnd(quote, bytes, index, count)
            guard index < count else {
                guard isComplete else { return nil }
                fail(.syntax, "the quote that begins the field has no end", start, isRecoverable: false)
                values.push(.null)
                return count
            }
            if bytes[index] >= 0x80 {
                index = characters(bytes, index, count)
                continue
            }
            guard index + 1 < count || isComplete else { return nil }
            if index + 1 < count, bytes[index + 1] == quote {
                if !isCopied { scratch.removeAll(keepingCapacity: scratch.capacity < 1 << 20) }
                isCopied = true
                scratch.append(contentsOf: UnsafeBufferPointer(start: bytes + copied, count: index + 1 - copied))
                index += 2
                copied = index
                continue
            }
            break
        }
        let last = UnsafeBufferPointer(start: bytes + copied, count: index - copied)
        if isCopied { scratch.append(contentsOf: last) }
        let length = isCopied ? scratch.count : last.count
        if length == 0 {
            values.push(emptyField == .null ? .null : .string(""))
        } else {
            checkLength(length, start)
            values.push(.string(isCopied ? String(decoding: scratch, as: UTF8.self) : String(decoding: last, as: UTF8.self)))
        }
        index += 1
        if trims { while index < count, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 } }
        guard index < count else { return isComplete ? count : nil }
        if bytes[index] == delimiter || bytes[index] == 0x0a || bytes[index] == 0x0d { return index }
        fail(
            .syntax, "expected the end of the field after its closing quote, found \(JSONCursor.name(of: bytes[index]))", index,
            field: values.count - 1)
        // Parses the remaining bytes of the field as unquoted.
        while index < count, bytes[index] != delimiter, bytes[index] != 0x0a, bytes[index] != 0x0d { index += 1 }
        return index
    }

    /// Skips and validates bytes that are not ASCII.
    @inline(never)
    private func characters(_ bytes: UnsafePointer<UInt8>, _ start: Int, _ count: Int) -> Int {
        var index = start
        while index < count, bytes[index] >= 0x80 {
            let length = ByteScan.utf8Length(bytes, index, count)
            if length <= 0 { fail(.encoding, "\(JSONCursor.name(of: bytes[index])) is not valid UTF-8", index) }
            index &+= max(length, 1)
        }
        return index
    }

    private func checkLength(_ length: Int, _ offset: Int) {
        guard length > longestField else { return }
        fail(.limit, "the field has \(length) bytes, and the limit of a field is \(longestField)", offset)
    }

    /// Records the first error of the row.
    private func fail(_ code: RecordError.Code, _ reason: String, _ offset: Int, field: Int? = nil, isRecoverable: Bool = true) {
        // An unrecoverable error replaces a recoverable one.
        if let failure, isRecoverable || !failure.isRecoverable { return }
        failure = Failure(code: code, reason: reason, offset: offset, field: field ?? values.count, isRecoverable: isRecoverable)
    }
}
